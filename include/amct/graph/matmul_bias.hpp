// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// Where the bias of a layer stands: an input of the layer itself, or of the Add behind a MatMul.
struct BiasPlace {
  const Node* node = nullptr;  ///< null: the layer has none
  std::size_t input = 0;
};

/// The Add that alone reads the result of a MatMul and adds one constant a column; null if there is none. It may have
/// the constant on either side.
[[nodiscard]] inline const Node* bias_add(const Node& layer, const Uses& uses) {
  const ValueId weight = layer.input(kWeightInput);
  if (layer.op_type != "MatMul" || !layer.domain.empty() || layer.outputs.empty()) return nullptr;
  const Tensor* data = uses.constant(weight);
  if (data == nullptr || data->shape().rank() != 2 || !uses.has_single_use(layer.outputs[0])) return nullptr;
  const Node* add = uses.consumers(layer.outputs[0]).front();
  if (add->op_type != "Add" || !add->domain.empty() || add->inputs.size() != 2) return nullptr;
  const Tensor* bias = uses.constant(add->input(add->input(0) == layer.outputs[0] ? 1 : 0));
  const bool fits = bias != nullptr && bias->type() == ElementType::float32 && bias->shape().rank() == 1 &&
                    bias->shape()[0] == data->shape()[1];
  return fits ? add : nullptr;
}

/// The Add behind a MatMul of integers that adds an int32 bias, see quantize_bias; null if there is none.
[[nodiscard]] inline const Node* integer_bias_add(const Node& layer, const Uses& uses) {
  if (layer.op_type != "MatMul" || layer.outputs.empty() || !uses.has_single_use(layer.outputs[0])) return nullptr;
  const Node* add = uses.consumers(layer.outputs[0]).front();
  if (add->op_type != "Add" || add->input(0) != layer.outputs[0]) return nullptr;
  const Tensor* bias = uses.constant(add->input(1));
  return bias != nullptr && bias->type() == ElementType::int32 ? add : nullptr;
}

/// The bias that AMCT turns into int32. That of a MatMul it knows only as the second input of the Add.
[[nodiscard]] inline BiasPlace bias_place(const Node& layer, const Uses& uses) {
  if (layer.op_type != "MatMul") {
    return layer.input(kBiasInput) == kNoValue ? BiasPlace{} : BiasPlace{&layer, kBiasInput};
  }
  const Node* add = bias_add(layer, uses);
  return add == nullptr || add->input(0) != layer.outputs[0] ? BiasPlace{} : BiasPlace{add, 1};
}

}  // namespace amct::graph
