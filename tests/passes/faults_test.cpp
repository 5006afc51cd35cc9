// SPDX-License-Identifier: Apache-2.0
// K21: each fault of the guide's FAQ as a tiny network, its finding, and what the network computes after the fix.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/graph/find_faults.hpp>
#include <amct/graph/quantizable.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::node_names;
using support::whole_numbers;
using Names = std::vector<std::string>;

namespace {

FaultSearch search(Flavour flavour = Flavour::hotwheels) {
  return {.rules = rules_of(flavour), .evaluate = exec::node_evaluator(support::ops())};
}

std::vector<Tensor> run(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    std::vector<std::int64_t> dims;
    for (const auto& dim : *graph.value(id).shape) dims.push_back(dim.size < 0 ? 2 : dim.size);
    inputs.push_back(whole_numbers(Shape(dims), static_cast<std::uint32_t>(id) + 3));
    for (float& value : inputs.back().data<float>()) value = value * 0.37F + 0.11F;
  }
  return exec::Interpreter(graph, support::ops()).run(inputs);
}

void check_equal(const Graph& before, const Graph& after) {
  const auto expected = run(before);
  const auto got = run(after);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].shape() == expected[i].shape());
    const auto a = expected[i].data<float>();
    const auto b = got[i].data<float>();
    for (std::size_t k = 0; k < a.size(); ++k)
      CHECK(std::fabs(a[k] - b[k]) <= 1e-5F * std::fmax(1.0F, std::fabs(a[k])));
  }
  CHECK(after.inputs == before.inputs);
  CHECK(after.outputs == before.outputs);
}

std::vector<Fault> faults_of(const Graph& graph, FaultKind kind, const FaultSearch& given) {
  auto faults = find_faults(graph, given);
  std::erase_if(faults, [&](const Fault& fault) { return fault.kind != kind; });
  return faults;
}

/// The network has this fault in one layer, loses it by the fix, and computes the same. \return what it is then
Graph check_fixed(const Graph& graph, FaultKind kind, const std::string& layer, const FaultSearch& given = search()) {
  const auto faults = faults_of(graph, kind, given);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].layer == layer);
  CHECK(faults[0].fixable);
  CHECK(!faults[0].text.empty());
  Graph fixed = graph;
  const auto fixes = fix_faults(fixed, given);
  CHECK(std::count_if(fixes.begin(), fixes.end(), [&](const FaultFix& fix) { return fix.kind == kind; }) == 1);
  CHECK(faults_of(fixed, kind, given).empty());
  check_equal(graph, fixed);
  return fixed;
}

/// Declares the shape of a value, as shape inference does when a file is read.
Graph with_shape(Graph graph, const char* value, const std::vector<std::int64_t>& sizes) {
  auto& shape = graph.value(support::find_value(graph, value)).shape.emplace();
  for (const std::int64_t size : sizes) shape.push_back({size, {}});
  return graph;
}

/// Relu - node - Sigmoid on data of [1, 2, 3].
Graph between(const std::string& op, Names inputs, support::Attributes attributes = {}) {
  Graph graph = GraphBuilder()
                    .input("x", {1, 2, 3})
                    .initializer("zero", Tensor::scalar(0.0F))
                    .initializer("one", Tensor::scalar(1.0F))
                    .initializer("starts", int64s({0}))
                    .initializer("ends", int64s({3}))
                    .initializer("axes", int64s({2}))
                    .node("Relu", "relu", {"x"}, "a")
                    .node(op, "/block/node", std::move(inputs), "b", std::move(attributes))
                    .node("Sigmoid", "sigmoid", {"b"}, "y")
                    .output("y")
                    .build();
  return with_shape(std::move(graph), "a", {1, 2, 3});
}

bool is_quantized(const Graph& graph, const std::string& layer) {
  return find_layer(find_quantizable(graph, rules_of(Flavour::hotwheels)).layers, layer) != nullptr;
}

}  // namespace

