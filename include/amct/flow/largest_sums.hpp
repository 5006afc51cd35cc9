// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/layers.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/execution.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>

namespace amct::flow {

namespace detail {

/// A tensor as float32, each element less `offset` and without its sign.
[[nodiscard]] inline Tensor magnitudes(const Tensor& tensor, float offset = 0.0F) {
  Tensor result = cast(tensor, ElementType::float32);
  for (float& value : result.data<float>()) value = std::fabs(value - offset);
  return result;
}

/// The network of one layer, in float32 with all weights and biases positive.
[[nodiscard]] inline graph::Graph magnitude_network(const graph::Graph& network, const graph::Node& layer) {
  graph::Graph alone;
  alone.opset = network.opset;
  alone.domains = network.domains;
  graph::Node node = layer;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == graph::kNoValue) continue;
    const auto& value = network.value(layer.inputs[i]);
    graph::Value copy{.name = value.name};
    if (value.initializer) copy.initializer = magnitudes(*value.initializer);
    node.inputs[i] = alone.add_value(std::move(copy));
    if (!value.initializer) alone.inputs.push_back(node.inputs[i]);
  }
  node.outputs = {alone.add_value({.name = "sums"})};
  alone.outputs = node.outputs;
  alone.nodes.push_back(std::move(node));
  return alone;
}

}  // namespace detail

/// The largest sum of |code - offset| * |weight| + |bias| that a run makes in each layer with constant weights, by
/// name, to the precision of float32. No sum of some of a layer's products is larger, in any order: where all are below
/// 2^24, the fake-quant model is exact, and its codes and those of real_quant are equal. \param ops exec::builtin_ops()
/// with exec::add_integer_ops()
[[nodiscard]] inline std::map<std::string, float> largest_sums(const graph::Graph& deployed, const exec::OpSet& ops,
                                                               const std::vector<Tensor>& inputs) {
  const Execution execution(deployed, Mode::real_quant, ops, {.every_layer = true});
  const auto read = layer_codes(execution, inputs);
  const exec::integer::detail::CodeValues codes(deployed);
  const graph::Uses uses(deployed);
  std::map<std::string, float> found;
  for (const auto& node : deployed.nodes) {
    const auto layer = read.find(node.name);
    const auto* target = node.inputs.empty() ? nullptr : codes.find(node.inputs[0]);
    if (layer == read.end() || target == nullptr) continue;
    const auto alone = detail::magnitude_network(deployed, node);
    if (alone.inputs.size() != 1) continue;
    const Tensor x = detail::magnitudes(layer->second, static_cast<float>(target->offset));
    const Tensor sums = exec::Interpreter(alone, ops).run({x})[0];
    const auto largest_of = [](std::span<const float> values) {
      return values.empty() ? 0.0F : *std::max_element(values.begin(), values.end());
    };
    found[node.name] = largest_of(sums.data<float>());
    if (const graph::Node* add = graph::integer_bias_add(node, uses)) {
      const Tensor bias = detail::magnitudes(*uses.constant(add->input(1)));
      found[node.name] += largest_of(bias.data<float>());
    }
  }
  return found;
}

}  // namespace amct::flow
