// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/conv_s8.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/integer_cases.hpp"
#include "support/random_conv.hpp"

namespace {

using amct::ConvShape;
using amct::PackedConv;
using amct::ResultRows;
using amct::StatusCode;

/// Sums on every path, checked against those of the other side.
template <class X>
void check_sums(const ConvShape& shape, Draws& draws) {
  CAPTURE(support::describe(shape));
  const auto x = draws.codes<X>(shape.x_size());
  const auto w = draws.codes<std::int8_t>(shape.weight_size());
  const std::int32_t zero_point = draws.codes<X>(1)[0];
  const auto want = support::scattered_sums(shape, x, zero_point, w);
  PackedConv weights;
  REQUIRE(weights.pack(shape, w));
  on_every_integer_path([&] {
    const std::size_t row = shape.channels_out + 3;
    std::vector<std::int32_t> y(shape.batch * shape.output_size() * row, 77);
    REQUIRE(amct::convolve(shape, weights, std::span<const X>(x), zero_point, amct::Epilogue<>{},
                           ResultRows<std::int32_t>{y.data(), row}));
    std::size_t different = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t c = i % row;
      const std::int64_t expected = c < shape.channels_out ? want[i / row * shape.channels_out + c] : 77;
      different += y[i] != expected ? 1 : 0;
    }
    CHECK(different == 0);
  });
}

/// A convolution of images with a square window.
ConvShape square(std::size_t in, std::size_t out, std::size_t size, std::size_t kernel, std::size_t stride,
                 std::size_t pad) {
  ConvShape shape;
  shape.channels_in = in;
  shape.channels_out = out;
  shape.input = {1, size, size};
  shape.kernel = {1, kernel, kernel};
  shape.stride = {1, stride, stride};
  shape.pad_begin = {0, pad, pad};
  REQUIRE(shape.fit_output({0, pad, pad}));
  return shape;
}

ConvShape depthwise(std::size_t channels, std::size_t size, std::size_t kernel, std::size_t stride, std::size_t pad) {
  ConvShape shape = square(channels, channels, size, kernel, stride, pad);
  shape.groups = channels;
  return shape;
}

/// Bias, scales and a residual a channel, to codes with an offset.
struct Layer {
  explicit Layer(const ConvShape& shape, Draws& draws) : row(shape.channels_out) {
    for (std::size_t c = 0; c < shape.channels_out; ++c) {
      bias.push_back(static_cast<std::int32_t>(draws.next() % 4001) - 2000);
      scales.push_back(static_cast<float>(draws.from(1, 1000)) * 1e-5F);
    }
    for (std::size_t i = 0; i < shape.y_size(); ++i) residual.push_back(static_cast<float>(draws.from(0, 99)) * 0.01F);
  }
  [[nodiscard]] amct::LayerToCodes<amct::Int8> epilogue(float* kept) const {
    return amct::LayerToCodes<amct::Int8>{amct::AddBias{bias},         {},
                                          amct::Dequantize{scales},    amct::AddResidual{residual.data(), row},
                                          amct::ClipReal{-1.0F, 2.5F}, amct::KeepReal{kept, row},
                                          amct::QuantizeTo{37.0F, -9}, {}};
  }

  std::size_t row;
  std::vector<std::int32_t> bias;
  std::vector<float> scales, residual;
};

/// Codes of a layer on every path are those that its epilogue makes of the sums of the other side.
void check_layer(const ConvShape& shape, Draws& draws) {
  CAPTURE(support::describe(shape));
  const auto x = draws.codes<std::int8_t>(shape.x_size());
  const auto w = draws.codes<std::int8_t>(shape.weight_size());
  const auto sums = support::scattered_sums(shape, x, 11, w);
  const Layer layer(shape, draws);
  std::vector<float> want_kept(shape.y_size());
  std::vector<std::int8_t> want(shape.y_size());
  const auto definition = layer.epilogue(want_kept.data());
  for (std::size_t i = 0; i < want.size(); ++i) {
    want[i] = definition(static_cast<std::int32_t>(sums[i]), {i / layer.row, i % layer.row});
  }
  PackedConv weights;
  REQUIRE(weights.pack(shape, w));
  on_every_integer_path([&] {
    std::vector<std::int8_t> y(shape.y_size());
    std::vector<float> kept(shape.y_size());
    REQUIRE(amct::convolve(shape, weights, std::span<const std::int8_t>(x), 11, layer.epilogue(kept.data()),
                           ResultRows<std::int8_t>{y.data(), layer.row}));
    CHECK(y == want);
    CHECK(kept == want_kept);
  });
}

}  // namespace