TEST_CASE("K21 x * 1, x / 1, x + 0 and x - 0 do nothing and are removed") {
  const std::pair<const char*, const char*> kOperations[] = {
      {"Mul", "one"}, {"Div", "one"}, {"Add", "zero"}, {"Sub", "zero"}};
  for (const auto& [op, constant] : kOperations) {
    CAPTURE(op);
    const Graph fixed = check_fixed(between(op, {"a", constant}), FaultKind::no_op, "block");
    CHECK(node_names(fixed) == Names{"relu", "sigmoid"});
  }
}

TEST_CASE("K21 a slice of everything is removed") {
  check_fixed(between("Slice", {"a", "starts", "ends", "axes"}), FaultKind::no_op, "block");
}

TEST_CASE("K21 a sum that starts at 0 loses its first addition") {
  const Graph graph = GraphBuilder()
                          .input("x", {2})
                          .input("z", {2})
                          .initializer("zero", Tensor::scalar(0.0F))
                          .node("Add", "/Add", {"zero", "x"}, "a")
                          .node("Add", "/Add_1", {"a", "z"}, "y")
                          .output("y")
                          .build();
  CHECK(node_names(check_fixed(graph, FaultKind::no_op, "/Add")) == Names{"/Add_1"});
}

TEST_CASE("K21 a Cast to the type that is there is removed") {
  check_fixed(between("Cast", {"a"}, {{"to", std::int64_t{1}}}), FaultKind::same_cast, "block");
}

TEST_CASE("K21 torch.chunk becomes Split, which is quantized") {
  const Graph graph = GraphBuilder()
                          .input("x", {1, 4, 2})
                          .initializer("0", int64s({0}))
                          .initializer("2", int64s({2}))
                          .initializer("4", int64s({4}))
                          .initializer("axis", int64s({1}))
                          .node("Slice", "/attn/Slice", {"x", "0", "2", "axis"}, "a")
                          .node("Slice", "/attn/Slice_1", {"x", "2", "4", "axis"}, "b")
                          .node("Mul", "mul", {"a", "b"}, "y")
                          .output("y")
                          .build();
  const Graph fixed = check_fixed(graph, FaultKind::chunk, "/attn/Split");
  CHECK(node_names(fixed) == Names{"/attn/Split", "mul"});
  CHECK(is_quantized(fixed, "/attn/Split"));
  CHECK(faults_of(graph, FaultKind::chunk, search(Flavour::pytorch)).empty());
}

TEST_CASE("K21 a Linear with bias on more than two axes becomes Gemm, or a 1x1 convolution") {
  const Graph graph = GraphBuilder()
                          .input("x", {1, 4, 3})
                          .initializer("w", whole_numbers({3, 2}, 1))
                          .initializer("b", floats({2}, {0.5F, -1}))
                          .node("MatMul", "/fc/MatMul", {"x", "w"}, "h")
                          .node("Add", "/fc/Add", {"b", "h"}, "y")
                          .output("y")
                          .build();
  CHECK(!is_quantized(graph, "/fc/MatMul"));
  CHECK(is_quantized(check_fixed(graph, FaultKind::wide_linear, "fc"), "/fc/MatMul"));
  FaultSearch as_conv = search();
  as_conv.wide_linear = WideLinear::convolution;
  const Graph conv = check_fixed(graph, FaultKind::wide_linear, "fc", as_conv);
  CHECK(conv.find_node("/fc/MatMul")->op_type == "Conv");
  CHECK(faults_of(graph, FaultKind::wide_linear, search(Flavour::pytorch)).empty());
}

TEST_CASE("K21 a convolution of constants becomes a constant, or is to be skipped") {
  const Graph graph = GraphBuilder()
                          .input("x", {1, 1, 2, 2})
                          .initializer("c", whole_numbers({1, 1, 2, 2}, 1))
                          .initializer("w", floats({1, 1, 1, 1}, {2}))
                          .node("Relu", "relu", {"c"}, "r")
                          .node("Conv", "/conv2/Conv", {"r", "w"}, "o")
                          .node("Add", "add", {"x", "o"}, "y")
                          .output("y")
                          .build();
  CHECK(faults_of(graph, FaultKind::offline_conv, search())[0].skip == Names{"conv2"});
  CHECK(node_names(check_fixed(graph, FaultKind::offline_conv, "conv2")) == Names{"add"});
}

