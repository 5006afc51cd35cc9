// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/packed_weights.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/integer_cases.hpp"

using amct::PackedWeights;
using amct::WeightLayout;

TEST_CASE("a panel holds 16 columns of four steps, the next four behind them") {
  const std::size_t depth = 6;
  const std::size_t columns = 18;
  std::vector<std::int8_t> w(depth * columns);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t c = 0; c < columns; ++c) w[k * columns + c] = static_cast<std::int8_t>(k * 20 + c);
  }
  const PackedWeights weights(w.data(), WeightLayout::matrix(depth, columns));
  CHECK(weights.panels() == 2);
  CHECK(weights.groups() == 2);
  CHECK(weights.panel_stride() == 128);
  const std::int8_t* const first = weights.panel(0);
  CHECK(first[0] == 0);
  CHECK(first[1] == 20);
  CHECK(first[4] == 1);
  CHECK(first[63] == 75);            // step 3, column 15
  CHECK(first[64] == 80);            // step 4
  CHECK(first[64 + 2] == 0);         // padding
  CHECK(weights.panel(1)[7] == 77);  // step 3, column 17
  CHECK(weights.panel(1)[8] == 0);   // no column 18
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
}

TEST_CASE("every layout reads the weights it names") {
  Draws draws(1);
  const std::size_t outputs = 17;
  const std::size_t inputs = 5;
  const std::size_t taps = 9;
  const auto w = draws.codes<std::int8_t>(outputs * inputs * taps);
  const PackedWeights weights(w.data(), WeightLayout::convolution(outputs, inputs, taps));
  CHECK(weights.runs() == taps);
  CHECK(weights.run_length() == inputs);
  CHECK(weights.depth() == inputs * taps);
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t t = 0; t < taps; ++t) {
      for (std::size_t i = 0; i < inputs; ++i) CHECK(weights.code(o, t * 8 + i) == w[(o * inputs + i) * taps + t]);
      CHECK(weights.code(o, t * 8 + 7) == 0);
    }
  }
  const PackedWeights transposed(w.data(), WeightLayout::transposed(outputs, inputs * taps));
  CHECK(transposed.code(3, 7) == w[3 * inputs * taps + 7]);
}

TEST_CASE("sums of columns and their bounds count zero points") {
  const std::vector<std::int8_t> w = {-128, 127, 5, -3};
  const std::vector<std::int32_t> zeros = {-1, 2};
  const PackedWeights plain(w.data(), WeightLayout::matrix(2, 2));
  CHECK_FALSE(plain.has_zero_points());
  CHECK(plain.sum(0) == -123);
  CHECK(plain.absolute_sum(0) == 133);
  const PackedWeights shifted(w.data(), WeightLayout::matrix(2, 2), zeros);
  CHECK(shifted.has_zero_points());
  CHECK(shifted.sum(0) == -121);
  CHECK(shifted.absolute_sum(0) == 133);
  CHECK(shifted.sum(1) == 120);
  CHECK(shifted.absolute_sum(1) == 130);
  CHECK(shifted.largest_sum(1, {-128, 127}, 0) == 130 * 128);
  CHECK(shifted.largest_sum(1, {0, 255}, 255) == 130 * 255);
  CHECK(shifted.largest_sum(1, {0, 255}, 300) == 130 * 300);
  const std::vector<std::uint8_t> unsigned_codes = {0, 255, 128, 131};
  const std::vector<std::int32_t> middle = {128};
  const PackedWeights centred(unsigned_codes.data(), WeightLayout::matrix(2, 2), middle);
  CHECK_FALSE(centred.has_zero_points());
  CHECK(centred.code(1, 0) == 127);
  const PackedWeights uncentred(unsigned_codes.data(), WeightLayout::matrix(2, 2), {});
  CHECK(uncentred.zero_point(0) == -128);
  CHECK(uncentred.sum(1) == 386);
}

TEST_CASE("the first column that may leave int32 is named") {
  const std::vector<std::int8_t> w = {1, 100};
  const PackedWeights weights(w.data(), WeightLayout::matrix(1, 2));
  const std::vector<std::int32_t> bias = {2147483647 - 128, 2147483647 - 12799};
  CHECK(weights.first_beyond_int32({-128, 127}, 0) == 2);
  CHECK(weights.first_beyond_int32({-128, 127}, 0, bias) == 1);
  CHECK(weights.first_beyond_int32({-127, 127}, 0, bias) == 2);
  CHECK(weights.first_beyond_int32({-128, 127}, 1, bias) == 0);
}

TEST_CASE("4-bit weights take half the memory and are the same codes") {
  std::vector<std::int8_t> w(16 * 9);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::int8_t>(static_cast<int>(i % 16) - 8);
  const auto layout = WeightLayout::transposed(16, 9);
  const PackedWeights packed(w.data(), layout, {}, PackedWeights::Storage::codes4);
  const PackedWeights bytes(w.data(), layout);
  CHECK(packed.panel_stride() == 128);
  CHECK(bytes.panel_stride() == 192);
  for (std::size_t c = 0; c < 16; ++c) {
    for (std::size_t k = 0; k < 9; ++k) CHECK(packed.code(c, k) == bytes.code(c, k));
    CHECK(packed.sum(c) == bytes.sum(c));
  }
}
