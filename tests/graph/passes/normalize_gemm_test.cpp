// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/normalize_gemm.hpp>

#include <doctest/doctest.h>

#include <array>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::Attributes;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::values;

namespace {

/// Gemm in double as ONNX defines it, for a row vector [1, K] and a bias of N values or none.
std::vector<double> gemm_row(const Graph& graph, const std::vector<float>& x) {
  const Node& node = *graph.find_node("fc");
  const Tensor& weight = *graph.value(node.input(1)).initializer;
  const bool transpose = node.attribute_or<std::int64_t>("transB", 0) != 0;
  const auto alpha = static_cast<double>(node.attribute_or<float>("alpha", 1.0F));
  const auto beta = static_cast<double>(node.attribute_or<float>("beta", 1.0F));
  const auto n = static_cast<std::size_t>(weight.shape()[transpose ? 0 : 1]);
  std::vector<double> y(n, 0.0);
  const Tensor* bias = node.input(2) == kNoValue ? nullptr : Uses(graph).constant(node.input(2));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const float w = weight.data<float>()[transpose ? j * x.size() + k : k * n + j];
      y[j] += static_cast<double>(x[k]) * static_cast<double>(w);
    }
    y[j] *= alpha;
    if (bias != nullptr) y[j] += beta * static_cast<double>(bias->data<float>()[bias->size() == 1 ? 0 : j]);
  }
  return y;
}

GraphBuilder gemm(Attributes attributes, const std::vector<std::string>& inputs = {"x", "w", "b"}) {
  return GraphBuilder()
      .input("x", {1, 2})
      .initializer("w", floats({2, 2}, {3, 4, 5, 6}))
      .initializer("b", floats({2}, {1, -1}))
      .node("Gemm", "fc", inputs, "y", std::move(attributes))
      .output("y");
}
void check_form(const Graph& graph) {
  const Node& node = *graph.find_node("fc");
  CHECK(node.attribute_or<std::int64_t>("transB", 9) == 0);
  CHECK(node.attribute_or<float>("alpha", 9.0F) == 1.0F);
  CHECK(node.attribute_or<float>("beta", 9.0F) == 1.0F);
}

}  // namespace

TEST_CASE("transB and alpha go into the weight") {
  Graph graph = gemm({{"transB", std::int64_t{1}}, {"alpha", 2.0F}}).build();
  CHECK(gemm_row(graph, {1, 2}) == std::vector<double>{23, 33});
  normalize_gemm(graph);
  check_form(graph);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{6, 10, 8, 12});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{1, -1});
  CHECK(gemm_row(graph, {1, 2}) == std::vector<double>{23, 33});
}

TEST_CASE("beta goes into the bias") {
  Graph graph = gemm({{"transB", std::int64_t{1}}, {"alpha", 2.0F}, {"beta", 0.5F}}).build();
  normalize_gemm(graph);
  check_form(graph);
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{0.5F, -0.5F});
  CHECK(gemm_row(graph, {1, 2}) == std::vector<double>{22.5, 33.5});
}

TEST_CASE("A Gemm without a bias gets none") {
  Graph graph = gemm({{"transB", std::int64_t{1}}, {"alpha", 2.0F}, {"beta", 0.5F}}, {"x", "w"}).build();
  normalize_gemm(graph);
  check_form(graph);
  CHECK(graph.nodes[0].inputs.size() == 2);
  CHECK(gemm_row(graph, {1, 2}) == std::vector<double>{22, 34});
}

TEST_CASE("A weight that is not square is transposed with its shape") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 3})
                    .initializer("w", floats({2, 3}, {1, 2, 3, 4, 5, 6}))
                    .node("Gemm", "fc", {"x", "w"}, "y", {{"transB", std::int64_t{1}}})
                    .output("y")
                    .build();
  normalize_gemm(graph);
  CHECK(find_initializer(graph, "w")->shape() == Shape{3, 2});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("A Gemm in AMCT's form keeps its numbers") {
  Graph graph = gemm({}).build();
  normalize_gemm(graph);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{3, 4, 5, 6});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{1, -1});
  CHECK(gemm_row(graph, {1, 2}) == std::vector<double>{14, 15});
}

TEST_CASE("Values stay equal to those of the original Gemm") {
  for (const std::int64_t transpose : {0, 1}) {
    for (const float alpha : {1.0F, 0.3F}) {
      for (const float beta : {1.0F, -0.7F, 0.0F}) {
        Graph graph =
            GraphBuilder()
                .input("x", {1, 2})
                .initializer("w", floats({2, 2}, {0.3F, -0.41F, 0.59F, 0.61F}))
                .initializer("b", floats({2}, {0.1F, -0.2F}))
                .node("Gemm", "fc", {"x", "w", "b"}, "y", {{"transB", transpose}, {"alpha", alpha}, {"beta", beta}})
                .output("y")
                .build();
        const auto before = gemm_row(graph, {0.7F, -1.1F});
        normalize_gemm(graph);
        const auto after = gemm_row(graph, {0.7F, -1.1F});
        for (std::size_t j = 0; j < 2; ++j) CHECK(std::abs(before[j] - after[j]) < 1e-6);
      }
    }
  }
}

