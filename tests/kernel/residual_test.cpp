// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/residual.hpp>

#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

namespace {

using amct::ScaleCandidate;

double residual(const std::vector<float>& x, ScaleCandidate candidate) {
  std::vector<double> sums(1, 0.0);
  const std::vector<ScaleCandidate> candidates = {candidate};
  amct::add_squared_residuals(x, candidates, sums);
  return sums[0];
}

}  // namespace

TEST_CASE("the error is that of clipping and rounding to a multiple of the scale") {
  CHECK(residual({0.625F}, {-1.0F, 1.0F, 0.5F}) == 0.015625);  // 0.5 instead of 0.625
  CHECK(residual({-3.0F}, {-1.0F, 1.0F, 0.5F}) == 4.0);        // clipped to -1, compared with -3
  CHECK(residual({5.0F}, {-1.0F, 1.0F, 0.5F}) == 16.0);
  CHECK(residual({0.625F, -3.0F, 5.0F}, {-1.0F, 1.0F, 0.5F}) == 20.015625);
}

TEST_CASE("ties round to the even multiple") {
  CHECK(residual({0.25F}, {-1.0F, 1.0F, 0.5F}) == 0.0625);
  CHECK(residual({0.75F}, {-1.0F, 1.0F, 0.5F}) == 0.0625);
  CHECK(residual({-0.25F, 0.75F}, {-1.0F, 1.0F, 0.5F}) == 0.125);
}

TEST_CASE("a clip end that is no multiple of the scale is rounded as well") {
  CHECK(residual({2.0F}, {0.0F, 1.25F, 1.0F}) == 1.0);
}

TEST_CASE("values on the grid have no error and no element adds nothing") {
  CHECK(residual({-1.0F, -0.5F, 0.0F, -0.0F, 0.5F, 1.0F}, {-1.0F, 1.0F, 0.5F}) == 0.0);
  CHECK(residual({}, {-1.0F, 1.0F, 0.5F}) == 0.0);
}

TEST_CASE("each candidate has its own sum, and sums go on growing") {
  const std::vector<float> x = {0.625F, 3.0F};
  const std::vector<ScaleCandidate> candidates = {{-1.0F, 1.0F, 0.5F}, {0.0F, 4.0F, 1.0F}, {0.0F, 0.0F, 1.0F}};
  std::vector<double> sums = {100.0, 0.0, 0.0};
  amct::add_squared_residuals(x, candidates, sums);
  CHECK(sums == std::vector<double>{104.015625, 0.140625, 9.390625});
  amct::add_squared_residuals(x, candidates, sums);
  CHECK(sums == std::vector<double>{108.03125, 0.28125, 18.78125});
}

TEST_CASE("squares are float32 and their sum is double") {
  // (1 + 2^-12)^2 is 1 + 2^-11 in float32.
  CHECK(residual({0x1.001p+0F}, {0.0F, 0.0F, 1.0F}) == 0x1.002p+0);
  // 2^24 + 1 needs more than the 24 bits of a float.
  CHECK(residual({4096.0F, 1.0F, 1.0F, 1.0F}, {0.0F, 0.0F, 1.0F}) == 16777219.0);
}

TEST_CASE("every path sums squared residuals to the bits of the reference") {
  std::vector<amct::ScaleCandidate> candidates;
  for (int i = 0; i < 61; ++i) {
    const float high = 2.5F * (0.7F + 0.01F * static_cast<float>(i));
    candidates.push_back({i % 2 == 0 ? -high : -0.25F, high, high / 127.0F});
  }
  candidates.push_back({-1e30F, 1e30F, 1e-3F});  // quotients beyond the reach of the vector body
  candidates.push_back({0.0F, 0.0F, 1.0F});
  for (int i = 0; i < 9; ++i) candidates.push_back({-3.0F, 3.1F, (3.0F + 0.05F * static_cast<float>(i)) / 32767.0F});
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1024}, std::size_t{1025}, std::size_t{5000}}) {
    std::vector<float> x(length);
    for (std::size_t i = 0; i < length; ++i)
      x[i] = static_cast<float>(static_cast<int>(i * 40503U % 8191U) - 4095) * 0.001F;
    std::vector<double> want(candidates.size(), 0.5);
    amct::kernel::reference::add_squared_residuals(x, candidates, want);
    on_every_path([&] {
      std::vector<double> got(candidates.size(), 0.5);
      amct::add_squared_residuals(x, candidates, got);
      CHECK(same_bits(got, want));
    });
  }
}
