// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/share.hpp>
#include <amct/graph/uses.hpp>

namespace amct::exec::integer {

namespace detail {

/// Which values of a deployed network are codes, and how real values became them.
class CodeValues {
 public:
  explicit CodeValues(const graph::Graph& graph) {
    for (const auto& node : graph.nodes) {
      if (node.op_type == graph::kQuantOp || node.op_type == graph::kReQuantOp) {
        codes_[node.outputs[0]] = graph::quant_target(node);
      } else if (node.op_type == "Pad" || is_one_of(graph::kSharingOperators, node.op_type)) {
        if (const auto* codes = find(node.input(0))) {
          const graph::QuantTarget same = *codes;
          for (const auto id : node.outputs) {
            if (id != graph::kNoValue) codes_[id] = same;
          }
        }
      }
    }
  }

  /// Null if the value is not known to be codes.
  [[nodiscard]] const graph::QuantTarget* find(graph::ValueId id) const noexcept {
    const auto found = codes_.find(id);
    return found == codes_.end() ? nullptr : &found->second;
  }

 private:
  std::map<graph::ValueId, graph::QuantTarget> codes_;
};

/// The type of the integer node of a layer; empty if there is none.
[[nodiscard]] inline std::string integer_type(const graph::Node& layer) {
  if (layer.op_type == "Gemm" || layer.op_type == "MatMul") return "IntegerMatMul";
  constexpr std::string_view kSame[] = {"Conv", "ConvTranspose", "AveragePool"};
  return is_one_of(kSame, layer.op_type) ? "Integer" + layer.op_type : std::string();
}

/// Puts integer nodes in the place of quantized layers.
class LayerJoiner {
 public:
  explicit LayerJoiner(graph::Graph& graph) : graph_(graph), names_(graph), uses_(graph), codes_(graph) {
    for (const auto& node : graph.nodes) {
      if (reads_accumulators(node)) accumulators_.insert(node.input(0));
    }
  }

  void run() {
    for (const auto& node : graph_.nodes) {
      if (reads_accumulators(node)) {
        join(node);
      } else if (!makes_accumulators(node)) {
        nodes_.push_back(node);
        pad_with_code_of_zero(nodes_.back());
      }
    }
    graph_.nodes = std::move(nodes_);
    graph_.domains[std::string(kDomain)] = 1;
    graph::remove_unused(graph_);
  }

 private:
  [[nodiscard]] static bool reads_accumulators(const graph::Node& node) noexcept {
    return node.op_type == graph::kDequantOp || node.op_type == graph::kReQuantOp;
  }
  /// A layer, or the MatMul in front of the Add of its bias.
  [[nodiscard]] bool makes_accumulators(const graph::Node& node) const {
    if (node.outputs.empty()) return false;
    if (accumulators_.contains(node.outputs[0])) return true;
    const graph::Node* add = graph::integer_bias_add(node, uses_);
    return add != nullptr && accumulators_.contains(add->outputs[0]);
  }

  /// Makes the node of a layer, or gives it a second output if another reader of its accumulators has made it.
  void join(const graph::Node& reader) {
    for (const graph::Node* other : uses_.consumers(reader.input(0))) {
      if (!reads_accumulators(*other)) refuse(*other, "reads the accumulators that " + reader.name + " dequantizes");
    }
    const bool makes_codes = reader.op_type == graph::kReQuantOp;
    const bool two_products = !makes_codes || graph::requant_rule(reader) == graph::RequantRule::two_products;
    const auto [found, is_new] = joined_.try_emplace(reader.input(0), nodes_.size());
    const bool shared = !is_new && two_products && nodes_[found->second].attribute<std::string>(kContract) == nullptr &&
                        nodes_[found->second].outputs[makes_codes ? kCodesOutput : kRealOutput] == graph::kNoValue;
    if (!shared) nodes_.push_back(layer_of(reader, is_new));
    graph::Node& node = shared ? nodes_[found->second] : nodes_.back();
    if (!makes_codes) {
      node.outputs[kRealOutput] = reader.outputs[0];
      return;
    }
    set_next_codes(node, graph::quant_target(reader), reader.outputs[0]);
    if (!two_products) node.set_attribute(kContract, reader.attribute_or<std::string>("contract", ""));
  }

