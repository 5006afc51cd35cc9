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
