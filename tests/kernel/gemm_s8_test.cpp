// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/gemm_s8.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/parallel.hpp>

#include "kernel/integer_cases.hpp"

namespace {

using amct::AddBias;
using amct::CodeRows;
using amct::Epilogue;
using amct::PackedWeights;
using amct::ResultRows;
using amct::StatusCode;
using amct::WeightLayout;

const Epilogue<> kSums{};

/// A product of random codes, with random zero points of either side, as int32 sums.
template <class T>
void check_random(std::size_t m, std::size_t n, std::size_t runs, std::size_t run_length, std::uint64_t seed) {
  Draws draws(seed);
  const auto codes = draws.codes<T>(m * runs * run_length);
  const auto w = draws.codes<std::int8_t>(n * runs * run_length);
  const std::int32_t zero = draws.one_in(2) ? 0 : draws.code<T>();
  const WeightLayout layout{.columns = n,
                            .runs = runs,
                            .run_length = run_length,
                            .column_step = runs * run_length,
                            .run_step = 1,
                            .code_step = runs};
  std::vector<std::int32_t> weight_zeros;
  if (seed % 3 == 1) weight_zeros = {draws.between(-128, 127)};
  if (seed % 3 == 2) {
    for (std::size_t c = 0; c < n; ++c) weight_zeros.push_back(draws.between(-128, 127));
  }
  const PackedWeights weights(w.data(), layout, weight_zeros);
  check_product<std::int32_t>(RunRows<T>(codes, m, runs, run_length, zero), weights, kSums);
  if (runs == 1)
    check_product<std::int32_t>(CodeRows<T>(codes.data(), m, run_length, run_length, zero), weights, kSums);
}

/// C = A * B of constant matrices, one element.
template <class T>
std::int32_t constant_sum(T a, std::int8_t b, std::size_t depth) {
  const std::vector<T> x(depth, a);
  const std::vector<std::int8_t> w(depth, b);
  const PackedWeights weights(w.data(), WeightLayout::matrix(depth, 1));
  std::int32_t sum = 0;
  CHECK(amct::gemm_s8(CodeRows<T>(x.data(), 1, depth, depth), weights, kSums, ResultRows<std::int32_t>{&sum, 1}).ok());
  return sum;
}

}  // namespace

TEST_CASE("a product by hand, with zero points on both sides") {
  const std::vector<std::int8_t> x = {1, 2, 3, 4, 5, 6};   // 2 x 3
  const std::vector<std::int8_t> w = {1, 0, 0, 1, -1, 1};  // 3 x 2
  on_every_integer_path([&] {
    std::vector<std::int32_t> c(4);
    const ResultRows<std::int32_t> result{c.data(), 2};
    const PackedWeights plain(w.data(), WeightLayout::matrix(3, 2));
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(x.data(), 2, 3, 3), plain, kSums, result).ok());
    CHECK(c == std::vector<std::int32_t>{-2, 5, -2, 11});
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(x.data(), 2, 3, 3, 1), plain, kSums, result).ok());
    CHECK(c == std::vector<std::int32_t>{-2, 3, -2, 9});
    const std::vector<std::int32_t> zeros = {1, -1};
    const PackedWeights shifted(w.data(), WeightLayout::matrix(3, 2), zeros);
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(x.data(), 2, 3, 3, 1), shifted, kSums, result).ok());
    CHECK(c == std::vector<std::int32_t>{-5, 6, -14, 21});
  });
}

TEST_CASE("products of all awkward sizes are those of the reference on every path") {
  std::uint64_t seed = 0;
  for (const std::size_t m : {1U, 2U, 3U, 4U, 5U, 7U, 13U, 49U, 70U}) {
    for (const std::size_t n : {1U, 2U, 8U, 15U, 16U, 17U, 32U, 33U, 48U, 63U, 64U, 65U, 70U}) {
      const std::size_t k = 1 + seed * 7 % 200;
      check_random<std::int8_t>(m, n, 1, k, ++seed);
      check_random<std::uint8_t>(m, n, 1, k, ++seed);
      check_random<std::int16_t>(m, n, 1, k, ++seed);
    }
  }
}

TEST_CASE("rows of several runs are padded to whole groups") {
  std::uint64_t seed = 1000;
  for (const std::size_t runs : {2U, 9U}) {
    for (const std::size_t run_length : {1U, 2U, 3U, 4U, 5U, 17U, 32U}) {
      check_random<std::int8_t>(19, 21, runs, run_length, ++seed);
      check_random<std::uint8_t>(19, 21, runs, run_length, ++seed);
      check_random<std::int16_t>(19, 21, runs, run_length, ++seed);
    }
  }
}

TEST_CASE("deep products go through all blocks of the depth") {
  std::uint64_t seed = 2000;
  for (const std::size_t k : {255U, 256U, 257U, 513U, 1100U}) {
    check_random<std::int8_t>(13, 66, 1, k, ++seed);
    check_random<std::uint8_t>(7, 33, 1, k, ++seed);
  }
}

