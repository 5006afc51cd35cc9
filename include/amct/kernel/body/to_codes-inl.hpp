// SPDX-License-Identifier: Apache-2.0
// From real values to codes: rounded, with the offset, saturated, packed. Kernels for map().
//
// A stage gives what is to be rounded: `scaled(in, i)`, a vector from `in`, where i counts as in map(); Scalar, float
// or int32 if it is rounded already; `most(i)`, what the largest code is there, before an offset that is added
// afterwards; kCanBeNan; kAddsAfter, whether the offset is added to the rounded value, and then `int16_offset(i)` (of
// two vectors, in the order of narrow()) and `int_offset(i)`; and, if it can be NaN, `code(x, i)`, the scalar
// reference.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

template <class Stage>
using ValuesOf = decltype(set(typename Stage::Scalar{}));

/// Four vectors to int8. The upper bound also keeps the conversion from overflowing; below it saturates by itself. The
/// offset goes on in int16, with saturation.
template <class Stage>
class ToInt8 {
 public:
  static constexpr std::size_t kIn = 4 * kLanes;
  static constexpr std::size_t kOut = kIn;

  AMCT_VOP ToInt8(const Stage& stage, CodeRange range) : stage_(stage), low_(static_cast<std::int8_t>(range.min())) {}

  template <Traffic K, class In>
  AMCT_VOP void block(const In* in, std::int8_t* codes, std::size_t first) const {
    const auto a = stage_.scaled(in, first);
    const auto b = stage_.scaled(in + kLanes, first + kLanes);
    const auto c = stage_.scaled(in + 2 * kLanes, first + 2 * kLanes);
    const auto d = stage_.scaled(in + 3 * kLanes, first + 3 * kLanes);
    if constexpr (Stage::kCanBeNan) {
      if (any_nan(a, b, c, d)) [[unlikely]] {
        for (std::size_t i = 0; i < kIn; ++i) codes[i] = static_cast<std::int8_t>(stage_.code(in[i], first + i));
        return;
      }
    }
    put<K>(codes, codes8(rounded(a, b, first), rounded(c, d, first + 2 * kLanes), low_));
  }

 private:
  AMCT_VOP H rounded(ValuesOf<Stage> a, ValuesOf<Stage> b, std::size_t i) const {
    const H codes = narrow(to_int(at_most(a, stage_.most(i))), to_int(at_most(b, stage_.most(i + kLanes))));
    if constexpr (Stage::kAddsAfter) return add_saturating(codes, stage_.int16_offset(i));
    return codes;
  }

  Stage stage_;
  std::int8_t low_;
};

/// Two vectors to int16; offsets of wide codes do not fit int16, so they are added in int32.
template <class Stage>
class ToInt16 {
 public:
  static constexpr std::size_t kIn = 2 * kLanes;
  static constexpr std::size_t kOut = kIn;

  AMCT_VOP ToInt16(const Stage& stage, CodeRange range)
      : stage_(stage),
        bottom_(set(typename Stage::Scalar{-1048576})),  // beyond every code and offset, far from int32's end
        low_(static_cast<std::int16_t>(range.min())) {}

  template <Traffic K, class In>
  AMCT_VOP void block(const In* in, std::int16_t* codes, std::size_t first) const {
    const auto a = stage_.scaled(in, first);
    const auto b = stage_.scaled(in + kLanes, first + kLanes);
    if constexpr (Stage::kCanBeNan) {
      if (any_nan(a, b, a, b)) [[unlikely]] {
        for (std::size_t i = 0; i < kIn; ++i) codes[i] = static_cast<std::int16_t>(stage_.code(in[i], first + i));
        return;
      }
    }
    put<K>(codes, codes16(narrow(rounded(a, first), rounded(b, first + kLanes)), low_));
  }

 private:
  AMCT_VOP I rounded(ValuesOf<Stage> v, std::size_t i) const {
    const I codes = to_int(at_least(at_most(v, stage_.most(i)), bottom_));
    if constexpr (Stage::kAddsAfter) return add(codes, stage_.int_offset(i));
    return codes;
  }

  Stage stage_;
  ValuesOf<Stage> bottom_;
  std::int16_t low_;
};

template <CodeStorage T, class Stage>
using ToCodes = std::conditional_t<sizeof(T) == 1, ToInt8<Stage>, ToInt16<Stage>>;

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
