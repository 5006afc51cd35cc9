// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/prepare.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include <amct/core/cast.hpp>
#include <amct/exec/interpreter.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

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
  const auto prepared = flow::prepare(net().build(), {}, support::ops());
  CHECK(node_names(prepared.graph) == Names{"conv", "relu", "flat", "fc"});
  CHECK(prepared.fused == Names{"conv"});
  CHECK(layers_of(prepared.plan, true) == Names{"conv", "fc"});
  CHECK(prepared.left_float.empty());
  CHECK(prepared.plan.batch_num == 1);
  CHECK(prepared.plan.layers[0].weights.channel_wise);
  CHECK_FALSE(prepared.plan.layers[1].weights.channel_wise);
  const auto* fc = prepared.graph.find_node("fc");
  CHECK(fc->attribute_or<std::int64_t>("transB", 9) == 1);  // as in AMCT's modified model; deploy() transposes
  CHECK(fc->attribute_or<float>("alpha", 9) == 1.0F);
}

TEST_CASE("A prepared net computes what the original does") {
  const auto original = net().build();
  const auto prepared = flow::prepare(original, {}, support::ops());
  const Tensor x = floats({1, 1, 2, 2}, {0.3F, -1.2F, 2.5F, 0.9F});
  const auto expected = exec::Interpreter(original, support::ops()).run({x});
  const auto actual = exec::Interpreter(prepared.graph, support::ops()).run({x});
  REQUIRE(actual[0].shape() == Shape{1, 3});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(values(actual[0])[i]) ==
          doctest::Approx(static_cast<double>(values(expected[0])[i])).epsilon(1e-6));
  }
}

TEST_CASE("Fusion can be switched off for all layers or for some") {
  const Names unfused{"conv", "bn", "relu", "flat", "fc"};
  const auto off = flow::prepare(net().build(), {.do_fusion = false}, support::ops());
  CHECK(node_names(off.graph) == unfused);
  CHECK(off.fused.empty());
  const auto skipped = flow::prepare(net().build(), {.skip_fusion_layers = {"conv"}}, support::ops());
  CHECK(node_names(skipped.graph) == unfused);
  CHECK(layers_of(skipped.plan, true) == Names{"conv", "fc"});
}

TEST_CASE("Skipped layers stay float and are listed with the reason") {
  const auto by_name = flow::prepare(net().build(), {.skip_layers = {"conv"}}, support::ops());
  CHECK(layers_of(by_name.plan, true) == Names{"fc"});
  CHECK(layers_of(by_name.plan, false) == Names{"conv"});
  REQUIRE(by_name.left_float.size() == 1);
  CHECK(by_name.left_float[0].name == "conv");
  CHECK(by_name.left_float[0].op_type == "Conv");
  CHECK(by_name.left_float[0].reason == "skipped by the configuration");

  const auto by_type = flow::prepare(net().build(), {.skip_layer_types = {"Linear"}}, support::ops());
  CHECK(layers_of(by_type.plan, true) == Names{"conv"});
  REQUIRE(by_type.left_float.size() == 1);
  CHECK(by_type.left_float[0].name == "fc");
}

TEST_CASE("Layers that cannot be quantized are listed with the reason") {
  const auto prepared =
      flow::prepare(net().input("z").node("MatMul", "mm", {"y", "z"}, "q").output("q").build(), {}, support::ops());
  REQUIRE(prepared.left_float.size() == 1);
  CHECK(prepared.left_float[0].name == "mm");
  CHECK(prepared.left_float[0].reason == "its weight is not an initializer");
}

TEST_CASE("A config may name a batch normalization that the fusion takes away, but no layer that does not exist") {
  CHECK(flow::prepare(net().build(), {.skip_layers = {"bn"}}, support::ops()).plan.layers.size() == 2);
  const auto error = error_of(
      [] { (void)flow::prepare(net().build(), {.file = "q.cfg", .skip_layers = {"nowhere"}}, support::ops()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_layer);
  CHECK(error->where().file == "q.cfg");
  CHECK(support::contains(error->message(), "nowhere"));
}

TEST_CASE("A net with nothing to quantize is refused") {
  const auto all_skipped = error_of([] {
    (void)flow::prepare(net().build(), {.skip_layer_types = {"Conv2d", "Linear"}}, support::ops());
  });
  REQUIRE(all_skipped);
  CHECK(all_skipped->code() == ErrorCode::config_layer);
  const auto no_layer = error_of([] {
    (void)flow::prepare(GraphBuilder().input("x").node("Relu", "r", {"x"}, "y").output("y").build(), {},
                        support::ops());
  });
  REQUIRE(no_layer);
  CHECK(no_layer->code() == ErrorCode::config_layer);
}

TEST_CASE("Layers are called by their module paths, whatever the config calls them") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2})
                         .initializer("fc1.weight", floats({2, 2}, {1, 2, 3, 4}))
                         .initializer("onnx::MatMul_7", floats({2, 2}, {1, 2, 3, 4}))
                         .node("MatMul", "MatMul_0", {"x", "fc1.weight"}, "a")
                         .node("MatMul", "/head/fc2/MatMul", {"a", "onnx::MatMul_7"}, "y")
                         .output("y")
                         .build();
  const auto all = flow::prepare(graph, {}, support::ops());
  CHECK(layers_of(all.plan, true) == Names{"fc1", "head.fc2"});
  CHECK(all.origins == flow::Origins{{"fc1", {"MatMul_0"}}, {"head.fc2", {"/head/fc2/MatMul"}}});
  for (const char* name : {"head.fc2", "/head/fc2/MatMul", "module.head.fc2"}) {
    CAPTURE(name);
    CHECK(layers_of(flow::prepare(graph, {.skip_layers = {name}}, support::ops()).plan, true) == Names{"fc1"});
  }
}

