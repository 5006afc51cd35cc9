// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/cubic.hpp>

#include <doctest/doctest.h>

using amct::exec::cubic_weights;

TEST_CASE("At a position cubic interpolation gives its value") {
  CHECK(cubic_weights(0.0F, -0.5F) == std::array<float, 4>{0, 1, 0, 0});
  CHECK(cubic_weights(1.0F, -0.5F) == std::array<float, 4>{0, 0, 1, 0});
}

TEST_CASE("Between positions the weights are those of the kernel") {
  CHECK(cubic_weights(0.5F, -0.75F) == std::array<float, 4>{-0.09375F, 0.59375F, 0.59375F, -0.09375F});
  CHECK(cubic_weights(0.5F, -0.5F) == std::array<float, 4>{-0.0625F, 0.5625F, 0.5625F, -0.0625F});
  // A slope of -0.5 reproduces parabolas: f(x) = x^2 at -1, 0, 1, 2.
  for (const float t : {0.1F, 0.25F, 0.9F}) {
    const auto w = cubic_weights(t, -0.5F);
    CHECK(w[0] + w[2] + 4.0F * w[3] == doctest::Approx(t * t).epsilon(1e-5));
  }
}
