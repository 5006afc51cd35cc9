// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/network.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using support::floats;
using support::GraphBuilder;
using support::whole_numbers;

TEST_CASE("A network lists nodes and the tensors that carry data between them") {
  const auto network = amct::graph::network_of(GraphBuilder()
                                                   .input("x")
                                                   .initializer("w", whole_numbers({1, 1, 1, 1}, 1))
                                                   .constant("c", floats({1}, {1}))
                                                   .node("Conv", "conv", {"x", "w", ""}, "a")
                                                   .node("Add", "add", {"a", "c"}, "b")
                                                   .node("Mul", "mul", {"b", "a"}, "y")
                                                   .output("y")
                                                   .build());
  using Names = std::vector<std::string>;
  REQUIRE(network.size() == 3);
  CHECK(network[0].name == "conv");
  CHECK(network[0].onnx_name == "conv");
  CHECK(network[0].op_type == "Conv");
  CHECK(network[0].inputs == Names{"x"});
  CHECK(network[0].outputs == Names{"a"});
  CHECK(network[1].inputs == Names{"a"});
  CHECK(network[2].inputs == Names{"b", "a"});
}

TEST_CASE("Composites of the types asked for are one entry, with the name of the last node") {
  const auto graph = GraphBuilder()
                         .input("x")
                         .node("Sigmoid", "s", {"x"}, "a")
                         .node("Mul", "m", {"a", "x"}, "b")
                         .node("Relu", "r", {"b"}, "y")
                         .output("y")
                         .build();
  constexpr std::string_view kTypes[] = {"SiLU"};
  const auto network = amct::graph::network_of(graph, kTypes);
  using Names = std::vector<std::string>;
  REQUIRE(network.size() == 2);
  CHECK(network[0].name == "m");
  CHECK(network[0].op_type == "SiLU");
  CHECK(network[0].inputs == Names{"x"});
  CHECK(network[0].outputs == Names{"b"});
  CHECK(network[1].name == "r");
  CHECK(amct::graph::network_of(graph).size() == 3);
}
