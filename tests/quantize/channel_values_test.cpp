// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/channel_values.hpp>

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ChannelLayout;
using amct::ChannelValues;

std::vector<float> channel(const ChannelValues& values, std::size_t index) {
  return {values[index].begin(), values[index].end()};
}

const std::vector<float> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace

TEST_CASE("channels in one piece are not copied") {
  const ChannelValues rows(kEight, {1, 1, 2, 4});
  CHECK(rows.channel_size() == 4);
  CHECK(rows[1].data() == kEight.data() + 4);
  CHECK(channel(ChannelValues(kEight, ChannelLayout::per_tensor(8)), 0) == kEight);
}

TEST_CASE("channels on the last axis are put side by side") {
  const ChannelValues columns(kEight, {1, 4, 2, 1});
  CHECK(channel(columns, 0) == std::vector<float>{0, 2, 4, 6});
  CHECK(channel(columns, 1) == std::vector<float>{1, 3, 5, 7});
}

TEST_CASE("channels of the groups of a transposed convolution are put side by side") {
  const ChannelValues grouped(kEight, {2, 2, 1, 2});  // [4, 1, 2] with 2 groups
  CHECK(channel(grouped, 0) == std::vector<float>{0, 1, 2, 3});
  CHECK(channel(grouped, 1) == std::vector<float>{4, 5, 6, 7});
  const ChannelValues both(kEight, {2, 2, 2, 1});
  CHECK(channel(both, 0) == std::vector<float>{0, 2});
  CHECK(channel(both, 3) == std::vector<float>{5, 7});
}
