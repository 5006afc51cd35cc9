// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <amct/core/exact.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

AMCT_EXACT_BEGIN

/// [N, K] to [K, N] if asked for, times alpha.
[[nodiscard]] inline Tensor gemm_weight(const Tensor& weight, bool transpose, float alpha) {
  Tensor result = transpose ? transposed(weight) : weight;
  for (float& value : result.data<float>()) value *= alpha;
  return result;
}

/// One value a column, times beta. A Gemm bias may be a scalar, [1], [1, 1], [N] or [1, N].
[[nodiscard]] inline Tensor gemm_bias(const Tensor& bias, std::size_t columns, float beta) {
  Tensor result(ElementType::float32, Shape{static_cast<std::int64_t>(columns)});
  const auto from = bias.data<float>();
  const auto to = result.data<float>();
  for (std::size_t n = 0; n < columns; ++n) to[n] = from[from.size() == 1 ? 0 : n] * beta;
  return result;
}

AMCT_EXACT_END

}  // namespace detail

/// Brings Gemm layers with constant float32 weights into AMCT's form: weight [K, N] with transB = 0, alpha = beta = 1,
/// bias [N]. Other Gemm nodes are left alone: transA, dynamic or shared operands, a bias with several rows.
inline void normalize_gemm(Graph& graph) {
  const Uses uses(graph);
  UniqueNames names(graph);
  for (auto& node : graph.nodes) {
    const ValueId weight_id = node.input(kWeightInput);
    const ValueId bias_id = node.input(kBiasInput);
    if (node.op_type != "Gemm" || !node.domain.empty() || node.attribute_or<std::int64_t>("transA", 0) != 0) continue;
    const auto& weight = graph.value(weight_id).initializer;
    if (!weight || weight->type() != ElementType::float32 || weight->shape().rank() != 2) continue;
    if (uses.consumers(weight_id).size() != 1) continue;
    const bool transpose = node.attribute_or<std::int64_t>("transB", 0) != 0;
    const auto columns = static_cast<std::size_t>(weight->shape()[transpose ? 0 : 1]);
    const Tensor* bias = uses.constant(bias_id);
    if (bias_id != kNoValue) {
      if (bias == nullptr || bias->type() != ElementType::float32) continue;
      if (bias->size() != 1 && bias->size() != columns) continue;
      if (bias->shape().rank() == 2 && bias->shape()[0] != 1) continue;
    }
    const float beta = node.attribute_or<float>("beta", 1.0F);
    if (bias != nullptr && (beta != 1.0F || bias->shape() != Shape{static_cast<std::int64_t>(columns)})) {
      Tensor data = detail::gemm_bias(*bias, columns, beta);
      if (graph.value(bias_id).initializer && uses.consumers(bias_id).size() == 1) {
        replace_initializer(graph, bias_id, std::move(data));
      } else {
        node.inputs[kBiasInput] = add_initializer(graph, names.value(node.name + ".bias"), std::move(data));
      }
    }
    const float alpha = node.attribute_or<float>("alpha", 1.0F);
    replace_initializer(graph, weight_id, detail::gemm_weight(*graph.value(weight_id).initializer, transpose, alpha));
    node.set_attribute("transB", std::int64_t{0});
    node.set_attribute("alpha", 1.0F);
    node.set_attribute("beta", 1.0F);
  }
  remove_unused(graph);
}

}  // namespace amct::graph
