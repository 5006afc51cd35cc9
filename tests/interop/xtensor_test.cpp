// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/xtensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xfixed.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xdynamic_view.hpp>
#include <xtensor/views/xstrided_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xdynamic_view.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>
#endif

#include <amct/interop/eigen.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

#include "interop/refused.hpp"

namespace {

using amct::Affine;
using amct::Arq;
using amct::Int16;
using amct::Int8;
using amct::ReciprocalRoundAdd;
using Shape = std::vector<std::size_t>;

constexpr auto kRows = xt::layout_type::row_major;
constexpr auto kColumns = xt::layout_type::column_major;
constexpr Affine kAffine{0.05F, 7};

/// Values that depend on the indices only, not on the storage order, and go beyond the codes.
template <xt::layout_type Layout = kRows>
xt::xarray<float, Layout> numbered(const Shape& shape) {
  xt::xarray<float, Layout> a(shape);
  if (a.size() == 0) return a;
  std::size_t i = 0;
  for (auto at = a.template begin<kRows>(); at != a.template end<kRows>(); ++at, ++i) {
    *at = 0.013F * static_cast<float>(i * 37 % 1117) - 7.0F;
  }
  return a;
}

/// True if every code is that of the value with the same indices.
template <class X, class Codes>
bool quantized(const X& x, const Codes& codes, Affine affine = kAffine, amct::CodeRange range = Int8::range) {
  if (x.size() != codes.size()) return false;
  if (x.size() == 0) return true;  // xtensor 0.24 moves a null pointer when it iterates over nothing
  auto code = codes.template begin<kRows>();
  for (auto at = x.template begin<kRows>(); at != x.template end<kRows>(); ++at, ++code) {
    if (*code != ReciprocalRoundAdd::code(*at, affine, range)) return false;
  }
  return true;
}

template <class X, class Y>
bool dequantized(const X& codes, const Y& y, Affine affine = kAffine) {
  if (y.size() == 0) return true;
  auto at = y.template begin<kRows>();
  for (auto code = codes.template begin<kRows>(); code != codes.template end<kRows>(); ++code, ++at) {
    if (*at != static_cast<float>(*code - affine.offset) * affine.scale) return false;
  }
  return true;
}

template <class C>
void check_viewed(const C& container, const float* data) {
  const auto elements = amct::elements(container);
  CHECK(elements.span().data() == data);
  CHECK(elements.span().size() == container.size());
  CHECK_FALSE(elements.copied());
}

template <class C>
std::vector<float> copied(const C& container) {
  const auto elements = amct::elements(container);
  CHECK(elements.copied());
  return {elements.span().begin(), elements.span().end()};
}

template <class... Args>
concept Quantizes = requires(Args&&... args) {
  amct::quantize(args..., kAffine, Int8::range);
};

}  // namespace

TEST_CASE("xtensor: dense containers and views are not copied") {
  xt::xarray<float> a = numbered({4, 3, 5});
  check_viewed(a, a.data());
  const xt::xarray<float, kColumns> columns = numbered<kColumns>({4, 3, 5});
  check_viewed(columns, columns.data());
  const xt::xarray<float, xt::layout_type::dynamic> either(Shape{4, 3}, kColumns);
  check_viewed(either, either.data());
  const xt::xtensor<float, 3> fixed_rank = a;
  check_viewed(fixed_rank, fixed_rank.data());
  const xt::xtensor_fixed<float, xt::xshape<2, 3>> fixed_size = xt::zeros<float>({2, 3});
  check_viewed(fixed_size, fixed_size.data());
  const xt::xarray<float> scalar(3.0F);
  check_viewed(scalar, scalar.data());
  const xt::xarray<float> one = numbered({1, 1});
  check_viewed(one, one.data());

  std::vector<float> memory(12);
  check_viewed(xt::adapt(memory.data(), 12, xt::no_ownership(), Shape{3, 4}), memory.data());
  check_viewed(xt::adapt(memory, Shape{3, 4}), memory.data());
  check_viewed(xt::view(a, 2), &a(2, 0, 0));
  check_viewed(xt::view(a, xt::range(1, 3), xt::all(), xt::all()), &a(1, 0, 0));
  check_viewed(xt::view(a, 1, xt::newaxis(), 2, xt::all()), &a(1, 2, 0));
  check_viewed(xt::transpose(a), a.data());
  check_viewed(xt::transpose(a, {1, 2, 0}), a.data());
  check_viewed(xt::strided_view(a, {xt::range(2, 4)}), &a(2, 0, 0));
}

