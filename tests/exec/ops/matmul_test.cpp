// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/matmul.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/cast.hpp>

#include "exec/run_op.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kA = floats({1, 2}, {1, 2});
const Tensor kB = floats({2, 2}, {3, 4, 5, 6});
const Tensor kC = floats({2}, {1, -1});

}  // namespace

TEST_CASE("Gemm with transB, alpha and beta gives the known values") {
  check_tensor(run_op("Gemm", {kA, kB, kC}, {{"transB", 1}, {"alpha", 2.0F}, {"beta", 1.0F}}), {1, 2}, {23, 33});
  check_tensor(run_op("Gemm", {kA, kB, kC}, {{"transB", 1}, {"alpha", 2.0F}, {"beta", 0.5F}}), {1, 2}, {22.5F, 33.5F});
  check_tensor(run_op("Gemm", {kA, kB, kC}, {{"transB", 0}, {"alpha", 2.0F}}), {1, 2}, {27, 31});
  check_tensor(run_op("Gemm", {floats({2, 1}, {1, 2}), kB, kC}, {{"transA", 1}, {"transB", 1}, {"alpha", 2.0F}}),
               {1, 2}, {23, 33});
  check_tensor(run_op("Gemm", {kA, kB}, {{"transB", 1}, {"alpha", 2.0F}, {"beta", 0.5F}}), {1, 2}, {22, 34});
  check_tensor(run_op("Gemm", {kA, kB, std::nullopt}), {1, 2}, {13, 16});
}

TEST_CASE("Gemm with all forms of transposition agrees with the definition") {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const Tensor a = whole_numbers(transpose_a ? Shape{4, 3} : Shape{3, 4}, 1);
      const Tensor b = whole_numbers(transpose_b ? Shape{5, 4} : Shape{4, 5}, 2);
      const Tensor c = whole_numbers({3, 5}, 3);
      std::vector<float> expected;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 5; ++j) {
          double sum = 0.0;
          for (std::size_t k = 0; k < 4; ++k) {
            sum += static_cast<double>(values(a)[transpose_a ? k * 3 + i : i * 4 + k]) *
                   static_cast<double>(values(b)[transpose_b ? j * 4 + k : k * 5 + j]);
          }
          expected.push_back(static_cast<float>(0.5 * sum + 2.0 * static_cast<double>(values(c)[i * 5 + j])));
        }
      }
      check_tensor(
          run_op("Gemm", {a, b, c},
                 {{"transA", transpose_a ? 1 : 0}, {"transB", transpose_b ? 1 : 0}, {"alpha", 0.5F}, {"beta", 2.0F}}),
          {3, 5}, expected);
    }
  }
}

TEST_CASE("C of a Gemm is broadcast from a scalar, a row or a column") {
  const Tensor a = floats({2, 1}, {1, 2});
  const Tensor b = floats({1, 2}, {10, 100});
  check_tensor(run_op("Gemm", {a, b, Tensor::scalar(1.0F)}), {2, 2}, {11, 101, 21, 201});
  check_tensor(run_op("Gemm", {a, b, floats({1}, {1})}), {2, 2}, {11, 101, 21, 201});
  check_tensor(run_op("Gemm", {a, b, floats({2}, {1, 2})}), {2, 2}, {11, 102, 21, 202});
  check_tensor(run_op("Gemm", {a, b, floats({1, 2}, {1, 2})}), {2, 2}, {11, 102, 21, 202});
  check_tensor(run_op("Gemm", {a, b, floats({2, 1}, {1, 2})}), {2, 2}, {11, 101, 22, 202});
}