TEST_CASE("A folded BatchNormalization is noted as part of its layer") {
  CHECK(flow::prepare(net().build(), {}, support::ops()).origins == flow::Origins{{"conv", {"conv", "bn"}}});
}

TEST_CASE("A name that may mean several layers is an error with its place") {
  const auto graph = GraphBuilder()
                         .input("x", {1, 2})
                         .initializer("v", floats({2, 2}, {1, 2, 3, 4}))
                         .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
                         .node("MatMul", "/block/MatMul", {"x", "v"}, "a")
                         .node("MatMul", "/block/MatMul_1", {"a", "w"}, "y")
                         .output("y")
                         .build();
  const auto error =
      error_of([&] { (void)flow::prepare(graph, {.file = "q.cfg", .skip_layers = {"block"}}, support::ops()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_layer);
  CHECK(error->where().file == "q.cfg");
  CHECK(support::contains(error->message(), "\"block\" may be any of \"/block/MatMul\", \"/block/MatMul_1\""));
}

TEST_CASE("A float16 model is prepared in float32 with a warning") {
  const Tensor half = cast(floats({2, 2}, {1, 2, 3, 4}), ElementType::float16);
  auto graph = GraphBuilder()
                   .input("x", {1, 2})
                   .initializer("w", half)
                   .node("MatMul", "mm", {"x", "w"}, "y")
                   .output("y")
                   .build();
  graph.value(graph.inputs[0]).type = ElementType::float16;
  const auto prepared = flow::prepare(graph, {}, support::ops());
  CHECK(layers_of(prepared.plan, true) == Names{"mm"});
  CHECK(prepared.graph.value(prepared.graph.inputs[0]).type == ElementType::float32);
  REQUIRE(prepared.diagnostics.all().size() == 1);
  CHECK(support::contains(prepared.diagnostics.all()[0].message, "float16"));
}

TEST_CASE("The rules of the flavour decide what is quantized and folded") {
  const auto caffe = flow::prepare(net().build(), {}, support::ops(), rules_of(Flavour::caffe));
  CHECK(caffe.flavour == Flavour::caffe);
  CHECK(layers_of(caffe.plan, true) == Names{"conv", "fc"});
  const auto dynamic = flow::prepare(net().build(), {}, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  CHECK(dynamic.flavour == Flavour::hotwheels_dynamic);
  CHECK(layers_of(dynamic.plan, true) == Names{"conv", "flat", "fc"});
  CHECK(flow::prepare(net().build(), {}, support::ops()).flavour == Flavour::pytorch);
}

TEST_CASE("With update_bn BatchNormalization stays in the network, though it will be folded") {
  const EasyConfig config{.batch_norm_update = BatchNormUpdate{}};
  const auto prepared = flow::prepare(net().build(), config, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  CHECK(prepared.graph.find_node("bn") != nullptr);
  CHECK(prepared.fused == Names{"conv"});
  CHECK(layers_of(prepared.plan, true) == Names{"conv", "flat", "fc"});  // bn is no layer of its own
}

namespace {

/// A full config of one layer, "conv" by the name that the file uses.
ConfigValue full_config(const std::string& layer) {
  ConfigValue activation;
  activation.add("num_bits", 16);
  ConfigValue entry;
  entry.add("quant_enable", true);
  entry.add("activation_quant_params", activation);
  entry.add("weight_quant_params", ConfigValue(ConfigValue::Object{}));
  ConfigValue config;
  config.add("version", 1);
  config.add("batch_num", 3);
  config.add("do_fusion", false);
  config.add(layer, entry);
  return config;
}

}  // namespace

TEST_CASE("K27 A full config prepares the same, and a layer that it does not name stays float") {
  const auto prepared =
      flow::prepare(net().build(), full_config("conv"), "config.json", rules_of(Flavour::pytorch), support::ops());
  CHECK(prepared.plan.batch_num == 3);
  CHECK(prepared.config_file == "config.json");
  CHECK(prepared.fused.empty());
  REQUIRE(layers_of(prepared.plan, true) == Names{"conv"});
  CHECK(prepared.plan.layers[0].activations[0].bits == 16);
  REQUIRE(prepared.left_float.size() == 1);
  CHECK(prepared.left_float[0].name == "fc");

  const auto error = error_of([] {
    (void)flow::prepare(net().build(), full_config("nowhere"), "config.json", rules_of(Flavour::pytorch),
                        support::ops());
  });
  REQUIRE(error);
  CHECK(error->where().file == "config.json");
}

TEST_CASE("The network's checks of hotwheels find layers of the matrix unit that stay float, others have none") {
  EasyConfig config{.skip_layers = {"conv"}};
  const auto found = [&](Flavour flavour) {
    return flow::check_classic_network(flow::prepare(net().build(), config, support::ops(), rules_of(flavour)));
  };
  const Diagnostics dynamic = found(Flavour::hotwheels_dynamic);
  REQUIRE(dynamic.has_errors());
  const auto error = error_of([&] { dynamic.throw_if_errors(); });
  CHECK(support::contains(error->message(), "CUBE"));
  CHECK_FALSE(found(Flavour::pytorch).has_errors());
  config.skip_layers.clear();
  CHECK_FALSE(found(Flavour::hotwheels_dynamic).has_errors());
}
