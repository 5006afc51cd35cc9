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
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// How much of a Gemm is brought into AMCT's form.
enum class GemmForm : std::uint8_t {
  calibrated,  ///< alpha = beta = 1, bias [N]: what AMCT's modified model has
  deployed,    ///< also transB = 0
};

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

/// Why a Gemm keeps its form; empty if it can be brought into AMCT's.
[[nodiscard]] inline std::string refuse_normal_form(const Node& node, const Graph& graph, const Uses& uses) {
  if (node.attribute_or<std::int64_t>("transA", 0) != 0) return "transA is set";
  const ValueId weight_id = node.input(kWeightInput);
  const Tensor* weight =
      weight_id == kNoValue || !graph.value(weight_id).initializer ? nullptr : &*graph.value(weight_id).initializer;
  if (weight == nullptr || weight->type() != ElementType::float32 || weight->shape().rank() != 2) {
    return "its weight is not a float32 matrix initializer";
  }
  if (uses.consumers(weight_id).size() != 1) return "its weight is shared with another node";
  if (node.input(kBiasInput) == kNoValue) return {};
  const Tensor* bias = uses.constant(node.input(kBiasInput));
  if (bias == nullptr || bias->type() != ElementType::float32) return "its bias is not a float32 constant";
  const std::int64_t columns = weight->shape()[node.attribute_or<std::int64_t>("transB", 0) != 0 ? 0 : 1];
  const bool one_row = bias->shape().rank() < 2 || (bias->shape().rank() == 2 && bias->shape()[0] == 1);
  if (!one_row || (bias->size() != 1 && bias->size() != static_cast<std::size_t>(columns))) {
    return "its bias is " + to_string(bias->shape()) + ", expected one value a column";
  }
  return {};
}

/// Whether there is nothing to do.
[[nodiscard]] inline bool is_in_normal_form(const Node& node, std::int64_t columns, bool transpose, const Uses& uses) {
  const Tensor* bias = uses.constant(node.input(kBiasInput));
  return !transpose && node.attribute_or<float>("alpha", 1.0F) == 1.0F &&
         node.attribute_or<float>("beta", 1.0F) == 1.0F && (bias == nullptr || bias->shape() == Shape{columns});
}

}  // namespace detail

/// Brings Gemm layers with constant float32 weights into AMCT's form: weight [K, N] with transB = 0, alpha = beta = 1,
/// bias [N]. Other Gemm nodes are left alone and reported: transA, dynamic or shared operands, a bias with several
/// rows.
/// \param layers  if not null, only layers that have an entry: AMCT deploys others as they were
inline PassReport normalize_gemm(Graph& graph, GemmForm form = GemmForm::deployed, const Record* layers = nullptr) {
  const Uses uses(graph);
  UniqueNames names(graph);
  PassReport report;
  for (auto& node : graph.nodes) {
    if (node.op_type != "Gemm" || !node.domain.empty()) continue;
    if (layers != nullptr && find_record(*layers, node.name) == nullptr) continue;
    std::string reason = detail::refuse_normal_form(node, graph, uses);
    if (!reason.empty()) {
      report.refuse(node.name, std::move(reason));
      continue;
    }
    const ValueId weight_id = node.input(kWeightInput);
    const ValueId bias_id = node.input(kBiasInput);
    const Tensor& weight = *graph.value(weight_id).initializer;
    const Tensor* bias = uses.constant(bias_id);
    const bool rows_are_outputs = node.attribute_or<std::int64_t>("transB", 0) != 0;
    const bool transpose = rows_are_outputs && form == GemmForm::deployed;
    const auto columns = static_cast<std::size_t>(weight.shape()[rows_are_outputs ? 0 : 1]);
    if (detail::is_in_normal_form(node, static_cast<std::int64_t>(columns), transpose, uses)) continue;
    report.change(node.name, form == GemmForm::deployed ? "has transB 0, alpha 1, beta 1, bias [N]"
                                                        : "has alpha 1, beta 1, bias [N]");
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
    if (transpose) node.set_attribute("transB", std::int64_t{0});
    node.set_attribute("alpha", 1.0F);
    node.set_attribute("beta", 1.0F);
  }
  remove_unused(graph);
  return report;
}

}  // namespace amct::graph
