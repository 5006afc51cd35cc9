// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// A GRU of two hidden values over one row of one input by its equations. Gates are z, r and h.
std::vector<double> naive_gru(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& r,
                              const std::vector<float>& b, bool reset_last) {
  const auto at = [](const std::vector<float>& v, std::size_t i) { return static_cast<double>(v[i]); };
  std::vector<double> h{0.5, -0.25}, y;
  for (const float step : x) {
    // Of a gate: what x and W give, and what R gives of some state.
    const auto input = [&](std::size_t g) { return static_cast<double>(step) * at(w, g) + at(b, g); };
    const auto recurrent = [&](std::size_t g, const std::vector<double>& state) {
      return state[0] * at(r, 2 * g) + state[1] * at(r, 2 * g + 1);
    };
    const auto gate = [&](std::size_t g) { return sigmoid(input(g) + recurrent(g, h) + at(b, 6 + g)); };
    const std::vector<double> reset{gate(2), gate(3)};
    std::vector<double> next(2);
    for (std::size_t i = 0; i < 2; ++i) {
      const double late = reset_last ? reset[i] * (recurrent(4 + i, h) + at(b, 10 + i))
                                     : recurrent(4 + i, {reset[0] * h[0], reset[1] * h[1]}) + at(b, 10 + i);
      const double z = gate(i);
      next[i] = (1.0 - z) * std::tanh(input(4 + i) + late) + z * h[i];
    }
    h = next;
    y.insert(y.end(), h.begin(), h.end());
  }
  return y;
}

}  // namespace

TEST_CASE("A GRU agrees with its equations in both forms of the reset gate") {
  const std::vector<float> x{1, -2, 0.5F};
  const std::vector<float> w{0.5F, -1, 2, 0.75F, -0.5F, 1.5F};
  const std::vector<float> r{-0.5F, 0.25F, 1, -1, 0.5F, 0.75F, 2, -0.25F, 1, 0.5F, -1, 0.125F};
  const std::vector<float> b{0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0, -1, 1, 0.5F, -0.5F, 0.25F};
  const OpInputs inputs{floats({3, 1, 1}, x), floats({1, 6, 1}, w), floats({1, 6, 2}, r),
                        floats({1, 12}, b),   std::nullopt,         floats({1, 1, 2}, {0.5F, -0.25F})};
  for (const bool reset_last : {false, true}) {
    CAPTURE(reset_last);
    const Attributes attributes{{"linear_before_reset", reset_last ? 1 : 0}};
    const auto expected = naive_gru(x, w, r, b, reset_last);
    const auto y = values(run_output(0, 2, "GRU", inputs, attributes));
    REQUIRE(y.size() == expected.size());
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(expected[i]));
    CHECK(values(run_output(1, 2, "GRU", inputs, attributes)) == std::vector<float>{y[4], y[5]});
  }
}

TEST_CASE("Rows of a GRU with their own lengths keep their last state") {
  const Tensor x = floats({2, 2, 1}, {1, 1, 1, 1});
  const Tensor gates = floats({1, 3, 1}, {1, 1, 1});
  const OpInputs inputs{x, gates, gates, std::nullopt, typed<std::int32_t>({2}, {2, 1})};
  for (const int reset_last : {0, 1}) {
    const Attributes attributes{{"activations", std::vector<std::string>{"Affine", "Affine"}},
                                {"linear_before_reset", reset_last}};
    // first step: z = r = g = 1, h = 0 * 1 + 1 * 0; the second is the same
    check_tensor(run_output(0, 2, "GRU", inputs, attributes), {2, 1, 2, 1}, {0, 0, 0, 0});
    const Attributes tenth{{"activations", std::vector<std::string>{"HardSigmoid", "Affine"}},
                           {"activation_alpha", std::vector<float>{0, 1}},
                           {"activation_beta", std::vector<float>{0.5F, 0}},
                           {"linear_before_reset", reset_last}};
    // z = r = 1/2: h = 1/2, then g = 1 + h / 2 and h = g / 2 + h / 2
    check_tensor(run_output(0, 2, "GRU", inputs, tenth), {2, 1, 2, 1}, {0.5F, 0.5F, 0.875F, 0});
    check_tensor(run_output(1, 2, "GRU", inputs, tenth), {1, 2, 1}, {0.875F, 0.5F});
  }
}

TEST_CASE("What does not fit a GRU is refused") {
  const Tensor x = floats({1, 1, 1}, {1});
  const Tensor gates = floats({1, 3, 1}, {1, 1, 1});
  check_refused(kShape, "input 2 is [1,4,1], expected [1,3,1]", "GRU", {x, gates, floats({1, 4, 1}, {1, 1, 1, 1})});
  check_refused(kShape, "input 3 is [1,3], expected [1,6]", "GRU", {x, gates, gates, floats({1, 3}, {1, 1, 1})});
}
