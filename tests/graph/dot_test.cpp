// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/dot.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

namespace {

using support::contains;
using support::floats;

amct::graph::Graph conv_and_relu() {
  auto graph = support::GraphBuilder()
                   .input("x", {1, 1, 4, 4})
                   .initializer("w", floats({2, 1, 1, 1}, {1, 2}))
                   .node("Conv", "layer1.\"conv\"", {"x", "w"}, "a")
                   .node("Relu", "relu\\N", {"a"}, "y")
                   .output("y")
                   .build();
  graph.value(graph.inputs[0]).shape = std::vector<amct::graph::Dim>{{-1, "batch"}, {1, {}}, {4, {}}, {-1, {}}};
  return graph;
}

amct::LayerRecord conv_factors() {
  amct::LayerRecord layer{.name = "layer1.\"conv\"", .scale_d = 0.5F, .offset_d = -3};
  layer.scale_w = {0.25F, 0.125F};
  layer.wts_type = "INT8";
  layer.act_type = "INT16";
  return layer;
}

}  // namespace

TEST_CASE("a float network has a box a node, its constants left out and all names escaped") {
  const std::string text = amct::graph::dot_text(conv_and_relu());
  CHECK(text.starts_with("digraph \""));
  CHECK(text.ends_with("}\n"));
  CHECK(contains(text, R"(n0 [label="layer1.\"conv\"\nConv", color="#1f4e9c", penwidth=2];)"));
  CHECK(contains(text, R"(n1 [label="relu\\N\nRelu"];)"));
  CHECK(contains(text, "n0 -> n1;\n"));
  CHECK(contains(text, "-> n0 [label=\"batchx1x4x?\"];\n"));
  CHECK(contains(text, "n1 -> output"));
  CHECK_FALSE(contains(text, "\"w\""));
}

TEST_CASE("a record gives colours, bits and scales; a CUBE layer that it leaves float is red") {
  auto graph = conv_and_relu();
  const std::string quantized = amct::graph::dot_text(graph, {conv_factors()});
  CHECK(contains(quantized, R"(\nin 0: 16 bit, scale 0.5, offset -3\nweights: 8 bit, 2 scales", fillcolor="#d5f0d5")"));
  const amct::LayerRecord other{.name = "relu\\N", .scale_d = 1.0F, .offset_d = 0};
  CHECK_FALSE(contains(amct::graph::dot_text(graph, {other}), "#f8d7d7"));
  const std::string left = amct::graph::dot_text(graph, {other}, {.cube_in_float_red = true});
  CHECK(contains(left, R"(Conv", fillcolor="#f8d7d7", color="#1f4e9c")"));
  CHECK_FALSE(contains(left, "weights:"));

  amct::LayerRecord levels = conv_factors();
  levels.centroids.assign(16, 1.0F);
  CHECK(contains(amct::graph::dot_text(graph, {levels}), R"(\nweights: 16 levels")"));

  graph.nodes[1].op_type = "AscendQuant";
  CHECK(contains(amct::graph::dot_text(graph), R"(AscendQuant", fillcolor="#fff6cc")"));
}

TEST_CASE("what foreign files may contain is cut, replaced and counted") {
  auto graph = conv_and_relu();
  graph.nodes[0].name = std::string(100, 'a') + "é";
  graph.nodes[1].name = "bad\xFF\x01&lt;\n";
  const std::string text = amct::graph::dot_text(graph, {}, {.most_bytes = 7});
  CHECK(contains(text, "\"aaa…aé\\n"));
  CHECK_FALSE(contains(text, "aaaa"));
  const std::string whole = amct::graph::dot_text(graph);
  CHECK(contains(whole, "label=\"bad??&amp;lt;?\\nRelu\""));

  const std::string first = amct::graph::dot_text(graph, {}, {.most_nodes = 1});
  CHECK(contains(first, "and 1 more nodes"));
  CHECK_FALSE(contains(first, "n1"));
  CHECK_FALSE(contains(first, "output"));
  CHECK(contains(amct::graph::dot_text({}), "digraph \"\" {"));
}
