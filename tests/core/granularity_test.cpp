// SPDX-License-Identifier: Apache-2.0
#include <amct/core/granularity.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ChannelLayout;
using amct::GroupLayout;

static_assert(amct::Granularity<ChannelLayout> && amct::Granularity<GroupLayout>);
static_assert(!amct::Granularity<std::size_t>);

/// The channel of every element, in memory order.
template <amct::Granularity Layout>
std::vector<std::size_t> channel_of_elements(const Layout& layout) {
  std::vector<std::size_t> channels;
  amct::for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    CHECK(first == channels.size());
    channels.insert(channels.end(), count, channel);
  });
  return channels;
}

using Channels = std::vector<std::size_t>;

template <amct::Granularity Layout>
constexpr std::size_t sum_of_channels(const Layout& layout) {
  std::size_t sum = 0;
  amct::for_each_run(layout, [&](std::size_t channel, std::size_t, std::size_t count) { sum += channel * count; });
  return sum;
}

/// Checks that every range of elements is reported as the whole walk cut to it: its elements in order, with their
/// channels, and in runs that end only where those of the whole walk do, or with the range.
template <amct::Granularity Layout>
void check_all_ranges(const Layout& layout) {
  const Channels channels = channel_of_elements(layout);
  std::vector<std::size_t> ends;
  amct::for_each_run(layout, [&](std::size_t, std::size_t first, std::size_t count) { ends.push_back(first + count); });
  for (std::size_t begin = 0; begin <= layout.size(); ++begin) {
    for (std::size_t end = begin; end <= layout.size(); ++end) {
      CAPTURE(begin);
      CAPTURE(end);
      std::size_t next = begin;
      amct::for_each_run(layout, begin, end - begin, [&](std::size_t channel, std::size_t first, std::size_t count) {
        REQUIRE(first == next);
        REQUIRE(count > 0);
        next += count;
        REQUIRE(next <= end);
        for (std::size_t i = first; i < next; ++i) REQUIRE(channels[i] == channel);
        REQUIRE((next == end || std::find(ends.begin(), ends.end(), next) != ends.end()));
        REQUIRE(std::none_of(ends.begin(), ends.end(), [&](std::size_t e) { return e > first && e < next; }));
      });
      REQUIRE(next == end);
    }
  }
}

template <amct::Granularity Layout>
constexpr std::size_t sum_of_channels(const Layout& layout, std::size_t begin, std::size_t count) {
  std::size_t sum = 0;
  amct::for_each_run(layout, begin, count,
                     [&](std::size_t channel, std::size_t, std::size_t n) { sum += channel * n; });
  return sum;
}

}  // namespace

TEST_CASE("a layout counts channels and elements") {
  static_assert(ChannelLayout{2, 3, 4, 5}.channels() == 8);
  static_assert(ChannelLayout{2, 3, 4, 5}.size() == 120);
  static_assert(ChannelLayout::per_tensor(7).channels() == 1 && ChannelLayout::per_tensor(7).size() == 7);
  static_assert(ChannelLayout{}.size() == 0);
  static_assert(sum_of_channels(ChannelLayout{1, 1, 3, 2}) == 6, "usable in constant expressions");
  CHECK(ChannelLayout::per_tensor(0).size() == 0);
}

TEST_CASE("a convolution has its channels on the first axis") {
  CHECK(channel_of_elements(ChannelLayout{1, 1, 3, 2}) == Channels{0, 0, 1, 1, 2, 2});
}

TEST_CASE("a matrix may have its channels on the last axis") {
  CHECK(channel_of_elements(ChannelLayout{1, 3, 2, 1}) == Channels{0, 1, 0, 1, 0, 1});
}

TEST_CASE("a grouped transposed convolution numbers its channels through the groups") {
  // [Cin 4, Cout/g 2, 1] with 2 groups: rows 0 and 1 belong to channels 0 and 1, rows 2 and 3 to channels 2 and 3.
  CHECK(channel_of_elements(ChannelLayout{2, 2, 2, 1}) == Channels{0, 1, 0, 1, 2, 3, 2, 3});
}

TEST_CASE("one channel is one run, and no element gives no element") {
  CHECK(channel_of_elements(ChannelLayout::per_tensor(4)) == Channels{0, 0, 0, 0});
  CHECK(channel_of_elements(ChannelLayout::per_tensor(0)).empty());
  CHECK(channel_of_elements(ChannelLayout{1, 0, 3, 2}).empty());
}

TEST_CASE("groups count the ragged tail of each row") {
  static_assert(GroupLayout{2, 8, 4}.channels() == 4 && GroupLayout{2, 8, 4}.size() == 16);
  static_assert(GroupLayout{2, 9, 4}.channels() == 6 && GroupLayout{2, 9, 4}.groups_per_row() == 3);
  static_assert(GroupLayout{3, 5, 128}.channels() == 3);
  static_assert(GroupLayout{}.size() == 0);
  static_assert(sum_of_channels(GroupLayout{1, 5, 2}) == 0 * 2 + 1 * 2 + 2 * 1);
  CHECK(GroupLayout{4, 10, 3}.channels() == 16);
}

