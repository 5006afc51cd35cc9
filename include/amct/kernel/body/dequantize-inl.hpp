// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/dequantize.hpp; the reference is kernel/reference/dequantize.hpp.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

template <class Params>
class Dequantizer {
 public:
  static constexpr std::size_t kIn = 4 * kLanes;
  static constexpr std::size_t kOut = kIn;

  AMCT_VOP explicit Dequantizer(const Params& params) : params_(params) {}

  template <Traffic K, CodeStorage T>
  AMCT_VOP void block(const T* codes, float* x, std::size_t first) const {
    unroll<4>([&](auto k) AMCT_VLAMBDA {
      constexpr std::size_t kAt = k * kLanes;
      const I steps = sub(load_codes(codes + kAt), params_.int_offset(first + kAt));
      put<K>(x + kAt, mul(to_float(steps), params_.scale(first + kAt)));
    });
  }

 private:
  Params params_;
};

template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const Affine& affine, Traffic traffic) noexcept {
  map(Dequantizer<UniformAffine>(UniformAffine(affine)), codes, x, traffic);
}

template <CodeStorage T>
void dequantize(std::span<const T> codes, std::span<float> x, const AffineRow& row) noexcept {
  map_cached(Dequantizer<RowAffine>(RowAffine(row)), codes, x, 0);
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
