// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/stages.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/kernel/epilogue_run.hpp>

#include "kernel/integer_cases.hpp"

namespace {

using namespace amct;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

/// Sums of any size, a sixth of them at the ends of int32.
std::int32_t any_sum(Draws& draws) {
  const std::size_t kind = draws.from(0, 11);
  if (kind == 0) return kLeast;
  if (kind == 1) return kMost;
  const auto spread = static_cast<int>(draws.from(0, 30));
  return draws.between(kLeast, kMost) >> spread;
}

struct alignas(64) Line {
  std::int32_t sums[16];
};

/// Applies an epilogue on every path to a tile in the middle of a result and compares with its definition. What stands
/// around the tile stays. NaN is as good as another.
template <class T, class E>
void check_stages(const E& epilogue, std::size_t columns) {
  constexpr std::size_t kRows = 3;
  constexpr std::size_t kFirstRow = 2;
  const std::size_t first_column = columns > 20 ? 16 : 0;
  const std::size_t lines = columns / 16 + 1;
  Draws draws(columns);
  std::vector<Line> memory(kRows * lines);
  for (Line& line : memory) {
    for (std::int32_t& sum : line.sums) sum = any_sum(draws);
  }
  const kernel::SumTile tile{memory.data()->sums, lines * 16, kFirstRow, kRows, first_column, columns - first_column};
  const std::size_t step = columns + 1;
  std::vector<T> want((kFirstRow + kRows) * step, T{55});
  const ResultRows<T> result{want.data(), step};
  kernel::reference::apply_epilogue<0>(epilogue, tile, result);
  CAPTURE(columns);
  on_every_integer_path([&] {
    std::vector<T> got(want.size(), T{55});
    const kernel::EpilogueRun<E, T> run(epilogue, columns);
    run.apply(tile, ResultRows<T>{got.data(), step});
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if constexpr (std::is_same_v<T, float>) {
        same = same && (std::memcmp(&got[i], &want[i], sizeof(T)) == 0 || (std::isnan(got[i]) && std::isnan(want[i])));
      } else {
        same = same && got[i] == want[i];
      }
    }
    CHECK(same);
  });
}

/// Numbers of columns that end in every place of a block of vectors.
constexpr std::size_t kWidths[] = {1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 47, 63, 64, 65, 80, 95, 128, 131};

template <class Body>
void for_widths(Body&& body) {
  for (const std::size_t columns : kWidths) body(columns);
}

std::vector<float> scales_of(std::size_t columns) {
  std::vector<float> scales(columns);
  for (std::size_t c = 0; c < columns; ++c)
    scales[c] = std::ldexp(1.0F + static_cast<float>(c) / 200.0F, -20 - static_cast<int>(c % 9));
  return scales;
}

template <class T>
void check_conversion(std::int32_t offset, CodeRange range) {
  using B = std::conditional_t<sizeof(T) == 1, Int8, Int16>;
  for_widths([&](std::size_t columns) {
    const auto scales = scales_of(columns);
    const std::vector<std::int32_t> bias(columns, 12345);
    std::vector<float> residual(5 * (columns + 2));
    Draws draws(columns);
    for (float& value : residual) value = static_cast<float>(draws.between(-1000, 1000)) / 7.0F;
    residual[2 * (columns + 2)] = std::numeric_limits<float>::quiet_NaN();
    residual[3 * (columns + 2)] = kInfinity;
    residual[4 * (columns + 2)] = -kInfinity;
    check_stages<T>(Epilogue{AddBias{bias}, Dequantize{scales}, AddResidual{residual.data(), columns + 2},
                             QuantizeTo{3.7F, offset, range}, SaturateTo<B>{}},
                    columns);
  });
}

template <class Contract, class MakeParams>
void check_contract(const MakeParams& make) {
  for_widths([&](std::size_t columns) {
    std::vector<typename Contract::Params> params(columns);
    for (std::size_t c = 0; c < columns; ++c) params[c] = make(c);
    const Requantize<Contract> all{params, -7};
    check_stages<std::int8_t>(Epilogue{all, SaturateTo<Int8>{}}, columns);
    check_stages<std::int16_t>(Epilogue{all, SaturateTo<Int16>{}}, columns);
    check_stages<std::int32_t>(Epilogue{Requantize<Contract>{params, 3, Int<5>::range}}, columns);
    check_stages<std::int8_t>(Epilogue{Requantize<Contract>{std::span(params).first(1), 600000}, SaturateTo<Int8>{}},
                              columns);
  });
}

