// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/ir.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;

TEST_CASE("An attribute is found only under its name and its type") {
  Node node{.attributes = {{"group", std::int64_t{2}}, {"alpha", 0.5F}, {"mode", std::string("edge")}}};
  REQUIRE(node.attribute<std::int64_t>("group") != nullptr);
  CHECK(*node.attribute<std::int64_t>("group") == 2);
  CHECK(node.attribute<float>("group") == nullptr);
  CHECK(node.attribute<std::int64_t>("groups") == nullptr);
  CHECK(node.attribute_or<float>("alpha", 9.0F) == 0.5F);
  CHECK(node.attribute_or<std::int64_t>("alpha", 9) == 9);
  CHECK(node.attribute_or<std::string>("mode", "constant") == "edge");
  CHECK(node.attribute_or<std::vector<std::int64_t>>("pads", {1, 2}) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("Setting an attribute replaces the old value, also by one of another type, or adds a new one") {
  Node node{.attributes = {{"a", std::int64_t{1}}, {"b", std::int64_t{2}}}};
  node.set_attribute("a", 3.0F);
  node.set_attribute("c", std::string("x"));
  REQUIRE(node.attributes.size() == 3);
  CHECK(node.attributes[0].first == "a");
  CHECK(node.attribute_or<float>("a", 0.0F) == 3.0F);
  CHECK(node.attribute_or<std::int64_t>("b", 0) == 2);
  CHECK(node.attribute_or<std::string>("c", "") == "x");
}

TEST_CASE("An input that is not given is kNoValue, whether it is left out or empty") {
  const Node node{.inputs = {4, kNoValue}};
  CHECK(node.input(0) == 4);
  CHECK(node.input(1) == kNoValue);
  CHECK(node.input(2) == kNoValue);
  CHECK(Node{}.input(0) == kNoValue);
}

TEST_CASE("Values are numbered in the order in which they are added") {
  Graph graph;
  CHECK(graph.add_value({.name = "a"}) == 0);
  CHECK(graph.add_value({.name = "b"}) == 1);
  CHECK(graph.value(0).name == "a");
  graph.value(1).name = "c";
  CHECK(graph.values[1].name == "c");
}

TEST_CASE("A node is found by its name") {
  Graph graph;
  graph.nodes = {{.op_type = "Relu", .name = "r"}, {.op_type = "Conv", .name = "c"}};
  REQUIRE(graph.find_node("c") != nullptr);
  CHECK(graph.find_node("c")->op_type == "Conv");
  CHECK(graph.find_node("x") == nullptr);
  graph.find_node("r")->op_type = "Tanh";
  CHECK(graph.nodes[0].op_type == "Tanh");
}

TEST_CASE("A copied graph does not share data with its source") {
  auto source = support::GraphBuilder().initializer("w", support::floats({2}, {1, 2})).build();
  auto copy = source;
  copy.value(0).initializer->data<float>()[0] = 9.0F;
  CHECK(support::values(*source.value(0).initializer) == std::vector<float>{1, 2});
  CHECK(support::values(*copy.value(0).initializer) == std::vector<float>{9, 2});
}

TEST_CASE("Dimensions are equal if size and symbol are") {
  CHECK(Dim{3, {}} == Dim{3, {}});
  CHECK(Dim{3, {}} != Dim{4, {}});
  CHECK(Dim{-1, "N"} != Dim{-1, "M"});
  CHECK(Dim{}.size == -1);
}
