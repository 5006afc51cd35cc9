// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/matmul.hpp>

#include <doctest/doctest.h>

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
  check_refused(kUnsupported, "input 1 is int64", "Gemm", {kA, int64s({1})});
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

TEST_CASE("What does not fit a MatMul is refused") {
  check_refused(kShape, "a scalar cannot be multiplied", "MatMul", {Tensor::scalar(1.0F), kB});
  check_refused(kShape, "inputs [1,2] and [3,2] do not fit", "MatMul", {kA, whole_numbers({3, 2}, 1)});
  check_refused(kShape, "inputs [3] and [2,2] do not fit", "MatMul", {floats({3}, {1, 2, 3}), kB});
  check_refused(kShape, "shapes [2] and [3] cannot be broadcast", "MatMul",
                {whole_numbers({2, 1, 1}, 1), whole_numbers({3, 1, 1}, 1)});
}
