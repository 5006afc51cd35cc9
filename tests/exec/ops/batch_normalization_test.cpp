// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kOnes = floats({2}, {1, 1});
const Tensor kZeros = floats({2}, {0, 0});

}  // namespace

TEST_CASE("A batch normalization with known numbers") {
  const Tensor x = floats({1, 2, 2}, {1, 2, 3, 4});
  const Tensor gamma = floats({2}, {2, 3});
  const Tensor beta = floats({2}, {0.5F, -1});
  const Tensor mean = floats({2}, {1, 5});
  const Tensor variance = floats({2}, {3, 0});
  check_tensor(run_op("BatchNormalization", {x, gamma, beta, mean, variance}, {{"epsilon", 1.0F}}), {1, 2, 2},
               {0.5F, 1.5F, -7, -4});
}

TEST_CASE("A batch normalization works per channel for every rank and uses 1e-5 by default") {
  const Tensor gamma = floats({3}, {0.5F, -1.5F, 2});
  const Tensor beta = floats({3}, {0.1F, 0.2F, 0.3F});
  const Tensor mean = floats({3}, {0.7F, -0.3F, 0});
  const Tensor variance = floats({3}, {0.01F, 2, 0});
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 3, 2, 2}}) {
    const Tensor x = whole_numbers(shape, 1);
    const std::size_t inner = x.size() / 6;
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / inner % 3;
      const auto number = [&](const Tensor& t) { return static_cast<double>(values(t)[c]); };
      expected.push_back((static_cast<double>(values(x)[i]) - number(mean)) * number(gamma) /
                             std::sqrt(number(variance) + 1e-5) +
                         number(beta));
    }
    check_close(run_op("BatchNormalization", {x, gamma, beta, mean, variance}), shape, expected);
  }
}

TEST_CASE("Training normalizes by the batch and gives running statistics") {
  const Tensor x = floats({2, 2, 2}, {1, 3, 0, 0, 5, 7, 4, 4});  // means 4 and 2, variances 5 and 4
  const std::vector<Tensor> inputs{x, kOnes, kZeros, floats({2}, {10, 20}), floats({2}, {1, 2})};
  const Attributes training{{"training_mode", 1}, {"momentum", 0.75F}, {"epsilon", 0.0F}};
  const double root = std::sqrt(5.0);
  check_close(run_output(0, 3, "BatchNormalization", inputs, training, 15), {2, 2, 2},
              {-3 / root, -1 / root, -1, -1, 1 / root, 3 / root, 1, 1});
  check_tensor(run_output(1, 3, "BatchNormalization", inputs, training, 15), {2}, {8.5F, 15.5F});
  check_tensor(run_output(2, 3, "BatchNormalization", inputs, training, 15), {2}, {2, 2.5F});
}

TEST_CASE("Before opset 14 the outputs of training ask for it, unless is_test says no") {
  const Tensor x = floats({2, 2, 1}, {1, 0, 3, 4});  // means 2 and 2, variances 1 and 4
  const std::vector<Tensor> inputs{x, kOnes, kZeros, floats({2}, {10, 20}), kOnes};
  const Attributes attributes{{"momentum", 0.5F}, {"epsilon", 0.0F}};
  check_tensor(run_output(0, 5, "BatchNormalization", inputs, attributes, 9), {2, 2, 1}, {-1, -1, 1, 1});
  check_tensor(run_output(1, 5, "BatchNormalization", inputs, attributes, 9), {2}, {6, 11});
  check_tensor(run_output(3, 5, "BatchNormalization", inputs, attributes, 9), {2}, {2, 2});
  check_tensor(run_output(4, 5, "BatchNormalization", inputs, attributes, 9), {2}, {1, 4});
  check_tensor(run_output(0, 1, "BatchNormalization", inputs, attributes, 9), {2, 2, 1}, {-9, -20, -7, -16});
  check_tensor(run_output(0, 1, "BatchNormalization", inputs, {{"is_test", 1}, {"epsilon", 0.0F}}, 6), {2, 2, 1},
               {-9, -20, -7, -16});
}

TEST_CASE("Without spatial every position has parameters of its own") {
  const Tensor four = floats({4}, {1, 2, 3, 4});
  const Tensor ones = floats({4}, {1, 1, 1, 1});
  const Tensor x = floats({1, 2, 2}, {5, 6, 7, 8});
  check_tensor(run_op("BatchNormalization", {x, ones, four, four, ones}, {{"spatial", 0}, {"epsilon", 0.0F}}, 7),
               {1, 2, 2}, {5, 6, 7, 8});
}

TEST_CASE("What does not fit a batch normalization is refused") {
  const Tensor x = whole_numbers({1, 2, 2}, 1);
  check_refused(kShape, "input [2] has no channel axis", "BatchNormalization", {kOnes, kOnes, kOnes, kOnes, kOnes});
  check_refused(kShape, "a parameter does not have one value a channel", "BatchNormalization",
                {x, kOnes, kOnes, floats({1}, {1}), kOnes});
  check_refused(kCorrupt, "input 4 is missing", "BatchNormalization", {x, kOnes, kOnes, kOnes});
}
