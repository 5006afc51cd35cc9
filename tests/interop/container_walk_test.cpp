// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/container_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "interop/refused.hpp"
#include "interop/strides.hpp"

namespace {

using amct::ChannelLayout;
using amct::interop::Axis;
using support::axes_of;

/// An expression that counts how often it is evaluated.
struct Counted {
  std::vector<float>* values;
  int* evaluations;
};

std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

bool same(const ChannelLayout& a, const ChannelLayout& b) {
  return a.groups == b.groups && a.outer == b.outer && a.channels_per_group == b.channels_per_group &&
         a.inner == b.inner;
}

}  // namespace

namespace amct::interop {

template <>
struct Door<Counted> {
  using Element = float;
  static Strides<float> evaluate(const Counted& c) {
    ++*c.evaluations;
    return {c.values->data(), axes_of({{c.values->size(), 1}})};
  }
};

}  // namespace amct::interop

TEST_CASE("container walk: without gaps the elements are the container's memory, in any order of axes") {
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

TEST_CASE("container walk: with gaps the elements are copied, long steps outermost") {
  std::vector<float> data = counted(24);
  const auto values = [&](float* first, std::vector<Axis> axes) {
    const auto elements = amct::elements(Strides<float>{first, std::move(axes)});
    CHECK(elements.copied());
    const auto span = elements.span();
    return std::vector<float>(span.begin(), span.end());
  };
  using Values = std::vector<float>;
  CHECK(values(data.data(), axes_of({{3, 2}})) == Values{0, 2, 4});
  CHECK(values(data.data(), axes_of({{2, 1}, {3, 4}})) == Values{0, 1, 4, 5, 8, 9});
  CHECK(values(data.data(), axes_of({{3, 4}, {2, 1}})) == Values{0, 1, 4, 5, 8, 9});
  CHECK(values(&data[3], axes_of({{2, 8}, {4, -1}})) == Values{3, 2, 1, 0, 11, 10, 9, 8});
  CHECK(values(&data[8], axes_of({{2, -8}, {4, 1}})) == Values{8, 9, 10, 11, 0, 1, 2, 3});
  CHECK(values(data.data(), axes_of({{2, 1}, {3, 0}})) == Values{0, 0, 0, 1, 1, 1});
  CHECK(values(data.data(), axes_of({{2, 0}, {1, 9}, {3, 0}})) == Values{0, 0, 0, 0, 0, 0});
  CHECK(values(data.data(), axes_of({{2, 12}, {2, 4}, {2, 2}, {2, 1}})) ==
        Values{0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19});
  CHECK(values(data.data(), axes_of({{2, 12}, {2, 5}, {1, 7}, {2, 1}})) == Values{0, 1, 5, 6, 12, 13, 17, 18});
}

TEST_CASE("container walk: elements of any type, of expressions once evaluated") {
  std::vector<std::int32_t> bias{1, 2, 3, 4};
  const auto elements = amct::elements(Strides<std::int32_t>{&bias[3], axes_of({{2, -2}})});
  const std::span<const std::int32_t> span = elements;
  CHECK(std::vector<std::int32_t>(span.begin(), span.end()) == std::vector<std::int32_t>{4, 2});

  std::vector<float> data = counted(5);
  int evaluations = 0;
  const amct::Elements values(Counted{&data, &evaluations});
  CHECK(evaluations == 1);
  CHECK(values.copied());
  CHECK(values.span()[4] == 4.0F);
}

TEST_CASE("container walk: moving a copy keeps its elements") {
  std::vector<float> data = counted(6);
  auto first = amct::elements(Strides<float>{data.data(), axes_of({{3, 2}})});
  const amct::Elements second = std::move(first);
  CHECK(second.span()[2] == 4.0F);
  static_assert(!std::is_copy_constructible_v<amct::Elements<float>>);
}

TEST_CASE("container walk: the channel layout follows memory") {
  const auto layout = [](std::vector<Axis> axes, std::size_t axis) {
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
  CHECK(support::is_refused([&] { static_cast<void>(layout(row_major, 3)); }));
}

TEST_CASE("container walk: parts of a container with gaps are read and written where they are") {
  for (const auto& axes : {axes_of({{4, 70}, {3, 20}, {5, 3}}), axes_of({{4, 30}, {3, 10}, {5, 2}}),
                           axes_of({{2, 100}, {1, 9}, {2, 40}, {15, 1}}), axes_of({{60, 3}})}) {
    std::vector<float> memory = counted(300);
    const std::vector<float> whole = [&] {
      const auto elements = amct::elements(Strides<float>{memory.data(), axes});
      return std::vector<float>(elements.span().begin(), elements.span().end());
    }();
    REQUIRE(whole.size() == 60);
    for (const auto& [first, count] :
         {std::pair<std::size_t, std::size_t>{0, 60}, {0, 1}, {59, 1}, {7, 11}, {16, 40}}) {
      auto walk = amct::interop::detail::number_axes(memory.data(), axes);
      walk.join_axes();
      std::vector<float> part(count);
      walk.read(first, part);
      CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
      for (float& value : part) value = -value - 1.0F;
      walk.write(first, part);
      std::vector<float> changed = counted(300);
      for (const float value : part) changed[static_cast<std::size_t>(-value - 1.0F)] = value;
      CHECK(memory == changed);
      memory = counted(300);
    }
  }
}

TEST_CASE("container walk: pieces cover a layout in order, in whole channels where these fit") {
  using amct::interop::detail::Piece;
  for (const ChannelLayout& layout : {ChannelLayout{1, 1, 1, 10},
                                      {1, 7, 3, 1},
                                      {1, 7, 3, 2},
                                      {1, 2, 9, 3},
                                      {1, 3, 2, 17},
                                      {1, 1, 40, 1},
                                      {1, 5, 1, 4},
                                      {1, 0, 3, 2},
                                      {1, 3, 0, 2},
                                      {1, 3, 2, 0}}) {
    for (const std::size_t most : {1U, 2U, 6U, 8U, 13U, 100U}) {
      CAPTURE(most);
      std::vector<std::size_t> channels(layout.size());
      amct::for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) channels[first + i] = channel;
      });
      std::size_t next = 0;
      amct::interop::detail::for_each_piece(layout, most, [&](const Piece& piece) {
        CHECK(piece.first == next);
        CHECK(piece.layout.size() >= 1);
        CHECK(piece.layout.size() <= most);
        next += piece.layout.size();
        REQUIRE(next <= layout.size());
        amct::for_each_run(piece.layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) CHECK(channels[piece.first + first + i] == piece.channel + channel);
        });
      });
      CHECK(next == layout.size());
    }
  }
  std::size_t calls = 0;
  amct::interop::detail::for_each_piece({1, 300, 7, 3}, 6300, [&](const Piece&) { ++calls; });
  CHECK(calls == 1);
}
