// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/edit.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;

TEST_CASE("An added initializer has name, type, shape and data") {
  Graph graph;
  const std::vector<std::int64_t> numbers{7, 8};
  const ValueId id = add_initializer(graph, "n", support::int64s(numbers));
  CHECK(id == 0);
  CHECK(graph.value(id).name == "n");
  CHECK(graph.value(id).type == ElementType::int64);
  CHECK(*graph.value(id).shape == std::vector<Dim>{{2, {}}});
  CHECK(support::values<std::int64_t>(*graph.value(id).initializer) == numbers);
}

TEST_CASE("A replaced initializer keeps its name and takes type and shape of the new data") {
  Graph graph;
  const ValueId id = add_initializer(graph, "w", support::floats({1, 2}, {1, 2}));
  replace_initializer(graph, id, Tensor(ElementType::int8, Shape{3}));
  CHECK(graph.value(id).name == "w");
  CHECK(graph.value(id).type == ElementType::int8);
  CHECK(*graph.value(id).shape == std::vector<Dim>{{3, {}}});
  CHECK(graph.value(id).initializer->size() == 3);
}

TEST_CASE("Nodes and initializers that no output needs are removed, in chains too") {
  Graph graph = support::GraphBuilder()
                    .input("x")
                    .initializer("w", support::floats({1}, {1}))
                    .initializer("unused", support::floats({1}, {2}))
                    .node("Add", "dead1", {"x", "unused"}, "d1")
                    .node("Add", "live", {"x", "w"}, "y")
                    .node("Relu", "dead2", {"d1"}, "d2")
                    .node("Split", "half", {"y"}, std::vector<std::string>{"h0", "h1"})
                    .output("h1")
                    .build();
  remove_unused(graph);
  CHECK(support::node_names(graph) == std::vector<std::string>{"live", "half"});
  CHECK(support::find_initializer(graph, "w") != nullptr);
  CHECK(support::find_initializer(graph, "unused") == nullptr);
}

TEST_CASE("An initializer that is a graph output stays") {
  Graph graph = support::GraphBuilder().initializer("w", support::floats({1}, {1})).output("w").build();
  remove_unused(graph);
  CHECK(support::find_initializer(graph, "w") != nullptr);
}

TEST_CASE("A transposed matrix has rows and columns exchanged") {
  const Tensor result = transposed(support::floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(result.shape() == Shape{3, 2});
  CHECK(support::values(result) == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("Merged values are read and made as the one that stays") {
  Graph graph = support::GraphBuilder()
                    .input("x")
                    .node("Relu", "r", {"x"}, "a")
                    .node("Identity", "i", {"a"}, "b")
                    .node("Identity", "j", {"b"}, "c")
                    .node("Clip", "n", {"c", "", "b"}, "y")
                    .output("y")
                    .build();
  const auto id = [&](const char* name) { return support::find_value(graph, name); };
  ValueMerge merge(graph);
  merge.merge(id("b"), id("a"));
  merge.merge(id("a"), id("c"));  // whoever stood for others takes them along
  CHECK(merge.find(id("b")) == id("c"));
  CHECK(merge.find(kNoValue) == kNoValue);
  merge.apply(graph);
  CHECK(graph.nodes[0].outputs[0] == id("c"));
  CHECK(graph.nodes[3].inputs == std::vector<ValueId>{id("c"), kNoValue, id("c")});
}

TEST_CASE("Ranks and sizes are known from constants and declared shapes") {
  const Graph graph = support::GraphBuilder()
                          .input("x", {2, -1})
                          .initializer("w", support::floats({3}, {1, 2, 3}))
                          .node("Relu", "r", {"x"}, "y")
                          .build();
  const auto& x = graph.value(support::find_value(graph, "x"));
  const auto& w = graph.value(support::find_value(graph, "w"));
  const auto& y = graph.value(support::find_value(graph, "y"));
  CHECK(known_rank(x) == 2);
  CHECK(known_rank(y) == std::nullopt);
  CHECK(known_size(x, 0) == 2);
  CHECK(known_size(x, -2) == 2);
  CHECK(known_size(x, 1) == -1);
  CHECK(known_size(x, 2) == -1);
  CHECK(known_size(x, -3) == -1);
  CHECK(known_size(w, -1) == 3);
  CHECK(known_size(y, 0) == -1);
  CHECK(shape_sizes({.op_type = "Shape"}, x) == support::Ints{2, -1});
  CHECK(shape_sizes({.op_type = "Shape", .attributes = {{"start", std::int64_t{-1}}}}, x) == support::Ints{-1});
  CHECK(shape_sizes({.op_type = "Shape", .attributes = {{"end", std::int64_t{-1}}}}, x) == support::Ints{2});
  CHECK(shape_sizes({.op_type = "Shape"}, y).empty());
  CHECK(gather_sizes({5, 6, 7}, {-1, 0}) == support::Ints{7, 5});
  CHECK(gather_sizes({5, 6, 7}, {0, 3}).empty());
  CHECK(gather_sizes({5, 6, 7}, {-4}).empty());
}
