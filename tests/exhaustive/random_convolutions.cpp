// SPDX-License-Identifier: Apache-2.0
// random_convolutions: many random convolutions of codes, each on one of the paths of this machine
// in turn, against sums in int64 that are computed from the side of the input.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <amct/kernel/conv_s8.hpp>
#include <amct/simd/arch.hpp>

#include "support/random_conv.hpp"

namespace {

constexpr std::size_t kDraws = 600'000;

/// False, with a message, if a sum differs.
template <class X>
bool check_draw(const amct::ConvShape& shape, support::Draws& draws) {
  const auto x = draws.codes<X>(shape.x_size());
  const auto w = draws.codes<std::int8_t>(shape.weight_size());
  const std::int32_t zero_point = draws.codes<X>(1)[0];
  amct::PackedConv weights;
  std::vector<std::int32_t> sums(shape.y_size());
  const bool runs = weights.pack(shape, w).ok() &&
                    amct::convolve(shape, weights, std::span<const X>(x), zero_point, amct::Epilogue<>{},
                                   amct::ResultRows<std::int32_t>{sums.data(), shape.channels_out})
                        .ok();
  const auto want = support::scattered_sums(shape, x, zero_point, w);
  if (runs && std::vector<std::int64_t>(sums.begin(), sums.end()) == want) return true;
  std::printf("%s: zero point %d: %s: %s\n", name_of(amct::simd::active()), zero_point,
              support::describe(shape).c_str(), runs ? "sums differ" : "refused");
  return false;
}

}  // namespace

int main() {
  std::vector<amct::simd::Arch> archs;
  amct::simd::for_each_available_integer([&](amct::simd::Arch arch) { archs.push_back(arch); });
  support::Draws draws(2026);
  for (std::size_t i = 0; i < kDraws; ++i) {
    amct::simd::use(archs[i % archs.size()]);
    const amct::ConvShape shape = support::draw_conv(draws);
    const std::uint32_t kind = draws.next() % 4;
    const bool agrees = kind == 0   ? check_draw<std::uint8_t>(shape, draws)
                        : kind == 1 ? check_draw<std::int16_t>(shape, draws)
                                    : check_draw<std::int8_t>(shape, draws);
    if (!agrees) return 1;
  }
  std::printf("%zu convolutions agree\n", kDraws);
  return 0;
}
