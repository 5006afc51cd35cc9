// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/fuse_pool_pad.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::GraphBuilder;
using support::Ints;

namespace {

struct Net {
  Ints pads{0, 0, 0, 0, 0, 0, 0, 0};
  std::string pool = "AveragePool";
  support::Attributes pool_attributes{{"kernel_shape", Ints{2, 2}}};
  support::Attributes pad_attributes{};
  float value = 0.0F;

  [[nodiscard]] Graph build() const {
    return GraphBuilder()
        .input("x", {1, 1, 4, 4})
        .initializer("pads", support::int64s(pads))
        .initializer("value", Tensor::scalar(value))
        .node("Pad", "pad", {"x", "pads", "value"}, "p", pad_attributes)
        .node(pool, "pool", {"p"}, "y", pool_attributes)
        .output("y")
        .build();
  }
};

/// Why the Pad stays; empty if it goes.
std::string refused(const Net& net) {
  Graph graph = net.build();
  const auto report = fuse_pool_pad(graph);
  CHECK(graph.nodes.size() == 2 - report.changed.size());
  return report.refused.empty() ? "" : report.refused[0].text;
}

}  // namespace

TEST_CASE("A Pad of nothing goes, one of zeros becomes the padding of an average") {
  Graph nothing = Net{}.build();
  CHECK(fuse_pool_pad(nothing).changed[0].took_in == "pad");
  CHECK(nothing.nodes[0].op_type == "AveragePool");
  Graph zeros = Net{.pads = {0, 0, 1, 0, 0, 0, 0, 1}}.build();
  fuse_pool_pad(zeros);
  REQUIRE(zeros.nodes.size() == 1);
  CHECK(*zeros.nodes[0].attribute<Ints>("pads") == Ints{1, 0, 0, 1});
  CHECK(zeros.nodes[0].attribute_or<std::int64_t>("count_include_pad", 0) == 1);
}

TEST_CASE("A window over the whole image is a global pool") {
  const support::Attributes whole{{"kernel_shape", Ints{4, 4}}};
  Graph average = Net{.pool_attributes = whole}.build();
  fuse_pool_pad(average);
  CHECK(average.nodes[0].op_type == "GlobalAveragePool");
  CHECK(average.nodes[0].attributes.empty());
  Graph most = Net{.pool = "MaxPool", .pool_attributes = whole}.build();
  fuse_pool_pad(most);
  CHECK(most.nodes[0].op_type == "GlobalMaxPool");
}

TEST_CASE("A Pad that is no padding of the pool stays, with the reason") {
  const Ints one{0, 0, 1, 1, 0, 0, 1, 1};
  const auto with = [](support::Attributes more) {
    more.emplace_back("kernel_shape", Ints{2, 2});
    return more;
  };
  CHECK(refused({.pads = one}).empty());
  CHECK(refused({.pads = one, .pool = "MaxPool"}) == "its Pad adds what a MaxPool does not have");
  CHECK(refused({.pads = one, .value = 1.0F}) == "its Pad does not add zeros");
  CHECK(refused({.pads = one, .pad_attributes = {{"mode", std::string("reflect")}}}) == "its Pad repeats data");
  CHECK(refused({.pads = {0, 1, 0, 0, 0, 0, 0, 0}}) ==
        "its Pad changes other axes than those that are averaged, or cuts");
  CHECK(refused({.pads = {0, 0, -1, 0, 0, 0, 0, 0}}) ==
        "its Pad changes other axes than those that are averaged, or cuts");
  CHECK(refused({.pads = {0, 0, 2, 0, 0, 0, 0, 0}}) == "its Pad is as wide as its window");
  CHECK(refused({.pads = one, .pool_attributes = with({{"pads", Ints{1, 1, 1, 1}}})}) == "it pads too");
  CHECK(refused({.pads = one, .pool_attributes = with({{"ceil_mode", std::int64_t{1}}})}) == "it rounds its size up");
  CHECK(refused({.pads = {0, 0}}) == "what its Pad adds is not known");
}