/// A stage that has a scalar form only.
struct Halve {
  std::int32_t operator()(std::int32_t sum, const Place& at) const {
    return sum / 2 + static_cast<std::int32_t>(at.row);
  }
};
/// One for real values, with a type of its own behind it.
struct Square {
  float operator()(float value, const Place&) const { return value * value; }
};

}  // namespace

// What does not fit together is known when the epilogue is written.
static_assert(Stage<AddBias, std::int32_t> && Stage<AddBias, std::int64_t> && !Stage<AddBias, float>);
static_assert(Stage<Dequantize, std::int64_t> && !Stage<Dequantize, float>);
static_assert(Stage<QuantizeTo, float> && !Stage<QuantizeTo, std::int32_t>);
static_assert(Stage<Requantize<>, std::int64_t>);
static_assert(Stage<Requantize<RequantizeHalfUp>, std::int32_t> && !Stage<Requantize<RequantizeHalfUp>, std::int64_t>);
static_assert(Stage<Halve, std::int32_t> && !Stage<Halve, std::int64_t> && !Stage<Halve, float>);
static_assert(EpilogueTo<LayerToReal, float> && EpilogueTo<LayerToCodes<Int4>, std::int8_t>);
static_assert(WideEpilogueTo<LayerToCodes<Int8>, std::int8_t> && !WideEpilogueTo<Epilogue<>, std::int32_t>);
static_assert(std::is_same_v<decltype(Requantize{std::span<const RequantizeByScales<>::Params>{}, 3}), Requantize<>>);

TEST_CASE("stages by hand") {
  const std::vector<std::int32_t> bias = {1, 2};
  const std::vector<int> bits = {3};
  const std::vector<float> scales = {0.5F, 0.25F};
  const Place second{0, 1};
  CHECK(AddBias{bias}(std::int32_t{10}, second) == 12);
  CHECK(AddBias{bias}(std::int64_t{1} << 40, second) == (std::int64_t{1} << 40) + 2);
  CHECK(AddBias{}(std::int32_t{10}, second) == 10);
  CHECK(ShiftBit{bits}(std::int32_t{-9}, second) == -2);
  CHECK(ShiftBit{bits}(std::int64_t{1} << 40, second) == 32767);
  CHECK(ShiftBit{}(std::int32_t{-9}, second) == -9);
  CHECK(Dequantize{scales}(std::int32_t{10}, second) == 2.5F);
  CHECK(ClipReal{0.0F, 6.0F}(7.0F, second) == 6.0F);
  CHECK(ClipReal{0.0F}(-7.0F, second) == 0.0F);
  CHECK(ClipReal{}(-kInfinity, second) == -kInfinity);
  CHECK(std::isnan(ClipReal{0.0F, 6.0F}(NAN, second)));
  CHECK(QuantizeTo{2.0F, -3}(1.25F, second) == -1);  // 2.5 rounds to 2
  CHECK(QuantizeTo{2.0F, -3}(NAN, second) == -3);
  CHECK(QuantizeTo{2.0F, -3}(kInfinity, second) == 127);
  CHECK(SaturateTo<Int4>{}(std::int32_t{9}, second) == 7);
  CHECK(AsUnsigned{}(std::int8_t{-128}, second) == 0);
  CHECK(AsUnsigned{}(std::int8_t{127}, second) == 255);
  float kept = 0.0F;
  CHECK(KeepReal{&kept, 0}(1.5F, {}) == 1.5F);
  CHECK(kept == 1.5F);
  CHECK(AddResidual{&kept, 0}(1.0F, {}) == 2.5F);
}

