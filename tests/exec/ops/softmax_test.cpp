// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

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
  check_close(run_op("Softmax", {floats({2}, {1, 2})}, {}, 11), {2}, {1, 1});  // no axis is left: each element alone
}

TEST_CASE("Softmax of large values does not overflow") {
  check_close(run_op("Softmax", {floats({1, 2}, {1000, 1000})}), {1, 2}, {0.5, 0.5});
  check_close(run_op("Softmax", {floats({1, 2}, {-1000, 1000})}), {1, 2}, {0, 1});
}

TEST_CASE("Softmax and LogSoftmax of many rows agree with double precision along every axis") {
  const Tensor x = whole_numbers({5, 37, 11}, 3);
  for (const std::int64_t axis : {0, 1, 2}) {
    CAPTURE(axis);
    const auto size = static_cast<std::size_t>(x.shape()[static_cast<std::size_t>(axis)]);
    const auto inner = static_cast<std::size_t>(x.shape().count(static_cast<std::size_t>(axis) + 1, 3));
    std::vector<double> soft(x.size());
    std::vector<double> logs(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t first = i / (size * inner) * size * inner + i % inner;
      double sum = 0.0;
      for (std::size_t k = 0; k < size; ++k) sum += std::exp(static_cast<double>(values(x)[first + k * inner]));
      soft[i] = std::exp(static_cast<double>(values(x)[i])) / sum;
      logs[i] = static_cast<double>(values(x)[i]) - std::log(sum);
    }
    check_close(run_op("Softmax", {x}, {{"axis", axis}}), x.shape(), soft);
    check_close(run_op("LogSoftmax", {x}, {{"axis", axis}}), x.shape(), logs);
  }
}

TEST_CASE("LogSoftmax does not lose small results and has the old form too") {
  check_close(run_op("LogSoftmax", {floats({1, 2}, {1000, 0})}), {1, 2}, {0, -1000});
  check_close(run_op("LogSoftmax", {floats({1, 1, 2}, {0, 0})}, {}, 11), {1, 1, 2}, {-std::log(2.0), -std::log(2.0)});
}

TEST_CASE("Hardmax marks the first largest element") {
  const Tensor x = floats({2, 3}, {1, 3, 3, 5, 2, 0});
  check_tensor(run_op("Hardmax", {x}), {2, 3}, {0, 1, 0, 1, 0, 0});
  check_tensor(run_op("Hardmax", {x}, {{"axis", 0}}), {2, 3}, {0, 1, 1, 1, 0, 0});
  check_tensor(run_op("Hardmax", {x}, {{"axis", 0}}, 11), {2, 3}, {0, 0, 0, 1, 0, 0});
}

TEST_CASE("NaN in a row makes the whole row NaN") {
  const auto y = values(run_op("Softmax", {floats({2, 2}, {0, std::nanf(""), 0, 0})}));
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == 0.5F);
}

TEST_CASE("Softmax of an axis outside the tensor and of integers is refused") {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    check_refused(kShape, "axis 2 is outside a tensor of 2 axes", op, {whole_numbers({1, 2}, 1)}, {{"axis", 2}});
    check_refused(kShape, "axis -3 is outside a tensor of 2 axes", op, {whole_numbers({1, 2}, 1)}, {{"axis", -3}}, 11);
    check_refused(kUnsupported, "input 0 is int64, expected float32", op, {int64s({1})});
  }
}

TEST_CASE("Softmax of an empty tensor is empty") {
  check_tensor(run_op("Softmax", {Tensor(ElementType::float32, {2, 0})}), {2, 0}, {});
  check_tensor(run_op("Softmax", {Tensor(ElementType::float32, {0, 2})}), {0, 2}, {});
  check_tensor(run_op("Softmax", {Tensor(ElementType::float32, {2, 0})}, {{"axis", 0}}), {2, 0}, {});
}