TEST_CASE("K21 a MatMul with a constant becomes a fully connected layer") {
  const auto product = [](Names operands, Tensor constant) {
    return GraphBuilder()
        .input("x", {1, 3, 3})
        .initializer("c", std::move(constant))
        .node("MatMul", "/mix/MatMul", std::move(operands), "y")
        .output("y")
        .build();
  };
  for (const Graph& graph :
       {product({"c", "x"}, whole_numbers({2, 3}, 1)), product({"x", "c"}, whole_numbers({1, 3, 2}, 1))}) {
    CHECK(!is_quantized(graph, "/mix/MatMul"));
    CHECK(is_quantized(check_fixed(graph, FaultKind::constant_matmul, "mix"), "/mix/MatMul"));
  }
  const auto batched =
      faults_of(product({"x", "c"}, whole_numbers({2, 3, 2}, 1)), FaultKind::constant_matmul, search());
  REQUIRE(batched.size() == 1);
  CHECK(!batched[0].fixable);
}

TEST_CASE("K21 the wide second operand of a MatMul becomes the first") {
  const Graph graph = with_shape(GraphBuilder()
                                     .input("q", {1, 2, 2})
                                     .input("v", {1, 2, 3})
                                     .node("Softmax", "softmax", {"q"}, "p", {{"axis", std::int64_t{-1}}})
                                     .node("MatMul", "/attn/MatMul", {"p", "v"}, "y")
                                     .output("y")
                                     .build(),
                                 "p", {1, 2, 2});
  FaultSearch known = search();
  CHECK(faults_of(graph, FaultKind::wide_operand, known).empty());  // nothing is known of v
  known.ranges["v"] = {-30.6857, 12.2666};
  const Graph fixed = check_fixed(graph, FaultKind::wide_operand, "attn", known);
  CHECK(std::count_if(fixed.nodes.begin(), fixed.nodes.end(),
                      [](const Node& node) { return node.op_type == "Transpose"; }) == 3);
}

TEST_CASE("K21 the Pad in front of a pool goes, and a pool of everything is global") {
  const auto pool = [](Ints pads, Ints kernel) {
    return GraphBuilder()
        .input("x", {1, 2, 3, 3})
        .initializer("pads", int64s(std::move(pads)))
        .initializer("zero", Tensor::scalar(0.0F))
        .node("Pad", "/pool/Pad", {"x", "pads", "zero"}, "p")
        .node("AveragePool", "/pool/AveragePool", {"p"}, "y", {{"kernel_shape", std::move(kernel)}})
        .output("y")
        .build();
  };
  const Graph global = check_fixed(pool({0, 0, 0, 0, 0, 0, 0, 0}, {3, 3}), FaultKind::pool_pad, "/pool/AveragePool");
  CHECK(global.nodes[0].op_type == "GlobalAveragePool");
  CHECK(is_quantized(global, "/pool/AveragePool"));
  const Graph padded = check_fixed(pool({0, 0, 1, 0, 0, 0, 0, 1}, {2, 2}), FaultKind::pool_pad, "/pool/AveragePool");
  CHECK(padded.nodes.size() == 1);
}

TEST_CASE("K21 a float16 model becomes a float32 one") {
  const auto net = [](ElementType type) {
    Graph graph = GraphBuilder()
                      .input("x", {1, 2})
                      .initializer("w", cast(whole_numbers({2, 2}, 1), type))
                      .node("MatMul", "fc", {"x", "w"}, "y")
                      .output("y")
                      .build();
    graph.value(graph.inputs[0]).type = type;
    graph.value(graph.outputs[0]).type = type;
    return graph;
  };
  Graph graph = net(ElementType::float16);
  const auto faults = faults_of(graph, FaultKind::float16, search());
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].fixable);
  CHECK(faults[0].layer.empty());
  fix_faults(graph, search());
  CHECK(find_faults(graph, search()).empty());
  check_equal(net(ElementType::float32), graph);
}

