// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/dmq.hpp>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ChannelLayout;
using amct::Status;
using amct::StatusCode;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Floats = std::vector<float>;

Status try_factors(const Floats& activation, const Floats& weight, double strength, Floats& factors) {
  factors.assign(activation.size(), 77.0F);
  return amct::dmq_factors(activation, weight, {strength}, factors);
}

Floats factors_of(const Floats& activation, const Floats& weight, double strength = 0.5) {
  Floats factors;
  REQUIRE(try_factors(activation, weight, strength, factors).ok());
  return factors;
}

Status status_of(const Floats& activation, const Floats& weight, double strength = 0.5) {
  Floats factors;
  const Status status = try_factors(activation, weight, strength, factors);
  CHECK(factors == Floats(activation.size(), 77.0F));
  return status;
}

}  // namespace

TEST_CASE("the factor shares the difficulty between activation and weight") {
  CHECK(factors_of({4.0F}, {1.0F}) == Floats{2.0F});
  CHECK(factors_of({1.0F}, {4.0F}) == Floats{0.5F});
  CHECK(factors_of({16.0F, 1.0F}, {1.0F, 16.0F}) == Floats{4.0F, 0.25F});
  // With half of it moved both sides are equally large.
  const float factor = factors_of({9.0F}, {0.25F})[0];
  CHECK(9.0F / factor == doctest::Approx(0.25F * factor));
  CHECK(factors_of({32.0F}, {1.0F}, 0.2)[0] == doctest::Approx(2.0));
  CHECK(factors_of({32.0F}, {1.0F}, 0.8)[0] == doctest::Approx(16.0));
}

TEST_CASE("the values of the example, with dead activations, dead weights and both") {
  // Magnitudes of activations (1,-8), (0,0), (2,0.5), (0,0) and weights (0.5,-0.25), (1,2), (0,0), (0,0).
  const Floats activation{8.0F, 0.0F, 2.0F, 0.0F};
  const Floats weight{0.5F, 2.0F, 0.0F, 0.0F};
  CHECK(factors_of(activation, weight, 0.5) == Floats{4.0F, 1.0F, 1.0F, 1.0F});
  const Floats strong = factors_of(activation, weight, 0.8);
  CHECK(strong[0] == doctest::Approx(6.06286621).epsilon(1e-6));
  CHECK(strong[1] == doctest::Approx(1.51571655).epsilon(1e-6));
  CHECK(strong[2] == doctest::Approx(1.51571655).epsilon(1e-6));
  CHECK(strong[3] == 1.0F);
}

TEST_CASE("equal activations and weights need no balance") {
  CHECK(factors_of({0.5F, 3.0F}, {0.5F, 3.0F}) == Floats{1.0F, 1.0F});
}

TEST_CASE("if all activations or all weights are dead the factors are 1") {
  CHECK(factors_of({0.0F, 0.0F}, {1.0F, 2.0F}) == Floats{1.0F, 1.0F});
  CHECK(factors_of({1.0F, 2.0F}, {0.0F, 0x1p-24F}) == Floats{1.0F, 1.0F});
  CHECK(factors_of({0.0F}, {0.0F}) == Floats{1.0F});
}

TEST_CASE("magnitudes from 2^-23 on are alive") {
  CHECK(factors_of({0x1p-23F, 1.0F}, {1.0F, 1.0F})[0] == doctest::Approx(std::sqrt(0x1p-23)));
  CHECK(factors_of({0x1.fffffep-24F, 1.0F}, {1.0F, 1.0F})[0] == 1.0F);
}

TEST_CASE("the strength is 0.2 to 0.8") {
  for (const double strength : {0.2, 0.8}) CHECK(factors_of({1.0F}, {1.0F}, strength) == Floats{1.0F});
  for (const double strength : {0.1999, 0.8001, double{kNan}}) {
    const Status status = status_of({1.0F}, {1.0F}, strength);
    CHECK(status.code == StatusCode::bad_option);
    CHECK(status.name == std::string_view("migration_strength"));
  }
}

TEST_CASE("a factor beyond 2^23 or its reciprocal is refused with its channel") {
  const Status large = status_of({1.0F, 1e10F}, {1.0F, 1e-5F});  // 10^5 * 10^2.5
  CHECK(large.code == StatusCode::unusable_scale);
  CHECK(large.index == 1);
  CHECK(large.value == doctest::Approx(3.16e7).epsilon(0.01));
  const Status small = status_of({1e-6F, 1.0F}, {1e10F, 1.0F});  // 10^-3 / 10^5
  CHECK(small.code == StatusCode::unusable_scale);
  CHECK(small.index == 0);
  CHECK(status_of({0x1p23F}, {0x1p-23F}).code == StatusCode::unusable_scale);
  CHECK(factors_of({0x1p22F}, {0x1p-22F}) == Floats{0x1p22F});
}

