// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// What a layer can have, by its kind. A wish that names the layer or its type is refused where the layer cannot have
/// it; one that is common to all layers is met as far as possible, with a warning.
///
/// `report(is_error, field, message)` is called for each such wish, with the names of fields of config/ranges.hpp.

namespace amct {

[[nodiscard]] constexpr bool may_have_ada_round(LayerKind kind) noexcept {
  return kind == LayerKind::conv2d || kind == LayerKind::conv_transpose2d || kind == LayerKind::linear;
}

[[nodiscard]] constexpr bool may_be_balanced(LayerKind kind) noexcept {
  return has_weights(kind) && kind != LayerKind::lstm && kind != LayerKind::gru;
}

/// Whether a BatchNormalization is folded into layers of this kind, so that skip_fusion_layers may name them.
[[nodiscard]] constexpr bool may_fuse(const FlavourRules& rules, LayerKind kind) noexcept {
  switch (kind) {
    case LayerKind::conv1d:
    case LayerKind::conv2d:
    case LayerKind::conv3d: return true;
    case LayerKind::conv_transpose1d:
    case LayerKind::conv_transpose2d: return rules.fold.transposed;
    case LayerKind::linear: return rules.fold.linear;
    default: return false;
  }
}

/// What a message says of these kinds.
[[nodiscard]] inline std::string fusable_types(const FlavourRules& rules) {
  if (rules.fold.linear) return "a Conv1d, Conv2d, Conv3d, ConvTranspose or Linear layer";
  return rules.fold.transposed ? "a Conv1d, Conv2d, Conv3d or ConvTranspose layer" : "a Conv1d, Conv2d or Conv3d layer";
}

/// What a message says of the types that a flavour quantizes: "Conv2d, Linear or AveragePool".
[[nodiscard]] inline std::string quantized_types(const FlavourRules& rules) {
  constexpr std::size_t kMostNames = 12;
  std::vector<std::string> names;
  for (const LayerKind kind : rules.weighted_kinds) {
    if (has_weights(kind)) names.emplace_back(type_name(kind));
  }
  for (const std::string_view op_type : rules.data_operators) names.emplace_back(op_type);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return names.size() > kMostNames ? text + " ..." : text;
}

/// Whether configs state weight parameters of the layer: AMCT's PyTorch line does so for average pools.
[[nodiscard]] constexpr bool has_weight_params(const FlavourRules& rules, LayerKind kind) noexcept {
  return has_weights(kind) || (kind == LayerKind::avg_pool2d && rules.pool_has_weight_factors);
}

namespace detail {

[[nodiscard]] inline std::string instead(int got, const std::string& expected, const LayerInfo& layer) {
  return "got " + std::to_string(got) + ", expected " + expected + " for layer type " + type_name(layer);
}

template <class Report>
void fit_weight_algorithm(WeightPlan& plan, const LayerInfo& layer, bool named, Report&& report) {
  if (plan.algorithm != WeightAlgorithm::ada || may_have_ada_round(layer.kind)) return;
  if (named) {
    report(true, "",
           "ada_quantize is not available for layer type " + type_name(layer) +
               ", expected Conv2d, ConvTranspose2d or Linear");
  } else if (has_weights(layer.kind)) {
    report(false, "", "ada_quantize is not available for layer type " + type_name(layer) + ", arq_quantize is used");
  }
  plan = {.algorithm = has_weights(layer.kind) ? WeightAlgorithm::arq : WeightAlgorithm::none,
          .channel_wise = plan.channel_wise};
}

template <class Report>
void fit_weight_bits(WeightPlan& plan, const LayerInfo& layer, const FlavourRules& rules, bool named, Report&& report) {
  const bool is_narrow = plan.bits == 6 || plan.bits == 7;
  if (is_narrow && !contains(rules.narrow_weight_kinds, layer.kind)) {
    const std::string message = instead(plan.bits, "4 or 8", layer);
    report(named, "num_bits", named ? message : message + "; 8 is used");
    plan.bits = 8;
  }
  const bool is_packed = plan.algorithm == WeightAlgorithm::arq || plan.algorithm == WeightAlgorithm::ada;
  if (plan.bits == 4 && is_packed && rules.int4_needs_even_channels && !layer.packs_int4) {
    report(false, "num_bits",
           "4-bit weights are packed two a byte, which needs one group and an even number of input channels; 8 bits "
           "are used");
    plan.bits = 8;
  }
}

}  // namespace detail

/// Fits weight parameters to a layer.
template <class Report>
void fit(WeightPlan& plan, const LayerInfo& layer, const FlavourRules& rules, bool named, Report&& report) {
  if (!has_weight_params(rules, layer.kind)) {
    if (named) report(false, "", "is ignored, because the layer has no weights");
    plan = {.algorithm = WeightAlgorithm::none};
    return;
  }
  detail::fit_weight_algorithm(plan, layer, named, report);
  if (plan.algorithm == WeightAlgorithm::none) return;
  if (plan.channel_wise && !may_be_channel_wise(rules, layer.kind)) {
    const bool refused = rules.channel_wise_elsewhere == ChannelWiseElsewhere::refused;
    const std::string message = "got true, expected false for layer type " + type_name(layer);
    report(refused, "channel_wise", refused ? message : message + "; one scale is used");
    plan.channel_wise = false;
  }
  detail::fit_weight_bits(plan, layer, rules, named, report);
}

/// Fits activation parameters to a layer.
/// \param asymmetry_stated  whether the level states asymmetry; an offset that only follows from activation_offset is
///                          dropped without a word where the layer cannot have it
template <class Report>
void fit(ActivationPlan& plan, const LayerInfo& layer, const FlavourRules& rules, bool named, bool asymmetry_stated,
         Report&& report) {
  if (plan.bits > 8 && !may_have_wide_activation(rules, layer.kind)) {
    const std::string message = detail::instead(plan.bits, "8", layer);
    report(named, "num_bits", named ? message : message + "; 8 is used");
    plan.bits = 8;
  }
  if (plan.asymmetric && contains(rules.symmetric_kinds, layer.kind)) {
    const std::string message = "got true, expected false for layer type " + type_name(layer);
    if (asymmetry_stated) report(named, "asymmetric", named ? message : message + "; no offset is used");
    plan.asymmetric = false;
  }
}

/// Reports widths of activations and weights that do not go together. SNQ's weights are INT8 after a look-up, so they
/// go with wide activations.
template <class Report>
void check_width_pair(const ActivationPlan& activation, const WeightPlan& weights, const FlavourRules& rules,
                      Report&& report) {
  const bool is_uniform = weights.algorithm == WeightAlgorithm::arq || weights.algorithm == WeightAlgorithm::ada;
  const std::string got = "got " + std::to_string(activation.bits) + " with weights of " +
                          std::to_string(weights.bits) + " bits, expected ";
  if (rules.wide_activation_needs_int8_weight && activation.bits > 8 && is_uniform && weights.bits != 8) {
    report(true, "num_bits", got + "8-bit weights with activations above 8 bits");
  }
  if (rules.narrow_activation_needs_int4_weight && activation.bits == 4 && weights.algorithm != WeightAlgorithm::none &&
      weights.bits != 4) {
    report(true, "num_bits", got + "4-bit weights with 4-bit activations");
  }
}

}  // namespace amct
