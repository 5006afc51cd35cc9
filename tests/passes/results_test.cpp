// SPDX-License-Identifier: Apache-2.0
// Networks compute the same before and after each pass, to 1e-5 of the largest value.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <amct/exec/interpreter.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/graph/passes/chunk_to_split.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/fuse_norm_affine.hpp>
#include <amct/graph/passes/matmul_to_gemm.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/passes/remove_no_ops.hpp>
#include <amct/graph/passes/swap_matmul_operands.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::whole_numbers;

namespace {

/// Whole numbers with a fraction, so that sums are rounded.
Tensor data(const Shape& shape, std::uint32_t seed) {
  Tensor tensor = whole_numbers(shape, seed);
  for (float& value : tensor.data<float>()) value = value * 0.37F + 0.11F;
  return tensor;
}
Tensor positive(const Shape& shape, std::uint32_t seed) {
  Tensor tensor = data(shape, seed);
  for (float& value : tensor.data<float>()) value = std::fabs(value) + 0.2F;
  return tensor;
}

std::vector<Tensor> run(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    std::vector<std::int64_t> dims;
    for (const auto& dim : *graph.value(id).shape) dims.push_back(dim.size < 0 ? 2 : dim.size);
    inputs.push_back(data(Shape(dims), static_cast<std::uint32_t>(id) + 7));
  }
  return exec::Interpreter(graph, support::ops()).run(inputs);
}

/// Applies a pass, which must change something, and compares.
void check_pass(Graph graph, const std::function<PassReport(Graph&)>& pass) {
  const auto expected = run(graph);
  const auto report = pass(graph);
  CHECK_FALSE(report.changed.empty());
  CHECK(report.refused.empty());
  const auto results = run(graph);
  REQUIRE(results.size() == expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    REQUIRE(results[i].shape() == expected[i].shape());
    const auto a = expected[i].data<float>();
    const auto b = results[i].data<float>();
    float largest = 0.0F;
    float difference = 0.0F;
    for (std::size_t n = 0; n < a.size(); ++n) {
      largest = std::max(largest, std::fabs(a[n]));
      difference = std::max(difference, std::fabs(a[n] - b[n]));
    }
    CHECK(difference <= 1e-5F * largest);
  }
}

/// layer - BatchNormalization
Graph normalized(const char* op, const Shape& input, const Shape& weight, std::int64_t channels,
                 support::Attributes attributes = {}) {
  return GraphBuilder()
      .input("x", input)
      .initializer("w", data(weight, 1))
      .initializer("b", data({channels}, 2))
      .initializer("gamma", data({channels}, 3))
      .initializer("beta", data({channels}, 4))
      .initializer("mean", data({channels}, 5))
      .initializer("var", positive({channels}, 6))
      .node(op, "layer", {"x", "w", "b"}, "c", std::move(attributes))
      .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "var"}, "y")
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("fuse_batch_norm") {
  const auto fuse = [](Flavour flavour) {
    return [flavour](Graph& graph) { return fuse_batch_norm(graph, {}, rules_of(flavour)); };
  };
  const std::int64_t two = 2;
  const std::int64_t one = 1;
  check_pass(normalized("Conv", {1, 4, 9}, {6, 4, 3}, 6), fuse(Flavour::pytorch));
  check_pass(normalized("Conv", {1, 4, 5, 5}, {6, 2, 3, 3}, 6, {{"group", two}}), fuse(Flavour::pytorch));
  check_pass(normalized("Conv", {1, 4, 5, 5}, {4, 1, 3, 3}, 4, {{"group", std::int64_t{4}}}), fuse(Flavour::pytorch));
  check_pass(normalized("Conv", {1, 2, 3, 4, 5}, {3, 2, 2, 2, 2}, 3), fuse(Flavour::pytorch));
  check_pass(normalized("ConvTranspose", {1, 4, 5, 5}, {4, 3, 2, 2}, 3), fuse(Flavour::tensorflow));
  check_pass(normalized("ConvTranspose", {1, 4, 5, 5}, {4, 3, 2, 2}, 6, {{"group", two}}), fuse(Flavour::tensorflow));
  check_pass(normalized("ConvTranspose", {1, 4, 7}, {4, 3, 2}, 3), fuse(Flavour::caffe));
  check_pass(normalized("Gemm", {3, 4}, {4, 5}, 5, {{"alpha", 1.5F}}), fuse(Flavour::caffe));
  check_pass(normalized("Gemm", {3, 4}, {5, 4}, 5, {{"transB", one}}), fuse(Flavour::caffe));
}