TEST_CASE("integer stages have the same bits on every path") {
  for_widths([](std::size_t columns) {
    std::vector<std::int32_t> bias(columns);
    std::vector<int> bits(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      bias[c] = static_cast<std::int32_t>(c * 40000000);
      bits[c] = static_cast<int>(c % 18) - 1;
    }
    check_stages<std::int32_t>(Epilogue{AddBias{bias}}, columns);
    check_stages<std::int32_t>(Epilogue{AddBias{std::span(bias).last(1)}, ShiftBit{bits}}, columns);
    check_stages<std::int16_t>(Epilogue{ShiftBit{bits}, SaturateTo<Int<12>>{}}, columns);
    check_stages<std::int8_t>(Epilogue{AddBias{bias}, SaturateTo<Int8>{}}, columns);
    check_stages<std::int8_t>(Epilogue{SaturateTo<Int4>{}}, columns);
    check_stages<std::uint8_t>(Epilogue{AddBias{bias}, SaturateTo<Int8>{}, AsUnsigned{}}, columns);
  });
}

// Stages of codes in another order than that of vector bodies take the scalar path.
static_assert(kernel::have_vector_stages<AddBias, Dequantize, KeepReal, QuantizeTo, SaturateTo<Int8>, AsUnsigned>());
static_assert(!kernel::have_vector_stages<SaturateTo<Int16>, Dequantize>());
static_assert(!kernel::have_vector_stages<SaturateTo<Int8>, SaturateTo<Int4>>());
static_assert(!kernel::have_vector_stages<Requantize<>, Dequantize>());

TEST_CASE("codes that further stages take have the same bits on every path") {
  for_widths([](std::size_t columns) {
    const auto scales = scales_of(columns);
    const std::vector<RequantizeByScales<>::Params> params(columns, {0x1p-22F, 0.3F});
    check_stages<float>(Epilogue{SaturateTo<Int16>{}, Dequantize{scales}}, columns);
    check_stages<float>(Epilogue{Dequantize{scales}, QuantizeTo{3.7F, -5}, Dequantize{scales}}, columns);
    check_stages<float>(Epilogue{Requantize{params, 3}, SaturateTo<Int8>{}, Dequantize{scales}}, columns);
    check_stages<std::int8_t>(Epilogue{Requantize{params, 3}, SaturateTo<Int8>{}, SaturateTo<Int4>{}}, columns);
  });
}

TEST_CASE("real results, clipped and kept, have the same bits on every path") {
  for_widths([](std::size_t columns) {
    const auto scales = scales_of(columns);
    const std::size_t step = columns + 5;
    std::vector<float> residual(5 * step, 0.125F);
    std::vector<float> kept(5 * step, -1.0F);
    check_stages<float>(Epilogue{Dequantize{scales}, ClipReal{0.0F, 6.0F}}, columns);
    check_stages<float>(LayerToReal{AddBias{}, {}, Dequantize{scales}, {}, {}, {}}, columns);
    check_stages<float>(LayerToReal{AddBias{},
                                    {},
                                    Dequantize{std::span(scales).first(1)},
                                    AddResidual{residual.data(), step},
                                    ClipReal{0.0F},
                                    KeepReal{kept.data(), step}},
                        columns);
    // What is kept is what was passed on, and only that.
    const LayerToReal keeps{AddBias{}, {}, Dequantize{scales}, {}, {}, KeepReal{kept.data(), step}};
    const std::vector<Line> sums(columns / 16 + 1,
                                 Line{{64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64}});
    std::vector<float> result(columns);
    on_every_integer_path([&] {
      kept.assign(kept.size(), -1.0F);
      const kernel::EpilogueRun<LayerToReal, float> run(keeps, columns);
      run.apply({sums.data()->sums, sums.size() * 16, 0, 1, 0, columns}, ResultRows<float>{result.data(), columns});
      CHECK(std::vector<float>(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(columns)) == result);
      CHECK(kept[columns] == -1.0F);
    });
  });
}

TEST_CASE("codes of real values have the same bits on every path, NaN and infinities too") {
  check_conversion<std::int8_t>(-5, Int8::range);
  check_conversion<std::int8_t>(127, Int<7>::range);
  check_conversion<std::int8_t>(-128, Int8::range);
  check_conversion<std::int16_t>(9, Int16::range);
  check_conversion<std::int16_t>(-32768, Int<12>::range);
  check_conversion<std::int8_t>(2000000, Int8::range);  // out of the vector bodies' reach
}

