// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/float_codes.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::floats;
using support::GraphBuilder;
using support::values;

namespace {

/// conv - relu, which a MatMul with a bias and a second conv read; a third conv reads the network's input
graph::Graph net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("w", floats({1, 1, 1, 1}, {-0.9F}))
      .initializer("m", floats({2, 2}, {1.0F, 0.5F, -1.0F, 2.0F}))
      .initializer("b", floats({2}, {0.25F, -0.25F}))
      .node("Conv", "conv", {"x", "w"}, "c")
      .node("Relu", "relu", {"c"}, "r")
      .node("MatMul", "fc", {"r", "m"}, "p")
      .node("Add", "bias", {"p", "b"}, "q")
      .node("Conv", "after_fc", {"q", "w"}, "y")
      .node("Conv", "branch", {"r", "w"}, "z")
      .output("y")
      .output("z")
      .build();
}

LayerRecord entry(const std::string& name, float scale_d, std::int32_t offset_d, const char* type = "INT8") {
  return {
      .name = name, .scale_d = scale_d, .offset_d = offset_d, .scale_w = {0.01F}, .offset_w = {0}, .act_type = type};
}

const Record kRecord{entry("conv", 0.02F, -3), entry("fc", 0.015F, 5), entry("after_fc", 0.03F, 0),
                     entry("branch", 0.0001F, 0, "INT16")};

using Codes = std::map<std::string, Tensor>;

/// All codes of a run in float.
Codes codes_of_float_run(const Tensor& x) {
  const graph::Graph graph = net();
  const flow::FloatCodes float_codes(graph, kRecord);
  Codes codes;
  const auto keep = [&](const std::string& layer, const Tensor& made) { codes.insert_or_assign(layer, made); };
  const std::vector<Tensor> inputs{x};
  float_codes.of_inputs(inputs, keep);
  const flow::Execution execution(graph, flow::Mode::float32, support::ops(), {.every_layer = true});
  (void)execution.run(
      inputs, [&](const flow::LayerResult& result) { float_codes.of_result(result.layer, result.value, keep); });
  return codes;
}

}  // namespace

TEST_CASE("Codes of a float run are what comes to the layers, quantized with their factors") {
  const Codes codes = codes_of_float_run(floats({1, 1, 2, 2}, {1.0F, -2.0F, 0.5F, 9.0F}));
  REQUIRE(codes.size() == 4);
  using Int8s = std::vector<std::int8_t>;
  CHECK(values<std::int8_t>(codes.at("conv")) == Int8s{47, -103, 22, 127});
  CHECK(values<std::int8_t>(codes.at("fc")) == Int8s{5, 125, 5, 5});  // relu: 0, 1.8, 0, 0
  CHECK(values<std::int8_t>(codes.at("after_fc")) ==
        Int8s{-52, 112, 8, -8});  // with the bias: -1.55, 3.35, 0.25, -0.25
  CHECK(values<std::int16_t>(codes.at("branch")) == std::vector<std::int16_t>{0, 18000, 0, 0});
}

TEST_CASE("Codes of layers in front of which nothing is quantized are those of the fake-quant network") {
  const Tensor x = floats({1, 1, 2, 2}, {0.31F, -1.2F, 2.49F, 0.9F});
  const flow::Execution quantized(flow::deploy(net(), kRecord), flow::Mode::fake_quant, support::ops(),
                                  {.every_layer = true});
  const Codes expected = flow::layer_codes(quantized, {x});
  const Codes found = codes_of_float_run(x);
  for (const auto& entry : expected) {
    const auto& [layer, codes] = entry;
    CAPTURE(entry.first);
    REQUIRE(found.contains(layer));
    CHECK(found.at(layer).type() == codes.type());
    CHECK(found.at(layer).shape() == codes.shape());
  }
  CHECK(values<std::int8_t>(found.at("conv")) == values<std::int8_t>(expected.at("conv")));
}
