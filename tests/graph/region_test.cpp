// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/region.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/quantizable.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using Names = std::vector<std::string>;

namespace {

const FlavourRules& kHotwheels = rules_of(Flavour::hotwheels);

/// conv - Sigmoid - Add - Tanh, with a Mul beside the Sigmoid and a Pool behind all.
Graph net() {
  return GraphBuilder()
      .input("x", {1, 1, 4, 4})
      .initializer("conv.weight", floats({1, 1, 1, 1}, {2}))
      .initializer("two", Tensor::scalar(2.0F))
      .node("Conv", "/conv/Conv", {"x", "conv.weight"}, "c")
      .node("Neg", "/Neg", {"c"}, "n")
      .node("Sigmoid", "/post/act/Sigmoid", {"n"}, "s")
      .node("Mul", "/post/Mul", {"c", "two"}, "m")
      .node("Add", "/post/Add", {"s", "m"}, "a")
      .node("Tanh", "/last/Tanh", {"a"}, "t")
      .node("GlobalAveragePool", "/pool/Pool", {"t"}, "y")
      .output("y")
      .build();
}

LayerTable layers_of(Graph graph) {
  name_layers(graph, ModuleNames(graph));
  return find_quantizable(graph, kHotwheels).layers;
}

Names between(const Graph& graph, const Region& region, const FlavourRules& rules = kHotwheels) {
  return layers_between(graph, ModuleNames(graph), region, layers_of(graph), rules);
}

}  // namespace

TEST_CASE("K28 the layers on all ways between two nodes, both included") {
  const Graph graph = net();
  CHECK(between(graph, {"/post/act/Sigmoid", "last"}) == Names{"post.act", "/post/Add", "last"});
  CHECK(between(graph, {"/Neg", "/post/Add"}) == Names{"post.act", "/post/Add"});
  CHECK(between(graph, {"last", "last"}) == Names{"last"});
}

TEST_CASE("K28 the layers whose name begins with a prefix") {
  const Graph graph = net();
  const auto with_prefix = [&](const std::string& prefix) {
    return layers_with_prefix(graph, ModuleNames(graph), prefix, layers_of(graph), kHotwheels);
  };
  CHECK(with_prefix("/post/") == Names{"post.act", "/post/Mul", "/post/Add"});
  CHECK(with_prefix("post") == Names{"post.act", "/post/Mul", "/post/Add"});
  CHECK(error_of([&] { (void)with_prefix("nowhere"); })->code() == ErrorCode::config_layer);
  CHECK(error_of([&] { (void)with_prefix(""); }).has_value());
}

TEST_CASE("K28 K15 a region may not hide a layer of the matrix unit on hotwheels") {
  const Graph graph = net();
  const auto error = error_of([&] { (void)between(graph, {"conv", "/post/Add"}); });
  REQUIRE(error);
  CHECK(error->where().layer == "conv");
  CHECK(error->message().ends_with("Layer conv must be quantized as it is an operation calculated on CUBE"));
  CHECK(error_of([&] { (void)between(graph, {"last", ""}); }).has_value());  // the pool
  CHECK(between(graph, {"conv", "/post/Mul"}, rules_of(Flavour::pytorch)).front() == "conv");
  CHECK(is_matrix_operator("MatMul"));
  CHECK(!is_matrix_operator("Add"));
}

TEST_CASE("K15 a convolution of constants may stay float") {
  const Graph graph = GraphBuilder()
                          .input("x", {1, 1, 2, 2})
                          .initializer("c", floats({1, 1, 2, 2}, {1, 2, 3, 4}))
                          .initializer("w", floats({1, 1, 1, 1}, {2}))
                          .node("Conv", "offline", {"c", "w"}, "o")
                          .node("Add", "add", {"x", "o"}, "y")
                          .output("y")
                          .build();
  const LayerTable table{{.name = "offline", .op_type = "Conv"}, {.name = "add", .op_type = "Add"}};
  CHECK(layers_between(graph, ModuleNames(graph), {"offline", ""}, table, kHotwheels) == Names{"offline", "add"});
}

TEST_CASE("K28 a region without a way, or with unknown ends, is refused") {
  const Graph graph = net();
  const auto turned = error_of([&] { (void)between(graph, {"last", "conv"}); });
  REQUIRE(turned);
  CHECK(contains(turned->message(), "one leads back"));
  CHECK(contains(error_of([&] { (void)between(graph, {"/post/Mul", "post.act"}); })->message(), "no way leads"));
  CHECK(contains(error_of([&] { (void)between(graph, {"conf", ""}); })->message(), "conv"));
  CHECK(contains(error_of([&] { (void)between(graph, {"/Neg", "/Neg"}); })->message(), "no layer"));
}
