// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/graph/composites.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/uses.hpp>

namespace amct::flow {

/// Finds the values of a network that are quantized in front of its layers.
class ObservedValues {
 public:
  /// The graph must outlive this object and not change meanwhile. O(nodes).
  explicit ObservedValues(const graph::Graph& graph) : graph_(graph), uses_(graph) {}

  /// The value that calibration of one input of a layer watches: what the layer reads, or, for an AveragePool behind a
  /// Pad of zeros, what the Pad reads; for a layer of several nodes, what comes into them.
  /// \param op_type  of the layer: an ONNX operator, or one of graph::kCompositeTypes
  /// \param input    which of the inputs that carry data
  /// \throws Error model_unsupported if the network has no such layer or input
  [[nodiscard]] graph::ValueId find(const std::string& layer, std::string_view op_type, std::size_t input) const {
    const graph::Node* node = graph_.find_node(layer);
    if (node == nullptr) refuse(layer, "is not in the network");
    if (node->op_type != op_type && is_one_of(graph::kCompositeTypes, op_type)) return composite_input(layer, op_type);
    const auto inputs = graph::data_inputs(*node, uses_);
    if (input >= inputs.size()) refuse(layer, "has no data input " + std::to_string(input));
    return graph::detail::quant_position(*node, uses_).inputs[inputs[input]];
  }

 private:
  [[nodiscard]] graph::ValueId composite_input(const std::string& layer, std::string_view op_type) const {
    if (composites_.empty()) composites_ = graph::find_composites(graph_, uses_);
    const auto found = std::find_if(composites_.begin(), composites_.end(), [&](const graph::Composite& composite) {
      return composite.root->name == layer && composite.op_type == op_type;
    });
    if (found == composites_.end()) refuse(layer, "is no " + std::string(op_type));
    return found->input;
  }
  [[noreturn]] static void refuse(const std::string& layer, const std::string& message) {
    throw Error(ErrorCode::model_unsupported, {.layer = layer}, message);
  }

  const graph::Graph& graph_;
  graph::Uses uses_;
  mutable std::vector<graph::Composite> composites_;  ///< found when they are first needed
};

}  // namespace amct::flow
