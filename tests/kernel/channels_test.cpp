// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/channels.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/requantize.hpp>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

namespace {

using amct::Affine;
using amct::ChannelLayout;
using amct::CodeRange;
using amct::GroupLayout;

using DivideRoundAddAway = amct::Contract<amct::Divide, amct::RoundThenAdd, amct::HalfAway>;
static_assert(!amct::kernel::VectorContract<DivideRoundAddAway>);

/// Runs on both sides of every bound of kernel/channels.hpp: a long run, a row, several periods in a row.
constexpr ChannelLayout kAxes[] = {{1, 1, 1, 1},    {1, 1, 1, 300},  {1, 1, 3, 9},    {1, 1, 17, 127}, {1, 1, 17, 128},
                                   {1, 1, 3, 129},  {1, 1, 3, 4608}, {1, 1, 1000, 1}, {1, 1, 1000, 9}, {1, 1, 3000, 3},
                                   {1, 5, 3, 3},    {1, 40, 17, 9},  {1, 2, 17, 127}, {1, 2, 3, 128},  {1, 2, 17, 129},
                                   {1, 2, 1000, 3}, {1, 7, 1, 1},    {1, 100, 3, 1},  {1, 33, 17, 1},  {1, 3, 1000, 1},
                                   {1, 2, 1023, 1}, {1, 2, 1024, 1}, {1, 2, 1025, 1}, {1, 2, 3000, 1}, {1, 9, 513, 1},
                                   {2, 2, 2, 1},    {3, 70, 17, 1},  {2, 3, 17, 9},   {4, 1, 3, 127},  {2, 3, 400, 3},
                                   {2, 2, 3, 129},  {2, 2, 3000, 1}, {5, 1, 1000, 1}, {1, 0, 3, 2},    {1, 1, 3, 0},
                                   {0, 1, 2, 3},    {1, 4, 0, 3}};

constexpr GroupLayout kGroups[] = {{3, 20, 1},    {1, 2500, 1},  {5, 33, 7},    {1, 3000, 7},  {700, 3, 7},
                                   {3, 100, 32},  {2, 70, 32},   {3, 4001, 32}, {2, 1024, 32}, {2, 4096, 128},
                                   {3, 300, 128}, {3, 300, 130}, {9, 5, 130},   {40, 9, 0},    {2, 5000, 0},
                                   {30, 127, 0},  {0, 4, 2},     {3, 0, 2},     {3, 0, 0}};

/// Several parts for threads, the last one short.
constexpr ChannelLayout kLargeAxes[] = {{1, 301, 1000, 1}, {1, 2, 3000, 50},  {3, 40, 257, 9},
                                        {1, 2, 90000, 3},  {1, 1, 2, 140000}, {2, 3, 500, 129}};
constexpr GroupLayout kLargeGroups[] = {{80, 4100, 32}, {91, 3001, 7}, {270, 1000, 130}, {2, 140000, 0}};
static_assert(kLargeAxes[1].size() > amct::kernel::kParallelGrain);

/// The channel of element i, from its indices.
std::size_t channel_of(const ChannelLayout& layout, std::size_t i) {
  const std::size_t channel = i / layout.inner % layout.channels_per_group;
  return i / (layout.inner * layout.channels_per_group * layout.outer) * layout.channels_per_group + channel;
}
std::size_t channel_of(const GroupLayout& layout, std::size_t i) {
  const std::size_t width = layout.group == 0 ? layout.columns : layout.group;
  const std::size_t groups = (layout.columns + width - 1) / width;
  return i / layout.columns * groups + i % layout.columns / width;
}

void describe(const ChannelLayout& layout, const auto& check) {
  CAPTURE(layout.groups);
  CAPTURE(layout.outer);
  CAPTURE(layout.channels_per_group);
  CAPTURE(layout.inner);
  check(layout);
}
void describe(const GroupLayout& layout, const auto& check) {
  CAPTURE(layout.rows);
  CAPTURE(layout.columns);
  CAPTURE(layout.group);
  check(layout);
}

/// Calls `check(layout)` with layouts of a few thousand elements.
void for_small_layouts(const auto& check) {
  for (const ChannelLayout& layout : kAxes) describe(layout, check);
  for (const GroupLayout& layout : kGroups) describe(layout, check);
}
void for_large_layouts(const auto& check) {
  for (const ChannelLayout& layout : kLargeAxes) describe(layout, check);
  for (const GroupLayout& layout : kLargeGroups) describe(layout, check);
}

/// Different for neighbouring channels, and within reach of all vector bodies.
std::vector<Affine> usual_affines(std::size_t channels) {
  constexpr float kScales[] = {0.03F, 1.0F, 0.25F, 0.0117F, 2.0F, 3e-3F};
  constexpr std::int32_t kOffsets[] = {-7, 0, -128, 127, 16384, 77, -16384};
  std::vector<Affine> affines(channels);
  for (std::size_t c = 0; c < channels; ++c) affines[c] = {kScales[c % 6], kOffsets[c % 7]};
  return affines;
}

/// The usual ones, then with a channel in the middle whose offset, or whose scale, no vector body takes.
void for_affines(std::size_t channels, const auto& check) {
  std::vector<Affine> affines = usual_affines(channels);
  check(affines);
  if (channels == 0) return;
  for (const Affine strange : {Affine{1.0F, 600000}, {0.5F, -600000}, {1e-30F, 3}}) {
    CAPTURE(strange.offset);
    CAPTURE(strange.scale);
    affines[channels / 2] = strange;
    check(affines);
  }
}

/// Ties of every channel, NaN of both kinds, infinities, -0.
std::vector<float> values(std::size_t size) {
  std::vector<float> x = support::awkward_floats(size, 1.0F);
  for (std::size_t i = 50; i < size; i += 601) x[i] = std::numeric_limits<float>::signaling_NaN();
  return x;
}

template <class T>
std::vector<T> some_codes(std::size_t size) {
  std::vector<T> codes(size);
  for (std::size_t i = 0; i < size; ++i) codes[i] = static_cast<T>(i * 2654435761U >> 7U);
  return codes;
}

/// Checks what `compute(out)` gives on every path, and that it writes nothing else.
template <class T, class Compute>
void check_on_every_path(std::vector<T> want, const Compute& compute) {
  const std::size_t size = want.size();
  want.insert(want.end(), 64, T{99});
  on_every_path([&] {
    std::vector<T> got(size + 64, T{99});
    compute(std::span(got).first(size));
    CHECK(same_bits(got, want));
  });
}

/// What the elements of a layout become: `one(x, channel)` of each.
template <class Out, amct::Granularity G, class In, class One>
std::vector<Out> each(const G& layout, const std::vector<In>& in, const One& one) {
  std::vector<Out> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<Out>(one(in[i], channel_of(layout, i)));
  return out;
}

template <class Contract, class T, amct::Granularity G>
void check_quantize(const G& layout, const std::vector<Affine>& affines, CodeRange range) {
  const auto x = values(layout.size());
  const auto want = each<T>(layout, x, [&](float v, std::size_t c) { return Contract::code(v, affines[c], range); });
  check_on_every_path(want, [&](std::span<T> codes) {
    amct::quantize<Contract>(std::span<const float>(x), codes, layout, std::span<const Affine>(affines), range);
  });
}

template <class Contract, amct::Granularity G>
void check_fake_quantize(const G& layout, const std::vector<Affine>& affines, CodeRange range) {
  const auto x = values(layout.size());
  const auto want = each<float>(layout, x, [&](float v, std::size_t c) {
    if (std::isnan(v)) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) | 0x00400000U);
    return static_cast<float>(Contract::code(v, affines[c], range) - affines[c].offset) * affines[c].scale;
  });
  check_on_every_path(want, [&](std::span<float> y) {
    amct::fake_quantize<Contract>(std::span<const float>(x), y, layout, std::span<const Affine>(affines), range);
  });
}

