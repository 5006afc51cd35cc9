// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

namespace detail {

/// The node before which the quant node of a layer stands: the layer itself, or, for an AveragePool, the Pad that feeds
/// it alone with a constant zero border.
[[nodiscard]] inline const Node& quant_position(const Node& layer, const Uses& uses) {
  if (layer.op_type != "AveragePool") return layer;
  const Node* pad = uses.producer(layer.input(0));
  if (pad == nullptr || pad->op_type != "Pad" || !uses.has_single_use(layer.input(0))) return layer;
  if (pad->attribute_or<std::string>("mode", "constant") != "constant") return layer;
  if (const ValueId border = pad->input(2); border != kNoValue) {
    const Tensor* value = uses.constant(border);
    if (value == nullptr || value->type() != ElementType::float32 || value->size() != 1 ||
        value->data<float>()[0] != 0.0F)
      return layer;
  }
  return *pad;
}

/// Makes the quant nodes in front of layers. Inputs that read one value with equal factors share them.
class QuantInserter {
 public:
  explicit QuantInserter(Graph& graph) : graph_(graph), names_(graph) {}

  /// The value that holds the codes of `from`; with `back_to_float` the numbers that the codes stand for.
  ValueId quantized(ValueId from, const InputFactors& input, const std::string& layer, bool back_to_float) {
    const std::string end = input.index == 0 ? "" : '.' + std::to_string(input.index);
    const ValueId codes =
        shared(codes_, {from, 1.0F / input.scale, input.offset, input.bits}, input, layer + ".quant" + end, make_quant);
    if (!back_to_float) return codes;
    return shared(reals_, {codes, input.scale, input.offset, input.bits}, input, layer + ".anti_quant" + end,
                  make_anti_quant);
  }

  /// Appends a node of the graph behind the quant nodes in front of it.
  void append(Node node) { nodes_.push_back(std::move(node)); }
  [[nodiscard]] std::vector<Node> take() { return std::move(nodes_); }

 private:
  /// What is read, what the node multiplies with, offset, bits.
  using Key = std::tuple<ValueId, float, std::int32_t, int>;

  template <class Make>
  ValueId shared(std::map<Key, ValueId>& made, const Key& key, const InputFactors& input, const std::string& name,
                 const Make& make) {
    const ValueId from = std::get<0>(key);
    auto [entry, is_new] = made.try_emplace(key, kNoValue);
    if (is_new) {
      const std::string unique = names_.node(name);
      entry->second = graph_.add_value({.name = names_.value(unique + ".output0"), .shape = graph_.value(from).shape});
      nodes_.push_back(make(unique, input, from, entry->second));
    }
    return entry->second;
  }

  Graph& graph_;
  UniqueNames names_;
  std::map<Key, ValueId> codes_, reals_;
  std::vector<Node> nodes_;
};

}  // namespace detail

/// Puts an AscendQuant node before each quantized input of the record's layers: `<layer>.quant` for the input with
/// index 0, `<layer>.quant.<index>` for others. Layers that do not compute in integers get an AscendAntiQuant node
/// `<layer>.anti_quant[.<index>]` behind it. Inputs that read the same value with equal scale, offset and width share
/// the nodes of the first.
/// \throws Error record_value for factors of an input that the layer does not have
inline void insert_quant(Graph& graph, const Record& record) {
  struct Place {
    std::string layer;
    QuantizedInput input;
    bool back_to_float;
  };
  std::map<std::string, std::vector<Place>> places;  // by the node that reads the quant node
  const Uses uses(graph);
  for_each_deployed_layer(graph, record, uses, [&](const Node& node, const DeployedLayer& layer) {
    auto& before = places[detail::quant_position(node, uses).name];
    for (const auto& input : layer.inputs) before.push_back({node.name, input, !layer.computes_in_integers});
  });

  detail::QuantInserter inserter(graph);
  for (auto& node : graph.nodes) {
    if (const auto found = places.find(node.name); found != places.end()) {
      for (const auto& [layer, input, back_to_float] : found->second) {
        ValueId& id = node.inputs[input.port];
        id = inserter.quantized(id, input.factors, layer, back_to_float);
      }
    }
    inserter.append(std::move(node));
  }
  graph.nodes = inserter.take();
}

}  // namespace amct::graph
