// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/names.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct::graph;

TEST_CASE("A free name is given as wanted, a taken one with the next number") {
  const auto graph = support::GraphBuilder().input("x").node("Relu", "relu", {"x"}, "y").build();
  UniqueNames names(graph);
  CHECK(names.value("z") == "z");
  CHECK(names.value("z") == "z_2");
  CHECK(names.value("z") == "z_3");
  CHECK(names.value("x") == "x_2");
  CHECK(names.node("relu") == "relu_2");
}

TEST_CASE("Names of values and of nodes do not disturb each other") {
  const auto graph = support::GraphBuilder().input("x").node("Relu", "relu", {"x"}, "y").build();
  UniqueNames names(graph);
  CHECK(names.value("relu") == "relu");
  CHECK(names.node("x") == "x");
}

TEST_CASE("A number that is taken already is passed over") {
  const auto graph = support::GraphBuilder().input("x").input("x_2").build();
  UniqueNames names(graph);
  CHECK(names.value("x") == "x_3");
}
