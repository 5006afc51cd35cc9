// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <amct/core/exact.hpp>

namespace amct::exec {

AMCT_EXACT_BEGIN

/// Weights of the positions -1, 0, 1 and 2 for a point at `t` in [0, 1]; they sum up to 1.
///
/// Cubic convolution: R. Keys, "Cubic convolution interpolation for digital image processing", 1981. `a` is the slope
/// of the kernel at 1, usually -0.5 or -0.75.
[[nodiscard]] constexpr std::array<float, 4> cubic_weights(float t, float a) noexcept {
  const auto near = [a](float distance) { return ((a + 2.0F) * distance - (a + 3.0F)) * distance * distance + 1.0F; };
  const auto far = [a](float distance) {
    return ((a * distance - 5.0F * a) * distance + 8.0F * a) * distance - 4.0F * a;
  };
  return {far(t + 1.0F), near(t), near(1.0F - t), far(2.0F - t)};
}

AMCT_EXACT_END

}  // namespace amct::exec
