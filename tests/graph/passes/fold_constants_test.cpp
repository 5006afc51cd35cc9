// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/fold_constants.hpp>

#include <doctest/doctest.h>

#include <functional>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::find_value;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::name_of;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

namespace {

/// Knows Neg, Add of equal sizes, Reshape, and Expand to ten thousand elements.
std::optional<std::vector<Tensor>> evaluate(const Graph&, const Node& node, std::span<const Tensor* const> inputs) {
  std::vector<Tensor> result;
  if (node.op_type == "Neg") {
    result.emplace_back(*inputs[0]);
    for (float& v : result[0].data<float>()) v = -v;
  } else if (node.op_type == "Add" && inputs[0]->type() == ElementType::int64) {
    result.emplace_back(*inputs[0]);
    for (std::size_t i = 0; i < result[0].size(); ++i)
      result[0].data<std::int64_t>()[i] += inputs[1]->data<std::int64_t>()[0];
  } else if (node.op_type == "Expand") {
    result.emplace_back(ElementType::float32, Shape{10000});
  } else {
    return std::nullopt;
  }
  return result;
}

PassReport fold(Graph& graph, const FoldOptions& options = {}) { return fold_constants(graph, evaluate, options); }

}  // namespace

TEST_CASE("A chain of constants becomes an initializer, and what it came from is dropped") {
  Graph graph = GraphBuilder()
                    .input("x", {2})
                    .initializer("w", floats({2}, {1, 2}))
                    .node("Neg", "n1", {"w"}, "a")
                    .node("Identity", "id", {"a"}, "b")
                    .node("Neg", "n2", {"b"}, "c")
                    .node("Add", "add", {"x", "c"}, "y")
                    .output("y")
                    .build();
  CHECK(fold(graph).changed_nodes() == Names{"n1", "id", "n2"});
  CHECK(node_names(graph) == Names{"add"});
  CHECK(values(*find_initializer(graph, "c")) == std::vector<float>{1, 2});
  CHECK(find_initializer(graph, "w") == nullptr);
  CHECK(find_initializer(graph, "a") == nullptr);
}

TEST_CASE("Two layers that read one weight through Identity or equal nodes still share it") {
  const auto net = [](const char* op) {
    return GraphBuilder()
        .input("x", {2})
        .initializer("w", floats({2}, {1, 2}))
        .node(op, "p", {"w"}, "a")
        .node(op, "q", {"w"}, "b")
        .node("Add", "add1", {"x", "a"}, "s")
        .node("Add", "add2", {"s", "b"}, "y")
        .output("y")
        .build();
  };
  for (const char* op : {"Identity", "Neg"}) {
    Graph graph = net(op);
    fold(graph);
    CHECK(node_names(graph) == Names{"add1", "add2"});
    CHECK(graph.nodes[0].inputs[1] == graph.nodes[1].inputs[1]);
  }
  Graph different = net("Neg");
  different.nodes[1].set_attribute("alpha", 2.0F);
  fold(different);
  CHECK(different.nodes[0].inputs[1] != different.nodes[1].inputs[1]);
}

TEST_CASE("A weight in a Constant node becomes an initializer, other Constant nodes stay") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 2})
                    .constant("w", floats({2, 2}, {1, 2, 3, 4}))
                    .constant("k", floats({2}, {1, 2}))
                    .node("MatMul", "mm", {"x", "w"}, "a")
                    .node("Add", "add", {"a", "k"}, "y")
                    .output("y")
                    .build();
  CHECK(fold(graph).changed == std::vector<PassNote>{{"make_w", "is the weight of mm"}});
  CHECK(node_names(graph) == Names{"make_k", "mm", "add"});
  REQUIRE(find_initializer(graph, "w") != nullptr);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("Sizes of declared shapes are constants, also when others are unknown") {
  const auto net = [](std::int64_t batch) {
    return GraphBuilder()
        .input("x", {batch, 3})
        .initializer("axis", Tensor::scalar(std::int64_t{1}))
        .initializer("one", Tensor::scalar(std::int64_t{1}))
        .node("Shape", "shape", {"x"}, "s")
        .node("Gather", "gather", {"s", "axis"}, "g")
        .node("Add", "add", {"g", "one"}, "h")
        .node("Use", "use", {"h", "s"}, "y")
        .output("y")
        .build();
  };
  Graph known = net(2);
  fold(known);
  CHECK(node_names(known) == Names{"use"});
  CHECK(values<std::int64_t>(*find_initializer(known, "s")) == support::Ints{2, 3});
  CHECK(find_initializer(known, "s")->shape() == Shape{2});
  CHECK(values<std::int64_t>(*find_initializer(known, "h")) == support::Ints{4});
  CHECK(find_initializer(known, "h")->shape() == Shape{});

  Graph partly = net(-1);
  fold(partly);
  CHECK(node_names(partly) == Names{"shape", "use"});

  Graph kept = net(2);
  fold(kept, {.fold_shapes = false});
  CHECK(kept.nodes.size() == 4);
}