TEST_CASE("xtensor: views with gaps and expressions are copied in memory order") {
  xt::xtensor<float, 2> m{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
  using Values = std::vector<float>;
  CHECK(copied(xt::view(m, xt::all(), 1)) == Values{1, 5, 9});
  CHECK(copied(xt::view(m, xt::range(0, 3, 2), xt::range(1, 4, 2))) == Values{1, 3, 9, 11});
  CHECK(copied(xt::transpose(xt::view(m, xt::all(), xt::range(0, 2)))) == Values{0, 1, 4, 5, 8, 9});
  CHECK(copied(xt::strided_view(m, {xt::all(), xt::range(2, 0, -1)})) == Values{2, 1, 6, 5, 10, 9});
  CHECK(copied(xt::flip(xt::view(m, 1, xt::all()), 0)) == Values{7, 6, 5, 4});
  CHECK(copied(xt::view(m, xt::keep(0, 2), xt::keep(3, 0))) == Values{3, 0, 11, 8});
  CHECK(copied(xt::dynamic_view(m, {xt::keep(2), xt::all()})) == Values{8, 9, 10, 11});
  CHECK(copied(xt::broadcast(xt::view(m, 0, xt::range(0, 2)), {2, 2})) == Values{0, 1, 0, 1});
  CHECK(copied(m + 1.0F)[11] == 12.0F);
}

TEST_CASE("xtensor: quantize and dequantize whatever the shapes and storage orders") {
  const auto check = []<xt::layout_type In, xt::layout_type Out>(const Shape& shape) {
    const xt::xarray<float, In> x = numbered<In>(shape);
    xt::xarray<std::int8_t, Out> codes(shape, std::int8_t{99});
    xt::xarray<float, In> y(shape, 99.0F);
    xt::xarray<float, Out> simulated(shape, 99.0F);
    amct::quantize(x, codes, kAffine, Int8::range);
    amct::dequantize(codes, y, kAffine);
    amct::fake_quantize(x, simulated, kAffine, Int8::range);
    CHECK(quantized(x, codes));
    CHECK(dequantized(codes, y));
    CHECK(dequantized(codes, simulated));
  };
  for (const Shape& shape : {Shape{},
                             {1},
                             {1, 1},
                             {7},
                             {2, 3},
                             {1, 5, 1},
                             {3, 4, 5},
                             {20, 1, 30, 4},
                             {2, 2, 2, 2, 2, 2},
                             {2, 1, 2, 1, 2, 1, 2, 1, 2, 3},
                             {0},
                             {0, 3},
                             {3, 0, 2}}) {
    CAPTURE(shape.size());
    check.operator()<kRows, kRows>(shape);
    check.operator()<kRows, kColumns>(shape);
    check.operator()<kColumns, kRows>(shape);
    check.operator()<kColumns, kColumns>(shape);
  }
}

TEST_CASE("xtensor: views are read and written where they are") {
  const xt::xarray<float> x = numbered({6, 40, 30});
  xt::xtensor<std::int8_t, 3> codes(std::array<std::size_t, 3>{6, 40, 30}, 99);
  auto in = xt::view(x, xt::range(1, 5), xt::all(), xt::range(0, 30, 2));
  auto out = xt::view(codes, xt::range(2, 6), xt::all(), xt::range(1, 30, 2));
  amct::quantize(in, out, kAffine, Int8::range);
  CHECK(quantized(in, out));
  out.fill(99);
  CHECK(xt::all(xt::equal(codes, std::int8_t{99})));

  auto plane = xt::strided_view(codes, {3, xt::all(), xt::range(29, 9, -1)});
  const auto plane_in = xt::view(x, 0, xt::all(), xt::range(5, 25));
  amct::quantize(plane_in, plane, kAffine, Int8::range);
  CHECK(quantized(plane_in, plane));
  CHECK(codes(3, 0, 29) == ReciprocalRoundAdd::code(x(0, 0, 5), kAffine, Int8::range));
  CHECK(codes(3, 0, 9) == 99);
  amct::quantize(plane_in, xt::view(codes, 0, xt::all(), xt::range(0, 20)), kAffine, Int8::range);
  CHECK(quantized(plane_in, xt::view(codes, 0, xt::all(), xt::range(0, 20))));
}

TEST_CASE("xtensor: transposes, expressions, fixed sizes and adaptors") {
  const xt::xarray<float> x = numbered({4, 3, 5});
  xt::xarray<std::int8_t> codes = xt::xarray<std::int8_t>::from_shape({5, 4, 3});
  const auto channels_first = xt::transpose(x, {2, 0, 1});
  amct::quantize(channels_first, codes, kAffine, Int8::range);
  CHECK(quantized(channels_first, codes));
  xt::xarray<std::int8_t> back = xt::xarray<std::int8_t>::from_shape({4, 3, 5});
  auto back_transposed = xt::transpose(back, {2, 0, 1});
  amct::quantize(channels_first, back_transposed, kAffine, Int8::range);
  CHECK(quantized(x, back));
  amct::quantize(x * 2.0F - x, back, kAffine, Int8::range);
  CHECK(quantized(x * 2.0F - x, back));

  const xt::xtensor_fixed<float, xt::xshape<2, 3>> fixed{{-9.0F, -0.5F, 0.0F}, {0.025F, 0.075F, 9.0F}};
  xt::xtensor_fixed<std::int8_t, xt::xshape<2, 3>> fixed_codes;
  amct::quantize(fixed, fixed_codes, kAffine, Int8::range);
  CHECK(quantized(fixed, fixed_codes));
  std::vector<std::int16_t> memory(6);
  auto adapted = xt::adapt(memory, Shape{2, 3});
  amct::quantize(fixed, adapted, {0.001F, 3}, Int16::range);
  CHECK(quantized(fixed, adapted, {0.001F, 3}, Int16::range));
  CHECK(memory[3] == 28);
}

TEST_CASE("xtensor: to and from Eigen") {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(5, 3);
  xt::xtensor<std::int8_t, 2> codes(std::array<std::size_t, 2>{5, 3});
  amct::quantize(x, codes, {0.01F, 0}, Int8::range);
  Eigen::MatrixXf y(5, 3);
  amct::dequantize(codes, y, {0.01F, 0});
  CHECK((x - y).cwiseAbs().maxCoeff() <= 0.0051F);
}

TEST_CASE("xtensor: fake_quantize in place, other contracts") {
  xt::xarray<float> x = numbered({12, 10});
  xt::xarray<float> expected = xt::empty_like(x);
  amct::fake_quantize(x, expected, kAffine, Int8::range);
  auto inner = xt::view(x, xt::range(1, 11), xt::range(1, 9));
  amct::fake_quantize(inner, inner, kAffine, Int8::range);
  CHECK(xt::all(xt::equal(inner, xt::view(expected, xt::range(1, 11), xt::range(1, 9)))));
  CHECK(x(0, 0) == numbered({12, 10})(0, 0));

  const xt::xarray<float> half(0.5F);
  xt::xarray<std::int8_t> code(std::int8_t{0});
  amct::quantize(half, code, {1.0F, 1}, Int8::range);
  CHECK(code() == 1);
  amct::quantize<amct::DivideAddRound>(half, code, {1.0F, 1}, Int8::range);
  CHECK(code() == 2);
}

TEST_CASE("xtensor: statistics") {
  xt::xarray<float> x = numbered({10, 12, 9});
  const auto view = xt::view(x, xt::range(1, 9), xt::all(), xt::range(2, 8));
  const xt::xarray<float> packed = view;
  const std::span<const float> values(packed.data(), packed.size());
  amct::ValueRange range;
  amct::ValueRange expected_range;
  CHECK(amct::extend(range, view).ok());
  CHECK(expected_range.extend(values).ok());
  CHECK(range.min == expected_range.min);
  CHECK(range.max == expected_range.max);

  const amct::ScaleCandidate candidates[] = {{-5.0F, 5.0F, 0.1F}, {-1.0F, 1.0F, 0.01F}};
  std::vector<double> sums(2, 1.0);
  std::vector<double> expected(2, 1.0);
  amct::add_squared_residuals(view, candidates, sums);
  amct::add_squared_residuals(values, candidates, expected);
  CHECK(sums == expected);

  amct::Ifmr by_container;
  amct::Ifmr by_span;
  CHECK(amct::observe(by_container, view).ok());
  CHECK(by_span.observe(values).ok());
  CHECK(by_container.compute(Int8::range) == by_span.compute(Int8::range));
  amct::MinMax min_max;
  CHECK(min_max.observe(amct::elements(xt::transpose(view))).ok());
  CHECK(amct::observe(min_max, xt::xarray<float>::from_shape({0, 3})).code == amct::StatusCode::empty);

  CHECK(amct::check_finite(x).ok());
  x(0, 1, 2) = std::numeric_limits<float>::quiet_NaN();
  CHECK(amct::check_finite(x).code == amct::StatusCode::not_finite);
  CHECK(amct::check_finite(x).index == 11);
  CHECK(amct::check_finite(view).ok());
}

TEST_CASE("xtensor: one scale a channel, on each axis and in each storage order") {
  const auto check_axis = [](const auto& weight, std::size_t axis) {
    CAPTURE(axis);
    Arq<Int8> arq;
    REQUIRE(amct::calibrate(arq, weight, axis));
    const Shape shape(weight.shape().begin(), weight.shape().end());
    REQUIRE(arq.channels().size() == shape[axis]);
    xt::xarray<std::int8_t, kRows> row_codes(shape);
    xt::xarray<std::int8_t, kColumns> column_codes(shape);
    xt::xarray<float, kColumns> simulated(shape);
    xt::xarray<float, kRows> restored(shape);
    amct::quantize(arq, weight, row_codes, axis);
    amct::quantize(arq, weight, column_codes, axis);
    amct::fake_quantize(arq, weight, simulated, axis);
    amct::dequantize(column_codes, restored, arq.channels(), axis);
    CHECK(xt::all(xt::equal(row_codes, column_codes)));
    CHECK(xt::all(xt::equal(simulated, restored)));

    // The same, channel by channel, on a copy with the channels outermost.
    Shape order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(axis),
                order.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    const xt::xarray<float> whole = weight;
    const xt::xarray<float> values = xt::transpose(whole, order);
    const xt::xarray<std::int8_t> codes = xt::transpose(row_codes, order);
    const std::size_t count = values.size() / shape[axis];
    Arq<Int8> by_span;
    REQUIRE(by_span.calibrate({values.data(), values.size()}, {1, 1, shape[axis], count}));
    CHECK(by_span.channels() == arq.channels());
    std::vector<std::int8_t> expected(values.size());
    by_span.quantize({values.data(), values.size()}, expected);
    CHECK(std::vector<std::int8_t>(codes.begin(), codes.end()) == expected);
  };
  const xt::xarray<float> rows = numbered({4, 3, 5, 2});
  const xt::xarray<float, kColumns> columns = numbered<kColumns>({4, 3, 5, 2});
  const xt::xarray<float> cube = numbered({3, 3, 3});
  for (const std::size_t axis : {0U, 1U, 2U, 3U}) {
    check_axis(rows, axis);
    check_axis(columns, axis);
    check_axis(xt::transpose(rows, {1, 3, 0, 2}), axis);
    check_axis(xt::view(rows, xt::range(1, 4), xt::all(), xt::range(0, 5, 2), xt::all()), axis);
    check_axis(xt::view(columns, xt::range(0, 1), xt::all(), xt::all(), xt::all()), axis);
    check_axis(rows * 0.5F, axis);
    if (axis < 3) check_axis(xt::transpose(cube), axis);
  }
}

TEST_CASE("xtensor: requantize, on each axis and in each storage order") {
  using Scales = amct::RequantizeByScales<>;
  const auto check = [](const auto& acc) {
    const xt::xarray<std::int32_t> values = acc;
    const Shape shape(values.shape().begin(), values.shape().end());
    xt::xarray<std::int8_t> codes(shape, std::int8_t{99});
    xt::xarray<std::int16_t, kColumns> wide(shape, std::int16_t{99});
    const Scales::Params single{0.02F, 0.3F};
    amct::requantize(acc, codes, single, 5, Int8::range);
    amct::requantize(acc, wide, single, 5, Int16::range);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(codes.flat(i) == Scales::code(values.flat(i), single, 5, Int8::range));
    }
    CHECK(xt::all(xt::equal(xt::clip(wide, -128, 127), codes)));
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      CAPTURE(axis);
      std::vector<Scales::Params> params;
      xt::xtensor<std::int32_t, 1> bias(std::array<std::size_t, 1>{shape[axis]});
      for (std::size_t i = 0; i < shape[axis]; ++i) {
        params.push_back({0.01F + 0.003F * static_cast<float>(i % 7), 0.3F});
        bias(i) = static_cast<std::int32_t>(i * 113 % 900) - 450;
      }
      amct::requantize(acc, codes, amct::elements(bias), params, axis, 5, Int8::range);
      amct::requantize(acc, wide, amct::elements(bias), params, axis, 5, Int8::range);
      CHECK(xt::all(xt::equal(wide, codes)));
      std::size_t inner = 1;
      for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t channel = i / inner % shape[axis];
        CHECK(codes.flat(i) == Scales::code(values.flat(i) + bias(channel), params[channel], 5, Int8::range));
      }
    }
  };
  const xt::xarray<std::int32_t> rows = xt::cast<std::int32_t>(numbered({6, 5, 24}) * 100.0F);
  const xt::xarray<std::int32_t, kColumns> columns = rows;
  check(rows);
  check(columns);
  check(xt::transpose(rows));
  check(xt::transpose(columns, {1, 2, 0}));
  check(xt::view(rows, xt::range(1, 5), xt::all(), xt::range(3, 20)));
  check(xt::view(columns, xt::all(), 2, xt::range(0, 24, 3)));
  check(xt::strided_view(rows, {xt::all(), xt::range(4, 0, -2), xt::range(20, 2, -1)}));
  check(rows + 1);
}