TEST_CASE("a convolution by hand: what is outside counts as the zero point") {
  ConvShape shape = square(1, 1, 2, 3, 1, 1);
  const std::vector<std::int8_t> x = {5, 6, 7, 8};
  const std::vector<std::int8_t> w = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  PackedConv weights;
  REQUIRE(weights.pack(shape, w));
  on_every_integer_path([&] {
    std::vector<std::int32_t> y(4);
    const auto sums = [&](std::int32_t zero_point) {
      REQUIRE(amct::convolve(shape, weights, std::span<const std::int8_t>(x), zero_point, amct::Epilogue<>{},
                             ResultRows<std::int32_t>{y.data(), 1}));
      return y;
    };
    CHECK(sums(0) == std::vector<std::int32_t>{5 * 5 + 6 * 6 + 8 * 7 + 9 * 8, 5 * 4 + 6 * 5 + 8 * 8 + 7 * 7,
                                               5 * 2 + 6 * 3 + 7 * 5 + 8 * 6, 5 * 1 + 6 * 2 + 7 * 4 + 8 * 5});
    CHECK(sums(5) == std::vector<std::int32_t>{6 + 16 + 27, 5 + 14 + 24, 3 + 10 + 18, 2 + 8 + 15});
  });
}

TEST_CASE("random convolutions of all kinds have the sums of the other side on every path") {
  Draws draws(1);
  for (int i = 0; i < 700; ++i) {
    const ConvShape shape = support::draw_conv(draws);
    REQUIRE(shape.check());
    check_sums<std::int8_t>(shape, draws);
    if (i % 3 == 0) check_sums<std::uint8_t>(shape, draws);
    if (i % 3 == 1) check_sums<std::int16_t>(shape, draws);
  }
}

TEST_CASE("layers of random convolutions give the same codes on every path, groups with their own columns") {
  Draws draws(2);
  for (int i = 0; i < 250; ++i) check_layer(support::draw_conv(draws), draws);
}

TEST_CASE("depthwise convolutions of all widths, windows and strides have the sums of the other side") {
  Draws draws(3);
  for (const std::size_t channels : {1U, 15U, 16U, 17U, 32U, 63U, 64U, 65U, 130U}) {
    for (const std::size_t kernel : {1U, 2U, 3U, 4U, 5U, 7U}) {
      check_sums<std::int8_t>(depthwise(channels, 7, kernel, 1, kernel / 2), draws);
      check_sums<std::int16_t>(depthwise(channels, 9, kernel, 2, kernel / 2), draws);
    }
    check_sums<std::uint8_t>(depthwise(channels, 8, 3, 3, 1), draws);
  }
  check_layer(depthwise(32, 40, 3, 1, 1), draws);
  check_layer(depthwise(72, 70, 3, 1, 1), draws);  // several strips
}

TEST_CASE("depthwise convolutions along one axis, through space and with gaps have the sums of the other side") {
  Draws draws(4);
  ConvShape line = depthwise(20, 1, 1, 1, 0);
  line.input = {1, 1, 150};
  line.kernel = {1, 1, 31};
  line.pad_begin = {0, 0, 15};
  for (const std::size_t stride : {1U, 2U, 5U}) {
    line.stride[2] = stride;
    REQUIRE(line.fit_output({0, 0, 15}));
    check_sums<std::int8_t>(line, draws);
    check_sums<std::int16_t>(line, draws);
  }
  ConvShape space = depthwise(5, 1, 1, 1, 0);
  space.batch = 2;
  space.input = {5, 6, 7};
  space.kernel = {3, 2, 3};
  space.dilation = {1, 2, 2};
  space.pad_begin = {1, 1, 2};
  REQUIRE(space.fit_output({1, 1, 2}));
  check_sums<std::int8_t>(space, draws);
  space.is_transposed = true;
  space.stride = {2, 3, 2};
  REQUIRE(space.fit_output({0, 1, 0}, {1, 0, 1}));
  check_sums<std::int8_t>(space, draws);
  check_sums<std::uint8_t>(space, draws);
}