TEST_CASE("groups are consecutive elements of a row and do not cross rows") {
  CHECK(channel_of_elements(GroupLayout{2, 4, 2}) == Channels{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(channel_of_elements(GroupLayout{2, 3, 2}) == Channels{0, 0, 1, 2, 2, 3});
  CHECK(channel_of_elements(GroupLayout{1, 3, 1}) == Channels{0, 1, 2});
  CHECK(channel_of_elements(GroupLayout{2, 2, 5}) == Channels{0, 0, 1, 1});
}

TEST_CASE("a group of 0 is the whole row, as one channel a row") {
  CHECK(channel_of_elements(GroupLayout{2, 3, 0}) == channel_of_elements(ChannelLayout{1, 1, 2, 3}));
  CHECK(GroupLayout{2, 3, 0}.channels() == 2);
}

TEST_CASE("groups without elements give no element") {
  CHECK(channel_of_elements(GroupLayout{0, 4, 2}).empty());
  CHECK(channel_of_elements(GroupLayout{3, 0, 2}).empty());
  CHECK(channel_of_elements(GroupLayout{3, 0, 0}).empty());
  CHECK(GroupLayout{3, 0, 2}.channels() == 0);
}

TEST_CASE("any group size covers each element once and channels never decrease") {
  for (std::size_t columns = 1; columns <= 20; ++columns) {
    for (std::size_t group = 0; group <= 22; ++group) {
      const GroupLayout layout{3, columns, group};
      const Channels channels = channel_of_elements(layout);
      CAPTURE(columns);
      CAPTURE(group);
      REQUIRE(channels.size() == layout.size());
      REQUIRE(channels.back() + 1 == layout.channels());
      REQUIRE(std::is_sorted(channels.begin(), channels.end()));
    }
  }
}

TEST_CASE("a range of elements is cut out of the runs of its layout") {
  std::vector<Channels> runs;
  const auto note = [&](std::size_t channel, std::size_t first, std::size_t count) {
    runs.push_back({channel, first, count});
  };
  amct::for_each_run(ChannelLayout{2, 2, 2, 3}, 4, 10, note);
  CHECK(runs == std::vector<Channels>{{1, 4, 2}, {0, 6, 3}, {1, 9, 3}, {2, 12, 2}});
  runs.clear();
  amct::for_each_run(GroupLayout{3, 5, 3}, 1, 11, note);
  CHECK(runs == std::vector<Channels>{{0, 1, 2}, {1, 3, 2}, {2, 5, 3}, {3, 8, 2}, {4, 10, 2}});
  runs.clear();
  amct::for_each_run(GroupLayout{3, 0, 3}, 0, 0, note);
  amct::for_each_run(ChannelLayout{1, 2, 2, 0}, 0, 0, note);
  CHECK(runs.empty());
  static_assert(sum_of_channels(ChannelLayout{1, 1, 3, 2}, 1, 4) == 4, "usable in constant expressions");
  static_assert(sum_of_channels(GroupLayout{2, 3, 2}, 2, 4) == 1 + 2 * 2 + 3);
}

TEST_CASE("every range of elements reports those of the whole walk") {
  for (const ChannelLayout& layout : {ChannelLayout{1, 1, 3, 4},
                                      {1, 3, 4, 1},
                                      {2, 3, 2, 2},
                                      {3, 1, 2, 3},
                                      {2, 2, 1, 5},
                                      {1, 1, 1, 9},
                                      {1, 4, 1, 1},
                                      {1, 0, 3, 2},
                                      {1, 1, 3, 0}}) {
    CAPTURE(layout.groups);
    CAPTURE(layout.outer);
    CAPTURE(layout.channels_per_group);
    CAPTURE(layout.inner);
    check_all_ranges(layout);
  }
  for (std::size_t columns = 0; columns <= 8; ++columns) {
    for (std::size_t group = 0; group <= 10; ++group) {
      CAPTURE(columns);
      CAPTURE(group);
      check_all_ranges(GroupLayout{3, columns, group});
    }
  }
}

TEST_CASE("a layout knows the length of its runs") {
  static_assert(ChannelLayout{2, 3, 4, 5}.run() == 5 && ChannelLayout{1, 7, 3, 1}.run() == 1);
  static_assert(ChannelLayout::per_tensor(7).run() == 7);
  static_assert(GroupLayout{2, 9, 4}.run() == 4 && GroupLayout{2, 9, 0}.run() == 9);
  CHECK(ChannelLayout{}.run() == 0);
  CHECK(GroupLayout{2, 3, 128}.run() == 128);  // as asked for; the only group of each row is shorter
}
