// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/integer_product.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace amct::exec;
using namespace support;

TEST_CASE("Unsigned codes become signed ones with lower zero points, signed ones stay") {
  const auto flipped = to_signed(typed<std::uint8_t>({2, 2}, {0, 255, 7, 128}), {255, 8});
  CHECK(flipped.codes == std::vector<std::int8_t>{-128, 127, -121, 0});
  CHECK(flipped.zeros == std::vector<std::int32_t>{127, -120});
  const auto kept = to_signed(typed<std::int8_t>({2}, {-128, 127}), {3});
  CHECK(kept.codes == std::vector<std::int8_t>{-128, 127});
  CHECK(kept.zeros == std::vector<std::int32_t>{3});
}

TEST_CASE("Products of codes less their zero points are exact modulo 2^32, at any depth") {
  for (const std::size_t depth : {0U, 1U, 3U, 255U, 32768U, 32769U, 70000U}) {
    CAPTURE(depth);
    std::vector<std::int8_t> a(2 * depth, -128), b(depth * 3, -128);  // the longest sums
    for (std::size_t i = 0; i < a.size(); i += 1000) a[i] = static_cast<std::int8_t>(i % 7);
    for (std::size_t i = 0; i < b.size(); i += 1001) b[i] = static_cast<std::int8_t>(i % 5);
    const std::vector<std::int32_t> zeros_b{127, -3, 0};
    for (const auto& zeros_a : {std::vector<std::int32_t>{127}, std::vector<std::int32_t>{127, -128}}) {
      std::vector<std::int32_t> expected;
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          std::int64_t sum = 0;
          for (std::size_t p = 0; p < depth; ++p) {
            sum += std::int64_t{a[i * depth + p] - zeros_a[i % zeros_a.size()]} * (b[p * 3 + j] - zeros_b[j]);
          }
          expected.push_back(static_cast<std::int32_t>(sum));
        }
      }
      std::vector<std::int32_t> c(6, 99);
      multiply_codes(2, a.data(), zeros_a, b.data(), WeightLayout::matrix(depth, 3), zeros_b, c.data());
      CHECK(c == expected);
    }
  }
}

TEST_CASE("Accumulators become codes") {
  const std::vector<std::int32_t> acc{5, 7, 1000, -6, -1000, 2};
  const std::vector<std::int32_t> bias{1, 0};
  const std::vector<float> multipliers{0.5F, 0.25F};
  Tensor codes(ElementType::uint8, {6});
  requantize_codes(acc, {1, 1, 2, 3}, bias, multipliers, 10, {{8}, false}, codes.raw());
  // 3 4 500 | -1.5 -250 0.5, halves to even, plus 10
  check_typed<std::uint8_t>(codes, {6}, {13, 14, 255, 8, 0, 10});
  Tensor signed_ones(ElementType::int8, {6});
  requantize_codes(acc, {1, 3, 2, 1}, {}, multipliers, -10, {{8}, true}, signed_ones.raw());
  // 2.5 1.75 | 500 -1.5 | -500 0.5
  check_typed<std::int8_t>(signed_ones, {6}, {-8, -8, 127, -12, -128, -10});
}
