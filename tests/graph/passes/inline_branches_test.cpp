// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/inline_branches.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::GraphBuilder;
using Names = std::vector<std::string>;

namespace {

/// An If that captures x; the nodes of its branches are called as one outside.
Graph with_if(const std::string& condition, Body then_branch, Body else_branch) {
  Graph graph = GraphBuilder()
                    .input("x", {2})
                    .input("free")
                    .initializer("yes", Tensor::scalar(true))
                    .initializer("no", Tensor::scalar(false))
                    .node("Relu", "inside", {"x"}, "r")
                    .node("If", "if", {condition, "r"}, "y",
                          {{"then_branch", std::move(then_branch)}, {"else_branch", std::move(else_branch)}})
                    .output("y")
                    .build();
  graph.nodes[1].captured = 1;
  return graph;
}

Body branch(const char* op) {
  return std::make_shared<const Graph>(GraphBuilder().input("a").node(op, "inside", {"a"}, "r").output("r").build());
}

/// Gives what it captures.
Body passing() { return std::make_shared<const Graph>(GraphBuilder().input("a").output("a").build()); }

}  // namespace

TEST_CASE("The branch that a constant chooses takes the place of the If, under names that are free") {
  Graph graph = with_if("no", branch("Abs"), branch("Neg"));
  CHECK(inline_branches(graph).changed_nodes() == Names{"if"});
  REQUIRE(support::node_names(graph) == Names{"inside", "inside_2", "if.output0"});
  CHECK(graph.nodes[1].op_type == "Neg");
  CHECK(graph.nodes[1].inputs == graph.nodes[0].outputs);
  CHECK(support::name_of(graph, graph.nodes[1].outputs[0]) == "r_2");
  CHECK(graph.nodes[2].outputs == graph.outputs);
  Graph other = with_if("yes", passing(), branch("Neg"));
  inline_branches(other);
  CHECK(support::node_names(other) == Names{"inside", "if.output0"});
}

TEST_CASE("An If inside a branch goes too, one that depends on data stays") {
  Graph nested = with_if("yes", std::make_shared<const Graph>(with_if("no", branch("Abs"), branch("Neg"))), passing());
  Graph copy = nested;
  // The body has two inputs of its own, which an If never has, so it cannot be what it seems.
  CHECK(inline_branches(copy).changed.empty());
  auto inner = with_if("no", branch("Abs"), branch("Neg"));
  inner.inputs.resize(1);
  nested.nodes[1].set_attribute("then_branch", Body(std::make_shared<const Graph>(std::move(inner))));
  CHECK(inline_branches(nested).changed.size() == 2);
  for (const Node& node : nested.nodes) CHECK(node.op_type != "If");
  Graph free = with_if("free", branch("Abs"), branch("Neg"));
  CHECK(inline_branches(free).changed.empty());
  CHECK(free.nodes.size() == 2);
}
