// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/fake_quantize_weights.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::floats;

namespace {

flow::Prepared prepared(const char* op) {
  return flow::prepare(support::GraphBuilder()
                           .input("x", {1, 1, 1, 1})
                           .initializer("w", floats({1, 1, 1, 2}, {0.5F, -1}))
                           .node(op, "layer", {"x", "w"}, "y")
                           .node("Relu", "relu", {"y"}, "z")
                           .output("z")
                           .build(),
                       {}, support::ops());
}

std::vector<float> weight_of(const graph::Graph& graph) {
  return support::values(*support::find_initializer(graph, "w"));
}

}  // namespace

TEST_CASE("Weights get their fake-quantized values and the record their scales") {
  const auto result = flow::fake_quantize_weights(prepared("Conv"));
  REQUIRE(result.record.size() == 1);
  const LayerRecord& layer = result.record[0];
  CHECK(layer.name == "layer");
  CHECK(layer.scale_w == std::vector<float>{1.0F / 128});  // the negative end decides
  CHECK(layer.offset_w == std::vector<std::int32_t>{0});
  CHECK(layer.wts_type == "INT8");
  CHECK_FALSE(layer.scale_d);
  CHECK(weight_of(result.graph) == std::vector<float>{0.5F, -1});
  CHECK(*result.graph.find_node("layer")->attribute<std::string>("op_data_type") == "float");
  CHECK(result.graph.find_node("relu")->attribute<std::string>("op_data_type") == nullptr);
}

TEST_CASE("Four bits are eight steps to each side") {
  auto net = prepared("Conv");
  net.plan.layers[0].weights.bits = 4;
  const auto result = flow::fake_quantize_weights(net);
  CHECK(result.record[0].scale_w == std::vector<float>{1.0F / 8});
  CHECK(result.record[0].wts_type == "INT4");
}

TEST_CASE("The weight of a transposed convolution stays float while calibrating") {
  auto net = prepared("ConvTranspose");
  auto& weight = *net.graph.value(net.graph.find_node("layer")->inputs[1]).initializer;
  weight.data<float>()[0] = 0.3F;  // no multiple of the scale
  const auto result = flow::fake_quantize_weights(net);
  CHECK(result.record[0].scale_w == std::vector<float>{1.0F / 128});
  CHECK(weight_of(result.graph) == std::vector<float>{0.3F, -1});
}

TEST_CASE("A weight that two layers read gets fake-quantized values of each layer's own") {
  const auto graph = support::GraphBuilder()
                         .input("x", {1, 2})
                         .initializer("w", floats({2, 2}, {1, 0.3F, 0.2F, -0.1F}))
                         .node("MatMul", "fine", {"x", "w"}, "a")
                         .node("MatMul", "coarse", {"a", "w"}, "y")
                         .output("y")
                         .build();
  auto net = flow::prepare(graph, {}, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  REQUIRE(net.plan.layers.size() == 2);
  net.plan.layers[1].weights.bits = 4;
  const auto result = flow::fake_quantize_weights(net);
  CHECK(result.record[0].scale_w == std::vector<float>{1.0F / 127});
  CHECK(result.record[1].scale_w == std::vector<float>{1.0F / 7});
  CHECK(result.record[0].num_bits_w == 8);
  CHECK(result.record[1].num_bits_w == 4);
  const auto of = [&](const char* layer) {
    return support::values(*result.graph.value(result.graph.find_node(layer)->inputs[1]).initializer);
  };
  CHECK(of("fine")[3] == -13.0F * (1.0F / 127));
  CHECK(of("coarse")[3] == -1.0F * (1.0F / 7));
  CHECK(weight_of(result.graph)[3] == -0.1F);
}

TEST_CASE("A balanced weight is quantized after its input channels are multiplied") {
  EasyConfig config;
  config.common.balancer.emplace();
  const auto net = flow::prepare(support::GraphBuilder()
                                     .input("x", {1, 2})
                                     .initializer("w", floats({2, 1}, {1, 0.5F}))
                                     .node("MatMul", "layer", {"x", "w"}, "y")
                                     .output("y")
                                     .build(),
                                 config, support::ops());
  Record balanced(1);
  balanced[0].name = "layer";
  balanced[0].tensor_balance_factor = {2, 8};
  const auto result = flow::fake_quantize_weights(net, {}, balanced);
  CHECK(result.record[0].tensor_balance_factor == std::vector<float>{2, 8});
  CHECK(result.record[0].scale_w == std::vector<float>{4.0F / 127});
  CHECK(weight_of(result.graph)[1] == 4.0F);
}

TEST_CASE("A warning of zeros names the channel where there are several scales") {
  const auto graph = support::GraphBuilder()
                         .input("x", {1, 1, 1, 1})
                         .initializer("w", floats({2, 1, 1, 1}, {0, 0}))
                         .node("Conv", "conv", {"x", "w"}, "y")
                         .output("y")
                         .build();
  std::vector<std::string> warnings;
  const ProgressSink sink{.on_message = [&](LogLevel, const std::string& text) { warnings.push_back(text); }};
  for (const bool channel_wise : {true, false}) {
    EasyConfig config;
    config.common.weights.emplace().channel_wise = channel_wise;
    (void)flow::fake_quantize_weights(flow::prepare(graph, config, support::ops()), sink);
  }
  REQUIRE(warnings.size() == 3);
  CHECK(support::contains(warnings[1], "layer \"conv\" channel 1: degenerate range"));
  CHECK(support::contains(warnings[2], "layer \"conv\": degenerate range"));
}

TEST_CASE("An option that a quantizer refuses names layer and option") {
  auto net = prepared("Conv");
  auto jobs = flow::jobs_of(net);
  jobs[0].weights->quantizer = AnyQuantizer(Arq<Int8>({.least_scale = 2.0F}));
  try {
    (void)flow::fake_quantize_weights(net.graph, jobs, RecordDialect::pytorch);
    FAIL("was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::config_range);
    CHECK(error.where().layer == "layer");
    CHECK(error.where().field == "eps");
  }
}
