// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/requantize.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "kernel/streamed.hpp"

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

/// The code of one accumulator with its bias, which wraps.
template <class Contract>
std::int32_t biased_code(std::int32_t acc, std::int32_t bias, const typename Contract::Params& params,
                         std::int32_t offset, amct::CodeRange range) {
  const std::uint32_t sum = static_cast<std::uint32_t>(acc) + static_cast<std::uint32_t>(bias);
  return Contract::code(static_cast<std::int32_t>(sum), params, offset, range);
}

constexpr std::int32_t kBiases[] = {-7, 12345678, std::numeric_limits<std::int32_t>::max(),
                                    std::numeric_limits<std::int32_t>::min()};

template <class Contract, class T>
void check_biases(const typename Contract::Params& params, std::int32_t offset, amct::CodeRange range) {
  for (const std::int32_t bias : kBiases) {
    CAPTURE(bias);
    for_lengths_and_offsets([&](std::size_t length, std::size_t start) {
      const auto all = accumulators(length + start);
      const auto acc = std::span<const std::int32_t>(all).subspan(start);
      std::vector<T> want(length);
      for (std::size_t i = 0; i < length; ++i) {
        want[i] = static_cast<T>(biased_code<Contract>(acc[i], bias, params, offset, range));
      }
      on_every_path([&] {
        std::vector<T> got(length);
        amct::kernel::requantize<Contract>(acc, std::span(got), bias, params, offset, range);
        CHECK(same_bits(got, want));
      });
    });
  }
}

template <class Contract, class T>
void check_streamed_codes(const typename Contract::Params& params, std::int32_t offset, amct::CodeRange range) {
  for (const std::int32_t bias : {0, -12345678}) {
    CAPTURE(bias);
    const auto acc = accumulators(kMostStreamed + 64);
    std::vector<T> want;
    for (const std::int32_t a : acc) {
      want.push_back(static_cast<T>(biased_code<Contract>(a, bias, params, offset, range)));
    }
    check_streamed(acc, want, [&](std::span<const std::int32_t> in, std::span<T> out) {
      amct::kernel::requantize<Contract>(in, out, bias, params, offset, range, amct::simd::Traffic::streamed);
    });
  }
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

TEST_CASE_TEMPLATE("every path gives the codes of the contract: fixed point", Contract, amct::RequantizeHalfUp,
                   amct::RequantizeHalfAway, amct::RequantizeDoubleRounding) {
  for (const std::int32_t multiplier : {1583594044, 1 << 30, 2147483647, 1, 3, 0, -1583594044}) {
    for (const int shift : {-3, 0, 1, 9, 21, 30, 31, 32, 70}) {
      CAPTURE(multiplier);
      CAPTURE(shift);
      check_paths<Contract, std::int8_t>({multiplier, shift}, 1, amct::Int8::range);
      check_paths<Contract, std::int16_t>({multiplier, shift}, -700, amct::Int16::range);
    }
  }
}

TEST_CASE_TEMPLATE("ties and ends of fixed-point requantization agree on every path", Contract, amct::RequantizeHalfUp,
                   amct::RequantizeHalfAway, amct::RequantizeDoubleRounding) {
  // Powers of two as multipliers make every other accumulator a tie.
  std::vector<std::int32_t> acc{std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  for (std::int32_t i = -300; i <= 300; ++i) acc.push_back(i);
  for (const int shift : {0, 1, 2, 3}) {
    const amct::FixedMultiplier params{1 << 30, shift};
    std::vector<std::int8_t> want(acc.size());
    amct::kernel::reference::requantize<Contract>(acc, std::span(want), 0, params, 0, amct::Int8::range);
    on_every_path([&] {
      std::vector<std::int8_t> codes(acc.size());
      amct::requantize<Contract>(acc, std::span(codes), params, 0, amct::Int8::range);
      CHECK(same_bits(codes, want));
    });
  }
}

TEST_CASE("a contract of one's own is computed too") {
  check_paths<amct::RequantizeFixedPoint<amct::HalfEven>, std::int8_t>({1583594044, 9}, 1, amct::Int8::range);
}

TEST_CASE("every path gives the codes of the contract: a shift and two scales") {
  using Shifted = amct::RequantizeShifted<>;
  for (const int shift : {-3, 0, 1, 4, 16, 31, 1000}) {
    CAPTURE(shift);
    check_paths<Shifted, std::int8_t>({3.7e-5F, 0.021F, shift}, -4, amct::Int8::range);
    check_paths<Shifted, std::int16_t>({3.7e-5F, 1e-4F, shift}, 100000, amct::Int16::range);
    check_paths<amct::RequantizeShifted<amct::ReciprocalAddRound>, std::int8_t>({0.25F, 0.5F, shift}, 3,
                                                                                amct::Int4::range);
    check_paths<amct::RequantizeShifted<amct::DivideAddRound>, std::int8_t>({0.25F, 0.5F, shift}, 3, amct::Int8::range);
  }
}

TEST_CASE("a bias is added to the accumulators first and wraps, on every path") {
  check_biases<amct::RequantizeByScales<>, std::int8_t>({3.7e-5F, 0.021F}, -4, amct::Int8::range);
  check_biases<amct::RequantizeByScales<>, std::int8_t>({3.7e-5F, 0.021F}, 100000, amct::Int8::range);
  check_biases<amct::RequantizeByScales<amct::DivideAddRound>, std::int8_t>({3.7e-5F, 0.021F}, 5, amct::Int8::range);
  check_biases<amct::RequantizeByMultiplier<>, std::int16_t>({1e-5F}, 1000, amct::Int16::range);
  check_biases<amct::RequantizeByMultiplier<amct::AddThenRound>, std::int8_t>({0.5F}, 3, amct::Int8::range);
  check_biases<amct::RequantizeShifted<>, std::int8_t>({3.7e-5F, 0.021F, 4}, -4, amct::Int8::range);
  check_biases<amct::RequantizeHalfUp, std::int8_t>({1583594044, 9}, 1, amct::Int8::range);
}

TEST_CASE("codes of accumulators that bypass the caches are those of the reference, and no more") {
  check_streamed_codes<amct::RequantizeByScales<>, std::int8_t>({3.7e-5F, 0.021F}, -4, amct::Int8::range);
  check_streamed_codes<amct::RequantizeByScales<>, std::int16_t>({3.7e-5F, 1e-4F}, 1000, amct::Int16::range);
  check_streamed_codes<amct::RequantizeByMultiplier<amct::AddThenRound>, std::int8_t>({0.5F}, 3, amct::Int8::range);
  check_streamed_codes<amct::RequantizeShifted<>, std::int16_t>({3.7e-5F, 1e-4F, 4}, -4, amct::CodeRange{12});
  check_streamed_codes<amct::RequantizeHalfUp, std::int8_t>({1583594044, 9}, 1, amct::Int8::range);
}
