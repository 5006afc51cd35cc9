// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/affine.hpp>
#include <amct/exec/integer/range.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/kernel/channels.hpp>
#include <amct/record/record.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

/// \file
/// Networks with random weights, quantized by what flows through them.

namespace support {

/// Normally distributed numbers, different for each seed.
[[nodiscard]] inline amct::Tensor random_floats(amct::Shape shape, std::uint32_t seed, float size = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0F, size);
  amct::Tensor tensor(amct::ElementType::float32, std::move(shape));
  for (float& value : tensor.data<float>()) value = normal(engine);
  return tensor;
}

/// The smallest and largest value that flows into each node.
struct InputRanges {
  std::map<std::string, std::pair<float, float>> found;

  void before(const amct::graph::Node& node, std::span<const amct::Tensor* const> inputs) {
    if (inputs.empty() || inputs[0] == nullptr || inputs[0]->type() != amct::ElementType::float32) return;
    const auto values = inputs[0]->data<float>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (low != values.end()) found[node.name] = {*low, *high};
  }
  void after(const amct::graph::Node&, std::span<const amct::Tensor>) const noexcept {}
};

/// A record for the layers that `is_layer(node)` names, from one run on `inputs`.
template <class IsLayer>
[[nodiscard]] amct::Record record_of(const amct::graph::Graph& graph, const std::vector<amct::Tensor>& inputs,
                                     amct::Symmetry symmetry, const IsLayer& is_layer) {
  InputRanges ranges;
  (void)amct::exec::Interpreter(graph, ops()).run(inputs, ranges);
  amct::Record record;
  for (const auto& node : graph.nodes) {
    if (!is_layer(node)) continue;
    const auto [low, high] = ranges.found.at(node.name);
    const amct::Affine affine = amct::affine_from_range(low, high, amct::Int8::range, symmetry);
    amct::LayerRecord layer{.name = node.name, .scale_d = affine.scale, .offset_d = affine.offset, .act_type = "INT8"};
    const auto weight = node.input(amct::graph::kWeightInput);
    if (weight == amct::graph::kNoValue) {
      layer.scale_w = {1.0F};
    } else {
      const amct::Tensor& data = *graph.value(weight).initializer;
      const auto layout = amct::graph::weight_layout(node, data.shape());
      layer.scale_w.assign(layout.channels(), 0.0F);
      amct::for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
        for (const float w : data.data<float>().subspan(first, count)) {
          layer.scale_w[channel] = std::max(layer.scale_w[channel], std::fabs(w) / 127.0F);
        }
      });
    }
    record.push_back(std::move(layer));
  }
  return record;
}

/// Layers that AMCT quantizes: those with constant weights, and AveragePool.
[[nodiscard]] inline bool is_usual_layer(const amct::graph::Node& node) {
  return node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm" ||
         node.op_type == "MatMul" || node.op_type == "AveragePool";
}

[[nodiscard]] inline bool same_bits(const amct::Tensor& a, const amct::Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() && std::ranges::equal(a.raw(), b.raw());
}

/// Checks that a deployed network computes the same bits in integers as in the float arithmetic of the fake-quant
/// model: what it returns, and every code that a layer reads.
inline void check_integer_network(const amct::graph::Graph& deployed, const std::vector<amct::Tensor>& inputs) {
  using namespace amct;
  for (const auto& range : exec::integer::accumulator_ranges(deployed)) {
    CAPTURE(range.layer);
    REQUIRE(range.fits_float32());
  }
  const flow::Execution fake(deployed, flow::Mode::fake_quant, integer_ops(), {.every_layer = true});
  const flow::Execution layers(deployed, flow::Mode::real_quant, integer_ops(), {.every_layer = true});
  const flow::Execution fused(deployed, flow::Mode::real_quant, integer_ops());

  const auto expected_codes = flow::layer_codes(fake, inputs);
  const auto codes = flow::layer_codes(layers, inputs);
  REQUIRE_FALSE(expected_codes.empty());
  REQUIRE(codes.size() == expected_codes.size());
  for (const auto& expected : expected_codes) {
    CAPTURE(expected.first);
    REQUIRE(codes.contains(expected.first));
    CHECK(same_bits(codes.at(expected.first), expected.second));
  }

  std::map<std::string, Tensor> values;
  fake.run(inputs, [&](const flow::LayerResult& result) { values.emplace(result.layer, result.value); });
  std::size_t compared = 0;
  layers.run(inputs, [&](const flow::LayerResult& result) {
    CAPTURE(result.layer);
    const auto found = values.find(std::string(result.layer));
    REQUIRE(found != values.end());
    CHECK(same_bits(result.value, found->second));
    ++compared;
  });
  CHECK(compared == values.size());

  const auto expected = fake.run(inputs);
  for (const flow::Execution* execution : {&layers, &fused, &fused}) {  // twice: memory is used again
    const auto results = execution->run(inputs);
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(same_bits(results[i], expected[i]));
  }
}

/// The same for a float network whose usual layers are quantized, with both kinds of activations, and with
/// AscendReQuant where a layer follows another.
inline void check_quantized_network(const amct::graph::Graph& graph, const std::vector<amct::Tensor>& inputs) {
  using namespace amct;
  for (const auto symmetry : {Symmetry::symmetric, Symmetry::asymmetric}) {
    const auto record = record_of(graph, inputs, symmetry, is_usual_layer);
    check_integer_network(flow::deploy(graph, record), inputs);
    check_integer_network(flow::deploy(graph, record, {.merge_requant = true}), inputs);
  }
}

}  // namespace support
