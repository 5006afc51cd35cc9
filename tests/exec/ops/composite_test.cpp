// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/composite.hpp>

#include <doctest/doctest.h>

#include <amct/exec/interpreter.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::values;

TEST_CASE("A composite computes what its nodes compute, beside others") {
  graph::Graph graph =
      support::GraphBuilder()
          .input("x", {2, 4})
          .initializer("two", Tensor::scalar(2.0F))
          .node("Split", "split", {"x"}, std::vector<std::string>{"p", "q"}, {{"axis", std::int64_t{1}}})
          .node("Sigmoid", "s", {"q"}, "a")
          .node("Mul", "glu", {"p", "a"}, "b")
          .node("Tanh", "t", {"b"}, "c")
          .node("Sub", "shrink", {"b", "c"}, "d")
          .node("Mul", "mul", {"d", "two"}, "y")
          .output("y")
          .build();
  const std::vector<Tensor> input{support::whole_numbers({2, 4}, 1)};
  const auto expected = exec::Interpreter(graph, support::ops()).run(input);
  CHECK(graph::group_composites(graph, graph::kCompositeTypes).changed.size() == 2);
  CHECK(graph.nodes.size() == 3);
  const auto grouped = exec::Interpreter(graph, support::ops()).run(input);
  CHECK(values(grouped[0]) == values(expected[0]));
  graph::expand_composites(graph);
  CHECK(graph.nodes.size() == 6);
  CHECK(values(exec::Interpreter(graph, support::ops()).run(input)[0]) == values(expected[0]));
}

TEST_CASE("A composite without a body is refused") {
  graph::Graph graph = support::GraphBuilder().input("x", {1}).node("GELU", "gelu", {"x"}, "y").output("y").build();
  graph.nodes[0].domain = graph::kCompositeDomain;
  const auto error =
      support::error_of([&] { (void)exec::Interpreter(graph, support::ops()).run({support::floats({1}, {1})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_corrupt);
}
