// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/name_layers.hpp>

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;

namespace {

Graph net() {
  return support::GraphBuilder()
      .input("x")
      .initializer("features.0.weight", support::floats({1, 1, 1, 1}, {1}))
      .node("Conv", "/features/features.0/Conv", {"x", "features.0.weight"}, "a")
      .node("Relu", "Relu_1", {"a"}, "b")
      .node("Sub", "/tail/Sub", {"b", "x"}, "c")
      .node("Abs", "/tail/Abs", {"c"}, "y")
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("Nodes get their module path where it means them alone") {
  Graph graph = net();
  const ModuleNames names(graph);
  CHECK(name_layers(graph, names) == std::map<std::string, std::string>{{"features.0", "/features/features.0/Conv"}});
  CHECK(support::node_names(graph) == std::vector<std::string>{"features.0", "Relu_1", "/tail/Sub", "/tail/Abs"});
}

TEST_CASE("A config may call a layer by any of its names; an ambiguous one is an error") {
  const ModuleNames names(net());
  Diagnostics out;
  const LayerNamer namer = layer_namer(names, out);
  CHECK(namer("features.0", {}) == "features.0");
  CHECK(namer("/features/features.0/Conv", {}) == "features.0");
  CHECK(namer("Relu_1", {}) == "Relu_1");
  CHECK(namer("nowhere", {}) == "nowhere");
  CHECK(out.all().empty());
  CHECK(namer("tail", {.file = "q.cfg", .line = 3}) == "tail");
  REQUIRE(out.all().size() == 1);
  CHECK(out.all()[0].where.line == 3);
  CHECK(out.all()[0].message == "\"tail\" may be any of \"/tail/Sub\", \"/tail/Abs\"; give the node's name");
}
