// SPDX-License-Identifier: Apache-2.0
// random_products: many random integer products with random requantizations, each on one of the paths of this machine
// in turn, against sums in int64 and fixed-point arithmetic in 128 bits.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <amct/kernel/gemm_s8.hpp>
#include <amct/simd/arch.hpp>

#include "support/draws.hpp"

namespace {

using amct::FixedMultiplier;
__extension__ using Int128 = __int128;

constexpr std::size_t kDraws = 500'000;

/// A product of codes, with zero points on either side.
template <class T>
struct Product {
  std::size_t m, n, k;
  std::vector<T> x;
  std::vector<std::int8_t> w;
  std::int32_t zero;
  std::vector<std::int32_t> weight_zeros;
  std::vector<std::int32_t> bias;
  std::vector<FixedMultiplier> multipliers;
  std::int32_t offset;

  explicit Product(support::Draws& draws)
      : m(draws.from(1, 9)),
        n(draws.from(1, 20)),
        k(draws.from(1, 40)),
        x(draws.codes<T>(m * k)),
        w(draws.codes<std::int8_t>(n * k)),
        zero(draws.code<T>()),
        weight_zeros(draws.one_in(2) ? 0 : n),
        bias(n),
        multipliers(n),
        offset(draws.between(-128, 127)) {
    for (auto& z : weight_zeros) z = draws.between(-128, 127);
    for (std::size_t j = 0; j < n; ++j) {
      bias[j] = draws.between(-100000, 100000) * draws.between(0, 900);
      multipliers[j] = {draws.between(1 << 30, 2147483647),
                        draws.between(draws.one_in(9) ? -2 : 0, draws.one_in(9) ? 33 : 14)};
    }
  }

  [[nodiscard]] std::int64_t sum(std::size_t i, std::size_t j) const {
    std::int64_t total = bias[j];
    const std::int64_t weight_zero = weight_zeros.empty() ? 0 : weight_zeros[j];
    for (std::size_t step = 0; step < k; ++step) {
      total += (std::int64_t{x[i * k + step]} - zero) * (w[j * k + step] - weight_zero);
    }
    return total;
  }
};

Int128 floor_shift(Int128 value, int bits) { return value >> bits; }

/// The code of a sum under each contract, in arithmetic that is wide enough for anything.
std::int32_t clamp_code(Int128 value) { return static_cast<std::int32_t>(std::clamp<Int128>(value, -128, 127)); }

Int128 half_away(Int128 value, int bits) {
  if (bits <= 0) return value << -bits;
  const Int128 half = Int128{1} << (bits - 1);
  return value < 0 ? -floor_shift(-value + half, bits) : floor_shift(value + half, bits);
}

std::int32_t want_code(amct::RequantizeHalfUp, std::int64_t sum, FixedMultiplier f, std::int32_t offset) {
  const int bits = 31 + f.shift;
  return clamp_code(floor_shift(Int128{sum} * f.multiplier + (Int128{1} << (bits - 1)), bits) + offset);
}
std::int32_t want_code(amct::RequantizeHalfAway, std::int64_t sum, FixedMultiplier f, std::int32_t offset) {
  return clamp_code(half_away(Int128{sum} * f.multiplier, 31 + f.shift) + offset);
}
std::int32_t want_code(amct::RequantizeDoubleRounding, std::int64_t sum, FixedMultiplier f, std::int32_t offset) {
  const Int128 shifted =
      std::clamp<Int128>(f.shift < 0 ? Int128{sum} << -f.shift : Int128{sum}, -2147483648LL, 2147483647);
  const Int128 high = std::min<Int128>(floor_shift(shifted * f.multiplier + (Int128{1} << 30), 31), 2147483647);
  return clamp_code(half_away(high, std::max(f.shift, 0)) + offset);
}

template <class Contract, class T>
bool check(const Product<T>& p, const amct::PackedWeights& weights) {
  const amct::CodeRows<T> rows(p.x.data(), p.m, p.k, p.k, p.zero);
  const amct::Epilogue epilogue{amct::AddBias{p.bias}, amct::Requantize<Contract>{p.multipliers, p.offset},
                                amct::SaturateTo<amct::Int8>{}};
  std::vector<std::int8_t> codes(p.m * p.n);
  const bool fits = weights.sums_fit_int32(rows.limits(), p.zero, p.bias);
  const auto status = amct::gemm_s8(rows, weights, epilogue, amct::ResultRows<std::int8_t>{codes.data(), p.n});
  bool agrees = status.ok() == fits;
  for (std::size_t i = 0; fits && i < p.m; ++i) {
    for (std::size_t j = 0; j < p.n; ++j) {
      agrees = agrees && codes[i * p.n + j] == want_code(Contract{}, p.sum(i, j), p.multipliers[j], p.offset);
    }
  }
  return agrees;
}

/// Real results, whose sums may be of any length.
template <class T>
bool check_real(const Product<T>& p, const amct::PackedWeights& weights) {
  const amct::CodeRows<T> rows(p.x.data(), p.m, p.k, p.k, p.zero);
  const std::vector<float> scale = {0x1.8p-9F};
  const amct::Epilogue epilogue{amct::AddBias{p.bias}, amct::Dequantize{scale}};
  std::vector<float> reals(p.m * p.n);
  bool agrees = amct::gemm_s8(rows, weights, epilogue, amct::ResultRows<float>{reals.data(), p.n}).ok();
  for (std::size_t i = 0; i < p.m; ++i) {
    for (std::size_t j = 0; j < p.n; ++j) {
      agrees = agrees && reals[i * p.n + j] == static_cast<float>(p.sum(i, j)) * scale[0];
    }
  }
  return agrees;
}

template <class T>
bool check_draw(support::Draws& draws) {
  const Product<T> product(draws);
  const amct::PackedWeights weights(product.w.data(), amct::WeightLayout::transposed(product.n, product.k),
                                    product.weight_zeros);
  const std::uint32_t kind = draws.next() % 4;
  const bool agrees = kind == 0   ? check<amct::RequantizeHalfUp>(product, weights)
                      : kind == 1 ? check<amct::RequantizeHalfAway>(product, weights)
                      : kind == 2 ? check<amct::RequantizeDoubleRounding>(product, weights)
                                  : check_real(product, weights);
  if (!agrees) {
    std::printf("%s: rows %zu columns %zu depth %zu of %zu bytes, zero point %d, contract %u differs\n",
                name_of(amct::simd::active()), product.m, product.n, product.k, sizeof(T), product.zero, kind);
  }
  return agrees;
}

}  // namespace

int main() {
  std::vector<amct::simd::Arch> archs;
  amct::simd::for_each_available_integer([&](amct::simd::Arch arch) { archs.push_back(arch); });
  support::Draws draws(7);
  for (std::size_t i = 0; i < kDraws; ++i) {
    amct::simd::use(archs[i % archs.size()]);
    const std::uint32_t kind = draws.next() % 4;
    const bool agrees = kind == 0   ? check_draw<std::uint8_t>(draws)
                        : kind == 1 ? check_draw<std::int16_t>(draws)
                                    : check_draw<std::int8_t>(draws);
    if (!agrees) return 1;
  }
  std::printf("%zu products agree\n", kDraws);
  return 0;
}
