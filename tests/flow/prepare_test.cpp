// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/prepare.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include <amct/exec/interpreter.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::Ints;
using support::node_names;
using support::values;
using support::whole_numbers;
using Names = std::vector<std::string>;

namespace {

GraphBuilder net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w", floats({2, 1, 1, 1}, {1.5F, -0.7F}))
      .initializer("gamma", floats({2}, {1.1F, 0.9F}))
      .initializer("beta", floats({2}, {0.2F, -0.1F}))
      .initializer("mean", floats({2}, {0.3F, 0.4F}))
      .initializer("var", floats({2}, {2, 0.5F}))
      .initializer("fw", whole_numbers({3, 8}, 4))
      .initializer("fb", floats({3}, {0.1F, 0.2F, 0.3F}))
      .node("Conv", "conv", {"x", "w"}, "c")
      .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "var"}, "n")
      .node("Relu", "relu", {"n"}, "r")
      .node("Flatten", "flat", {"r"}, "f")
      .node("Gemm", "fc", {"f", "fw", "fb"}, "y", {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}})
      .output("y");
}

Names layers_of(const QuantPlan& plan, bool enabled) {
  Names names;
  for (const auto& layer : plan.layers) {
    if (layer.enabled == enabled) names.push_back(layer.name);
  }
  return names;
}

}  // namespace

TEST_CASE("Preparation folds batch normalizations, normalizes Gemm and plans all layers") {
  const auto prepared = flow::prepare(net().build(), {});
  CHECK(node_names(prepared.graph) == Names{"conv", "relu", "flat", "fc"});
  CHECK(prepared.fused == Names{"conv"});
  CHECK(layers_of(prepared.plan, true) == Names{"conv", "fc"});
  CHECK(prepared.left_float.empty());
  CHECK(prepared.plan.batch_num == 1);
  CHECK(prepared.plan.layers[0].weights.channel_wise);
  CHECK_FALSE(prepared.plan.layers[1].weights.channel_wise);
  const auto* fc = prepared.graph.find_node("fc");
  CHECK(fc->attribute_or<std::int64_t>("transB", 9) == 0);
  CHECK(fc->attribute_or<float>("alpha", 9) == 1.0F);
}

TEST_CASE("A prepared net computes what the original does") {
  const auto original = net().build();
  const auto prepared = flow::prepare(original, {});
  const Tensor x = floats({1, 1, 2, 2}, {0.3F, -1.2F, 2.5F, 0.9F});
  const auto expected = exec::Interpreter(original).run({x});
  const auto actual = exec::Interpreter(prepared.graph).run({x});
  REQUIRE(actual[0].shape() == Shape{1, 3});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(values(actual[0])[i]) ==
          doctest::Approx(static_cast<double>(values(expected[0])[i])).epsilon(1e-6));
  }
}

TEST_CASE("Fusion can be switched off for all layers or for some") {
  const Names unfused{"conv", "bn", "relu", "flat", "fc"};
  const auto off = flow::prepare(net().build(), {.do_fusion = false});
  CHECK(node_names(off.graph) == unfused);
  CHECK(off.fused.empty());
  const auto skipped = flow::prepare(net().build(), {.skip_fusion_layers = {"conv"}});
  CHECK(node_names(skipped.graph) == unfused);
  CHECK(layers_of(skipped.plan, true) == Names{"conv", "fc"});
}

TEST_CASE("Skipped layers stay float and are listed with the reason") {
  const auto by_name = flow::prepare(net().build(), {.skip_layers = {"conv"}});
  CHECK(layers_of(by_name.plan, true) == Names{"fc"});
  CHECK(layers_of(by_name.plan, false) == Names{"conv"});
  REQUIRE(by_name.left_float.size() == 1);
  CHECK(by_name.left_float[0].name == "conv");
  CHECK(by_name.left_float[0].op_type == "Conv");
  CHECK(by_name.left_float[0].reason == "skipped by the configuration");

  const auto by_type = flow::prepare(net().build(), {.skip_layer_types = {"Linear"}});
  CHECK(layers_of(by_type.plan, true) == Names{"conv"});
  REQUIRE(by_type.left_float.size() == 1);
  CHECK(by_type.left_float[0].name == "fc");
}

TEST_CASE("Layers that cannot be quantized are listed with the reason") {
  const auto prepared = flow::prepare(net().input("z").node("MatMul", "mm", {"y", "z"}, "q").output("q").build(), {});
  REQUIRE(prepared.left_float.size() == 1);
  CHECK(prepared.left_float[0].name == "mm");
  CHECK(prepared.left_float[0].reason == "its weight is not an initializer");
}

TEST_CASE("A config may name a batch normalization that the fusion takes away, but no layer that does not exist") {
  CHECK(flow::prepare(net().build(), {.skip_layers = {"bn"}}).plan.layers.size() == 2);
  const auto error =
      error_of([] { (void)flow::prepare(net().build(), {.file = "q.cfg", .skip_layers = {"nowhere"}}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_layer);
  CHECK(error->where().file == "q.cfg");
  CHECK(support::contains(error->message(), "nowhere"));
}

TEST_CASE("A net with nothing to quantize is refused") {
  const auto all_skipped = error_of([] {
    (void)flow::prepare(net().build(), {.skip_layer_types = {"Conv2d", "Linear"}});
  });
  REQUIRE(all_skipped);
  CHECK(all_skipped->code() == ErrorCode::config_layer);
  const auto no_layer = error_of(
      [] { (void)flow::prepare(GraphBuilder().input("x").node("Relu", "r", {"x"}, "y").output("y").build(), {}); });
  REQUIRE(no_layer);
  CHECK(no_layer->code() == ErrorCode::config_layer);
}

TEST_CASE("What a config may ask for and the flow cannot do is refused by its name") {
  const auto refused = [](const auto& change) {
    EasyConfig config;
    config.file = "quant.cfg";
    change(config);
    const auto error = error_of([&] { (void)flow::prepare(net().build(), config); });
    REQUIRE(error.has_value());
    CHECK(error->code() == ErrorCode::config_unsupported);
    CHECK(error->where().file == "quant.cfg");
    return error->where().field;
  };
  CHECK(refused([](auto& config) { config.common.activation.emplace().algorithm = ActivationAlgorithm::hfmg; }) ==
        "act_algo");
  CHECK(refused([](auto& config) { config.common.activation.emplace().bits = 16; }) == "num_bits");
  CHECK(refused([](auto& config) { config.common.weights.emplace().algorithm = WeightAlgorithm::ada; }) == "wts_algo");
  CHECK(refused([](auto& config) { config.common.weights.emplace().bits = 4; }) == "num_bits");
  CHECK(refused([](auto& config) { config.common.balancer.emplace(); }) == "dmq_balancer");
  CHECK(refused([](auto& config) { config.force_fp16 = true; }) == "fakequant_precision_mode");
  CHECK(refused([](auto& config) { config.batch_norm_update.emplace(); }) == "update_bn");
}
