// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/container_convert.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "interop/refused.hpp"
#include "interop/strides.hpp"

namespace {

using amct::Affine;
using amct::Int16;
using amct::Int8;
using support::axes_of;
using support::Indices;
using support::Order;
using support::Stored;

constexpr std::int8_t kUntouched = 99;

/// Shapes whose channels are short and long, and fit pieces in whole rows, in whole channels, and in parts only.
const std::vector<Indices> kShapes{{1},    {9},    {3, 4},    {1, 5, 1}, {4, 3, 5}, {2, 3, 2, 4},
                                   {0, 3}, {3, 0}, {2, 1500}, {1500, 2}, {700, 3}};

/// Channels that differ from each other.
std::vector<Affine> affines(std::size_t count) {
  std::vector<Affine> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({0.02F + 0.01F * static_cast<float>(i % 7), static_cast<std::int32_t>(i % 5) - 2});
  }
  return result;
}

/// Calls `check(shape, in, out, axis, channels)` for pairs of storage orders and all axes, and without an axis.
template <class Check>
void for_each_case(Check&& check) {
  for (const Indices& shape : kShapes) {
    for (const Order in : support::kOrders) {
      for (const Order out : support::kOrders) {
        CAPTURE(shape.size());
        CAPTURE(static_cast<int>(in));
        CAPTURE(static_cast<int>(out));
        check(shape, in, out, std::optional<std::size_t>{}, std::size_t{1});
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          CAPTURE(axis);
          check(shape, in, out, std::optional(axis), shape[axis]);
        }
      }
    }
  }
}

/// True if `result(indices)` is `expected(indices, channel)` everywhere.
template <class Result, class Expected>
bool holds(const Indices& shape, std::optional<std::size_t> axis, Result& result, Expected&& expected) {
  bool all = result.gaps_untouched();
  support::for_each_index(shape,
                          [&](const Indices& at) { all = all && result(at) == expected(at, axis ? at[*axis] : 0); });
  return all;
}

/// The spans that convert hands out.
struct Call {
  std::size_t channel;
  const float* from;
  std::int8_t* to;
  std::size_t size;
  bool operator==(const Call&) const = default;
};

std::vector<Call> calls(const Strides<float>& from, Strides<std::int8_t> to, std::size_t channels,
                        std::optional<std::size_t> axis) {
  std::vector<Call> result;
  const auto compute = [&](const auto& piece, auto in, auto out) {
    std::ranges::transform(in, out.begin(), [](float x) { return static_cast<std::int8_t>(x); });
    result.push_back({piece.channel, in.data(), out.data(), in.size()});
  };
  amct::interop::detail::convert(channels, axis, compute, to, from);
  return result;
}

}  // namespace

TEST_CASE("container convert: dense containers of one order are computed in place, at once") {
  std::vector<float> x(12, 1.0F);
  std::vector<std::int8_t> y(12);
  for (const auto& axes : {axes_of({{3, 4}, {4, 1}}), axes_of({{4, 1}, {3, 4}}), axes_of({{4, 3}, {3, 1}})}) {
    for (const std::optional<std::size_t> axis : {std::optional<std::size_t>{}, {0}, {1}}) {
      const std::size_t channels = axis ? axes[*axis].size : 1;
      CHECK(calls({x.data(), axes}, {y.data(), axes}, channels, axis) ==
            std::vector<Call>{{0, x.data(), y.data(), 12}});
    }
  }
}

TEST_CASE("container convert: where only one side is dense, that side is used in place") {
  std::vector<float> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  std::vector<std::int8_t> y(24, -1);
  const auto gaps = axes_of({{3, 8}, {4, 2}});
  const auto dense = axes_of({{3, 4}, {4, 1}});
  const auto transposed = axes_of({{3, 1}, {4, 3}});

  auto made = calls({x.data(), dense}, {y.data(), gaps}, 1, std::nullopt);
  REQUIRE(made.size() == 1);
  CHECK(made[0].from == x.data());
  CHECK(made[0].to != y.data());
  for (std::size_t i = 0; i < 12; ++i) CHECK(y[2 * i] == static_cast<int>(i));
  for (std::size_t i = 0; i < 12; ++i) CHECK(y[2 * i + 1] == -1);

  made = calls({x.data(), gaps}, {y.data(), transposed}, 1, std::nullopt);
  REQUIRE(made.size() == 1);
  CHECK(made[0].from != x.data());
  CHECK(made[0].to == y.data());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) CHECK(y[i + 3 * j] == static_cast<int>(8 * i + 2 * j));
  }
}

TEST_CASE("container convert: quantize, in any storage orders, with one scale and with one a channel") {
  for_each_case([](const Indices& shape, Order in, Order out, std::optional<std::size_t> axis, std::size_t count) {
    Stored<float> x(shape, in, 0.0F);
    x.set(support::number);
    const std::vector<Affine> channels = affines(count);
    Stored<std::int8_t> codes(shape, out, kUntouched);
    amct::quantize(x.view(), codes.view(), channels, axis, Int8::range);
    CHECK(holds(shape, axis, codes, [&](const Indices& at, std::size_t channel) {
      return amct::ReciprocalRoundAdd::code(x(at), channels[channel], Int8::range);
    }));
  });
}