TEST_CASE("fuse_norm_affine") {
  Graph graph = GraphBuilder()
                    .input("x", {2, 3, 4, 4})
                    .initializer("gamma", data({3}, 1))
                    .initializer("beta", data({3}, 2))
                    .initializer("mean", data({3}, 3))
                    .initializer("var", positive({3}, 4))
                    .initializer("factor", data({3, 1, 1}, 5))
                    .initializer("shift", Tensor::scalar(0.7F))
                    .node("BatchNormalization", "bn", {"x", "gamma", "beta", "mean", "var"}, "a")
                    .node("Mul", "mul", {"a", "factor"}, "b")
                    .node("Add", "add", {"shift", "b"}, "y")
                    .output("y")
                    .build();
  graph.value(graph.nodes[0].outputs[0]).shape = graph.value(graph.inputs[0]).shape;
  check_pass(graph, fuse_norm_affine);
}

TEST_CASE("fold_constants and fold_weight_transpose") {
  Tensor half(ElementType::float16, {5, 4});
  const Tensor numbers = data({5, 4}, 1);
  for (std::size_t i = 0; i < half.size(); ++i) half.data<Half>()[i] = to_half(numbers.data<float>()[i]);
  const Graph graph =
      GraphBuilder()
          .input("x", {3, 4})
          .initializer("half", half)
          .initializer("kernel", data({3, 2}, 2))
          .initializer("shape", int64s({2, 3, 1}))
          .initializer("axes", int64s({3}))
          .initializer("minus", int64s({-1}))
          .initializer("three", int64s({3}))
          .initializer("index", int64s({1}))
          .node("Cast", "cast", {"half"}, "single", {{"to", std::int64_t{1}}})
          .node("Transpose", "transpose", {"single"}, "w", {{"perm", Ints{1, 0}}})
          .node("MatMul", "mm", {"x", "w"}, "a")
          .node("Reshape", "reshape", {"kernel", "shape"}, "k3")
          .node("Unsqueeze", "unsqueeze", {"k3", "axes"}, "k4")
          .node("Shape", "size", {"x"}, "s")
          .node("Gather", "gather", {"s", "index"}, "four")
          .node("Concat", "concat", {"index", "three", "minus", "index"}, "to", {{"axis", std::int64_t{0}}})
          .node("Reshape", "reshape2", {"a", "to"}, "b")
          .node("Conv", "conv", {"b", "k4"}, "c")
          .node("Cast", "cast2", {"four"}, "f", {{"to", std::int64_t{1}}})
          .node("Mul", "mul", {"c", "f"}, "y")
          .output("y")
          .build();
  check_pass(graph, [](Graph& g) { return fold_constants(g, exec::node_evaluator(support::ops())); });
  Graph folded = graph;
  fold_constants(folded, exec::node_evaluator(support::ops()));
  CHECK(support::node_names(folded) == std::vector<std::string>{"mm", "reshape2", "conv", "mul"});
  Graph linear = GraphBuilder()
                     .input("x", {2, 3, 4})
                     .initializer("w", data({5, 4}, 1))
                     .node("Transpose", "t", {"w"}, "wt", {{"perm", Ints{1, 0}}})
                     .node("MatMul", "mm", {"x", "wt"}, "y")
                     .output("y")
                     .build();
  check_pass(linear, fold_weight_transpose);
}