TEST_CASE("xtensor: a bias") {
  const xt::xtensor<float, 1> bias{1.0F, -2.0F, 3.0F, 700.0F};
  const std::vector<float> scales{0.5F};
  xt::xtensor<std::int32_t, 2> table(std::array<std::size_t, 2>{3, 4}, 99);
  REQUIRE(amct::quantize_bias(bias, 0.25F, scales, xt::view(table, 1)));
  CHECK(table == xt::xtensor<std::int32_t, 2>{{99, 99, 99, 99}, {8, -16, 24, 5600}, {99, 99, 99, 99}});
  xt::xtensor<std::int32_t, 2> columns(std::array<std::size_t, 2>{4, 2}, 99);
  REQUIRE(amct::quantize_bias(xt::flip(bias, 0), 0.25F, scales, xt::view(columns, xt::all(), 1)));
  CHECK(columns == xt::xtensor<std::int32_t, 2>{{99, 5600}, {99, 24}, {99, -16}, {99, 8}});
}

TEST_CASE("xtensor: tails, histograms and gradients of clips") {
  const amct::ClipRange range{-3.0F, 4.0F, 0.1F};
  const auto check = [&](const auto& x, const auto& upstream) {
    const xt::xarray<float> packed = x;
    const xt::xarray<float> packed_upstream = upstream;
    const std::span<const float> values(packed.data(), packed.size());
    CHECK(amct::tails(x, 3, 5) == amct::tails(values, 3, 5));
    std::vector<std::uint64_t> counts(12);
    std::vector<std::uint64_t> expected(12);
    amct::add_histogram(x, -6.0F, 5.0F, counts);
    amct::add_histogram(values, -6.0F, 5.0F, expected);
    CHECK(counts == expected);

    const amct::ClipGradient sums = amct::clip_gradient(x, upstream, range);
    const amct::ClipGradient near = amct::clip_gradient(packed, packed_upstream, range);
    CHECK(sums.below == doctest::Approx(near.below));
    CHECK(sums.above == doctest::Approx(near.above));
    CHECK(sums.inside == doctest::Approx(near.inside));

    const Shape shape(packed.shape().begin(), packed.shape().end());
    xt::xarray<float> gradient(shape);
    xt::xarray<float, kColumns> column_gradient(shape);
    amct::mask_clipped(x, upstream, range, gradient);
    amct::mask_clipped(x, upstream, range, column_gradient);
    for (std::size_t i = 0; i < packed.size(); ++i) {
      const bool clipped = packed.flat(i) < range.low || packed.flat(i) > range.high;
      CHECK(gradient.flat(i) == (clipped ? 0.0F : packed_upstream.flat(i)));
    }
    CHECK(xt::all(xt::equal(gradient, column_gradient)));
  };
  const xt::xarray<float> rows = numbered({12, 9, 14});
  const xt::xarray<float, kColumns> columns = rows;
  const xt::xarray<float> upstream = xt::sin(numbered({12, 9, 14}));
  check(rows, upstream);
  check(columns, upstream);
  check(xt::transpose(rows), xt::transpose(upstream));
  check(xt::view(rows, xt::range(1, 9), xt::all(), xt::range(2, 8)),
        xt::view(upstream, xt::range(4, 12), xt::all(), xt::range(0, 12, 2)));
  check(xt::strided_view(columns, {xt::range(11, 1, -1), 3}), xt::view(upstream, xt::range(0, 10), 0));
  check(rows * 0.5F, xt::broadcast(xt::view(upstream, 0, 0), {12, 9, 14}));
}