TEST_CASE("an empty product has no elements, and one without depth sums nothing") {
  const PackedWeights none(static_cast<const std::int8_t*>(nullptr), WeightLayout::matrix(0, 3));
  const std::vector<std::int32_t> bias = {1, 2, 3};
  on_every_integer_path([&] {
    std::vector<std::int32_t> c(6, 9);
    const ResultRows<std::int32_t> result{c.data(), 3};
    const std::int8_t* const x = nullptr;
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(x, 0, 0, 0), none, kSums, result).ok());
    CHECK(c == std::vector<std::int32_t>(6, 9));
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(x, 2, 0, 0), none, Epilogue{AddBias{bias}}, result).ok());
    CHECK(c == std::vector<std::int32_t>{1, 2, 3, 1, 2, 3});
    const PackedWeights no_columns(x, WeightLayout::matrix(4, 0));
    const std::vector<std::int8_t> row(4);
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(row.data(), 1, 4, 4), no_columns, kSums, result).ok());
  });
}

TEST_CASE("C16 largest products of bytes are exact") {
  on_every_integer_path([&] {
    CHECK(constant_sum<std::uint8_t>(255, 127, 64) == 2072640);
    CHECK(constant_sum<std::uint8_t>(255, -128, 64) == -2088960);
    CHECK(constant_sum<std::int8_t>(-128, -128, 64) == 1048576);
    CHECK(constant_sum<std::int8_t>(-128, -1, 64) == 8192);
  });
}

TEST_CASE("C16 sums beyond int32 are refused by name or computed in int64, and never wrap") {
  const std::size_t depth = 131072;  // of -128 by -128 is 2^31
  const std::vector<std::int8_t> all(depth, -128);
  const PackedWeights fits(all.data(), WeightLayout::matrix(depth - 1, 1));
  const PackedWeights beyond(all.data(), WeightLayout::matrix(depth, 1));
  CHECK(fits.sums_fit_int32(amct::CodeLimits::of<std::int8_t>(), 0));
  CHECK_FALSE(beyond.sums_fit_int32(amct::CodeLimits::of<std::int8_t>(), 0));
  const std::vector<std::uint8_t> bright(33026, 255);
  const PackedWeights unsigned_weights(bright.data(), WeightLayout::matrix(33026, 1), {});
  const std::vector<float> scale = {1.0F};
  on_every_integer_path([&] {
    std::int32_t sum = 5;
    CHECK(amct::gemm_s8(CodeRows<std::int8_t>(all.data(), 1, depth - 1, depth), fits, kSums,
                        ResultRows<std::int32_t>{&sum, 1})
              .ok());
    CHECK(sum == 2147467264);
    const amct::Status refused = amct::gemm_s8(CodeRows<std::int8_t>(all.data(), 1, depth, depth), beyond, kSums,
                                               ResultRows<std::int32_t>{&sum, 1});
    CHECK(refused.code == StatusCode::sum_overflow);
    CHECK(refused.index == 0);
    CHECK(refused.value == 2147483648.0);
    CHECK(sum == 2147467264);
    float real = 0.0F;
    const Epilogue to_real{amct::Dequantize{scale}};
    CHECK(
        amct::gemm_s8(CodeRows<std::int8_t>(all.data(), 1, depth, depth), beyond, to_real, ResultRows<float>{&real, 1})
            .ok());
    CHECK(real == 2147483648.0F);
    CHECK(amct::gemm_s8(CodeRows<std::uint8_t>(bright.data(), 1, 33026, 33026), unsigned_weights, to_real,
                        ResultRows<float>{&real, 1})
              .ok());
    CHECK(real == static_cast<float>(std::int64_t{65025} * 33026));
  });
}

TEST_CASE("a bias can push sums beyond int32") {
  const std::vector<std::int8_t> one = {1};
  const PackedWeights weights(one.data(), WeightLayout::matrix(1, 1));
  const std::vector<std::int32_t> bias = {std::numeric_limits<std::int32_t>::max() - 127};
  const std::vector<std::int32_t> less = {std::numeric_limits<std::int32_t>::max() - 128};
  const std::vector<std::int8_t> x = {127};
  std::int32_t sum = 0;
  const CodeRows<std::int8_t> rows(x.data(), 1, 1, 1);
  CHECK(amct::gemm_s8(rows, weights, Epilogue{AddBias{bias}}, ResultRows<std::int32_t>{&sum, 1}).code ==
        StatusCode::sum_overflow);
  CHECK(amct::gemm_s8(rows, weights, Epilogue{AddBias{less}}, ResultRows<std::int32_t>{&sum, 1}).ok());
  CHECK(sum == std::numeric_limits<std::int32_t>::max() - 1);
  // Tighter limits of the codes prove more.
  const CodeRows<std::int8_t> small(x.data(), 1, 1, 1, 0, {-127, 127});
  CHECK(amct::gemm_s8(small, weights, Epilogue{AddBias{bias}}, ResultRows<std::int32_t>{&sum, 1}).ok());
  CHECK(sum == std::numeric_limits<std::int32_t>::max());
}

