// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/balance_layers.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/graph_builder.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::values;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

namespace {

Record balance(const char* layer, Floats factors) {
  Record record(1);
  record[0].name = layer;
  record[0].tensor_balance_factor = std::move(factors);
  return record;
}

GraphBuilder conv() {
  return GraphBuilder()
      .input("x", {1, 4, 1, 1})
      .initializer("w", floats({2, 2, 1, 1}, {1, 2, 3, 4}))
      .node("Conv", "conv", {"x", "w"}, "y", {{"group", std::int64_t{2}}})
      .output("y");
}

const Tensor& weight_of(const graph::Graph& graph, const char* layer) {
  return *graph.value(graph.find_node(layer)->input(graph::kWeightInput)).initializer;
}

}  // namespace

TEST_CASE("A balanced layer is deployed behind a Mul by the reciprocal factors, its weight multiplied") {
  auto graph = conv().build();
  graph::balance_layers(graph, balance("conv", {2, 4, 8, 0.5F}));
  CHECK(support::node_names(graph) == Names{"conv.tensor_balance_factor", "conv.mul", "conv"});
  const graph::Node& constant = graph.nodes[0];
  CHECK(constant.op_type == "Constant");
  const Tensor& factors = *constant.attribute<Tensor>("value");
  CHECK(factors.shape() == Shape{1, 4, 1, 1});
  CHECK(values(factors) == Floats{0.5F, 0.25F, 0.125F, 2});
  const graph::Node& mul = graph.nodes[1];
  CHECK(mul.op_type == "Mul");
  CHECK(support::name_of(graph, mul.inputs[0]) == "x");
  CHECK(mul.inputs[1] == constant.outputs[0]);
  CHECK(graph.nodes[2].inputs[0] == mul.outputs[0]);
  CHECK(values(weight_of(graph, "conv")) == Floats{2, 8, 24, 2});
}

TEST_CASE("For calibration the data are divided and the weight is left alone") {
  auto graph = conv().build();
  graph::divide_by_balance(graph, balance("conv", {2, 4, 8, 0.5F}));
  CHECK(support::node_names(graph) == Names{"conv.div", "conv"});
  CHECK(graph.nodes[0].op_type == "Div");
  const Tensor& factors = *graph.value(graph.nodes[0].inputs[1]).initializer;
  CHECK(factors.shape() == Shape{1, 4, 1, 1});
  CHECK(values(factors) == Floats{2, 4, 8, 0.5F});
  CHECK(values(weight_of(graph, "conv")) == Floats{1, 2, 3, 4});
}

TEST_CASE("Input channels lie where the layer has them, and a shared weight is copied") {
  auto graph = GraphBuilder()
                   .input("mm.balanced_weight")
                   .initializer("w", floats({2, 3}, {1, 2, 3, 4, 5, 6}))
                   .initializer("t", floats({2, 1, 1, 1}, {1, 2}))
                   .node("MatMul", "mm", {"mm.balanced_weight", "w"}, "a")
                   .node("Gemm", "gemm", {"a", "w"}, "b", {{"transB", std::int64_t{1}}})
                   .node("ConvTranspose", "up", {"b", "t"}, "y")
                   .output("y")
                   .build();
  Record record = balance("mm", {10, 100});
  record.push_back(balance("gemm", {1, 10, 100})[0]);
  record.push_back(balance("up", {2, 3})[0]);
  graph::balance_layers(graph, record);
  CHECK(values(weight_of(graph, "mm")) == Floats{10, 20, 30, 400, 500, 600});
  CHECK(values(weight_of(graph, "gemm")) == Floats{1, 20, 300, 4, 50, 600});
  CHECK(values(weight_of(graph, "up")) == Floats{2, 6});
  CHECK(graph.find_node("mm.tensor_balance_factor")->attribute<Tensor>("value")->shape() == Shape{1, 2});
  CHECK(support::name_of(graph, graph.find_node("mm")->inputs[1]) ==
        "mm.balanced_weight_2");  // the input has that name
}

TEST_CASE("Layers without factors are left alone, wrong numbers of factors are refused") {
  auto graph = conv().build();
  graph::balance_layers(graph, balance("elsewhere", {1}));
  graph::balance_layers(graph, balance("conv", {}));
  CHECK(support::node_names(graph) == Names{"conv"});
  const auto error = error_of([&] { graph::balance_layers(graph, balance("conv", {1, 2})); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::record_value);
  CHECK(error->where().layer == "conv");
  CHECK(error->where().field == "tensor_balance_factor");
  CHECK(contains(error->message(), "got 2 factors, expected one for each of the 4 input channels"));

  auto relu = GraphBuilder().input("x").node("Relu", "relu", {"x"}, "y").output("y").build();
  CHECK(error_of([&] { graph::divide_by_balance(relu, balance("relu", {1})); }));
}