TEST_CASE("xtensor: packed 4-bit codes along each axis") {
  const auto check = [](const auto& codes) {
    const xt::xarray<std::int8_t> values = codes;
    const Shape shape(values.shape().begin(), values.shape().end());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      CAPTURE(axis);
      Shape halved = shape;
      halved[axis] = amct::packed4_size(shape[axis]);
      xt::xarray<std::int8_t> bytes(halved, std::int8_t{99});
      xt::xarray<std::int8_t, kColumns> column_bytes(halved, std::int8_t{99});
      amct::pack4(codes, bytes, axis);
      amct::pack4(codes, column_bytes, axis);
      CHECK(xt::all(xt::equal(bytes, column_bytes)));
      amct::Packed4Layout layout{1, shape[axis], 1};
      for (std::size_t i = 0; i < axis; ++i) layout.outer *= shape[i];
      for (std::size_t i = axis + 1; i < shape.size(); ++i) layout.inner *= shape[i];
      std::vector<std::int8_t> expected(bytes.size());
      amct::pack4(std::span(values.data(), values.size()), expected, layout);
      CHECK(std::vector<std::int8_t>(bytes.begin(), bytes.end()) == expected);

      xt::xarray<std::int8_t, kColumns> back(shape, std::int8_t{99});
      amct::unpack4(bytes, back, axis);
      CHECK(xt::all(xt::equal(back, values)));
      xt::xarray<float> x(shape);
      amct::dequantize4(column_bytes, x, {0.25F, 2}, axis);
      CHECK(xt::all(xt::equal(x, (xt::cast<float>(values) - 2.0F) * 0.25F)));
      amct::quantize4(xt::transpose(xt::transpose(x)), column_bytes, {0.25F, 2}, axis);
      CHECK(xt::all(xt::equal(bytes, column_bytes)));
      amct::quantize4(x * 2.0F, column_bytes, {0.5F, 2}, axis);
      CHECK(xt::all(xt::equal(bytes, column_bytes)));
    }
  };
  xt::xarray<std::int8_t> rows = xt::xarray<std::int8_t>::from_shape({6, 5, 24});
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows.flat(i) = static_cast<std::int8_t>(static_cast<int>(i * 7 % 16) - 8);
  const xt::xarray<std::int8_t, kColumns> columns = rows;
  check(rows);
  check(columns);
  check(xt::transpose(rows));
  check(xt::view(rows, xt::range(1, 4), xt::all(), xt::range(3, 20)));
  check(xt::view(columns, xt::all(), 2, xt::range(0, 24, 3)));
  check(xt::strided_view(rows, {xt::all(), xt::range(4, 0, -2), xt::range(20, 2, -1)}));
  check(xt::view(rows, 1, 2, xt::all()));
  check(xt::xtensor<std::int8_t, 3>(rows));

  // The bytes as they lie in a file: one after the other.
  const xt::xarray<std::int8_t> codes = xt::view(rows, xt::all(), xt::all(), 0);
  xt::xtensor<std::int8_t, 1> flat(std::array<std::size_t, 1>{18});
  amct::pack4(codes, flat, 1);
  xt::xarray<std::int8_t> bytes = xt::xarray<std::int8_t>::from_shape({6, 3});
  amct::pack4(codes, bytes, 1);
  CHECK(std::equal(flat.begin(), flat.end(), bytes.begin(), bytes.end()));
}