TEST_CASE("convolutions of some size, which are split over threads, have the sums of the other side") {
  Draws draws(5);
  check_sums<std::int8_t>(square(3, 20, 40, 7, 2, 3), draws);
  check_sums<std::int8_t>(square(64, 70, 14, 1, 1, 0), draws);
  check_sums<std::int8_t>(square(48, 33, 15, 1, 2, 0), draws);
  check_sums<std::uint8_t>(square(40, 64, 20, 3, 1, 1), draws);
  ConvShape groups = square(96, 64, 24, 3, 1, 1);
  groups.groups = 16;
  check_sums<std::int8_t>(groups, draws);
  check_layer(groups, draws);
}

TEST_CASE("small groups, which are multiplied together, have the sums of the other side") {
  Draws draws(8);
  for (const std::size_t groups : {6U, 10U, 48U}) {
    ConvShape shape = square(groups, 2 * groups, 9, 3, 1, 1);  // two filters for each channel
    shape.groups = groups;
    check_sums<std::int8_t>(shape, draws);
    check_layer(shape, draws);
  }
}

TEST_CASE("weights of 1 give the sums that average pools divide, where padding is a real 0") {
  Draws draws(9);
  ConvShape shape = depthwise(19, 8, 3, 2, 1);
  const auto x = draws.codes<std::int8_t>(shape.x_size());
  const auto want = support::scattered_sums(shape, x, 4, std::vector<std::int8_t>(shape.weight_size(), 1));
  PackedConv ones;
  REQUIRE(ones.pack_ones(shape));
  on_every_integer_path([&] {
    std::vector<std::int32_t> y(shape.y_size());
    REQUIRE(amct::convolve(shape, ones, std::span<const std::int8_t>(x), 4, amct::Epilogue<>{},
                           ResultRows<std::int32_t>{y.data(), 19}));
    CHECK(std::vector<std::int64_t>(y.begin(), y.end()) == want);
  });
  shape.stride[1] = 0;
  CHECK(ones.pack_ones(shape).code == StatusCode::bad_option);
}

TEST_CASE("weights of 4 bits give the same sums in half the memory") {
  Draws draws(6);
  for (const std::size_t in : {3U, 8U, 33U}) {
    const ConvShape shape = square(in, 19, 6, 3, 1, 1);
    const auto x = draws.codes<std::int8_t>(shape.x_size());
    std::vector<std::int8_t> w(shape.weight_size());
    for (std::int8_t& code : w) code = static_cast<std::int8_t>(static_cast<int>(draws.next() % 16) - 8);
    const auto want = support::scattered_sums(shape, x, -3, w);
    PackedConv weights;
    REQUIRE(weights.pack(shape, w, amct::PackedWeights::Storage::codes4));
    on_every_integer_path([&] {
      std::vector<std::int32_t> y(shape.y_size());
      REQUIRE(amct::convolve(shape, weights, std::span<const std::int8_t>(x), -3, amct::Epilogue<>{},
                             ResultRows<std::int32_t>{y.data(), 19}));
      CHECK(std::vector<std::int64_t>(y.begin(), y.end()) == want);
    });
  }
}

TEST_CASE("sums that int32 cannot be proven to hold are wider or refused") {
  // 600 taps of 32767 * 127 are 2.5e9.
  for (const bool is_depthwise : {false, true}) {
    ConvShape shape = is_depthwise ? depthwise(2, 1, 1, 1, 0) : square(2, 2, 1, 1, 1, 0);
    shape.input = shape.kernel = {1, 1, is_depthwise ? 600U : 300U};
    const std::vector<std::int16_t> x(shape.x_size(), 32767);
    const std::vector<std::int8_t> w(shape.weight_size(), 127);
    PackedConv weights;
    REQUIRE(weights.pack(shape, w));
    on_every_integer_path([&] {
      std::vector<std::int32_t> sums{7, 7};
      const amct::Status status = amct::convolve(shape, weights, std::span<const std::int16_t>(x), 0,
                                                 amct::Epilogue<>{}, ResultRows<std::int32_t>{sums.data(), 2});
      CHECK(status.code == StatusCode::sum_overflow);
      CHECK(sums == std::vector<std::int32_t>{7, 7});
      std::vector<float> reals(2);
      const std::vector<float> scales{0.5F};
      REQUIRE(amct::convolve(shape, weights, std::span<const std::int16_t>(x), 0,
                             amct::Epilogue{amct::Dequantize{scales}}, ResultRows<float>{reals.data(), 2}));
      CHECK(reals[0] == static_cast<float>(std::int64_t{600} * 32767 * 127) * 0.5F);
      CHECK(reals[1] == reals[0]);
    });
  }
}

