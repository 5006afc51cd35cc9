// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/clip_gradient.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

namespace {

using amct::ClipGradient;
using amct::ClipRange;

std::vector<float> masked(const std::vector<float>& x, const std::vector<float>& upstream, const ClipRange& range) {
  std::vector<float> gradient(x.size());
  amct::mask_clipped(x, upstream, range, gradient);
  return gradient;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("each element adds to the sum of its place") {
  const std::vector<float> x = {-2.0F, -1.0F, 0.75F, 1.0F, 3.0F};
  const std::vector<float> g = {1.0F, 2.0F, 4.0F, 8.0F, 16.0F};
  // Inside with scale 1: -1, 1 are on the grid; 0.75 rounds up by 0.25.
  CHECK(amct::clip_gradient(x, g, {-1.0F, 1.0F, 1.0F}) == ClipGradient{1.0, 16.0, 1.0});
  CHECK(masked(x, g, {-1.0F, 1.0F, 1.0F}) == std::vector<float>{0.0F, 2.0F, 4.0F, 8.0F, 0.0F});
}

TEST_CASE("halves round to even, so their error changes sign") {
  CHECK(amct::clip_gradient(std::vector<float>{0.5F, 1.5F}, std::vector<float>{1.0F, 10.0F}, {0.0F, 2.0F, 1.0F}) ==
        ClipGradient{0.0, 0.0, -0.5 + 5.0});
}

TEST_CASE("the gradient of a learned scale, as the spec's example has it") {
  const std::vector<float> w = {0.05F, -0.26F, 20.0F, -20.0F};
  constexpr float kScale = 0.1F;
  const auto scale_gradient = [&](const std::vector<float>& g) {
    const ClipGradient sums = amct::clip_gradient(w, g, {-kScale * 128.0F, kScale * 127.0F, kScale});
    return (sums.inside + sums.below * -128.0 + sums.above * 127.0) / std::sqrt(4.0 * 127.0);
  };
  CHECK(scale_gradient({1, 1, 1, 1}) == doctest::Approx(-0.08429887));
  CHECK(scale_gradient({1, 2, 3, 4}) == doctest::Approx(-5.869863));
}

TEST_CASE("infinities are clipped and NaN is inside") {
  const std::vector<float> x = {kInfinity, -kInfinity, kNan};
  const std::vector<float> g = {2.0F, 3.0F, 5.0F};
  const ClipGradient sums = amct::clip_gradient(x, g, {-1.0F, 1.0F, 0.5F});
  CHECK(sums.above == 2.0);
  CHECK(sums.below == 3.0);
  CHECK(std::isnan(sums.inside));
  CHECK(masked(x, g, {-1.0F, 1.0F, 0.5F}) == std::vector<float>{0.0F, 0.0F, 5.0F});
}

TEST_CASE("no element has no gradient") { CHECK(amct::clip_gradient({}, {}, {-1.0F, 1.0F, 0.5F}) == ClipGradient{}); }

TEST_CASE("every path gives the sums and masks of the reference") {
  for (const ClipRange range : {ClipRange{-1.0F, 1.27F, 0.01F}, {0.0F, 0.5F, 1e-3F}, {-1e30F, 1e30F, 1e-3F}}) {
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, std::size_t{133}, std::size_t{1024}, std::size_t{1025}, std::size_t{5000}}) {
      std::vector<float> x(length);
      std::vector<float> g(length);
      for (std::size_t i = 0; i < length; ++i) {
        x[i] = static_cast<float>(static_cast<int>(i * 40503U % 8191U) - 4095) * 4e-4F;
        g[i] = static_cast<float>(static_cast<int>(i * 7919U % 1001U) - 500) * 0.01F;
      }
      ClipGradient want;
      amct::kernel::reference::add_clip_gradient(x, g, range, want);
      std::vector<float> want_mask(length);
      amct::kernel::reference::mask_clipped(x, g, range, want_mask);
      on_every_path([&] {
        CHECK(amct::clip_gradient(x, g, range) == want);
        CHECK(same_bits(masked(x, g, range), want_mask));
      });
    }
  }
}
