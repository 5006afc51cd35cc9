// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/term.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_value;
using support::GraphBuilder;

namespace {

Graph net() {
  return GraphBuilder()
      .input("x", {2})
      .input("z", {2})
      .initializer("half", Tensor::scalar(0.5F))
      .initializer("axes", support::int64s({0}))
      .node("Sigmoid", "s", {"x"}, "a")
      .node("Mul", "m", {"a", "x"}, "b")
      .node("Mul", "h", {"half", "b"}, "c")
      .node("Split", "split", {"c"}, std::vector<std::string>{"p", "q"})
      .node("Sub", "sub", {"p", "q"}, "d")
      .node("ReduceSum", "sum", {"d", "axes"}, "e")
      .node("Clip", "clip", {"e", "", "z"}, "y")
      .output("y")
      .build();
}
bool fits(const char* term, const char* value, TermMatch* match = nullptr) {
  const Graph graph = net();
  const Uses uses(graph);
  TermMatch found;
  const bool result = matches(parse_term(term), find_value(graph, value), uses, found);
  if (match != nullptr) *match = found;
  return result;
}

}  // namespace

TEST_CASE("Operators, the same value in two places, constants and numbers") {
  CHECK(fits("Sigmoid(x)", "a"));
  CHECK(fits("Mul(x, Sigmoid(x))", "b"));
  CHECK(fits("Mul(Sigmoid(x), x)", "b"));
  CHECK(fits("Mul(Mul(x, Sigmoid(x)), 0.5)", "c"));
  CHECK(fits("Mul(Mul(x, Sigmoid(x)), c)", "c"));
  CHECK_FALSE(fits("Mul(Mul(x, Sigmoid(x)), 0.6)", "c"));
  CHECK_FALSE(fits("Mul(x, x)", "b"));
  CHECK_FALSE(fits("Mul(c, Sigmoid(x))", "b"));
  CHECK_FALSE(fits("Add(x, Sigmoid(x))", "b"));
  CHECK_FALSE(fits("x", "half"));
}

TEST_CASE("The order of operands counts where it matters, and so does the output") {
  CHECK(fits("Sub(Split.0(x), Split.1(x))", "d"));
  CHECK_FALSE(fits("Sub(Split.1(x), Split.0(x))", "d"));
  CHECK_FALSE(fits("Sub(Split(x), Split(x))", "d"));
}

TEST_CASE("Inputs that the term leaves out must be constants") {
  CHECK(fits("ReduceSum(x)", "e"));
  CHECK_FALSE(fits("Clip(x)", "y"));
}

TEST_CASE("A match tells x and the nodes, and nothing is filled in without one") {
  TermMatch match;
  CHECK(fits("Mul(Mul(x, Sigmoid(x)), 0.5)", "c", &match));
  CHECK(match.nodes.size() == 3);
  CHECK(match.x == 0);
  CHECK_FALSE(fits("Mul(Mul(x, Sigmoid(x)), 7)", "c", &match));
  CHECK(match.nodes.empty());
}

TEST_CASE("Texts that are no terms are refused") {
  for (const char* text : {"", "Mul(", "Mul(x", "Mul(x,)", "Mul(x) y", "Relu(y)", ")"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_term(text), std::invalid_argument);
  }
}