TEST_CASE("the second group is named when only its sums do not fit") {
  ConvShape shape = square(2, 2, 1, 1, 1, 0);
  shape.channels_in = 4;
  shape.groups = 2;
  shape.input = shape.kernel = {1, 1, 300};
  const std::vector<std::int16_t> x(shape.x_size(), 1);
  std::vector<std::int8_t> w(shape.weight_size(), 127);
  std::fill_n(w.begin(), w.size() / 2, std::int8_t{1});
  PackedConv weights;
  REQUIRE(weights.pack(shape, w));
  std::vector<std::int32_t> y{7, 7};
  const amct::Status status = amct::convolve(shape, weights, std::span<const std::int16_t>(x), 0, amct::Epilogue<>{},
                                             ResultRows<std::int32_t>{y.data(), 2});
  CHECK(status.code == StatusCode::sum_overflow);
  CHECK(status.index == 1);
  CHECK(y == std::vector<std::int32_t>{7, 7});
}

TEST_CASE("a dilation far beyond the input needs no memory of its size") {
  ConvShape shape = depthwise(3, 4, 3, 1, 0);
  shape.dilation = {1, 1, std::size_t{1} << 24};
  shape.pad_begin = {0, 0, std::size_t{1} << 24};
  shape.output = {1, 2, 4};
  Draws draws(7);
  check_sums<std::int8_t>(shape, draws);
}

TEST_CASE("a window of very many elements needs no memory for all of them at once") {
  ConvShape shape = depthwise(1, 1, 1, 1, 0);
  shape.kernel = {1, 1, 300000};
  shape.input = {1, 1, 5};
  shape.pad_begin = {0, 0, 299998};
  shape.output = {1, 1, 3};
  const std::vector<std::int8_t> x{1, 2, 3, 4, 5};
  PackedConv ones;
  REQUIRE(ones.pack_ones(shape));
  on_every_integer_path([&] {
    std::vector<std::int32_t> y(3);
    REQUIRE(amct::convolve(shape, ones, std::span<const std::int8_t>(x), 0, amct::Epilogue<>{},
                           ResultRows<std::int32_t>{y.data(), 1}));
    CHECK(y == std::vector<std::int32_t>{3, 6, 10});
  });
}

TEST_CASE("what does not fit together is refused") {
  const ConvShape shape = square(2, 3, 4, 3, 1, 1);
  const std::vector<std::int8_t> x(shape.x_size());
  const std::vector<std::int8_t> w(shape.weight_size());
  std::vector<std::int32_t> y(shape.y_size(), 7);
  const auto run = [&](const ConvShape& used, const PackedConv& weights, std::span<const std::int8_t> data,
                       std::int32_t zero_point) {
    return amct::convolve(used, weights, data, zero_point, amct::Epilogue<>{}, ResultRows<std::int32_t>{y.data(), 3})
        .code;
  };
  PackedConv weights;
  const ConvShape single;  // depthwise, as what was never packed seems to be
  CHECK(run(single, weights, std::span(x).first(1), 0) == StatusCode::size_mismatch);
  CHECK(weights.pack(shape, std::span(w).first(5)).code == StatusCode::size_mismatch);
  CHECK(run(shape, weights, x, 0) == StatusCode::size_mismatch);
  REQUIRE(weights.pack(shape, w));
  ConvShape other = shape;
  other.kernel = {1, 1, 3};
  CHECK(run(other, weights, x, 0) == StatusCode::size_mismatch);
  other = shape;
  other.stride[1] = 0;
  CHECK(run(other, weights, x, 0) == StatusCode::bad_option);
  CHECK(run(shape, weights, std::span(x).first(3), 0) == StatusCode::size_mismatch);
  CHECK(run(shape, weights, x, 128) == StatusCode::bad_option);
  CHECK(y == std::vector<std::int32_t>(shape.y_size(), 7));
  CHECK(run(shape, weights, x, 127) == StatusCode::ok);
}