TEST_CASE("K21 an If of a constant gives way to its branch, other control flow is reported") {
  const auto branch = [](const char* op) {
    return std::make_shared<const Graph>(
        GraphBuilder().input("a", {2}).node(op, "inside", {"a"}, "b").output("b").build());
  };
  const auto net = [&](bool constant) {
    GraphBuilder builder;
    builder.input("x", {2});
    if (constant) builder.initializer("c", Tensor::scalar(true));
    else builder.input("c");
    Graph graph =
        builder.node("If", "/If", {"c", "x"}, "y", {{"then_branch", branch("Abs")}, {"else_branch", branch("Neg")}})
            .output("y")
            .build();
    graph.nodes[0].captured = 1;
    return graph;
  };
  const Graph fixed = check_fixed(net(true), FaultKind::control_flow, "/If");
  CHECK(node_names(fixed) == Names{"inside"});
  const auto faults = faults_of(net(false), FaultKind::control_flow, search());
  REQUIRE(faults.size() == 1);
  CHECK(!faults[0].fixable);
  CHECK(support::contains(faults[0].text, "If with 2 nodes inside"));
}

TEST_CASE("K21 arithmetic on shapes is a constant where sizes are declared") {
  const auto net = [](Shape shape) {
    return GraphBuilder()
        .input("x", std::move(shape))
        .initializer("0", Tensor::scalar(std::int64_t{0}))
        .initializer("rest", int64s({-1}))
        .initializer("axis", int64s({0}))
        .node("Shape", "/Shape", {"x"}, "s")
        .node("Gather", "/Gather", {"s", "0"}, "n", {{"axis", std::int64_t{0}}})
        .node("Unsqueeze", "/Unsqueeze", {"n", "axis"}, "u")
        .node("Concat", "/Concat", {"u", "rest"}, "c", {{"axis", std::int64_t{0}}})
        .node("Reshape", "view", {"x", "c"}, "y")
        .output("y")
        .build();
  };
  CHECK(node_names(check_fixed(net({2, 3, 4}), FaultKind::shape_arithmetic, "/Shape")) == Names{"view"});
  const auto faults = faults_of(net({-1, 3, 4}), FaultKind::shape_arithmetic, search());
  REQUIRE(faults.size() == 1);
  CHECK(!faults[0].fixable);
}

TEST_CASE("K21 a reduction without keepdims keeps its axes, and is quantized") {
  const auto net = [](std::int64_t opset, support::Attributes attributes) {
    attributes.emplace_back("keepdims", std::int64_t{0});
    return GraphBuilder()
        .opset(opset)
        .input("x", {2, 3, 4})
        .node("ReduceMax", "/ReduceMax", {"x"}, "y", std::move(attributes))
        .output("y")
        .build();
  };
  for (const Graph& graph : {net(13, {{"axes", Ints{-1}}}), net(11, {{"axes", Ints{0, 1}}}), net(13, {})}) {
    CHECK(!is_quantized(graph, "/ReduceMax"));
    CHECK(is_quantized(check_fixed(graph, FaultKind::reduce_keepdims, "/ReduceMax"), "/ReduceMax"));
  }
}

TEST_CASE("K21 faults that follow from each other are fixed together") {
  const Graph graph = GraphBuilder()
                          .input("x", {1, 2, 3})
                          .initializer("c", Tensor::scalar(true))
                          .initializer("w", whole_numbers({3, 2}, 1))
                          .initializer("b", floats({2}, {1, 2}))
                          .initializer("one", Tensor::scalar(1.0F))
                          .node("Cast", "cast", {"x"}, "f", {{"to", std::int64_t{1}}})
                          .node("Mul", "mul", {"f", "one"}, "m")
                          .node("MatMul", "fc", {"m", "w"}, "h")
                          .node("Add", "bias", {"h", "b"}, "y")
                          .output("y")
                          .build();
  Graph fixed = graph;
  fix_faults(fixed, search());
  CHECK(find_faults(fixed, search()).empty());
  check_equal(graph, fixed);
}
