// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/container.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

/// A container that only this test knows: elements anywhere, any number of axes.
template <class T>
struct Strides {
  T* first;
  std::vector<amct::interop::Axis> axes;
};

}  // namespace

namespace amct::interop {

template <class T>
struct Door<Strides<T>> {
  using Element = T;
  static auto axes(const Strides<T>& c) { return c.axes; }
  static T* data(const Strides<T>& c) { return c.first; }
};

}  // namespace amct::interop

namespace {

using amct::ChannelLayout;
using amct::Int8;

/// Axes as {size, stride}.
std::vector<amct::interop::Axis> axes_of(std::initializer_list<std::pair<std::size_t, std::ptrdiff_t>> axes) {
  std::vector<amct::interop::Axis> result;
  for (const auto& [size, stride] : axes) result.push_back({size, stride});
  return result;
}

std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

bool same(const ChannelLayout& a, const ChannelLayout& b) {
  return a.groups == b.groups && a.outer == b.outer && a.channels_per_group == b.channels_per_group &&
         a.inner == b.inner;
}

/// The spans that convert_pieces hands out.
struct Piece {
  std::size_t channel;
  const float* from;
  std::int8_t* to;
  std::size_t size;
  bool operator==(const Piece&) const = default;
};

std::vector<Piece> pieces(const Strides<float>& from, Strides<std::int8_t> to, std::size_t channels,
                          std::optional<std::size_t> axis) {
  std::vector<Piece> result;
  amct::interop::detail::convert_pieces(from, to, channels, axis, [&](std::size_t channel, auto in, auto out) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<std::int8_t>(in[i]);
    result.push_back({channel, in.data(), out.data(), in.size()});
  });
  return result;
}

}  // namespace

TEST_CASE("container: without gaps the elements are the container's memory, in any order of axes") {
  std::vector<float> data = counted(24);
  for (const auto& axes :
       {axes_of({{2, 12}, {3, 4}, {4, 1}}), axes_of({{2, 1}, {3, 2}, {4, 6}}), axes_of({{4, 1}, {2, 12}, {3, 4}}),
        axes_of({{24, 1}}), axes_of({{1, 0}, {24, 1}, {1, 77}})}) {
    const auto elements = amct::elements(Strides<float>{data.data(), axes});
    CHECK(elements.span().data() == data.data());
    CHECK(elements.span().size() == 24);
    CHECK_FALSE(elements.copied());
  }
  const auto scalar = amct::elements(Strides<float>{&data[5], {}});
  CHECK(scalar.span().data() == &data[5]);
  CHECK(scalar.span().size() == 1);
}

TEST_CASE("container: with gaps the elements are copied, long steps outermost") {
  std::vector<float> data = counted(24);
  const auto values = [&](float* first, std::vector<amct::interop::Axis> axes) {
    const auto elements = amct::elements(Strides<float>{first, std::move(axes)});
    CHECK(elements.copied());
    const auto span = elements.span();
    return std::vector<float>(span.begin(), span.end());
  };
  CHECK(values(data.data(), axes_of({{3, 2}})) == std::vector<float>{0, 2, 4});
  CHECK(values(data.data(), axes_of({{2, 1}, {3, 4}})) == std::vector<float>{0, 1, 4, 5, 8, 9});
  CHECK(values(data.data(), axes_of({{3, 4}, {2, 1}})) == std::vector<float>{0, 1, 4, 5, 8, 9});
  CHECK(values(&data[3], axes_of({{2, 8}, {4, -1}})) == std::vector<float>{3, 2, 1, 0, 11, 10, 9, 8});
  CHECK(values(&data[8], axes_of({{2, -8}, {4, 1}})) == std::vector<float>{8, 9, 10, 11, 0, 1, 2, 3});
  CHECK(values(data.data(), axes_of({{2, 1}, {3, 0}})) == std::vector<float>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("container: moving a copy keeps its elements") {
  std::vector<float> data = counted(6);
  auto first = amct::elements(Strides<float>{data.data(), axes_of({{3, 2}})});
  const amct::Elements second = std::move(first);
  CHECK(second.span()[2] == 4.0F);
  static_assert(!std::is_copy_constructible_v<amct::Elements>);
}

TEST_CASE("container: the channel layout follows memory") {
  const auto layout = [](std::vector<amct::interop::Axis> axes, std::size_t axis) {
    return amct::channel_layout(Strides<float>{nullptr, std::move(axes)}, axis);
  };
  const auto row_major = axes_of({{2, 12}, {3, 4}, {4, 1}});
  CHECK(same(layout(row_major, 0), {1, 1, 2, 12}));
  CHECK(same(layout(row_major, 1), {1, 2, 3, 4}));
  CHECK(same(layout(row_major, 2), {1, 6, 4, 1}));
  const auto column_major = axes_of({{2, 1}, {3, 2}, {4, 6}});
  CHECK(same(layout(column_major, 0), {1, 12, 2, 1}));
  CHECK(same(layout(column_major, 1), {1, 4, 3, 2}));
  CHECK(same(layout(column_major, 2), {1, 1, 4, 6}));
  CHECK(same(layout(axes_of({{5, 1}, {1, 0}}), 1), {1, 1, 1, 5}));
  CHECK(layout(axes_of({{0, 1}, {3, 0}}), 1).size() == 0);
}

TEST_CASE("container: dense containers of one order are converted in place, in one piece a run") {
  std::vector<float> x = counted(12);
  std::vector<std::int8_t> y(12);
  for (const auto& axes : {axes_of({{3, 4}, {4, 1}}), axes_of({{4, 1}, {3, 4}})}) {
    CHECK(pieces({x.data(), axes}, {y.data(), axes}, 1, std::nullopt) ==
          std::vector<Piece>{{0, x.data(), y.data(), 12}});
    const std::size_t rows = axes[0].size == 3 ? 0 : 1;
    CHECK(pieces({x.data(), axes}, {y.data(), axes}, 3, rows) ==
          std::vector<Piece>{{0, x.data(), y.data(), 4}, {1, &x[4], &y[4], 4}, {2, &x[8], &y[8], 4}});
  }
}

TEST_CASE("container: where only one side is dense, that side is used in place") {
  std::vector<float> x = counted(24);
  std::vector<std::int8_t> y(24, -1);
  const auto gaps = axes_of({{3, 8}, {4, 2}});
  const auto dense = axes_of({{3, 4}, {4, 1}});
  const auto transposed = axes_of({{3, 1}, {4, 3}});

  auto calls = pieces({x.data(), dense}, {y.data(), gaps}, 1, std::nullopt);
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].from == x.data());
  CHECK(calls[0].to != y.data());
  for (std::size_t i = 0; i < 12; ++i) CHECK(y[2 * i] == static_cast<int>(i));
  for (std::size_t i = 0; i < 12; ++i) CHECK(y[2 * i + 1] == -1);

  calls = pieces({x.data(), gaps}, {y.data(), transposed}, 1, std::nullopt);
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].from != x.data());
  CHECK(calls[0].to == y.data());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) CHECK(y[i + 3 * j] == static_cast<int>(8 * i + 2 * j));
  }
}

