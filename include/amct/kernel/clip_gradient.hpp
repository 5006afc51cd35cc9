// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include <amct/core/fp_environment.hpp>
#include <amct/kernel/reference/clip_gradient.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/vec.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/clip_gradient-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set.
inline void add_clip_gradient(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                              ClipGradient& sums) noexcept {
  AMCT_DISPATCH(add_clip_gradient(x, upstream, range, sums))
}

inline void mask_clipped(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                         std::span<float> gradient) noexcept {
  AMCT_DISPATCH(mask_clipped(x, upstream, range, gradient))
}

}  // namespace kernel

/// The sums from which the gradients of learned clips and scales are made, in one pass: of `upstream` where x is below
/// the range and where it is above, and of upstream * (round(x/scale) - x/scale) inside. See ClipGradient.
///
/// \param x         what was fake-quantized; NaN counts as inside
/// \param upstream  gradient of the result, as many elements
/// \pre  the scale is positive
/// \note O(n), no allocation. Elements and short partial sums in float32, the rest in double, in an order that does not
///       depend on the instruction set (see kernel/reference/clip_gradient.hpp).
[[nodiscard]] inline ClipGradient clip_gradient(std::span<const float> x, std::span<const float> upstream,
                                                const ClipRange& range) noexcept {
  assert(x.size() == upstream.size());
  ClipGradient sums;
  in_default_fp_environment([&] { kernel::add_clip_gradient(x, upstream, range, sums); });
  return sums;
}

/// The straight-through gradient of x: upstream where x is within [low, high] (or NaN), 0 where it was clipped.
/// \param gradient  as many elements as x; may be the same memory as upstream
/// \note O(n), no allocation.
inline void mask_clipped(std::span<const float> x, std::span<const float> upstream, const ClipRange& range,
                         std::span<float> gradient) noexcept {
  assert(x.size() == upstream.size() && gradient.size() == x.size());
  in_default_fp_environment([&] { kernel::mask_clipped(x, upstream, range, gradient); });
}

}  // namespace amct