TEST_CASE("long sums of int16 are exact in int64, with zero points on both sides") {
  Draws draws(5);
  const std::size_t depth = 1500;
  const std::size_t n = 19;
  const std::vector<std::int16_t> x(2 * depth, -32768);
  const std::vector<std::int8_t> w(n * depth, -128);
  std::vector<float> scales(n, 0.5F);
  std::vector<std::int32_t> bias(n);
  for (auto& b : bias) b = draws.between(-2000000000, 2000000000);
  const Epilogue to_real{AddBias{bias}, amct::Dequantize{scales}};
  for (const std::int32_t zero : {0, 32767}) {
    for (const std::int32_t weight_zero : {0, 127}) {
      const std::vector<std::int32_t> zeros = {weight_zero};
      const PackedWeights weights(w.data(), WeightLayout::transposed(n, depth), zeros);
      check_product<float>(CodeRows<std::int16_t>(x.data(), 2, depth, depth, zero), weights, to_real);
      CHECK_FALSE(weights.sums_fit_int32(amct::CodeLimits::of<std::int16_t>(), zero));
    }
  }
}

TEST_CASE("weights of 4 bits give the products of the same weights in bytes") {
  Draws draws(6);
  for (const std::size_t k : {1U, 7U, 64U, 130U}) {
    for (const std::size_t n : {1U, 16U, 70U}) {
      std::vector<std::int8_t> w(n * k);
      for (auto& code : w) code = static_cast<std::int8_t>(draws.between(-8, 7));
      const auto x = draws.codes<std::int8_t>(9 * k);
      const CodeRows<std::int8_t> rows(x.data(), 9, k, k, -5);
      const auto layout = WeightLayout::transposed(n, k);
      const std::vector<std::int32_t> zeros = {3};
      check_product<std::int32_t>(rows, PackedWeights(w.data(), layout, {}, PackedWeights::Storage::codes4), kSums);
      check_product<std::int32_t>(rows, PackedWeights(w.data(), layout, zeros, PackedWeights::Storage::codes4), kSums);
      const amct::Packed4Layout packed{n, k, 1};
      std::vector<std::int8_t> bytes(packed.bytes());
      amct::pack4(w, bytes, packed);
      check_product<std::int32_t>(rows, PackedWeights::from_packed4(bytes, packed, layout), kSums);
    }
  }
}

TEST_CASE("sizes that do not agree are refused") {
  const std::vector<std::int8_t> w(12);
  const PackedWeights weights(w.data(), WeightLayout::matrix(6, 2));
  std::vector<std::int32_t> c(2);
  const ResultRows<std::int32_t> result{c.data(), 2};
  CHECK(amct::gemm_s8(CodeRows<std::int8_t>(w.data(), 1, 5, 5), weights, kSums, result).code ==
        StatusCode::size_mismatch);
  CHECK(amct::gemm_s8(RunRows<std::int8_t>(w, 1, 2, 3, 0), weights, kSums, result).code == StatusCode::size_mismatch);
}

TEST_CASE("parts cover a product once, and any number of threads gives the same bits") {
  Draws draws(7);
  for (const std::size_t m : {1U, 97U, 500U}) {
    for (const std::size_t n : {1U, 130U, 700U}) {
      const std::size_t k = 90;
      const auto w = draws.codes<std::int8_t>(n * k);
      const PackedWeights weights(w.data(), WeightLayout::matrix(k, n));
      const amct::kernel::ProductSplit split(m, weights, amct::kernel::tile_kernel<std::int8_t>(amct::simd::active()));
      std::vector<int> seen(m * weights.panels(), 0);
      for (std::size_t p = 0; p < split.parts(); ++p) {
        const auto part = split.part(p);
        for (std::size_t i = 0; i < part.rows; ++i) {
          for (std::size_t j = 0; j < part.panels; ++j) {
            ++seen[(part.first_row + i) * weights.panels() + part.first_panel + j];
          }
        }
      }
      CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    }
  }
  const std::size_t k = 300;
  const auto x = draws.codes<std::int8_t>(400 * k);
  const auto w = draws.codes<std::int8_t>(300 * k);
  const PackedWeights weights(w.data(), WeightLayout::matrix(k, 300));
  const CodeRows<std::int8_t> rows(x.data(), 400, k, k, 7);
  std::vector<std::int32_t> one(400 * 300);
  std::vector<std::int32_t> many(one.size());
  amct::set_parallel_for([](std::size_t parts, void (*body)(void*, std::size_t), void* context) {
    for (std::size_t part = parts; part-- > 0;) body(context, part);
  });
  CHECK(amct::gemm_s8(rows, weights, kSums, ResultRows<std::int32_t>{one.data(), 300}).ok());
  amct::set_parallel_for(nullptr);
  CHECK(amct::gemm_s8(rows, weights, kSums, ResultRows<std::int32_t>{many.data(), 300}).ok());
  CHECK(one == many);
  check_product<std::int32_t>(rows, weights, kSums);
}
