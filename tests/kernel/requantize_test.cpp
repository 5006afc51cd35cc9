// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/requantize.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"

namespace {

/// Accumulators of every size, and the ends of int32.
std::vector<std::int32_t> accumulators(std::size_t size) {
  constexpr std::int32_t kSpecial[] = {std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max(),
                                       0,
                                       1,
                                       -1,
                                       16777217,
                                       -16777217,
                                       7984};
  std::vector<std::int32_t> values(size);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525U + 1013904223U;
    const auto wide = static_cast<std::int32_t>(state);
    values[i] = i % 5 == 0 ? kSpecial[state >> 29U] : wide >> (state >> 3U & 31U);
  }
  return values;
}

template <class Contract, class T>
void check_paths(const typename Contract::Params& params, std::int32_t offset, amct::CodeRange range) {
  for_lengths_and_offsets([&](std::size_t length, std::size_t start) {
    const auto all = accumulators(length + start);
    const auto acc = std::span<const std::int32_t>(all).subspan(start);
    std::vector<T> want(length);
    for (std::size_t i = 0; i < length; ++i) want[i] = static_cast<T>(Contract::code(acc[i], params, offset, range));
    on_every_path([&] {
      std::vector<T> got(length);
      amct::requantize<Contract>(acc, std::span(got), params, offset, range);
      CHECK(same_bits(got, want));
    });
  });
}

}  // namespace

TEST_CASE("requantization is two multiplications, round, add, saturate by default") {
  const std::vector<std::int32_t> acc{0, 100, -100, 1000, 100000, -100000};
  std::vector<std::int8_t> codes(acc.size());
  amct::requantize<>(std::span<const std::int32_t>(acc), std::span(codes), {0.25F, 2.0F}, -3, amct::Int8::range);
  CHECK(codes == std::vector<std::int8_t>{-3, 9, -15, 122, 127, -128});  // 12.5 and -12.5 are ties
}

TEST_CASE("every path gives the codes of the contract: two scales") {
  for (const std::int32_t offset : {0, -128, 77, 100000}) {
    check_paths<amct::RequantizeByScales<>, std::int8_t>({3.7e-5F, 0.021F}, offset, amct::Int8::range);
    check_paths<amct::RequantizeByScales<>, std::int8_t>({1e-9F, 1e-3F}, offset, amct::Int4::range);
    check_paths<amct::RequantizeByScales<>, std::int16_t>({3.7e-5F, 1e-4F}, offset, amct::Int16::range);
  }
  check_paths<amct::RequantizeByScales<amct::ReciprocalAddRound>, std::int8_t>({3.7e-5F, 0.021F}, 5, amct::Int8::range);
  check_paths<amct::RequantizeByScales<amct::DivideAddRound>, std::int8_t>({3.7e-5F, 0.021F}, 5, amct::Int8::range);
}

TEST_CASE("every path gives the codes of the contract: one multiplier") {
  for (const float multiplier : {0.0017F, 1.0F, 0.5F, 1e30F, 1e-30F, 0.0F, -0.25F}) {
    check_paths<amct::RequantizeByMultiplier<>, std::int8_t>({multiplier}, -4, amct::Int8::range);
    check_paths<amct::RequantizeByMultiplier<amct::AddThenRound>, std::int8_t>({multiplier}, 3, amct::Int8::range);
    check_paths<amct::RequantizeByMultiplier<amct::RoundThenAdd, amct::HalfAway>, std::int16_t>({multiplier}, 3,
                                                                                                amct::CodeRange{12});
  }
}

TEST_CASE("contracts without a vector body are computed too") {
  check_paths<amct::RequantizeHalfUp, std::int8_t>({1583594044, 9}, 1, amct::Int8::range);
  check_paths<amct::RequantizeDoubleRounding, std::int8_t>({1583594044, 9}, 1, amct::Int8::range);
}