TEST_CASE("container convert: dequantize, in any storage orders, with one scale and with one a channel") {
  for_each_case([](const Indices& shape, Order in, Order out, std::optional<std::size_t> axis, std::size_t count) {
    Stored<std::int16_t> codes(shape, in, 0);
    codes.set([](std::size_t i) { return static_cast<std::int16_t>(i * 7919 % 65536); });
    const std::vector<Affine> channels = affines(count);
    Stored<float> x(shape, out, 0.125F);
    amct::dequantize(codes.view(), x.view(), channels, axis);
    CHECK(holds(shape, axis, x, [&](const Indices& at, std::size_t channel) {
      return static_cast<float>(codes(at) - channels[channel].offset) * channels[channel].scale;
    }));
  });
}

TEST_CASE("container convert: fake_quantize, in any storage orders, with one scale and with one a channel") {
  for_each_case([](const Indices& shape, Order in, Order out, std::optional<std::size_t> axis, std::size_t count) {
    Stored<float> x(shape, in, 0.0F);
    x.set(support::number);
    const std::vector<Affine> channels = affines(count);
    const auto expected = [&](const Indices& at, std::size_t channel) {
      const Affine& affine = channels[channel];
      return static_cast<float>(amct::DivideAddRound::code(x(at), affine, Int8::range) - affine.offset) * affine.scale;
    };
    Stored<float> y(shape, out, 0.125F);
    amct::fake_quantize<amct::DivideAddRound>(x.view(), y.view(), channels, axis, Int8::range);
    CHECK(holds(shape, axis, y, expected));
    const std::vector<float> values = y.values();
    amct::fake_quantize<amct::DivideAddRound>(x.view(), x.view(), channels, axis, Int8::range);
    CHECK(x.values() == values);
  });
}

namespace {

using Scales = amct::RequantizeByScales<>;
using Multiplier = amct::RequantizeByMultiplier<>;
using Shifted = amct::RequantizeShifted<>;

template <class Contract>
typename Contract::Params params_of(std::size_t channel);
template <>
Scales::Params params_of<Scales>(std::size_t channel) {
  return {0.001F * static_cast<float>(channel % 5 + 1), 0.05F};
}
template <>
Multiplier::Params params_of<Multiplier>(std::size_t channel) {
  return {0.01F * static_cast<float>(channel % 5 + 1)};
}
template <>
amct::FixedMultiplier params_of<amct::RequantizeHalfUp>(std::size_t channel) {
  return amct::fixed_multiplier(0.013 * static_cast<double>(channel % 5 + 1));
}
template <>
Shifted::Params params_of<Shifted>(std::size_t channel) {
  return {0.0001F, 0.05F, static_cast<int>(channel % 4)};
}

}  // namespace

TEST_CASE_TEMPLATE("container convert: requantize, with and without axis and bias", Contract, Scales, Multiplier,
                   amct::RequantizeHalfUp, Shifted) {
  for_each_case([](const Indices& shape, Order in, Order out, std::optional<std::size_t> axis, std::size_t count) {
    Stored<std::int32_t> acc(shape, in, 0);
    acc.set([](std::size_t i) { return static_cast<std::int32_t>(i * 7919 % 16001) - 8000; });
    std::vector<typename Contract::Params> params;
    std::vector<std::int32_t> bias;
    for (std::size_t i = 0; i < count; ++i) {
      params.push_back(params_of<Contract>(i));
      bias.push_back(static_cast<std::int32_t>(i * 911 % 3001) - 1500);
    }
    const auto expected = [&](const Indices& at, std::size_t channel) {
      return Contract::code(acc(at) + bias[channel], params[channel], 3, Int8::range);
    };
    Stored<std::int8_t> codes(shape, out, kUntouched);
    amct::requantize<Contract>(acc.view(), codes.view(), bias, params, axis, 3, Int8::range);
    CHECK(holds(shape, axis, codes, expected));

    std::ranges::fill(bias, 0);
    amct::requantize<Contract>(acc.view(), codes.view(), {}, params, axis, 3, Int8::range);
    CHECK(holds(shape, axis, codes, expected));

    if (axis) return;
    Stored<std::int16_t> wide(shape, out, kUntouched);
    amct::requantize<Contract>(acc.view(), wide.view(), params[0], -2, Int16::range);
    CHECK(holds(shape, axis, wide,
                [&](const Indices& at, std::size_t) { return Contract::code(acc(at), params[0], -2, Int16::range); }));
  });
}

