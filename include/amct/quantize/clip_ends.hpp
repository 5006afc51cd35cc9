// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/kernel/clip_gradient.hpp>

namespace amct {

AMCT_EXACT_BEGIN

/// The real values of the smallest and the largest code, beyond which a quantizer clips: scale * (q_min - offset) and
/// scale * (q_max - offset) in float32. Either may be beyond float32 and is infinite then. \pre is_usable(affine)
[[nodiscard]] constexpr ClipRange clip_ends(const Affine& affine, CodeRange range) noexcept {
  const float low = affine.scale * (static_cast<float>(range.min()) - static_cast<float>(affine.offset));
  const float high = affine.scale * (static_cast<float>(range.max()) - static_cast<float>(affine.offset));
  return {low, high, affine.scale};
}

AMCT_EXACT_END

}  // namespace amct