TEST_CASE("remove_no_ops") {
  check_pass(GraphBuilder()
                 .input("x", {2, 3})
                 .initializer("zero", Tensor::scalar(0.0F))
                 .initializer("ones", floats({3}, {1, 1, 1}))
                 .initializer("start", int64s({0}))
                 .initializer("end", int64s({3}))
                 .initializer("axis", int64s({1}))
                 .initializer("shape", int64s({0, -1}))
                 .node("Add", "add", {"zero", "x"}, "a")
                 .node("Relu", "relu", {"a"}, "b")
                 .node("Cast", "cast", {"b"}, "c", {{"to", std::int64_t{1}}})
                 .node("Identity", "identity", {"c"}, "d")
                 .node("Mul", "mul", {"x", "ones"}, "e")
                 .node("Slice", "slice", {"x", "start", "end", "axis"}, "f")
                 .node("Reshape", "reshape", {"x", "shape"}, "g")
                 .node("Sum", "sum", {"d", "e", "f", "g"}, "h")
                 .node("Dropout", "dropout", {"h"}, "y")
                 .output("y")
                 .output("d")
                 .build(),
             remove_no_ops);
}

TEST_CASE("normalize_gemm") {
  for (const std::int64_t transposed : {0, 1}) {
    check_pass(GraphBuilder()
                   .input("x", {3, 4})
                   .initializer("w", data(transposed != 0 ? Shape{5, 4} : Shape{4, 5}, 1))
                   .initializer("b", data({1}, 2))
                   .node("Gemm", "fc", {"x", "w", "b"}, "y", {{"transB", transposed}, {"alpha", 0.3F}, {"beta", -1.7F}})
                   .output("y")
                   .build(),
               [](Graph& graph) { return normalize_gemm(graph); });
  }
}

TEST_CASE("matmul_to_gemm in all forms") {
  const auto linear = [](const Shape& shape) {
    return GraphBuilder()
        .input("x", shape)
        .initializer("w", data({4, 3}, 1))
        .initializer("b", data({3}, 2))
        .node("MatMul", "mm", {"x", "w"}, "m")
        .node("Add", "add", {"b", "m"}, "y")
        .output("y")
        .build();
  };
  const auto pass = [](WideLinear wide) { return [wide](Graph& graph) { return matmul_to_gemm(graph, wide); }; };
  check_pass(linear({-1, 4}), pass(WideLinear::kept));
  for (const Shape& shape : {Shape{2, 5, 4}, Shape{-1, 3, 5, 4}}) {
    check_pass(linear(shape), pass(WideLinear::reshaped));
    check_pass(linear(shape), pass(WideLinear::convolution));
  }
}

TEST_CASE("swap_matmul_operands") {
  for (const Shape& second : {Shape{2, 4, 5}, Shape{4, 5}}) {
    check_pass(GraphBuilder()
                   .input("a", {2, 3, 4})
                   .input("b", second)
                   .node("MatMul", "mm", {"a", "b"}, "y")
                   .output("y")
                   .build(),
               [](Graph& graph) { return swap_matmul_operands(graph, {"mm"}); });
  }
}

TEST_CASE("chunk_to_split") {
  check_pass(GraphBuilder()
                 .input("x", {2, 5})
                 .initializer("axis", int64s({1}))
                 .initializer("zero", int64s({0}))
                 .initializer("one", int64s({1}))
                 .initializer("two", int64s({2}))
                 .node("Shape", "shape", {"x"}, "s")
                 .node("Gather", "gather", {"s", "axis"}, "n")
                 .node("Add", "add", {"n", "one"}, "m")
                 .node("Div", "div", {"m", "two"}, "size")
                 .node("Slice", "slice1", {"x", "zero", "size", "axis"}, "p")
                 .node("Mul", "mul", {"size", "two"}, "end")
                 .node("Slice", "slice2", {"x", "size", "end", "axis"}, "q")
                 .output("p")
                 .output("q")
                 .build(),
             chunk_to_split);
}
