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

TEST_CASE("Codes minus their zero points") {
  const Tensor codes = typed<std::uint8_t>({2, 2}, {0, 255, 7, 8});
  CHECK(centred(codes, {1, 1, 2, 2}, std::vector<std::int32_t>{255, 8}) == std::vector<float>{-255, 0, -1, 0});
  CHECK(centred(codes, {1, 1, 2, 2}, std::vector<std::int32_t>{1}) == std::vector<float>{-1, 254, 6, 7});
  CHECK(centred(typed<std::int8_t>({2}, {-128, 127}), {1, 1, 2, 1}, std::vector<std::int32_t>{127, -128}) ==
        std::vector<float>{-255, 255});
}

TEST_CASE("Integer products are exact where float32 alone is not") {
  for (const std::size_t depth : {1U, 255U, 256U, 257U, 700U}) {
    CAPTURE(depth);
    // Odd magnitudes near 255 make sums that need more than 24 bits.
    std::vector<float> a(2 * depth), b(depth * 3);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(255 - static_cast<int>(i * 7 % 5));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(254 - static_cast<int>(i * 3 % 7));
    std::vector<std::int32_t> c{1, 2, 3, 4, 5, 6};
    std::vector<std::int32_t> expected = c;
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t p = 0; p < depth; ++p) {
          expected[i * 3 + j] += static_cast<std::int32_t>(a[i * depth + p]) * static_cast<std::int32_t>(b[p * 3 + j]);
        }
      }
    }
    multiply_integers(2, 3, depth, a.data(), b.data(), c.data());
    CHECK(c == expected);
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