template <class T, amct::Granularity G>
void check_dequantize(const G& layout, const std::vector<Affine>& affines) {
  const auto codes = some_codes<T>(layout.size());
  const auto want = each<float>(layout, codes, [&](T code, std::size_t c) {
    return static_cast<float>(std::int32_t{code} - affines[c].offset) * affines[c].scale;
  });
  check_on_every_path(want, [&](std::span<float> x) {
    amct::dequantize(std::span<const T>(codes), x, layout, std::span<const Affine>(affines));
  });
}

/// Accumulators of every size and the ends of int32.
std::vector<std::int32_t> accumulators(std::size_t size) {
  std::vector<std::int32_t> values(size);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525U + 1013904223U;
    values[i] = static_cast<std::int32_t>(state) >> (state >> 3U & 31U);
    if (i % 41 == 0) values[i] = std::numeric_limits<std::int32_t>::max() - static_cast<std::int32_t>(i % 2);
    if (i % 43 == 0) values[i] = std::numeric_limits<std::int32_t>::min() + static_cast<std::int32_t>(i % 2);
  }
  return values;
}

/// Small, large and wrapping ones; some channels have none.
std::vector<std::int32_t> biases(std::size_t channels) {
  constexpr std::int32_t kBiases[] = {0, 100000, -7, std::numeric_limits<std::int32_t>::max(), -3000000};
  std::vector<std::int32_t> bias(channels);
  for (std::size_t c = 0; c < channels; ++c) bias[c] = kBiases[c % 5];
  return bias;
}