TEST_CASE("xtensor: shapes that do not fit are refused") {
  const xt::xarray<float> x = numbered({2, 3, 4});
  xt::xarray<std::int8_t> codes = xt::xarray<std::int8_t>::from_shape({2, 3, 4});
  xt::xarray<std::int8_t> flat = xt::xarray<std::int8_t>::from_shape({24});
  const std::vector<Affine> three(3);
  CHECK(support::is_refused([&] { amct::quantize(x, flat, kAffine, Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x, codes, three, 2, Int8::range); }));
  CHECK(support::is_refused([&] { amct::quantize(x, codes, three, 3, Int8::range); }));
  CHECK(support::is_refused([&] { amct::pack4(codes, flat, 0); }));
}

TEST_CASE("xtensor: what is not accepted does not compile") {
  using Floats = xt::xarray<float>;
  using Codes = xt::xtensor<std::int8_t, 2>;
  static_assert(Quantizes<Floats&, Codes&>);
  static_assert(Quantizes<const Floats&, xt::xarray<std::int16_t>&>);
  static_assert(!Quantizes<xt::xarray<double>&, Codes&>);
  static_assert(!Quantizes<Floats&, xt::xarray<int>&>);
  static_assert(!Quantizes<Floats&, const Codes&>);
  static_assert(!Quantizes<Floats&, decltype(xt::view(std::declval<const Codes&>(), 0))&>);
  static_assert(!amct::FloatContainer<std::vector<float>>);
}
