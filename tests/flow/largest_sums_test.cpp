// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/largest_sums.hpp>

#include <doctest/doctest.h>

#include <amct/exec/integer/range.hpp>
#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::floats;

TEST_CASE("The largest sum is that of magnitudes, of what a run reads and not of what it could") {
  const auto graph = support::GraphBuilder()
                         .input("x", {2, 3})
                         .initializer("w", floats({3, 2}, {1, -2, -3, 4, 5, 6}))
                         .initializer("b", floats({2}, {-10, 20}))
                         .node("Gemm", "fc", {"x", "w", "b"}, "y")
                         .initializer("w2", floats({2, 1}, {7, 1}))
                         .initializer("b2", floats({1}, {-50}))
                         .node("MatMul", "head", {"y", "w2"}, "m")
                         .node("Add", "bias", {"m", "b2"}, "z")
                         .output("z")
                         .build();
  const auto entry = [](const std::string& name, float scale) {
    return LayerRecord{.name = name, .scale_d = scale, .offset_d = -7, .scale_w = {1.0F}, .act_type = "INT8"};
  };
  const auto deployed = flow::deploy(graph, {entry("fc", 1.0F), entry("head", 10.0F)});
  const auto sums = flow::largest_sums(deployed, support::integer_ops(), {floats({2, 3}, {1, 2, -3, 0, 5, 1})});
  REQUIRE(sums.size() == 2);
  CHECK(sums.at("fc") == 2 * 1 + 4 * 2 + 6 * 3 + 20);
  CHECK(sums.at("head") == 3 * 7 + 1 * 1 + 5);  // it reads -30 and 8
  for (const auto& range : exec::integer::accumulator_ranges(deployed)) {
    CHECK(static_cast<float>(range.largest) >= sums.at(range.layer));
  }
}
