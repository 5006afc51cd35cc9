// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/content_hash.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;
using protobuf::content_hash;
using protobuf::model_hash;

namespace {

/// y = Gemm(x, w), with an attribute of most kinds.
graph::Graph network() {
  graph::Graph graph;
  graph.inputs = {graph.add_value({.name = "x"})};
  const float weight[] = {1.0F, 2.0F};
  const auto w = graph.add_value({.name = "w", .initializer = Tensor(Shape{2}, std::span<const float>(weight))});
  graph.outputs = {graph.add_value({.name = "y"})};
  graph.nodes.push_back({.op_type = "Gemm",
                         .name = "fc",
                         .inputs = {graph.inputs[0], w},
                         .outputs = graph.outputs,
                         .attributes = {{"alpha", 1.0F},
                                        {"transB", std::int64_t{1}},
                                        {"axes", std::vector<std::int64_t>{1, 2}},
                                        {"names", std::vector<std::string>{"a", "b"}},
                                        {"text", std::string("t")}}});
  return graph;
}

}  // namespace

TEST_CASE("a content hash is that of XXH3, whatever the machine") {
  CHECK(content_hash("") == "xxh3:99aa06d3014798d86001c324468d497f");  // the published value of no input
  CHECK(content_hash("a") != content_hash("b"));
}

TEST_CASE("K6 a model's hash changes with everything that the network computes with, and with nothing else") {
  std::set<std::string> hashes{model_hash(network())};
  const auto differs = [&](auto change) {
    graph::Graph changed = network();
    change(changed);
    return hashes.insert(model_hash(changed)).second;
  };
  using graph::Graph;
  CHECK(differs([](Graph& g) { g.value(1).initializer->data<float>()[1] = 3.0F; }));
  CHECK(differs([](Graph& g) { g.value(1).initializer->reshape(Shape{2, 1}); }));
  CHECK(differs([](Graph& g) { g.value(1).name = "other"; }));
  CHECK(differs([](Graph& g) { g.nodes[0].op_type = "MatMul"; }));
  CHECK(differs([](Graph& g) { g.nodes[0].domain = "d"; }));
  CHECK(differs([](Graph& g) { g.nodes[0].name = "fc2"; }));
  CHECK(differs([](Graph& g) { std::swap(g.nodes[0].inputs[0], g.nodes[0].inputs[1]); }));
  CHECK(differs([](Graph& g) { g.nodes[0].set_attribute("alpha", 2.0F); }));
  CHECK(differs([](Graph& g) { g.nodes[0].set_attribute("axes", std::vector<std::int64_t>{1}); }));
  CHECK(differs([](Graph& g) { g.nodes[0].set_attribute("names", std::vector<std::string>{"ab"}); }));
  CHECK(differs([](Graph& g) { g.nodes[0].set_attribute("text", std::int64_t{1}); }));
  CHECK(differs([](Graph& g) { g.opset = 15; }));
  CHECK_FALSE(differs([](Graph& g) { g.name = "net"; }));
  CHECK_FALSE(differs([](Graph& g) { g.value(0).shape = std::vector<graph::Dim>{{.size = 4, .symbol = {}}}; }));
}
