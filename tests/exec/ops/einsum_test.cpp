// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/einsum.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

Tensor einsum(const std::string& equation, const OpInputs& inputs) {
  return run_op("Einsum", inputs, {{"equation", equation}});
}

const Tensor kX = floats({2, 3}, {1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("Einsum of one operand: transposition, sums and diagonals") {
  const Tensor square = floats({2, 2}, {1, 2, 3, 4});
  check_tensor(einsum("ij->ji", {kX}), {3, 2}, {1, 4, 2, 5, 3, 6});
  check_tensor(einsum("ba", {kX}), {3, 2}, {1, 4, 2, 5, 3, 6});
  check_tensor(einsum("ij->", {kX}), {}, {21});
  check_tensor(einsum(" i j -> i ", {kX}), {2}, {6, 15});
  check_tensor(einsum("ii->i", {square}), {2}, {1, 4});
  check_tensor(einsum("ii", {square}), {}, {5});
  check_tensor(einsum("...ii->...i", {floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}), {2, 2}, {1, 4, 5, 8});
  check_tensor(einsum("...j->j...", {kX}), {3, 2}, {1, 4, 2, 5, 3, 6});
}

TEST_CASE("Einsum of two operands: products of matrices, batches and vectors") {
  const Tensor v = floats({3}, {1, 10, 100});
  check_tensor(einsum("ij,j->i", {kX, v}), {2}, {321, 654});
  check_tensor(einsum("i,i", {v, v}), {}, {10101});
  check_tensor(einsum("i,j->ij", {floats({2}, {1, 2}), v}), {2, 3}, {1, 10, 100, 2, 20, 200});
  check_tensor(einsum("ij,ij->ij", {kX, kX}), {2, 3}, {1, 4, 9, 16, 25, 36});
  check_tensor(einsum("ij,kj->ik", {kX, kX}), {2, 2}, {14, 32, 32, 77});
  check_tensor(einsum("ij,kl->k", {kX, kX}), {2}, {126, 315});
  check_tensor(einsum(",i->i", {Tensor::scalar(2.0F), v}), {3}, {2, 20, 200});
}

TEST_CASE("Einsum of batches agrees with the definition") {
  const Tensor a = whole_numbers({2, 3, 4, 5}, 1);
  const Tensor b = whole_numbers({5, 3, 2, 6}, 2);
  std::vector<float> expected;  // bhik,khbj->bijh
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        for (std::size_t h = 0; h < 3; ++h) {
          float sum = 0.0F;
          for (std::size_t k = 0; k < 5; ++k) {
            sum += values(a)[((n * 3 + h) * 4 + i) * 5 + k] * values(b)[((k * 3 + h) * 2 + n) * 6 + j];
          }
          expected.push_back(sum);
        }
      }
    }
  }
  check_tensor(einsum("bhik,khbj->bijh", {a, b}), {2, 4, 6, 3}, expected);
}

TEST_CASE("Einsum broadcasts its ellipsis and axes of size 1") {
  const Tensor a = floats({2, 1, 2}, {1, 2, 3, 4});
  check_tensor(einsum("...i,...i->...", {a, floats({3, 2}, {1, 0, 0, 1, 1, 1})}), {2, 3}, {1, 2, 3, 3, 4, 7});
  check_tensor(einsum("...i,i", {a, floats({2}, {1, 10})}), {2, 1}, {21, 43});
  check_tensor(einsum("ij,ij->i", {kX, floats({1, 3}, {1, 10, 100})}), {2}, {321, 654});
}

TEST_CASE("Einsum of three operands and of other types") {
  const Tensor m = floats({2, 2}, {1, 2, 3, 4});
  check_tensor(einsum("ij,jk,kl->il", {m, m, m}), {2, 2}, {37, 54, 81, 118});
  check_tensor(einsum("ij,j,i->", {m, floats({2}, {1, 10}), floats({2}, {1, 100})}), {}, {4321});
  check_typed<double>(einsum("i,i->", {typed<double>({2}, {1e10, 1}), typed<double>({2}, {1e10, 1})}), {}, {1e20 + 1});
  check_typed<std::int8_t>(einsum("i,i->", {typed<std::int8_t>({2}, {100, -3}), typed<std::int8_t>({2}, {2, 1})}), {},
                           {-59});
  check_typed<std::int64_t>(einsum("i->", {int64s({std::int64_t{1} << 62, std::int64_t{1} << 62})}), {}, {INT64_MIN});
  CHECK(einsum("i->i", {typed<Half>({1}, {to_half(2.0F)})}).type() == ElementType::float16);
}

TEST_CASE("Einsum over nothing is 0") {
  check_tensor(einsum("ij,jk->ik", {floats({1, 0}, {}), floats({0, 2}, {})}), {1, 2}, {0, 0});
  check_tensor(einsum("ij->j", {floats({0, 2}, {})}), {2}, {0, 0});
}

TEST_CASE("Equations that do not fit are refused") {
  const auto refused = [](const std::string& part, const std::string& equation, const OpInputs& inputs) {
    check_refused(kShape, part, "Einsum", inputs, {{"equation", equation}});
  };
  refused("the equation has 1 terms for 2 inputs", "ij", {kX, kX});
  refused("input 0 has 2 axes for the term \"i\"", "i", {kX});
  refused("input 0 has 2 axes for the term \"...ijk\"", "...ijk", {kX});
  refused("the equation has the term \"1i\"", "1i", {kX});
  refused("the equation has the term \"i......\"", "...,i->i......", {kX, floats({2}, {1, 2})});
  refused("input 0 [2,3] does not fit", "ii", {kX});
  refused("input 1 [2,3] does not fit", "ij,jk", {kX, kX});
  refused("a letter that no input has", "ij->ik", {kX});
  refused("a letter twice", "ij->ii", {kX});
  refused("more than 2^29 elements", "i,j,k->ijk",
          {whole_numbers({2048}, 1), whole_numbers({2048}, 1), whole_numbers({2048}, 1)});
  check_refused(kUnsupported, "input 1 is int64, expected float32", "Einsum", {kX, int64s({1})},
                {{"equation", std::string("ij,k")}});
  check_refused(kUnsupported, "expected numbers", "Einsum", {Tensor::scalar(true)}, {{"equation", std::string("->")}});
}