TEST_CASE("channels that never meet have no outlier to take") {
  // Activations live in one channel, weights in the other: there is no channel with a factor of its own.
  const Status status = status_of({1.0F, 0.0F}, {0.0F, 1.0F});
  CHECK(status.code == StatusCode::unusable_scale);
}

TEST_CASE("magnitudes that are missing, too few or not finite are refused") {
  CHECK(status_of({}, {}).code == StatusCode::empty);
  CHECK(status_of({1.0F, 2.0F}, {1.0F}).code == StatusCode::size_mismatch);
  CHECK(status_of({1.0F, kNan}, {1.0F, 1.0F}).code == StatusCode::not_finite);
  const Status status = status_of({1.0F, 1.0F}, {1.0F, kInf});
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 1);
  Floats few(1);
  CHECK(amct::dmq_factors(Floats{1.0F, 2.0F}, Floats{1.0F, 2.0F}, {}, few).code == StatusCode::size_mismatch);
}

TEST_CASE("maxima are those of the channel, of either sign and over several batches") {
  Floats maxima(2, 0.0F);
  const ChannelLayout layout{1, 2, 2, 2};  // [N = 2, C = 2, 2]
  REQUIRE(amct::add_channel_maxima(Floats{1.0F, -3.0F, 0.5F, 0.0F, 2.0F, 0.0F, -0.75F, 0.0F}, layout, maxima).ok());
  CHECK(maxima == Floats{3.0F, 0.75F});
  REQUIRE(amct::add_channel_maxima(Floats{-1.0F, 4.0F}, {1, 1, 2, 1}, maxima).ok());
  CHECK(maxima == Floats{3.0F, 4.0F});
}

TEST_CASE("maxima of input channels of a grouped convolution follow the groups") {
  // [Cout = 4, Cin/g = 1] in 2 groups: input channel 0 belongs to outputs 0 and 1.
  Floats maxima(2, 0.0F);
  REQUIRE(amct::add_channel_maxima(Floats{1.0F, -2.0F, 3.0F, -4.0F}, {2, 2, 1, 1}, maxima).ok());
  CHECK(maxima == Floats{2.0F, 4.0F});
}

TEST_CASE("maxima of bad data are refused and stay what they were") {
  Floats maxima{5.0F, 6.0F};
  const ChannelLayout layout{1, 1, 2, 2};
  CHECK(amct::add_channel_maxima(Floats{}, layout, maxima).code == StatusCode::empty);
  CHECK(amct::add_channel_maxima(Floats{9.0F}, layout, maxima).code == StatusCode::size_mismatch);
  const Status status = amct::add_channel_maxima(Floats{9.0F, 9.0F, 9.0F, kNan}, layout, maxima);
  CHECK(status.code == StatusCode::not_finite);
  CHECK(status.index == 3);
  CHECK(maxima == Floats{5.0F, 6.0F});
  Floats few(1);
  CHECK(amct::add_channel_maxima(Floats{1.0F, 2.0F, 3.0F, 4.0F}, layout, few).code == StatusCode::size_mismatch);
}

TEST_CASE("a balanced layer computes the same") {
  const Floats x{1.0F, 8.0F, -0.5F, 3.0F};      // [2, C = 2]
  const Floats w{0.25F, -0.125F, 0.75F, 0.5F};  // [Cout = 2, C = 2]
  const ChannelLayout layout{1, 2, 2, 1};
  const Floats factors{0.5F, 4.0F};
  Floats balanced_x(4);
  Floats balanced_w = w;
  REQUIRE(amct::balance_activations(x, layout, factors, balanced_x).ok());
  REQUIRE(amct::balance_weights(balanced_w, layout, factors, balanced_w).ok());
  CHECK(balanced_x == Floats{2.0F, 2.0F, -1.0F, 0.75F});
  CHECK(balanced_w == Floats{0.125F, -0.5F, 0.375F, 2.0F});
  for (const std::size_t row : {0U, 2U}) {
    for (const std::size_t out : {0U, 2U}) {
      CHECK(balanced_x[row] * balanced_w[out] + balanced_x[row + 1] * balanced_w[out + 1] ==
            x[row] * w[out] + x[row + 1] * w[out + 1]);
    }
  }
}

TEST_CASE("balancing refuses sizes that do not agree") {
  const ChannelLayout layout{1, 1, 2, 2};
  Floats y(4, 7.0F);
  Floats small(3);
  CHECK(amct::balance_weights(Floats(3), layout, Floats(2), y).code == StatusCode::size_mismatch);
  CHECK(amct::balance_weights(Floats(4), layout, Floats(3), y).code == StatusCode::size_mismatch);
  CHECK(amct::balance_activations(Floats(4), layout, Floats(2), small).code == StatusCode::size_mismatch);
  CHECK(y == Floats(4, 7.0F));
}
