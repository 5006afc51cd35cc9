// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/group_composites.hpp>

#include <doctest/doctest.h>

#include <amct/graph/quantizable.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

// That a grouped network computes the same is tested with an interpreter, in tests/exec/ops/composite_test.cpp.

namespace {

Graph gelu() {
  return GraphBuilder()
      .input("x", {1, 4})
      .initializer("root", Tensor::scalar(1.4142135F))
      .constant("one", Tensor::scalar(1.0F))
      .initializer("half", Tensor::scalar(0.5F))
      .node("Relu", "relu", {"x"}, "r")
      .node("Div", "div", {"r", "root"}, "a")
      .node("Erf", "erf", {"a"}, "b")
      .node("Add", "add", {"b", "one"}, "c")
      .node("Mul", "mul", {"r", "c"}, "d")
      .node("Mul", "last", {"d", "half"}, "e")
      .node("Mul", "after", {"e", "half"}, "y")
      .output("y")
      .build();
}
constexpr std::string_view kGelu[] = {"GELU"};

}  // namespace

TEST_CASE("A composite becomes one node with its data first and its constants behind") {
  Graph graph = gelu();
  CHECK(group_composites(graph, kGelu).changed == std::vector<PassNote>{{"last", "is a GELU of 5 nodes"}});
  CHECK(node_names(graph) == Names{"make_one", "relu", "last", "after"});
  const Node& node = graph.nodes[2];
  CHECK(node.op_type == "GELU");
  CHECK(node.domain == kCompositeDomain);
  CHECK(name_of(graph, node.inputs[0]) == "r");
  CHECK(node.inputs.size() == 4);
  CHECK(name_of(graph, node.outputs[0]) == "e");
  const Graph& body = **node.attribute<Body>("body");
  CHECK(node_names(body) == Names{"div", "erf", "add", "mul", "last"});
  CHECK(body.inputs.size() == 4);
  CHECK(body.opset == graph.opset);
  CHECK(support::find_value(graph, "a") == kNoValue);
}

TEST_CASE("Expanding gives the same nodes, names and connections again") {
  Graph graph = gelu();
  group_composites(graph, kGelu);
  expand_composites(graph);
  const Graph original = gelu();
  CHECK(node_names(graph) == node_names(original));
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (std::size_t i = 0; i < graph.nodes[n].inputs.size(); ++i) {
      CHECK(name_of(graph, graph.nodes[n].inputs[i]) == name_of(original, original.nodes[n].inputs[i]));
    }
    CHECK(name_of(graph, graph.nodes[n].outputs[0]) == name_of(original, original.nodes[n].outputs[0]));
  }
}

TEST_CASE("Names that were taken meanwhile are avoided; the layer keeps its own") {
  Graph graph = gelu();
  group_composites(graph, kGelu);
  graph.nodes[1].name = "erf";
  graph.add_value({.name = "b"});
  expand_composites(graph);
  CHECK(graph.find_node("erf_2") != nullptr);
  CHECK(graph.find_node("last")->op_type == "Mul");
  CHECK(name_of(graph, graph.find_node("erf_2")->outputs[0]) == "b_2");
}

TEST_CASE("A grouped composite is the same layer to a flavour; other types stay nodes") {
  Graph graph = gelu();
  const auto& rules = rules_of(Flavour::hotwheels);
  const auto before = find_quantizable(graph, rules);
  constexpr std::string_view kMish[] = {"Mish"};
  CHECK(group_composites(graph, kMish).changed.empty());
  group_composites(graph, kGelu);
  const auto after = find_quantizable(graph, rules);
  REQUIRE(before.layers.size() == 3);
  REQUIRE(after.layers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(after.layers[i].name == before.layers[i].name);
    CHECK(after.layers[i].op_type == before.layers[i].op_type);
    CHECK(after.layers[i].activation_inputs == before.layers[i].activation_inputs);
  }
  CHECK(find_quantizable(graph).layers.empty());
}

TEST_CASE("A node of a file that only is called like a composite stays as it is") {
  for (const bool with_body : {false, true}) {
    Graph graph = GraphBuilder().input("x").node("GELU", "gelu", {"x"}, "y").output("y").build();
    graph.nodes[0].domain = kCompositeDomain;
    if (with_body) graph.nodes[0].set_attribute("body", Body(std::make_shared<Graph>()));
    expand_composites(graph);
    CHECK(node_names(graph) == Names{"gelu"});
  }
}
