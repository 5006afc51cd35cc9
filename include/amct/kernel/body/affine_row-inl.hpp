// SPDX-License-Identifier: Apache-2.0
// The two sources of scales and offsets that element-wise bodies take: one for all elements, or one for each.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

class UniformAffine {
 public:
  static constexpr bool kUniform = true;
  static constexpr bool kSplit = false;

  AMCT_VOP explicit UniformAffine(const Affine& affine)
      : affine_(affine),
        scale_(set(affine.scale)),
        inverse_(set(1.0F / affine.scale)),
        offset_(set(static_cast<float>(affine.offset))),
        int_offset_(set(affine.offset)),
        int16_offset_(set16(static_cast<std::int16_t>(affine.offset))) {}

  AMCT_VOP F scale(std::size_t) const { return scale_; }
  AMCT_VOP F inverse(std::size_t) const { return inverse_; }
  AMCT_VOP F offset(std::size_t) const { return offset_; }
  AMCT_VOP I int_offset(std::size_t) const { return int_offset_; }
  /// The offsets of two vectors, in the order of narrow().
  AMCT_VOP H int16_offset(std::size_t) const { return int16_offset_; }
  [[nodiscard]] Affine affine(std::size_t) const noexcept { return affine_; }

 private:
  Affine affine_;
  F scale_, inverse_, offset_;
  I int_offset_;
  H int16_offset_;
};

/// The same with a reciprocal good enough to need no correction; see has_split_quotients.
class SplitAffine : public UniformAffine {
 public:
  static constexpr bool kSplit = true;

  AMCT_VOP explicit SplitAffine(const Affine& affine)
      : UniformAffine(affine), inverse_low_(set(split_reciprocal(affine.scale).low)) {}

  AMCT_VOP F inverse_low(std::size_t) const { return inverse_low_; }

 private:
  F inverse_low_;
};

class RowAffine {
 public:
  static constexpr bool kUniform = false;
  static constexpr bool kSplit = false;

  AMCT_VOP explicit RowAffine(const AffineRow& row) : row_(&row) {}

  AMCT_VOP F scale(std::size_t i) const { return load(row_->scale + i); }
  AMCT_VOP F inverse(std::size_t i) const { return load(row_->inverse + i); }
  AMCT_VOP F offset(std::size_t i) const { return to_float(int_offset(i)); }
  AMCT_VOP I int_offset(std::size_t i) const { return load(row_->offset + i); }
  AMCT_VOP H int16_offset(std::size_t i) const { return narrow(int_offset(i), int_offset(i + kLanes)); }
  [[nodiscard]] Affine affine(std::size_t i) const noexcept { return row_->affine(i); }

 private:
  const AffineRow* row_;
};

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
