// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Networks cut out of a network, such as one layer alone, or everything that a layer influences. Values keep their ids
/// and names, so that what was seen in one run can be fed to another.

namespace amct::graph {

/// The network of some nodes. What they read and none of them makes becomes an input, in the order of reading;
/// constants come along. O(nodes + values), and a copy of the constants that are read.
/// \param chosen   which nodes, by position
/// \param outputs  values that chosen nodes make
[[nodiscard]] inline Graph part_of(const Graph& whole, const std::vector<char>& chosen, std::vector<ValueId> outputs) {
  std::vector<char> read(whole.values.size(), 0);
  std::vector<char> made(whole.values.size(), 0);
  const auto each = [](const std::vector<ValueId>& ids, const auto& visit) {
    for (const ValueId id : ids) {
      if (id != kNoValue) visit(static_cast<std::size_t>(id));
    }
  };
  for (std::size_t n = 0; n < whole.nodes.size(); ++n) {
    if (chosen[n] != 0) each(whole.nodes[n].inputs, [&](std::size_t id) { read[id] = 1; });
  }
  Graph part;
  part.name = whole.name;
  part.opset = whole.opset;
  part.ir_version = whole.ir_version;
  part.domains = whole.domains;
  for (std::size_t n = 0; n < whole.nodes.size(); ++n) {
    const Node& node = whole.nodes[n];
    bool needed = chosen[n] != 0;
    if (node.op_type == "Constant") each(node.outputs, [&](std::size_t id) { needed = needed || read[id] != 0; });
    if (!needed) continue;
    each(node.outputs, [&](std::size_t id) { made[id] = 1; });
    part.nodes.push_back(node);
  }
  for (const Node& node : part.nodes) {
    each(node.inputs, [&](std::size_t id) {
      if (made[id] != 0 || whole.values[id].initializer) return;
      made[id] = 1;
      part.inputs.push_back(static_cast<ValueId>(id));
    });
  }
  for (std::size_t id = 0; id < whole.values.size(); ++id) {
    const Value& value = whole.values[id];
    auto& copy = part.values.emplace_back(Value{.name = value.name, .type = value.type, .shape = value.shape});
    if (read[id] != 0) copy.initializer = value.initializer;
  }
  part.outputs = std::move(outputs);
  return part;
}

/// A quantizable layer as a network of its own: its node, the Pad that belongs to an AveragePool, and the Add that
/// holds the bias of a MatMul. Its input is what the layer's quantization reads. \param layer  a node of the network
[[nodiscard]] inline Graph layer_alone(const Graph& whole, const std::string& layer) {
  const Uses uses(whole);
  const Node* node = whole.find_node(layer);
  const Node* first = &detail::quant_position(*node, uses);
  const Node* add = bias_add(*node, uses);
  std::vector<char> chosen;
  for (const Node& any : whole.nodes) chosen.push_back(&any == node || &any == first || &any == add ? 1 : 0);
  return part_of(whole, chosen, (add != nullptr ? add : node)->outputs);
}

/// Everything that a layer influences: the layer (with the Pad that belongs to it) and all nodes behind it. Its outputs
/// are those graph outputs that depend on the layer; there may be none.
/// \param layer  a node of the network
[[nodiscard]] inline Graph layer_and_behind(const Graph& whole, const std::string& layer) {
  const Node* first = nullptr;
  {
    const Uses uses(whole);
    first = &detail::quant_position(*whole.find_node(layer), uses);
  }
  std::vector<char> depends(whole.values.size(), 0);
  std::vector<char> chosen;
  const auto is_influenced = [&](ValueId id) { return id != kNoValue && depends[static_cast<std::size_t>(id)] != 0; };
  for (const Node& node : whole.nodes) {
    const bool behind = &node == first || std::any_of(node.inputs.begin(), node.inputs.end(), is_influenced);
    chosen.push_back(behind ? 1 : 0);
    if (!behind) continue;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) depends[static_cast<std::size_t>(id)] = 1;
    }
  }
  std::vector<ValueId> outputs;
  std::copy_if(whole.outputs.begin(), whole.outputs.end(), std::back_inserter(outputs), is_influenced);
  return part_of(whole, chosen, std::move(outputs));
}

}  // namespace amct::graph
