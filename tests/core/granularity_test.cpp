// SPDX-License-Identifier: Apache-2.0
#include <amct/core/granularity.hpp>

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ChannelLayout;

/// The channel of every element, in memory order.
std::vector<std::size_t> channel_of_elements(const ChannelLayout& layout) {
  std::vector<std::size_t> channels;
  amct::for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    CHECK(first == channels.size());
    channels.insert(channels.end(), count, channel);
  });
  return channels;
}

using Channels = std::vector<std::size_t>;

constexpr std::size_t sum_of_channels(const ChannelLayout& layout) {
  std::size_t sum = 0;
  amct::for_each_run(layout, [&](std::size_t channel, std::size_t, std::size_t count) { sum += channel * count; });
  return sum;
}

}  // namespace

TEST_CASE("a layout counts channels and elements") {
  static_assert(ChannelLayout{2, 3, 4, 5}.channels() == 8);
  static_assert(ChannelLayout{2, 3, 4, 5}.size() == 120);
  static_assert(ChannelLayout::per_tensor(7).channels() == 1 && ChannelLayout::per_tensor(7).size() == 7);
  static_assert(ChannelLayout{}.size() == 0);
  static_assert(sum_of_channels({1, 1, 3, 2}) == 6, "usable in constant expressions");
  CHECK(ChannelLayout::per_tensor(0).size() == 0);
}

TEST_CASE("a convolution has its channels on the first axis") {
  CHECK(channel_of_elements({1, 1, 3, 2}) == Channels{0, 0, 1, 1, 2, 2});
}

TEST_CASE("a matrix may have its channels on the last axis") {
  CHECK(channel_of_elements({1, 3, 2, 1}) == Channels{0, 1, 0, 1, 0, 1});
}

TEST_CASE("a grouped transposed convolution numbers its channels through the groups") {
  // [Cin 4, Cout/g 2, 1] with 2 groups: rows 0 and 1 belong to channels 0 and 1, rows 2 and 3 to channels 2 and 3.
  CHECK(channel_of_elements({2, 2, 2, 1}) == Channels{0, 1, 0, 1, 2, 3, 2, 3});
}

TEST_CASE("one channel is one run, and no element gives no element") {
  CHECK(channel_of_elements(ChannelLayout::per_tensor(4)) == Channels{0, 0, 0, 0});
  CHECK(channel_of_elements(ChannelLayout::per_tensor(0)).empty());
  CHECK(channel_of_elements({1, 0, 3, 2}).empty());
}
