// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/record_layers.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using amct::Shape;
using support::GraphBuilder;
using support::whole_numbers;

namespace {

const auto& kRules = amct::rules_of(amct::Flavour::pytorch);

/// conv - bn - relu - conv with groups - transposed conv - fc
amct::graph::Graph network() {
  return GraphBuilder()
      .input("x", {1, 3, 8, 8})
      .initializer("w1", whole_numbers({8, 3, 3, 3}, 1))
      .initializer("gamma", support::floats({8}, std::vector<float>(8, 1.0F)))
      .initializer("beta", support::floats({8}, std::vector<float>(8, 5.0F)))
      .initializer("mean", support::floats({8}, std::vector<float>(8, 0.0F)))
      .initializer("var", support::floats({8}, std::vector<float>(8, 1.0F)))
      .initializer("w2", whole_numbers({6, 4, 3, 3}, 2))
      .initializer("w3", whole_numbers({6, 5, 2, 2}, 3))
      .initializer("w4", whole_numbers({10, 20}, 4))
      .initializer("b4", support::floats({10}, std::vector<float>(10, 0.5F)))
      .node("Conv", "conv1", {"x", "w1"}, "a")
      .node("BatchNormalization", "bn1", {"a", "gamma", "beta", "mean", "var"}, "b")
      .node("Relu", "relu1", {"b"}, "c")
      .node("Conv", "conv2", {"c", "w2"}, "d", {{"group", std::int64_t{2}}})
      .node("ConvTranspose", "up", {"d", "w3"}, "e")
      .node("Flatten", "flat", {"e"}, "f")
      .node("Gemm", "fc", {"f", "w4", "b4"}, "y", {{"transB", std::int64_t{1}}})
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("channels of each kind of layer") {
  const auto model = amct::graph::record_model(network(), kRules);
  REQUIRE(model.layers.size() == 4);
  const auto& conv1 = model.layers.at("conv1");
  CHECK(conv1.info.kind == amct::LayerKind::conv2d);
  CHECK(conv1.output_channels == 8);
  CHECK(conv1.input_channels == 3);
  CHECK_FALSE(conv1.info.packs_int4);
  CHECK(model.layers.at("conv2").output_channels == 6);
  CHECK(model.layers.at("conv2").input_channels == 8);
  CHECK(model.layers.at("up").output_channels == 5);
  CHECK(model.layers.at("up").input_channels == 6);
  CHECK(model.layers.at("fc").output_channels == 10);
  CHECK(model.layers.at("fc").input_channels == 20);
}

TEST_CASE("the bias is that of the folded network, unless the record skips the fusion") {
  const auto model = amct::graph::record_model(network(), kRules);
  CHECK(model.layers.at("conv1").bias == std::vector<float>(8, 5.0F));
  CHECK(model.layers.at("conv2").bias.empty());
  CHECK(model.layers.at("fc").bias == std::vector<float>(10, 0.5F));
  CHECK(amct::graph::record_model(network(), kRules, {"conv1"}).layers.at("conv1").bias.empty());
}

TEST_CASE("other nodes are known with a reason") {
  const auto model = amct::graph::record_model(network(), kRules);
  CHECK(model.unquantized.at("relu1") == "flavour pytorch does not quantize Relu");
  CHECK(model.unquantized.at("bn1") == "it is folded into another layer");
  CHECK(model.nodes.size() == 7);
  CHECK(model.nodes.contains("bn1"));
}

TEST_CASE("a layer that stays float is known with its own reason") {
  auto graph = GraphBuilder()
                   .input("x", {1, 3, 8, 8})
                   .input("w", {8, 3, 3, 3})
                   .node("Conv", "conv1", {"x", "w"}, "y")
                   .output("y")
                   .build();
  const auto model = amct::graph::record_model(std::move(graph), kRules);
  CHECK(model.layers.empty());
  CHECK(model.unquantized.at("conv1") == "its weight is not an initializer");
}