TEST_CASE("container convert: mask_clipped, three containers in any storage orders") {
  const amct::ClipRange range{-3.0F, 4.0F, 0.1F};
  for (const Indices& shape : kShapes) {
    for (const Order in : support::kOrders) {
      for (const Order upstream_order : support::kOrders) {
        for (const Order out : {Order::rows, Order::columns, Order::gaps}) {
          Stored<float> x(shape, in, 0.0F);
          x.set(support::number);
          Stored<float> upstream(shape, upstream_order, 0.0F);
          upstream.set([](std::size_t i) { return static_cast<float>(i) + 0.5F; });
          Stored<float> gradient(shape, out, 0.125F);
          amct::mask_clipped(x.view(), upstream.view(), range, gradient.view());
          CHECK(holds(shape, {}, gradient, [&](const Indices& at, std::size_t) {
            return x(at) < range.low || x(at) > range.high ? 0.0F : upstream(at);
          }));
          amct::mask_clipped(x.view(), upstream.view(), range, upstream.view());
          CHECK(upstream.values() == gradient.values());
        }
      }
    }
  }
}

TEST_CASE("container convert: a bias, with one scale and with one an element") {
  std::vector<float> scales(1200, 0.5F);
  for (std::size_t i = 0; i < scales.size(); i += 2) scales[i] = 0.25F;
  for (const Indices& shape : {Indices{1200}, {1, 1200}, {1200, 1}}) {
    for (const Order in : support::kOrders) {
      for (const Order out : {Order::rows, Order::gaps, Order::reversed}) {
        Stored<float> bias(shape, in, 0.0F);
        bias.set(support::number);
        Stored<std::int32_t> result(shape, out, kUntouched);
        REQUIRE(amct::quantize_bias(bias.view(), 0.01F, scales, result.view()));
        std::vector<std::int32_t> expected(1200);
        const std::vector<float> values = bias.values();
        REQUIRE(amct::quantize_bias(values, 0.01F, scales, expected));
        CHECK(result.values() == expected);
        CHECK(result.gaps_untouched());
        REQUIRE(amct::quantize_bias(bias.view(), 0.01F, std::span(scales).first(1), result.view()));
        REQUIRE(amct::quantize_bias(values, 0.01F, std::span(scales).first(1), expected));
        CHECK(result.values() == expected);

        bias.set([](std::size_t i) { return i == 1100 ? 1e30F : 1.0F; });
        const auto status = amct::quantize_bias(bias.view(), 0.01F, scales, result.view());
        CHECK(status.code == amct::StatusCode::bias_overflow);
        CHECK(status.index == 1100);
        if (out != Order::rows) CHECK(result.values() == expected);
        CHECK(amct::quantize_bias(bias.view(), 0.01F, std::span(scales).first(7), result.view()).code ==
              amct::StatusCode::size_mismatch);
      }
    }
  }
}

TEST_CASE("container convert: shapes, axes and numbers of channels that do not fit are refused") {
  Stored<float> x({3, 4}, Order::rows, 0.0F);
  Stored<float> row({12}, Order::rows, 0.0F);
  Stored<std::int32_t> acc({3, 4}, Order::rows, 0);
  Stored<std::int8_t> codes({3, 4}, Order::rows, 0);
  Stored<std::int8_t> turned({4, 3}, Order::rows, 0);
  Stored<std::int8_t> deep({1, 3, 4}, Order::rows, 0);
  Stored<std::int32_t> integers({3, 4}, Order::rows, 0);
  const std::vector<Affine> four = affines(4);
  const std::vector<Scales::Params> params(4);
  const std::vector<std::int32_t> bias(3);
  const std::vector<float> scale(1, 1.0F);
  amct::quantize(x.view(), codes.view(), four, 1, Int8::range);
  CHECK(support::is_refused([&] { amct::quantize(x.view(), codes.view(), four, 0, Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x.view(), codes.view(), four, 2, Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x.view(), codes.view(), four, std::nullopt, Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x.view(), turned.view(), four[0], Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x.view(), deep.view(), four[0], Int8::range); }));
  CHECK(support::is_refused([&] { amct::dequantize(codes.view(), row.view(), four[0]); }));
  CHECK(support::is_refused([&] { amct::fake_quantize(x.view(), row.view(), four[0], Int8::range); }));
  CHECK(support::is_refused([&] { amct::requantize(acc.view(), turned.view(), params[0], 0, Int8::range); }));
  CHECK(support::is_refused([&] { amct::requantize(acc.view(), codes.view(), bias, params, 1, 0, Int8::range); }));
  CHECK(support::is_refused([&] { amct::mask_clipped(x.view(), row.view(), {-1.0F, 1.0F}, x.view()); }));
  CHECK(support::is_refused([&] { static_cast<void>(amct::quantize_bias(x.view(), 1.0F, scale, integers.view())); }));
  CHECK(support::is_refused([&] { static_cast<void>(amct::quantize_bias(row.view(), 1.0F, scale, acc.view())); }));
}
