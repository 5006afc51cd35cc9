// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/swap_matmul_operands.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::GraphBuilder;
using support::Ints;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

namespace {

Graph product() {
  return GraphBuilder()
      .input("a", {1, 3, 4})
      .input("b", {4, 5})
      .input("v", {4})
      .node("MatMul", "mm", {"a", "b"}, "y")
      .node("MatMul", "vector", {"a", "v"}, "z")
      .node("Relu", "relu", {"y"}, "r")
      .node("MatMul", "unknown", {"r", "b"}, "u")
      .output("r")
      .output("z")
      .output("u")
      .build();
}

}  // namespace

TEST_CASE("The second operand, transposed, becomes the first") {
  Graph graph = product();
  CHECK(swap_matmul_operands(graph, {"mm"}).changed_nodes() == Names{"mm"});
  CHECK(node_names(graph) ==
        Names{"mm.transpose_b", "mm.transpose_a", "mm", "mm.transpose_back", "vector", "relu", "unknown"});
  const auto order = [&](const char* name) { return *graph.find_node(name)->attribute<Ints>("perm"); };
  CHECK(order("mm.transpose_b") == Ints{1, 0});
  CHECK(order("mm.transpose_a") == Ints{0, 2, 1});
  CHECK(order("mm.transpose_back") == Ints{0, 2, 1});
  const Node& mm = *graph.find_node("mm");
  CHECK(mm.inputs == std::vector<ValueId>{graph.nodes[0].outputs[0], graph.nodes[1].outputs[0]});
  CHECK(name_of(graph, graph.nodes[0].inputs[0]) == "b");
  CHECK(name_of(graph, graph.find_node("mm.transpose_back")->outputs[0]) == "y");
}

TEST_CASE("Only products with known axes, of matrices") {
  Graph graph = product();
  const auto report = swap_matmul_operands(graph, {"vector", "unknown", "relu", "gone"});
  CHECK(report.changed.empty());
  CHECK(report.refused == std::vector<PassNote>{{"vector", "v is a vector"},
                                                {"unknown", "the number of axes of r is not known"},
                                                {"relu", "is no MatMul of the model"},
                                                {"gone", "is no MatMul of the model"}});
  CHECK(graph.nodes.size() == 4);
}