TEST_CASE("A bias of one value or of one row becomes one value a column") {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {
    Graph graph = gemm({}).initializer("b", floats(shape, {5})).build();
    normalize_gemm(graph);
    CHECK(find_initializer(graph, "b")->shape() == Shape{2});
    CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{5, 5});
  }
  Graph graph = gemm({}).initializer("b", floats({1, 2}, {5, 6})).build();
  normalize_gemm(graph);
  CHECK(find_initializer(graph, "b")->shape() == Shape{2});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{5, 6});
}

TEST_CASE("A bias that others read too is replaced by one of the layer's own") {
  Graph graph = gemm({{"beta", 2.0F}}).node("Add", "add", {"y", "b"}, "z").output("z").build();
  normalize_gemm(graph);
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{1, -1});
  CHECK(support::name_of(graph, graph.nodes[0].inputs[2]) == "fc.bias");
  CHECK(values(*find_initializer(graph, "fc.bias")) == std::vector<float>{2, -2});
}

TEST_CASE("A bias from a Constant node is replaced when beta changes it") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 2})
                    .initializer("w", floats({2, 2}, {3, 4, 5, 6}))
                    .constant("b", floats({2}, {1, -1}))
                    .node("Gemm", "fc", {"x", "w", "b"}, "y", {{"beta", 2.0F}})
                    .output("y")
                    .build();
  normalize_gemm(graph);
  CHECK(values(*find_initializer(graph, "fc.bias")) == std::vector<float>{2, -2});
  CHECK(support::node_names(graph) == std::vector<std::string>{"fc"});
}

TEST_CASE("Other forms are left as they are") {
  const std::array<Graph, 4> graphs{
      gemm({{"transA", std::int64_t{1}}, {"alpha", 2.0F}}).build(),
      gemm({{"alpha", 2.0F}}).initializer("b", floats({2, 2}, {1, 2, 3, 4})).build(),
      gemm({{"alpha", 2.0F}}).node("Gemm", "fc2", {"y", "w"}, "z").output("z").build(),
      gemm({{"alpha", 2.0F}}, {"x", "x", "b"}).build(),
  };
  for (Graph graph : graphs) {
    const Node before = graph.nodes[0];
    normalize_gemm(graph);
    CHECK(graph.nodes[0].attribute_or<float>("alpha", 0.0F) == 2.0F);
    CHECK(graph.nodes[0].inputs == before.inputs);
    if (const Tensor* weight = find_initializer(graph, "w")) CHECK(values(*weight) == std::vector<float>{3, 4, 5, 6});
  }
}

TEST_CASE("The report names what was changed and what could not be") {
  const auto report = [](Graph graph) { return normalize_gemm(graph); };
  CHECK(report(gemm({}).build()).changed.empty());
  CHECK(report(gemm({{"transB", std::int64_t{1}}}).build()).changed_nodes() == std::vector<std::string>{"fc"});
  CHECK(report(gemm({}).initializer("b", floats({1}, {5})).build()).changed.size() == 1);
  const auto reason = [&](Graph graph) {
    const auto found = report(std::move(graph));
    CHECK(found.changed.empty());
    REQUIRE_FALSE(found.refused.empty());
    return found.refused[0].text;
  };
  CHECK(reason(gemm({{"transA", std::int64_t{1}}}).build()) == "transA is set");
  CHECK(reason(gemm({}, {"x", "x", "b"}).build()) == "its weight is not a float32 matrix initializer");
  CHECK(reason(gemm({}, {"x", "w", "x"}).build()) == "its bias is not a float32 constant");
  CHECK(reason(gemm({}).initializer("b", floats({2, 2}, {1, 2, 3, 4})).build()) ==
        "its bias is [2,2], expected one value a column");
  CHECK(reason(gemm({}).initializer("b", floats({1, 1, 2}, {1, 2})).build()) ==
        "its bias is [1,1,2], expected one value a column");
  CHECK(reason(gemm({}).node("Gemm", "fc2", {"y", "w"}, "z").output("z").build()) ==
        "its weight is shared with another node");
}

TEST_CASE("The calibrated form keeps transB") {
  Graph graph = gemm({{"transB", std::int64_t{1}}, {"alpha", 2.0F}}).build();
  CHECK(normalize_gemm(graph, GemmForm::calibrated).changed_nodes() == std::vector<std::string>{"fc"});
  CHECK(graph.nodes[0].attribute_or<std::int64_t>("transB", 0) == 1);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{6, 8, 10, 12});
  CHECK(normalize_gemm(graph, GemmForm::calibrated).changed.empty());
}

TEST_CASE("With a record only its layers are changed, as AMCT deploys a layer that went back to float") {
  Graph graph = gemm({{"transB", std::int64_t{1}}}).build();
  const amct::Record others{{.name = "another"}};
  CHECK(normalize_gemm(graph, GemmForm::deployed, &others).changed.empty());
  CHECK(graph.find_node("fc")->attribute_or<std::int64_t>("transB", 0) == 1);
  const amct::Record layers{{.name = "fc"}};
  CHECK(normalize_gemm(graph, GemmForm::deployed, &layers).changed_nodes() == std::vector<std::string>{"fc"});
  check_form(graph);
}
