// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/normalize.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include "exec/run_op.hpp"

using namespace amct;
using namespace support;

namespace {

void check_close(const Tensor& y, const Shape& shape, const std::vector<double>& expected) {
  CHECK(to_string(y.shape()) == to_string(shape));
  REQUIRE(y.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(static_cast<double>(values(y)[i]) == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

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

TEST_CASE("What does not fit a batch normalization is refused") {
  const Tensor two = floats({2}, {1, 1});
  const Tensor x = whole_numbers({1, 2, 2}, 1);
  check_refused(kShape, "input [2] has no channel axis", "BatchNormalization", {two, two, two, two, two});
  check_refused(kShape, "a parameter does not have one value a channel", "BatchNormalization",
                {x, two, two, floats({1}, {1}), two});
  check_refused(kUnsupported, "training_mode is not supported", "BatchNormalization", {x, two, two, two, two},
                {{"training_mode", 1}}, 15);
  check_refused(kCorrupt, "input 4 is missing", "BatchNormalization", {x, two, two, two});
}

TEST_CASE("Softmax works along one axis from opset 13") {
  const Tensor x = floats({2, 2}, {0, std::log(3.0F), 0, 0});
  check_close(run_op("Softmax", {x}), {2, 2}, {0.25, 0.75, 0.5, 0.5});
  check_close(run_op("Softmax", {x}, {{"axis", 1}}), {2, 2}, {0.25, 0.75, 0.5, 0.5});
  check_close(run_op("Softmax", {x}, {{"axis", 0}}), {2, 2}, {0.5, 0.75, 0.5, 0.25});
  check_close(run_op("Softmax", {x}, {{"axis", -2}}), {2, 2}, {0.5, 0.75, 0.5, 0.25});
}

TEST_CASE("Softmax works over all axes from the given one before opset 13") {
  const Tensor x = floats({1, 2, 2}, {0, 0, 0, std::log(5.0F)});
  check_close(run_op("Softmax", {x}, {}, 12), {1, 2, 2}, {0.125, 0.125, 0.125, 0.625});
  check_close(run_op("Softmax", {x}, {{"axis", 2}}, 11), {1, 2, 2}, {0.5, 0.5, 1.0 / 6.0, 5.0 / 6.0});
  check_close(run_op("Softmax", {x}, {{"axis", -1}}, 11), {1, 2, 2}, {0.5, 0.5, 1.0 / 6.0, 5.0 / 6.0});
  check_close(run_op("Softmax", {floats({2, 1, 1}, {1, 2})}, {{"axis", 0}}, 11), {2, 1, 1},
              {1.0 / (1.0 + std::exp(1.0)), std::exp(1.0) / (1.0 + std::exp(1.0))});
}

TEST_CASE("Softmax of large values does not overflow") {
  check_close(run_op("Softmax", {floats({1, 2}, {1000, 1000})}), {1, 2}, {0.5, 0.5});
  check_close(run_op("Softmax", {floats({1, 2}, {-1000, 1000})}), {1, 2}, {0, 1});
}

TEST_CASE("Softmax of an axis outside the tensor is refused") {
  check_refused(kShape, "axis 2 is outside a tensor of 2 axes", "Softmax", {whole_numbers({1, 2}, 1)}, {{"axis", 2}});
  check_refused(kShape, "axis -3 is outside a tensor of 2 axes", "Softmax", {whole_numbers({1, 2}, 1)}, {{"axis", -3}},
                11);
}

TEST_CASE("Softmax of an empty tensor is empty") {
  check_tensor(run_op("Softmax", {Tensor(ElementType::float32, {2, 0})}), {2, 0}, {});
  check_tensor(run_op("Softmax", {Tensor(ElementType::float32, {0, 2})}), {0, 2}, {});
  check_tensor(run_op("Softmax", {Tensor(ElementType::float32, {2, 0})}, {{"axis", 0}}), {2, 0}, {});
}

TEST_CASE("ReduceMean over some axes, all axes, and with or without keeping them") {
  const Tensor x = floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{1}}}), {2, 1, 2}, {3, 4, 9, 10});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{1}}, {"keepdims", 0}}), {2, 2}, {3, 4, 9, 10});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{0, -1}}}), {1, 3, 1}, {4.5F, 6.5F, 8.5F});
  check_tensor(run_op("ReduceMean", {x}, {{"axes", Ints{-1, 0}}, {"keepdims", 0}}), {3}, {4.5F, 6.5F, 8.5F});
  check_tensor(run_op("ReduceMean", {x}), {1, 1, 1}, {6.5F});
  check_tensor(run_op("ReduceMean", {x}, {{"keepdims", 0}}), {}, {6.5F});
  check_refused(kShape, "axis 3 is outside a tensor of 3 axes", "ReduceMean", {x}, {{"axes", Ints{3}}});
}
