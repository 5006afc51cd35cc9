// SPDX-License-Identifier: Apache-2.0
// Vector bodies of kernel/packed4.hpp; the reference is kernel/reference/packed4.hpp. An odd last code is left to the
// reference, so that the walk has whole bytes alone.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Bytes of a vector.
inline constexpr std::size_t kVectorBytes = 4 * kLanes;

struct Packer {
  static constexpr std::size_t kIn = 2 * kVectorBytes;
  static constexpr std::size_t kOut = kVectorBytes;

  template <Traffic K>
  AMCT_VOP void block(const std::int8_t* codes, std::int8_t* bytes, std::size_t) const {
    put<K>(bytes, pair_nibbles(load_bytes(codes), load_bytes(codes + kVectorBytes)));
  }
};

struct Unpacker {
  static constexpr std::size_t kIn = kVectorBytes;
  static constexpr std::size_t kOut = 2 * kVectorBytes;

  template <Traffic K>
  AMCT_VOP void block(const std::int8_t* bytes, std::int8_t* codes, std::size_t) const {
    auto first = load_bytes(bytes);
    auto second = first;
    split_nibbles(first, first, second);
    put<K>(codes, first);
    put<K>(codes + kVectorBytes, second);
  }
};

/// Codes as ToInt8 makes them, two blocks to one of packed ones.
template <class Stage>
class ToPacked4 {
 public:
  static constexpr std::size_t kIn = 2 * ToInt8<Stage>::kIn;
  static constexpr std::size_t kOut = kIn / 2;

  AMCT_VOP explicit ToPacked4(const Stage& stage) : to_int8_(stage, Int4::range) {}

  template <Traffic K, RealInput X>
  AMCT_VOP void block(const X* x, std::int8_t* bytes, std::size_t first) const {
    std::int8_t codes[kIn];
    to_int8_.template block<Traffic::cached>(x, codes, first);
    to_int8_.template block<Traffic::cached>(x + kIn / 2, codes + kIn / 2, first + kIn / 2);
    put<K>(bytes, pair_nibbles(load_bytes(codes), load_bytes(codes + kVectorBytes)));
  }

 private:
  ToInt8<Stage> to_int8_;
};

class Dequantizer4 {
 public:
  static constexpr std::size_t kIn = 2 * kLanes;
  static constexpr std::size_t kOut = 4 * kLanes;

  AMCT_VOP explicit Dequantizer4(const Affine& affine) : scale_(set(affine.scale)), offset_(set(affine.offset)) {}

  template <Traffic K>
  AMCT_VOP void block(const std::int8_t* bytes, float* x, std::size_t) const {
    unroll<4>([&](auto k) AMCT_VLAMBDA {
      constexpr std::size_t kAt = k * kLanes;
      put<K>(x + kAt, mul(to_float(sub(load_codes4(bytes + kAt / 2), offset_)), scale_));
    });
  }

 private:
  F scale_;
  I offset_;
};

inline void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes, Traffic traffic) noexcept {
  const std::size_t pairs = codes.size() / 2;
  map(Packer(), codes.first(2 * pairs), bytes.first(pairs), traffic);
  reference::pack4(codes.subspan(2 * pairs), bytes.subspan(pairs), {1, codes.size() % 2, 1});
}

inline void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes, Traffic traffic) noexcept {
  const std::size_t pairs = codes.size() / 2;
  map(Unpacker(), bytes.first(pairs), codes.first(2 * pairs), traffic);
  reference::unpack4(bytes.subspan(pairs), codes.subspan(2 * pairs), {1, codes.size() % 2, 1});
}

template <VectorContract Contract, RealInput X>
void quantize4(std::span<const X> x, std::span<std::int8_t> bytes, const Affine& affine, Traffic traffic) noexcept {
  using Stage = ScaledValues<Contract, UniformAffine>;
  const std::size_t pairs = x.size() / 2;
  map(ToPacked4<Stage>(Stage(UniformAffine(affine), Int4::range)), x.first(2 * pairs), bytes.first(pairs), traffic);
  reference::quantize4<Contract>(x.subspan(2 * pairs), bytes.subspan(pairs), affine);
}

inline void dequantize4(std::span<const std::int8_t> bytes, std::span<float> x, const Affine& affine,
                        Traffic traffic) noexcept {
  const std::size_t pairs = x.size() / 2;
  map(Dequantizer4(affine), bytes.first(pairs), x.first(2 * pairs), traffic);
  reference::dequantize4(bytes.subspan(pairs), x.subspan(2 * pairs), affine);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
