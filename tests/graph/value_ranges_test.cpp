// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/value_ranges.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_value;
using support::GraphBuilder;

namespace {

Graph net() {
  return GraphBuilder()
      .input("x", {2, 2})
      .initializer("low", Tensor::scalar(-3.0F))
      .initializer("high", Tensor::scalar(5.0F))
      .node("Clip", "clip", {"x", "low", "high"}, "c")
      .node("Clip", "open", {"x", "low"}, "o")
      .node("Sigmoid", "sigmoid", {"x"}, "s")
      .node("Transpose", "turn", {"s"}, "t")
      .node("Tanh", "tanh", {"x"}, "h")
      .node("MatMul", "wide", {"t", "c"}, "w")
      .node("MatMul", "narrow", {"c", "t"}, "n")
      .node("MatMul", "unknown", {"t", "x"}, "u")
      .output("w")
      .output("n")
      .output("u")
      .build();
}

}  // namespace

TEST_CASE("Ranges that operators promise, also behind those that move data") {
  const Graph graph = net();
  const Uses uses(graph);
  const auto width = [&](const char* name) {
    const auto range = range_of(find_value(graph, name), graph, uses, {});
    return range ? std::optional(range->width()) : std::nullopt;
  };
  CHECK(width("c") == 8.0);
  CHECK(width("t") == 1.0);
  CHECK(width("h") == 2.0);
  CHECK(!width("o"));
  CHECK(!width("x"));
  CHECK(range_of(find_value(graph, "x"), graph, uses, {{"x", {1.0, 4.0}}})->width() == 3.0);
}

TEST_CASE("Products whose second operand has the wider range") {
  using Names = std::vector<std::string>;
  CHECK(wide_second_operands(net(), {}) == Names{"wide"});
  CHECK(wide_second_operands(net(), {{"x", {-2.0, 2.5}}}) == Names{"wide", "unknown"});
}
