// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/part.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using Names = std::vector<std::string>;

namespace {

/// Conv, Relu, Conv beside a shortcut, Pad and AveragePool, MatMul with a bias behind it; a second output.
Graph network() {
  return GraphBuilder()
      .input("x", {1, 1, 4, 4})
      .initializer("w1", floats({1, 1, 1, 1}, {2}))
      .initializer("w2", floats({1, 1, 1, 1}, {3}))
      .constant("border", int64s({0, 0, 0, 0, 0, 0, 0, 0}))
      .initializer("fw", floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))
      .initializer("fb", floats({2}, {1, 1}))
      .node("Conv", "first", {"x", "w1"}, "a")
      .node("Relu", "relu", {"a"}, "r")
      .node("Conv", "second", {"r", "w2"}, "b")
      .node("Add", "shortcut", {"b", "r"}, "s")
      .node("Pad", "pad", {"s", "border"}, "p")
      .node("AveragePool", "pool", {"p"}, "q", {{"kernel_shape", support::Ints{1, 1}}})
      .node("MatMul", "fc", {"q", "fw"}, "m")
      .node("Add", "bias", {"m", "fb"}, "y")
      .node("Relu", "side", {"r"}, "z")
      .output("y")
      .output("z")
      .build();
}
Names inputs_of(const Graph& part) {
  Names names;
  for (const ValueId id : part.inputs) names.push_back(support::name_of(part, id));
  return names;
}
Names outputs_of(const Graph& part) {
  Names names;
  for (const ValueId id : part.outputs) names.push_back(support::name_of(part, id));
  return names;
}

}  // namespace

TEST_CASE("A layer alone has its weight as a constant and its data as the input") {
  const Graph part = layer_alone(network(), "second");
  CHECK(support::node_names(part) == Names{"second"});
  CHECK(inputs_of(part) == Names{"r"});
  CHECK(outputs_of(part) == Names{"b"});
  CHECK(support::find_initializer(part, "w2") != nullptr);
  CHECK(support::find_initializer(part, "w1") == nullptr);
}

TEST_CASE("The Pad of an average pool and the bias behind a MatMul belong to the layer") {
  const Graph pool = layer_alone(network(), "pool");
  CHECK(inputs_of(pool) == Names{"s"});
  CHECK(outputs_of(pool) == Names{"q"});
  CHECK(pool.nodes.size() == 3);  // with the Constant node that the Pad reads
  const Graph fc = layer_alone(network(), "fc");
  CHECK(support::node_names(fc) == Names{"fc", "bias"});
  CHECK(inputs_of(fc) == Names{"q"});
  CHECK(outputs_of(fc) == Names{"y"});
}

TEST_CASE("What is behind a layer reads other values as inputs and makes the outputs that depend on it") {
  const Graph part = layer_and_behind(network(), "second");
  CHECK(inputs_of(part) == Names{"r"});
  CHECK(outputs_of(part) == Names{"y"});
  CHECK(part.find_node("second") != nullptr);
  CHECK(part.find_node("shortcut") != nullptr);
  CHECK(part.find_node("relu") == nullptr);
  CHECK(part.find_node("side") == nullptr);
  const Graph last = layer_and_behind(network(), "fc");
  CHECK(inputs_of(last) == Names{"q"});
  const Graph all = layer_and_behind(network(), "first");
  CHECK(inputs_of(all) == Names{"x"});
  CHECK(outputs_of(all) == Names{"y", "z"});
  CHECK(all.nodes.size() == network().nodes.size());
}