template <class Contract>
using Params = std::vector<typename Contract::Params>;

template <class Contract, class T, amct::Granularity G>
void check_requantize(const G& layout, const Params<Contract>& params, std::int32_t offset, CodeRange range) {
  const auto acc = accumulators(layout.size());
  const auto all_biases = biases(layout.channels());
  for (const auto bias : {std::span<const std::int32_t>(), std::span<const std::int32_t>(all_biases)}) {
    CAPTURE(bias.size());
    const auto want = each<T>(layout, acc, [&](std::int32_t a, std::size_t c) {
      const std::uint32_t sum = static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(bias.empty() ? 0 : bias[c]);
      return Contract::code(static_cast<std::int32_t>(sum), params[c], offset, range);
    });
    check_on_every_path(want, [&](std::span<T> codes) {
      amct::requantize<Contract>(std::span<const std::int32_t>(acc), codes, layout, bias, std::span(params), offset,
                                 range);
    });
  }
}

/// Parameters that take turns through the channels of a layout; `strange` for the one in the middle as well.
template <class Contract>
Params<Contract> in_turn(std::size_t channels, const Params<Contract>& turns) {
  Params<Contract> params(channels);
  for (std::size_t c = 0; c < channels; ++c) params[c] = turns[c % turns.size()];
  return params;
}

template <class Contract>
void check_requantize_everywhere(const Params<Contract>& turns, const Params<Contract>& strange = {}) {
  for_small_layouts([&](const auto& layout) {
    auto params = in_turn<Contract>(layout.channels(), turns);
    check_requantize<Contract, std::int8_t>(layout, params, -3, amct::Int8::range);
    check_requantize<Contract, std::int8_t>(layout, params, 100000, amct::Int8::range);
    check_requantize<Contract, std::int16_t>(layout, params, 1000, amct::CodeRange{12});
    if (params.empty()) return;
    for (const auto& one : strange) {
      params[layout.channels() / 2] = one;
      check_requantize<Contract, std::int8_t>(layout, params, 5, amct::Int8::range);
    }
  });
}

}  // namespace

TEST_CASE("channels are quantized as their elements are one by one, under vector contracts") {
  for_small_layouts([](const auto& layout) {
    for_affines(layout.channels(), [&](const std::vector<Affine>& affines) {
      check_quantize<amct::ReciprocalRoundAdd, std::int8_t>(layout, affines, amct::Int8::range);
      check_quantize<amct::ReciprocalRoundAdd, std::int16_t>(layout, affines, amct::Int16::range);
      check_quantize<amct::DivideRoundAdd, std::int8_t>(layout, affines, amct::Int4::range);
      check_quantize<amct::DivideRoundAdd, std::int16_t>(layout, affines, amct::CodeRange{12});
      check_quantize<amct::DivideAddRound, std::int8_t>(layout, affines, amct::Int8::range);
      check_quantize<amct::DivideAddRound, std::int16_t>(layout, affines, amct::Int16::range);
      check_quantize<amct::ReciprocalAddRound, std::int8_t>(layout, affines, amct::Int8::range);
      check_quantize<amct::ReciprocalAddRound, std::int16_t>(layout, affines, amct::Int16::range);
    });
  });
}

TEST_CASE("channels are quantized under contracts without a vector body") {
  for_small_layouts([](const auto& layout) {
    const auto affines = usual_affines(layout.channels());
    check_quantize<DivideRoundAddAway, std::int8_t>(layout, affines, amct::Int8::range);
    check_quantize<DivideRoundAddAway, std::int16_t>(layout, affines, amct::Int16::range);
    check_fake_quantize<DivideRoundAddAway>(layout, affines, amct::Int8::range);
  });
}

TEST_CASE("channels are fake-quantized as their elements are one by one") {
  for_small_layouts([](const auto& layout) {
    for_affines(layout.channels(), [&](const std::vector<Affine>& affines) {
      check_fake_quantize<amct::ReciprocalRoundAdd>(layout, affines, amct::Int8::range);
      check_fake_quantize<amct::DivideRoundAdd>(layout, affines, amct::Int16::range);
      check_fake_quantize<amct::DivideAddRound>(layout, affines, amct::Int4::range);
      check_fake_quantize<amct::ReciprocalAddRound>(layout, affines, amct::Int8::range);
    });
  });
}