TEST_CASE("all contracts have the same bits on every path") {
  const auto multiplier = [](std::size_t c) {
    return std::ldexp(1.0F + static_cast<float>(c) / 200.0F, -18 - static_cast<int>(c % 13));
  };
  check_contract<RequantizeByScales<>>([&](std::size_t c) {
    return RequantizeByScales<>::Params{multiplier(c), 0.3F};
  });
  check_contract<RequantizeByScales<ReciprocalAddRound>>([&](std::size_t c) {
    return RequantizeByScales<ReciprocalAddRound>::Params{multiplier(c), 0.3F};
  });
  check_contract<RequantizeByScales<DivideRoundAdd>>([&](std::size_t c) {
    return RequantizeByScales<DivideRoundAdd>::Params{multiplier(c), 0.3F};
  });
  check_contract<RequantizeByMultiplier<>>(
      [&](std::size_t c) { return RequantizeByMultiplier<>::Params{multiplier(c)}; });
  check_contract<RequantizeByMultiplier<AddThenRound>>(
      [&](std::size_t c) { return RequantizeByMultiplier<AddThenRound>::Params{multiplier(c)}; });
  check_contract<RequantizeByMultiplier<RoundThenAdd, HalfAway>>(
      [&](std::size_t c) { return RequantizeByMultiplier<RoundThenAdd, HalfAway>::Params{multiplier(c)}; });
  check_contract<RequantizeHalfUp>([&](std::size_t c) { return fixed_multiplier(multiplier(c)); });
  check_contract<RequantizeHalfAway>([&](std::size_t c) { return fixed_multiplier(multiplier(c)); });
  check_contract<RequantizeDoubleRounding>([&](std::size_t c) { return fixed_multiplier(multiplier(c)); });
  check_contract<RequantizeShifted<>>([&](std::size_t c) {
    return RequantizeShifted<>::Params{multiplier(c), 0.3F, static_cast<int>(c % 17)};
  });
  // Out of the vector bodies' reach: shifts to the left, a multiplier of 0, an infinite one.
  check_contract<RequantizeHalfUp>([](std::size_t) { return FixedMultiplier{1 << 30, -3}; });
  check_contract<RequantizeByMultiplier<>>([](std::size_t) { return RequantizeByMultiplier<>::Params{0.0F}; });
  check_contract<RequantizeByMultiplier<>>([](std::size_t) { return RequantizeByMultiplier<>::Params{kInfinity}; });
}

TEST_CASE("C15 a tie after the first of two roundings") {
  const std::vector<FixedMultiplier> params = {{1583594044, 9}};
  const std::vector<Line> sums = {Line{{7984, -7984}}};
  const auto codes = [&](const auto& stage) {
    std::vector<std::int32_t> result(2);
    const Epilogue epilogue{stage};
    const kernel::EpilogueRun<std::remove_cvref_t<decltype(epilogue)>, std::int32_t> run(epilogue, 2);
    run.apply({sums.data()->sums, 16, 0, 1, 0, 2}, ResultRows<std::int32_t>{result.data(), 2});
    return result;
  };
  on_every_integer_path([&] {
    CHECK(codes(Requantize<RequantizeHalfUp>{params}) == std::vector<std::int32_t>{11, -11});
    CHECK(codes(Requantize<RequantizeHalfAway>{params}) == std::vector<std::int32_t>{11, -11});
    CHECK(codes(Requantize<RequantizeDoubleRounding>{params}) == std::vector<std::int32_t>{12, -12});
  });
}

TEST_CASE("stages of users run beside those of the library") {
  for_widths([](std::size_t columns) {
    const auto scales = scales_of(columns);
    check_stages<std::int32_t>(Epilogue{Halve{}}, columns);
    check_stages<float>(Epilogue{Halve{}, Dequantize{scales}, Square{}}, columns);
    check_stages<std::int8_t>(Epilogue{Halve{}, Dequantize{scales}, Square{}, QuantizeTo{}, SaturateTo<Int8>{}},
                              columns);
  });
}
