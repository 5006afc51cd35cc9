// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/normalization.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"

using namespace amct;
using namespace support;

TEST_CASE("InstanceNormalization works on each channel of each image") {
  const Tensor x = floats({2, 1, 4}, {1, 3, 1, 3, 0, 0, 4, 4});
  check_close(
      run_op("InstanceNormalization", {x, floats({1}, {2}), floats({1}, {5})}, {{"epsilon", 3.0F}}), {2, 1, 4},
      {4, 6, 4, 6, 5 - 4 / std::sqrt(7.0), 5 - 4 / std::sqrt(7.0), 5 + 4 / std::sqrt(7.0), 5 + 4 / std::sqrt(7.0)});
  check_refused(kShape, "a parameter does not have one value a channel", "InstanceNormalization",
                {x, floats({2}, {1, 1}), floats({1}, {1})});
  check_refused(kShape, "input [1,2] has no spatial axes", "InstanceNormalization",
                {floats({1, 2}, {1, 2}), floats({1}, {1}), floats({1}, {1})});
}

TEST_CASE("LayerNormalization works over all axes from the given one, and gives its statistics") {
  const Tensor x = floats({2, 2, 2}, {1, 3, 1, 3, 0, 0, 4, 4});
  const Tensor scale = floats({2}, {1, 2});
  const Tensor bias = floats({2}, {0, 10});
  check_close(run_op("LayerNormalization", {x, scale, bias}, {{"epsilon", 3.0F}}, 17), {2, 2, 2},
              {-0.5, 11, -0.5, 11, 0, 10, 0, 10});
  check_close(run_op("LayerNormalization", {x, floats({2, 1}, {1, 2})}, {{"axis", 1}, {"epsilon", 0.0F}}, 17),
              {2, 2, 2}, {-1, 1, -2, 2, -1, -1, 2, 2});
  const std::vector<Tensor> inputs{x, floats({1}, {1})};
  const Attributes attributes{{"axis", -2}, {"epsilon", 0.0F}};
  check_close(run_output(1, 3, "LayerNormalization", inputs, attributes, 17), {2, 1, 1}, {2, 2});
  check_close(run_output(2, 3, "LayerNormalization", inputs, attributes, 17), {2, 1, 1}, {1, 0.5});
}

TEST_CASE("LayerNormalization of long rows agrees with double precision") {
  const Tensor x = whole_numbers({3, 1037}, 7);
  const Tensor y = run_op("LayerNormalization", {x, floats({1}, {1})}, {}, 17);
  for (std::size_t row = 0; row < 3; ++row) {
    double mean = 0.0;
    double variance = 0.0;
    const auto at = [&](std::size_t i) { return static_cast<double>(values(x)[row * 1037 + i]); };
    for (std::size_t i = 0; i < 1037; ++i) mean += at(i) / 1037.0;
    for (std::size_t i = 0; i < 1037; ++i) variance += (at(i) - mean) * (at(i) - mean) / 1037.0;
    for (std::size_t i = 0; i < 1037; i += 17) {
      const double exact = (at(i) - mean) / std::sqrt(variance + 1e-5);
      CHECK(static_cast<double>(y.data<float>()[row * 1037 + i]) == doctest::Approx(exact).epsilon(1e-5));
    }
  }
}

TEST_CASE("What does not fit a layer normalization is refused") {
  const Tensor x = whole_numbers({2, 3}, 1);
  check_refused(kShape, "input 1 is [2,3], expected [3]", "LayerNormalization", {x, x}, {}, 17);
  check_refused(kShape, "shapes [3] and [2] cannot be broadcast", "LayerNormalization", {x, floats({2}, {1, 1})}, {},
                17);
  check_refused(kShape, "axis 2 is outside", "LayerNormalization", {x, x}, {{"axis", 2}}, 17);
}

TEST_CASE("LRN divides by the squares of neighbouring channels") {
  const Tensor x = floats({1, 3, 1}, {1, 2, 3});
  const auto expected = [](double value, double squares, double beta) {
    return value / std::pow(2.0 + 3.0 / 2.0 * squares, beta);
  };
  for (const float beta : {0.75F, 0.5F}) {
    const double b = static_cast<double>(beta);
    check_close(run_op("LRN", {x}, {{"size", 2}, {"alpha", 3.0F}, {"beta", beta}, {"bias", 2.0F}}), {1, 3, 1},
                {expected(1, 5, b), expected(2, 13, b), expected(3, 9, b)});
  }
  check_close(run_op("LRN", {x}, {{"size", 3}}), {1, 3, 1},
              {std::pow(1 + 1e-4 / 3 * 5, -0.75), 2 * std::pow(1 + 1e-4 / 3 * 14, -0.75),
               3 * std::pow(1 + 1e-4 / 3 * 13, -0.75)});
  check_refused(kCorrupt, "size is 0, expected 1 or more", "LRN", {x});
  check_refused(kShape, "input [1] has no channel axis", "LRN", {floats({1}, {1})}, {{"size", 1}});
}

TEST_CASE("MeanVarianceNormalization over the default axes and others") {
  const Tensor x = floats({2, 1, 1, 2}, {1, 3, 3, 1});
  check_close(run_op("MeanVarianceNormalization", {x}), {2, 1, 1, 2}, {-1, 1, 1, -1});
  check_close(run_op("MeanVarianceNormalization", {floats({2, 2}, {1, 10, 3, 20})}, {{"axes", Ints{0}}}), {2, 2},
              {-1, -1, 1, 1});
  check_refused(kShape, "axis 2 is outside", "MeanVarianceNormalization", {floats({1, 2}, {1, 2})});
}

TEST_CASE("LpNormalization divides by the norm along one axis") {
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  check_close(run_op("LpNormalization", {x}), {2, 2}, {0.6, -0.8, 0, 0});
  check_close(run_op("LpNormalization", {x}, {{"p", 1}}), {2, 2}, {3.0 / 7, -4.0 / 7, 0, 0});
  check_close(run_op("LpNormalization", {x}, {{"axis", 0}}), {2, 2}, {1, -1, 0, 0});
  check_refused(kCorrupt, "p is 3, expected 1 or 2", "LpNormalization", {x}, {{"p", 3}});
}