TEST_CASE("Shape from start to end, as of opset 15") {
  Graph graph = GraphBuilder()
                    .input("x", {-1, 3, 5})
                    .node("Shape", "shape", {"x"}, "s", {{"start", std::int64_t{-2}}, {"end", std::int64_t{9}}})
                    .node("Use", "use", {"s"}, "y")
                    .output("y")
                    .build();
  fold(graph);
  CHECK(values<std::int64_t>(*find_initializer(graph, "s")) == support::Ints{3, 5});
}

TEST_CASE("An index outside a shape folds nothing") {
  Graph graph = GraphBuilder()
                    .input("x", {2, 3})
                    .initializer("i", Tensor::scalar(std::int64_t{2}))
                    .node("Shape", "shape", {"x"}, "s", {{"end", std::int64_t{-5}}})
                    .node("Gather", "gather", {"s", "i"}, "g")
                    .node("Use", "use", {"g"}, "y")
                    .output("y")
                    .build();
  fold(graph);
  CHECK(graph.nodes.size() == 3);
}

TEST_CASE("Quantized weights, random numbers, convolutions and graph outputs stay nodes") {
  for (const char* op : {"DequantizeLinear", "QuantizeLinear", "RandomNormalLike", "Conv"}) {
    Graph graph = GraphBuilder()
                      .input("x")
                      .initializer("w", floats({1}, {1}))
                      .node(op, "node", {"w"}, "a")
                      .node("Add", "add", {"x", "a"}, "y")
                      .output("y")
                      .build();
    const auto report = fold(graph);
    CHECK(report.changed.empty());
    CHECK(report.refused.empty());
    CHECK(graph.nodes.size() == 2);
  }
  Graph graph = GraphBuilder().initializer("w", floats({1}, {1})).node("Neg", "neg", {"w"}, "y").output("y").build();
  CHECK(fold(graph).refused == std::vector<PassNote>{{"neg", "makes a graph output"}});
  CHECK(graph.nodes.size() == 1);
}

TEST_CASE("What cannot be computed or would be too large stays, with the reason") {
  const auto net = [](const char* op) {
    return GraphBuilder()
        .input("x")
        .initializer("w", floats({1}, {1}))
        .node(op, "node", {"w"}, "a")
        .node("Add", "add", {"x", "a"}, "y")
        .output("y")
        .build();
  };
  Graph unknown = net("Mystery");
  CHECK(fold(unknown).refused == std::vector<PassNote>{{"node", "Mystery of constants cannot be computed"}});
  CHECK(unknown.nodes.size() == 2);
  Graph large = net("Expand");
  CHECK(fold(large, {.most_bytes = 39999}).refused ==
        std::vector<PassNote>{{"node", "would be a constant of 40000 bytes"}});
  CHECK(large.nodes.size() == 2);
  Graph fits = net("Expand");
  CHECK(fold(fits, {.most_bytes = 40000}).refused.empty());
  CHECK(fits.nodes.size() == 1);
}

TEST_CASE("Control flow is left intact, and what its bodies capture may become constant") {
  Graph body = GraphBuilder().input("outer").node("Neg", "inner", {"outer"}, "z").output("z").build();
  Graph graph = GraphBuilder()
                    .initializer("c", Tensor::scalar(true))
                    .initializer("w", floats({1}, {1}))
                    .node("Neg", "neg", {"w"}, "a")
                    .node("If", "if", {"c", "a"}, "y", {{"then_branch", Body(std::make_shared<Graph>(body))}})
                    .output("y")
                    .build();
  graph.nodes[1].captured = 1;
  fold(graph);
  CHECK(node_names(graph) == Names{"if"});
  CHECK(name_of(graph, graph.nodes[0].inputs[1]) == "a");
  CHECK(graph.nodes[0].captured == 1);
  CHECK(values(*find_initializer(graph, "a")) == std::vector<float>{-1});
}