TEST_CASE("What does not fit a Gemm is refused") {
  check_refused(kShape, "must be matrices", "Gemm", {floats({2}, {1, 2}), kB});
  check_refused(kShape, "inputs [1,2] and [3,2] do not fit", "Gemm", {kA, whole_numbers({3, 2}, 1)});
  check_refused(kShape, "inputs [1,2] and [2,2] do not fit", "Gemm", {kA, kB}, {{"transA", 1}});
  check_refused(kShape, "shapes [3] and [1,2] cannot be broadcast", "Gemm", {kA, kB, floats({3}, {1, 2, 3})});
  check_refused(kShape, "C [2,2] is too large", "Gemm", {kA, kB, whole_numbers({2, 2}, 1)});
  check_refused(kShape, "C [1,1,2] is too large", "Gemm", {kA, kB, whole_numbers({1, 1, 2}, 1)});
  check_refused(kUnsupported, "input 1 is int64", "Gemm", {kA, Tensor(ElementType::int64, {2, 2})});
  check_refused(kUnsupported, "input 2 is int64", "Gemm", {kA, kB, int64s({1, 2})});
  check_refused(kUnsupported, "matrices are int8, expected floats or integers of 32 or 64 bits", "Gemm",
                {Tensor(ElementType::int8, {1, 2}), Tensor(ElementType::int8, {2, 2})});
  check_refused(kUnsupported, "alpha is 0.5", "Gemm",
                {Tensor(ElementType::int64, {1, 2}), Tensor(ElementType::int64, {2, 2})}, {{"alpha", 0.5F}});
}

TEST_CASE("Gemm of integers and float64 is computed in that type") {
  const std::vector<std::int32_t> a{1, 2};
  const std::vector<std::int32_t> b{3, 4, 5, INT32_MAX};
  const Tensor left(Shape{1, 2}, std::span<const std::int32_t>(a));
  const Tensor right(Shape{2, 2}, std::span<const std::int32_t>(b));
  CHECK(values<std::int32_t>(run_op("Gemm", {left, right}, {{"alpha", -3.0F}})) ==
        std::vector<std::int32_t>{-39, -6});  // 4 + 2 * (2^31 - 1) wraps to 2
  CHECK(values<std::int32_t>(run_op("Gemm", {left, right, Tensor(Shape{1, 2}, std::span<const std::int32_t>(a))},
                                    {{"beta", 10.0F}})) == std::vector<std::int32_t>{23, 22});
  const std::vector<double> c{1.0 + 0x1p-40, 2.0};
  const Tensor doubles(Shape{1, 2}, std::span<const double>(c));
  CHECK(values<double>(run_op("Gemm", {doubles, doubles}, {{"transB", 1}})) ==
        std::vector<double>{(1.0 + 0x1p-40) * (1.0 + 0x1p-40) + 4.0});
}

TEST_CASE("Gemm of halves is computed in float32 and rounded once") {
  const Tensor a = cast(floats({1, 2}, {2048, 1}), ElementType::float16);
  const Tensor b = cast(floats({2, 1}, {1, 3}), ElementType::float16);
  const Tensor y = run_op("Gemm", {a, b});
  REQUIRE(y.type() == ElementType::float16);
  check_tensor(cast(y, ElementType::float32), {1, 1}, {2052});  // 2051 is a tie
}

TEST_CASE("The old form of Gemm with the attribute broadcast gives the same") {
  check_tensor(run_op("Gemm", {kA, kB, kC}, {{"broadcast", 1}}, 6), {1, 2}, {14, 15});
}

TEST_CASE("A Gemm without columns, rows or depth") {
  check_tensor(run_op("Gemm", {Tensor(ElementType::float32, {0, 2}), kB}), {0, 2}, {});
  check_tensor(run_op("Gemm", {Tensor(ElementType::float32, {1, 0}), Tensor(ElementType::float32, {0, 2}), kC}), {1, 2},
               {1, -1});
}

TEST_CASE("MatMul of matrices and vectors") {
  check_tensor(run_op("MatMul", {kA, kB}), {1, 2}, {13, 16});
  check_tensor(run_op("MatMul", {floats({2}, {1, 2}), kB}), {2}, {13, 16});
  check_tensor(run_op("MatMul", {kB, floats({2}, {1, 2})}), {2}, {11, 17});
  check_tensor(run_op("MatMul", {floats({2}, {1, 2}), floats({2}, {3, 4})}), {}, {11});
}

