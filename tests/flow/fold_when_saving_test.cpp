// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/fold_when_saving.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using support::floats;
using support::values;

namespace {

const FlavourRules& kRules = rules_of(Flavour::hotwheels);

/// A convolution of two channels and its BatchNormalization, with factors 2 and -0.5.
graph::Graph convolution() {
  return support::GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w", floats({2, 1, 1, 1}, {0.5F, -1}))
      .initializer("gamma", floats({2}, {4, -1}))
      .initializer("beta", floats({2}, {1, 2}))
      .initializer("mean", floats({2}, {0, 3}))
      .initializer("variance", floats({2}, {4, 4}))
      .node("Conv", "conv", {"x", "w"}, "c")
      .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "variance"}, "y", {{"epsilon", 0.0F}})
      .output("y")
      .build();
}

LayerRecord entry(std::vector<float> scale_w) {
  return {.name = "conv",
          .record_d = {{.scale_d = 0.5F, .offset_d = 0, .index = 0, .num_bits_d = 8}},
          .scale_w = std::move(scale_w),
          .offset_w = {0},
          .num_bits_w = 8};
}

std::vector<std::int8_t> codes(const graph::Graph& graph, const Record& record) {
  const auto deployed = flow::deploy(graph, record, flow::deploy_options(kRules));
  return values<std::int8_t>(*support::find_initializer(deployed, "w"));
}

}  // namespace

TEST_CASE("A scale for all becomes one a channel, times |gamma / deviation|; codes change their sign only") {
  Record record{entry({0.0625F})};
  CHECK(codes(convolution(), record) == std::vector<std::int8_t>{8, -16});
  auto graph = convolution();
  const auto report = flow::fold_when_saving(graph, record, kRules);
  REQUIRE(report.changed.size() == 1);
  CHECK(support::node_names(graph) == std::vector<std::string>{"conv"});
  CHECK(record[0].scale_w == std::vector<float>{0.125F, 0.03125F});
  CHECK(record[0].offset_w == std::vector<std::int32_t>{0, 0});
  CHECK(codes(graph, record) == std::vector<std::int8_t>{8, 16});
}

TEST_CASE("Channels keep their own scales, and no scale is below eps, which grows with the bias") {
  Record record{entry({0.0625F, 1e-6F})};
  auto graph = convolution();
  (void)flow::fold_when_saving(graph, record, kRules);
  CHECK(record[0].scale_w == std::vector<float>{0.125F, 5e-7F});

  record = {entry({0.0625F, 1e-6F})};
  graph = convolution();
  graph.value(support::find_value(graph, "beta")).initializer = floats({2}, {1, 7});
  (void)flow::fold_when_saving(graph, record, kRules);  // the folded bias is 8.5
  CHECK(record[0].scale_w == std::vector<float>{0.125F, 7.63312164e-6F});
}

TEST_CASE("Levels of a channel with a negative factor are negated; one list becomes one a channel") {
  LayerRecord levels = entry({0.01F});
  levels.num_bits_w = 4;
  for (std::int32_t i = 0; i < 16; ++i) {
    levels.params.push_back(-128 + 15 * i);
    levels.centroids.push_back(static_cast<float>(-128 + 15 * i));
  }
  Record record{levels};
  auto graph = convolution();
  (void)flow::fold_when_saving(graph, record, kRules);
  REQUIRE(record[0].params.size() == 32);
  CHECK(record[0].params[0] == -128);
  CHECK(record[0].params[16] == -97);
  CHECK(record[0].params[31] == 127);  // -128 has no opposite
  CHECK(record[0].centroids[31] == 128.0F);
  CHECK_NOTHROW((void)codes(graph, record));
}

TEST_CASE("A layer with skip_fusion and layers without factors are left alone") {
  Record record{entry({0.0625F})};
  record[0].skip_fusion = true;
  auto graph = convolution();
  CHECK(flow::fold_when_saving(graph, record, kRules).changed.empty());
  CHECK(record[0].scale_w == std::vector<float>{0.0625F});

  Record none;
  CHECK(flow::fold_when_saving(graph, none, kRules).changed.size() == 1);
  CHECK(none.empty());
}
