// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/integer/range.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using support::floats;
using support::GraphBuilder;
using support::Ints;

TEST_CASE("The range of a layer is that of its worst channel: weights, codes less offset, bias") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2, 4, 4})
                         .initializer("w", floats({2, 2, 1, 1}, {3, -4, 1, 1}))
                         .initializer("b", floats({2}, {-10, 900}))
                         .node("Conv", "conv", {"x", "w", "b"}, "y")
                         .initializer("wt", floats({2, 1, 1, 1}, {5, -6}))
                         .node("ConvTranspose", "up", {"y", "wt"}, "u")
                         .node("AveragePool", "mean", {"u"}, "z", {{"kernel_shape", Ints{2, 3}}})
                         .output("z")
                         .build();
  const auto entry = [](const std::string& name, std::int32_t offset) {
    return LayerRecord{.name = name, .scale_d = 1.0F, .offset_d = offset, .scale_w = {1.0F}, .act_type = "INT8"};
  };
  const auto ranges =
      exec::integer::accumulator_ranges(flow::deploy(graph, {entry("conv", 100), entry("up", 0), entry("mean", -128)}));
  REQUIRE(ranges.size() == 3);
  CHECK(ranges[0].layer == "conv");
  CHECK(ranges[0].largest == 7 * 228 + 10);  // 2 * 228 + 900 in the other channel
  CHECK(ranges[1].layer == "up");
  CHECK(ranges[1].largest == 11 * 128);
  CHECK(ranges[2].layer == "mean");
  CHECK(ranges[2].largest == 6 * 255);
}

TEST_CASE("float32 holds whole numbers to 2^24, int32 to 2^31 - 1") {
  using exec::integer::LayerRange;
  CHECK(LayerRange{"", 16777216}.fits_float32());
  CHECK_FALSE(LayerRange{"", 16777217}.fits_float32());
  CHECK(LayerRange{"", 2147483647}.fits_int32());
  CHECK_FALSE(LayerRange{"", 2147483648}.fits_int32());
}