TEST_CASE("container: many elements with gaps pass in pieces, axes of any number and order") {
  constexpr std::size_t kSizes[] = {7, 5, 3, 6, 4};  // 2520 elements
  std::vector<float> x(2 * 2520);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 251) - 125.0F;
  std::vector<std::int8_t> y(3 * 2520);
  Strides<float> from{x.data(), {}};
  Strides<std::int8_t> to{y.data(), {}};
  std::size_t step = 2520;
  for (const std::size_t size : kSizes) from.axes.push_back({size, static_cast<std::ptrdiff_t>(2 * (step /= size))});
  step = 3;
  for (const std::size_t size : kSizes) {
    to.axes.push_back({size, static_cast<std::ptrdiff_t>(step)});
    step *= size;
  }

  CHECK(pieces(from, to, 1, std::nullopt).size() == 3);
  bool all_right = true;
  for (std::size_t i = 0; i < 2520; ++i) {
    std::ptrdiff_t in = 0;
    std::ptrdiff_t out = 0;
    for (std::size_t a = 0, rest = i; a < 5; rest /= kSizes[a++]) {
      in += static_cast<std::ptrdiff_t>(rest % kSizes[a]) * from.axes[a].stride;
      out += static_cast<std::ptrdiff_t>(rest % kSizes[a]) * to.axes[a].stride;
    }
    all_right = all_right && y[static_cast<std::size_t>(out)] == static_cast<int>(x[static_cast<std::size_t>(in)]);
  }
  CHECK(all_right);
}

TEST_CASE("container: an Arq stays an Arq") {
  std::vector<float> weight(24);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i * i % 17) - 8.25F;
  const Strides<float> container{weight.data(), axes_of({{4, 6}, {6, 1}})};
  amct::Arq<Int8> by_span;
  amct::Arq<Int8> by_container;
  REQUIRE(by_span.calibrate(weight, {1, 4, 6, 1}));
  REQUIRE(amct::calibrate(by_container, container, 1));
  CHECK(by_span.channels() == by_container.channels());

  std::vector<std::int8_t> codes(24);
  std::vector<std::int8_t> expected(24);
  by_span.quantize(weight, expected);
  amct::quantize(by_container, container, Strides<std::int8_t>{codes.data(), container.axes}, 1);
  CHECK(codes == expected);

  std::vector<float> simulated(24);
  std::vector<float> expected_simulated(24);
  by_span.fake_quantize(weight, expected_simulated);
  amct::fake_quantize(by_container, container, Strides<float>{simulated.data(), container.axes}, 1);
  CHECK(simulated == expected_simulated);
}