TEST_CASE("MatMul of batches") {
  const Tensor a = floats({2, 1, 2}, {1, 2, 3, 4});
  const Tensor b = floats({2, 2, 1}, {10, 100, 20, 200});
  check_tensor(run_op("MatMul", {a, b}), {2, 1, 1}, {210, 860});
  check_tensor(run_op("MatMul", {a, kB}), {2, 1, 2}, {13, 16, 29, 36});
  check_tensor(run_op("MatMul", {a, floats({1, 2, 1}, {10, 100})}), {2, 1, 1}, {210, 430});
  check_tensor(run_op("MatMul", {kA, b}), {2, 1, 1}, {210, 420});
  check_tensor(run_op("MatMul", {floats({2}, {1, 2}), b}), {2, 1}, {210, 420});
  check_tensor(run_op("MatMul", {a, floats({2}, {10, 100})}), {2, 1}, {210, 430});
  check_tensor(run_op("MatMul", {kA, floats({1, 1, 2, 1}, {10, 100})}), {1, 1, 1, 1}, {210});
}

TEST_CASE("Batches of a MatMul are broadcast against each other") {
  const Tensor a = whole_numbers({2, 1, 2, 3}, 1);
  const Tensor b = whole_numbers({4, 3, 2}, 2);
  std::vector<float> expected;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t q = 0; q < 4; ++q) {
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
          float sum = 0.0F;
          for (std::size_t k = 0; k < 3; ++k) sum += values(a)[p * 6 + i * 3 + k] * values(b)[q * 6 + k * 2 + j];
          expected.push_back(sum);
        }
      }
    }
  }
  check_tensor(run_op("MatMul", {a, b}), {2, 4, 2, 2}, expected);
}

TEST_CASE("MatMul of integers wraps and that of float64 keeps its precision") {
  const std::vector<std::uint64_t> a{UINT64_MAX, 2};
  const std::vector<std::uint64_t> b{2, 5};
  CHECK(values<std::uint64_t>(run_op("MatMul", {Tensor(Shape{2}, std::span<const std::uint64_t>(a)),
                                                Tensor(Shape{2}, std::span<const std::uint64_t>(b))})) ==
        std::vector<std::uint64_t>{8});
  CHECK(values<std::int64_t>(run_op("MatMul", {int64s({INT64_MIN, 1}), int64s({-1, 1})})) == Ints{INT64_MIN + 1});
  const std::vector<double> c{1.0 + 0x1p-40};
  const Tensor one(Shape{1, 1}, std::span<const double>(c));
  CHECK(values<double>(run_op("MatMul", {one, one})) == std::vector<double>{(1.0 + 0x1p-40) * (1.0 + 0x1p-40)});
}

TEST_CASE("MatMul of empty batches and sizes") {
  check_tensor(run_op("MatMul", {Tensor(ElementType::float32, {0, 2, 3}), whole_numbers({3, 2}, 1)}), {0, 2, 2}, {});
  check_tensor(run_op("MatMul", {Tensor(ElementType::float32, {0, 2, 3}), Tensor(ElementType::float32, {0, 3, 2})}),
               {0, 2, 2}, {});
  check_tensor(run_op("MatMul", {Tensor(ElementType::float32, {1, 0}), Tensor(ElementType::float32, {0, 2})}), {1, 2},
               {0, 0});
}

TEST_CASE("What does not fit a MatMul is refused") {
  check_refused(kShape, "a scalar cannot be multiplied", "MatMul", {Tensor::scalar(1.0F), kB});
  check_refused(kShape, "inputs [1,2] and [3,2] do not fit", "MatMul", {kA, whole_numbers({3, 2}, 1)});
  check_refused(kShape, "inputs [3] and [2,2] do not fit", "MatMul", {floats({3}, {1, 2, 3}), kB});
  check_refused(kShape, "shapes [2] and [3] cannot be broadcast", "MatMul",
                {whole_numbers({2, 1, 1}, 1), whole_numbers({3, 1, 1}, 1)});
}