  [[nodiscard]] graph::Node layer_of(const graph::Node& reader, bool is_first) {
    const graph::Node* layer = uses_.producer(reader.input(0));
    if (layer == nullptr) refuse(reader, "no layer makes its accumulators");
    graph::ValueId bias = layer->input(graph::kBiasInput);
    if (layer->op_type == "Add") {
      bias = layer->input(1);
      layer = uses_.producer(layer->input(0));
    }
    const std::string type = layer == nullptr ? "" : integer_type(*layer);
    if (type.empty()) {
      refuse(reader, "its accumulators come from " + (layer == nullptr ? std::string("no layer") : layer->op_type));
    }
    graph::Node node{type,
                     std::string(kDomain),
                     is_first ? layer->name : names_.node(layer->name),
                     {layer->input(0), layer->input(graph::kWeightInput), bias, reader.input(1)},
                     {graph::kNoValue, graph::kNoValue},
                     layer->attributes};
    set_input_codes(node, codes_of(*layer, kCodesInput));
    if (uses_.constant(layer->input(graph::kWeightInput)) == nullptr && type == "IntegerMatMul") {
      node.set_attribute(kWeightOffset, std::int64_t{codes_of(*layer, kWeightInput).offset});
    }
    return node;
  }

  [[nodiscard]] const graph::QuantTarget& codes_of(const graph::Node& layer, std::size_t input) const {
    const auto* codes = codes_.find(layer.input(input));
    if (codes == nullptr) refuse(layer, "no AscendQuant makes its input " + std::to_string(input));
    return *codes;
  }

  /// A Pad of codes has a border of zeros, which are the offset as codes.
  void pad_with_code_of_zero(graph::Node& node) {
    const auto* codes = node.op_type == "Pad" && node.domain.empty() ? codes_.find(node.input(0)) : nullptr;
    if (codes == nullptr || node.attribute_or<std::string>("mode", "constant") != "constant") return;
    if (codes->offset < codes->range.min() || codes->offset > codes->range.max()) {
      refuse(node, "its border, the offset " + std::to_string(codes->offset) + ", is no code");
    }
    Tensor zero = graph::code_type(codes->range) == ElementType::int8
                      ? Tensor::scalar(static_cast<std::int8_t>(codes->offset))
                      : Tensor::scalar(static_cast<std::int16_t>(codes->offset));
    node.inputs.resize(std::max<std::size_t>(3, node.inputs.size()), graph::kNoValue);
    node.inputs[2] = graph::add_initializer(graph_, names_.value(node.name + ".border"), std::move(zero));
  }

  [[noreturn]] static void refuse(const graph::Node& node, const std::string& message) {
    throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = node.op_type}, message);
  }

  graph::Graph& graph_;
  graph::UniqueNames names_;
  graph::Uses uses_;
  CodeValues codes_;
  std::set<graph::ValueId> accumulators_;
  std::map<graph::ValueId, std::size_t> joined_;  ///< position of the first node of an accumulator
  std::vector<graph::Node> nodes_;
};

}  // namespace detail

/// Makes one node (see form.hpp) of each quantized layer of a deployed network, the Add of its integer bias and its
/// AscendDequant or AscendReQuant. The layer is told the offset of the AscendQuant in front of it, also where operators
/// that move data stand between them. \throws Error model_unsupported naming the layer if its accumulators cannot be
/// made in integers
inline void join_layers(graph::Graph& graph) { detail::LayerJoiner(graph).run(); }

/// Lets layers that only make codes make their real values too, as values `<layer>.real`.
inline void make_real_outputs(graph::Graph& graph) {
  graph::UniqueNames names(graph);
  for (auto& node : graph.nodes) {
    if (!is_integer_layer(node) || node.outputs[kRealOutput] != graph::kNoValue) continue;
    node.outputs[kRealOutput] = graph.add_value({.name = names.value(node.name + ".real")});
  }
}

}  // namespace amct::exec::integer
