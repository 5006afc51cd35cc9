// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kA = typed<std::uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kB = typed<std::int8_t>({3, 2}, {1, -1, 2, -2, 3, -3});

Tensor bytes(const std::vector<std::uint8_t>& values) {
  return typed<std::uint8_t>({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("MatMulInteger subtracts the zero points") {
  check_typed<std::int32_t>(run_op("MatMulInteger", {kA, kB}), {2, 2}, {14, -14, 32, -32});
  check_typed<std::int32_t>(run_op("MatMulInteger", {kA, kB, Tensor::scalar<std::uint8_t>(1)}), {2, 2},
                            {8, -8, 26, -26});
  // rows of A: [1 2 3] - 1 and [4 5 6] - 4; columns of B: [1 2 3] - 1 and [-1 -2 -3] + 1
  check_typed<std::int32_t>(run_op("MatMulInteger", {kA, kB, bytes({1, 4}), typed<std::int8_t>({2}, {1, -1})}), {2, 2},
                            {5, -5, 5, -5});
}

TEST_CASE("MatMulInteger of vectors and batches") {
  const Tensor row = typed<std::uint8_t>({3}, {1, 2, 3});
  check_typed<std::int32_t>(run_op("MatMulInteger", {row, kB}), {2}, {14, -14});
  check_typed<std::int32_t>(run_op("MatMulInteger", {kA, row}), {2}, {14, 32});
  const Tensor batch = typed<std::uint8_t>({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor matrices = typed<std::int8_t>({2, 3, 1}, {1, 0, 0, 0, 0, 1});
  check_typed<std::int32_t>(run_op("MatMulInteger", {batch, kB}), {2, 1, 2}, {14, -14, 32, -32});
  check_typed<std::int32_t>(run_op("MatMulInteger", {batch, matrices}), {2, 1, 1}, {1, 6});
  check_typed<std::int32_t>(run_op("MatMulInteger", {kA, matrices}), {2, 2, 1}, {1, 4, 3, 6});
  CHECK(run_op("MatMulInteger", {typed<std::uint8_t>({0, 3}, {}), kB}).size() == 0);
}

TEST_CASE("QLinearMatMul requantizes") {
  const auto run = [](const Tensor& scale_a, const Tensor& scale_b, const Tensor& scale_y, const Tensor& zero_y) {
    return run_op("QLinearMatMul", {kA, scale_a, Tensor::scalar<std::uint8_t>(0), kB, scale_b,
                                    Tensor::scalar<std::int8_t>(0), scale_y, zero_y});
  };
  const Tensor one = floats({1}, {1});
  // accumulators 14 -14 32 -32
  check_typed<std::uint8_t>(run(one, one, floats({1}, {4}), bytes({100})), {2, 2}, {104, 96, 108, 92});
  check_typed<std::int8_t>(run(one, one, floats({}, {0.1F}), typed<std::int8_t>({1}, {0})), {2, 2},
                           {127, -128, 127, -128});
  check_typed<std::uint8_t>(run(one, floats({2}, {0.5F, 0.25F}), one, bytes({100})), {2, 2}, {107, 96, 116, 92});
  check_typed<std::uint8_t>(run(floats({2}, {1, 0.5F}), floats({2}, {1, 0.5F}), one, bytes({100})), {2, 2},
                            {114, 93, 116, 92});
  check_typed<std::uint8_t>(run(one, one, floats({2}, {1, 2}), bytes({100, 50})), {2, 2}, {114, 86, 66, 34});
}

TEST_CASE("What does not fit an integer product is refused") {
  const Tensor one = floats({1}, {1});
  const Tensor zero = Tensor::scalar<std::uint8_t>(0);
  check_refused(kShape, "inputs [2,3] and [2,3] do not fit", "MatMulInteger", {kA, kA});
  check_refused(kShape, "a scalar cannot be multiplied", "MatMulInteger", {kA, zero});
  check_refused(kUnsupported, "input 1 is float32, expected int8 or uint8", "MatMulInteger", {kA, one});
  check_refused(kShape, "zero points are [3], expected one or 2", "MatMulInteger", {kA, kB, bytes({0, 0, 0})});
  check_refused(kShape, "scales are [3], expected one or 2", "QLinearMatMul",
                {kA, floats({3}, {1, 1, 1}), zero, kB, one, Tensor::scalar<std::int8_t>(0), one, zero});
  check_refused(kUnsupported, "input 7 is float32", "QLinearMatMul",
                {kA, one, zero, kB, one, Tensor::scalar<std::int8_t>(0), one, one});
  check_refused(kShape, "expected a positive number", "QLinearMatMul",
                {kA, one, zero, kB, one, Tensor::scalar<std::int8_t>(0), floats({1}, {0}), zero});
}
