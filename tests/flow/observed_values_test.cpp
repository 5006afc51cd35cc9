// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/observed_values.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "support/graph_builder.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::Ints;

namespace {

std::string observed(const graph::Graph& graph, const char* layer, const char* op_type, std::size_t input = 0) {
  return support::name_of(graph, flow::ObservedValues(graph).find(layer, op_type, input));
}

graph::Graph net() {
  return GraphBuilder()
      .input("x")
      .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
      .initializer("pads", support::int64s({0, 0, 0, 1, 0, 0, 0, 0}))
      .initializer("c", floats({2}, {1, 2}))
      .node("MatMul", "mm", {"x", "w"}, "a")
      .node("Add", "add", {"c", "a"}, "b")
      .node("Add", "sum", {"a", "b"}, "s")
      .node("Sigmoid", "gate", {"s"}, "g")
      .node("Mul", "silu", {"s", "g"}, "t")
      .node("Pad", "pad", {"t", "pads"}, "p")
      .node("AveragePool", "pool", {"p"}, "y", {{"kernel_shape", Ints{1, 2}}})
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("A layer is observed in the inputs that carry data, counted without constants") {
  const auto graph = net();
  CHECK(observed(graph, "mm", "MatMul") == "x");
  CHECK(observed(graph, "add", "Add") == "a");
  CHECK(observed(graph, "sum", "Add", 0) == "a");
  CHECK(observed(graph, "sum", "Add", 1) == "b");
}

TEST_CASE("An average pool is observed in front of its pad, a layer of several nodes where data come in") {
  const auto graph = net();
  CHECK(observed(graph, "pool", "AveragePool") == "t");
  CHECK(observed(graph, "silu", "SiLU") == "s");
  CHECK(observed(graph, "silu", "Mul", 1) == "g");
}

TEST_CASE("Layers and inputs that the network does not have are refused by name") {
  const auto graph = net();
  const auto refused = [&](const char* layer, const char* op_type, std::size_t input) {
    const auto error = error_of([&] { (void)observed(graph, layer, op_type, input); });
    REQUIRE(error.has_value());
    CHECK(error->code() == ErrorCode::model_unsupported);
    CHECK(error->where().layer == layer);
    return error->message();
  };
  CHECK(contains(refused("nowhere", "Conv", 0), "not in the network"));
  CHECK(contains(refused("add", "Add", 1), "no data input 1"));
  CHECK(contains(refused("silu", "GELU", 0), "is no GELU"));
}