TEST_CASE("channels are dequantized as their elements are one by one") {
  for_small_layouts([](const auto& layout) {
    for_affines(layout.channels(), [&](const std::vector<Affine>& affines) {
      check_dequantize<std::int8_t>(layout, affines);
      check_dequantize<std::int16_t>(layout, affines);
    });
  });
}

TEST_CASE("channels are requantized with one multiplier each") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  using Merged = amct::RequantizeByMultiplier<>;
  using AddingFirst = amct::RequantizeByMultiplier<amct::AddThenRound>;
  check_requantize_everywhere<Merged>({{0.0017F}, {0.5F}, {1e-6F}, {1.0F}}, {{0.0F}, {-0.25F}, {kInf}, {kNan}});
  check_requantize_everywhere<AddingFirst>({{0.0017F}, {0.5F}, {1e-6F}, {1.0F}}, {{-0.25F}});
}

TEST_CASE("channels are requantized with two scales each") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  using Twice = amct::RequantizeByScales<>;
  using Dividing = amct::RequantizeByScales<amct::DivideAddRound>;
  check_requantize_everywhere<Twice>({{3.7e-5F, 0.021F}, {0.5F, 1.0F}, {1e-9F, 1e-3F}}, {{kInf, 1.0F}, {0.0F, 1.0F}});
  check_requantize_everywhere<Dividing>({{3.7e-5F, 0.021F}, {0.5F, 1.0F}, {1e-9F, 1e-3F}});
}

TEST_CASE("channels are requantized in fixed point") {
  check_requantize_everywhere<amct::RequantizeFixedPoint<>>({{1583594044, 9}, {1 << 30, 1}, {2147483647, 20}});
  check_requantize_everywhere<amct::RequantizeDoubleRounding>({{1583594044, 9}, {1 << 30, 1}, {2147483647, 20}});
}

TEST_CASE("channels are requantized with a shift of their own") {
  using Shifted = amct::RequantizeShifted<>;
  check_requantize_everywhere<Shifted>({{3.7e-5F, 0.021F, 4}, {0.25F, 0.5F, 1}, {1e-6F, 1e-3F, 0}, {1.0F, 2.0F, 16}},
                                       {{1.0F, 1.0F, 1000}, {std::numeric_limits<float>::infinity(), 1.0F, 2}});
}

TEST_CASE("channels of large tensors are computed in several parts") {
  for_large_layouts([](const auto& layout) {
    REQUIRE(layout.size() > amct::kernel::kParallelGrain);
    const auto affines = usual_affines(layout.channels());
    check_quantize<amct::ReciprocalRoundAdd, std::int8_t>(layout, affines, amct::Int8::range);
    check_quantize<amct::DivideAddRound, std::int16_t>(layout, affines, amct::Int16::range);
    check_fake_quantize<amct::DivideRoundAdd>(layout, affines, amct::Int8::range);
    check_dequantize<std::int8_t>(layout, affines);
    using Twice = amct::RequantizeByScales<>;
    const auto params = in_turn<Twice>(layout.channels(), {{3.7e-5F, 0.021F}, {0.5F, 1.0F}, {1e-9F, 1e-3F}});
    check_requantize<Twice, std::int8_t>(layout, params, -3, amct::Int8::range);
  });
}

TEST_CASE("large tensors with a channel that no vector body takes are computed in several parts too") {
  constexpr ChannelLayout kLayout{1, 301, 1000, 1};
  auto affines = usual_affines(kLayout.channels());
  affines[999] = {1e-30F, 600000};
  check_quantize<amct::DivideRoundAdd, std::int8_t>(kLayout, affines, amct::Int8::range);
  check_fake_quantize<amct::DivideRoundAdd>(kLayout, affines, amct::Int8::range);
}

TEST_CASE("the channels of a tensor may be fake-quantized in place") {
  for_small_layouts([](const auto& layout) {
    const auto affines = usual_affines(layout.channels());
    const auto x = values(layout.size());
    std::vector<float> want(x.size());
    amct::fake_quantize(std::span<const float>(x), std::span(want), layout, std::span<const Affine>(affines), {8});
    on_every_path([&] {
      auto y = x;
      amct::fake_quantize(std::span<const float>(y), std::span(y), layout, std::span<const Affine>(affines), {8});
      CHECK(same_bits(y, want));
    });
  });
}
