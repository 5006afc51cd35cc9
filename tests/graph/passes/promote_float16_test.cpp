// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/promote_float16.hpp>

#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;

namespace {

Tensor halfs(const std::vector<float>& values) {
  return cast(support::floats({static_cast<std::int64_t>(values.size())}, values), ElementType::float16);
}

}  // namespace

TEST_CASE("Constants, declared types, Casts and bodies of float16 become float32") {
  auto body = support::GraphBuilder().constant("inner", halfs({3})).output("inner").build();
  auto graph = support::GraphBuilder()
                   .input("x", {2})
                   .initializer("w", halfs({0.5F, 65504}))
                   .constant("c", halfs({2}))
                   .node("Cast", "cast", {"x"}, "y", {{"to", std::int64_t{10}}})
                   .node("Cast", "to_int", {"x"}, "z", {{"to", std::int64_t{7}}})
                   .node("If", "if", {"z"}, "r", {{"then_branch", std::make_shared<const graph::Graph>(body)}})
                   .output("y")
                   .build();
  graph.value(graph.inputs[0]).type = ElementType::float16;
  CHECK(graph::promote_float16(graph));
  CHECK(graph.value(graph.inputs[0]).type == ElementType::float32);
  CHECK(support::values(*support::find_initializer(graph, "w")) == std::vector<float>{0.5F, 65504});
  CHECK(support::values(*graph.nodes[0].attribute<Tensor>("value")) == std::vector<float>{2});
  CHECK(*graph.find_node("cast")->attribute<std::int64_t>("to") == 1);
  CHECK(*graph.find_node("to_int")->attribute<std::int64_t>("to") == 7);
  const auto& inside = **graph.find_node("if")->attribute<graph::Body>("then_branch");
  CHECK(support::values(*inside.nodes[0].attribute<Tensor>("value")) == std::vector<float>{3});
  CHECK_FALSE(graph::promote_float16(graph));  // nothing is left to do
}
