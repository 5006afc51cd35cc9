// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <amct/config/levels.hpp>
#include <amct/config/ranges.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_fields.hpp>
#include <amct/config/retrain_plan.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// Widths of data and weights that go together.
struct BitPair {
  int data;
  int weights;
};

/// The pairs of quantization-aware training where files state types instead of bits.
inline constexpr BitPair kRetrainPairs[] = {{8, 8}, {16, 8}, {8, 4}};
/// The pairs of distillation.
inline constexpr BitPair kDistillPairs[] = {{8, 8}, {8, 4}, {4, 4}};

namespace detail {

/// Empty if the flavour quantizes data and weights with these bits together; otherwise what is allowed.
[[nodiscard]] inline std::string refuse_pair(const FlavourRules& rules, std::span<const BitPair> pairs, int data,
                                             int weights) {
  if (!retrain_form(rules).counts_bits) {
    std::string allowed;
    for (const BitPair& pair : pairs) {
      if (!is_one_of(rules.activation_bits, pair.data) || !is_one_of(rules.weight_bits, pair.weights)) continue;
      if (pair.data == data && pair.weights == weights) return {};
      allowed.append(allowed.empty() ? "" : ", ").append("INT").append(std::to_string(pair.data));
      allowed.append(" with INT").append(std::to_string(pair.weights));
    }
    return "expected " + allowed;
  }
  if (!is_one_of(rules.weight_bits, weights)) return "expected weights of " + list_text(rules.weight_bits) + " bits";
  if (rules.wide_activation_needs_int8_weight && data > 8 && weights != 8) {
    return "data of more than 8 bits need weights of 8";
  }
  if (rules.narrow_activation_needs_int4_weight && data == 4 && weights != 4) return "data of 4 bits need weights of 4";
  return {};
}

/// Settles what each layer gets. A finding about a setting that many layers share is reported for the first.
class LayerSettler {
 public:
  LayerSettler(const FlavourRules& rules, std::span<const BitPair> pairs, const std::string& file, Diagnostics& out)
      : rules_(rules), pairs_(pairs), file_(file), out_(out) {}

  [[nodiscard]] RetrainData data(const LayerInfo& layer, const Picked<RetrainData>& picked) {
    if (picked.stated == nullptr) return {.algorithm = retrain_form(rules_).default_data};
    RetrainData data = picked.stated->value;
    if (data.bits > 8 && !may_have_wide_activation(rules_, layer.kind)) {
      report(picked.named, layer, picked.stated->where,
             "data of " + std::to_string(data.bits) + " bits are not possible for " + type_name(layer), "8 are used");
      data.bits = 8;
    }
    return data;
  }

  /// The weights of a layer, and whether they go with its data. Data of 4 bits follow weights that cannot have 4.
  /// \param place  where a message about both points
  [[nodiscard]] RetrainWeights weights(const LayerInfo& layer, const Picked<StatedWeights>& picked,
                                       std::span<RetrainData> data, const Where& place) {
    const StatedWeights stated = picked.stated != nullptr ? picked.stated->value : StatedWeights{};
    RetrainWeights weights = stated.weights;
    const bool linear = weights.algorithm != RetrainWeightAlgorithm::lnq;
    const bool possible = linear && may_be_channel_wise(rules_, layer.kind);
    weights.channel_wise = stated.channel_wise.value_or(possible);
    if (weights.channel_wise && !possible) {
      report(rules_.channel_wise_elsewhere == ChannelWiseElsewhere::refused, layer, picked.stated->where,
             "channel_wise: got true, expected false for " + type_name(layer), "one scale is used for the tensor");
      weights.channel_wise = false;
    }
    if (weights.bits == 4 && linear && rules_.int4_needs_even_channels && !layer.packs_int4) {
      report(false, layer, picked.stated->where,
             "weights of 4 bits cannot be packed (groups, or an odd number of input channels)", "8 bits are used");
      weights.bits = 8;
      for (RetrainData& input : data) input.bits = std::max(input.bits, 8);
    }
    for (const RetrainData& input : data) check_pair(layer, input.bits, weights.bits, place);
    return weights;
  }

  /// Once for each message and place. \param instead what happens if it is only a warning
  void report(bool is_error, const LayerInfo& layer, Where where, const std::string& message,
              const std::string& instead) {
    if (!reported_.emplace(where.line, where.column, message).second) return;
    where.layer = layer.name;
    if (where.file.empty()) where.file = file_;
    if (is_error) {
      out_.error(ErrorCode::config_range, where, message);
    } else {
      out_.warning(ErrorCode::config_range, where, message + "; " + instead);
    }
  }

 private:
  void check_pair(const LayerInfo& layer, int data, int weights, const Where& where) {
    const std::string why = refuse_pair(rules_, pairs_, data, weights);
    if (why.empty()) return;
    report(true, layer, where,
           "data of " + std::to_string(data) + " bits with weights of " + std::to_string(weights) +
               " bits are not supported, " + why,
           "");
  }

  const FlavourRules& rules_;
  std::span<const BitPair> pairs_;
  const std::string& file_;
  Diagnostics& out_;
  std::set<std::tuple<int, int, std::string>> reported_;
};

/// What the levels of an easy config say of a layer's data and weights.
struct PickedQuantization {
  Picked<RetrainData> data{};
  Picked<StatedWeights> weights{};
};

template <class Parts>
[[nodiscard]] PickedQuantization pick_quantization(const Levels<Parts>& levels, const LayerInfo& layer,
                                                   const RetrainForm& form) {
  if (form.inherits) return {levels.pick(layer, &Parts::data), levels.pick(layer, &Parts::weights)};
  const auto level = levels.find(layer, [](const Parts& parts) { return parts.data || parts.weights; });
  return {level.pick(&Parts::data), level.pick(&Parts::weights)};
}

/// Warns of overrides that state only one of data and weights, where that means the default for the other and not what
/// is common.
template <class Parts>
void warn_of_defaults(const Levels<Parts>& levels, const RetrainForm& form, Diagnostics& out) {
  if (form.inherits) return;
  const auto warn = [&](const Where& where, const std::string& missing) {
    out.warning(
        ErrorCode::config_range, where,
        "the override states no " + missing + " setting, so its layers take the default and not the common one");
  };
  const auto look_at = [&](const Parts& parts) {
    if (parts.weights && !parts.data && levels.common.data) warn(parts.weights->where, "data");
    if (parts.data && !parts.weights && levels.common.weights) warn(parts.data->where, "weight");
  };
  for (const auto& [type, parts] : levels.types) look_at(parts);
  for (const auto& [layer, parts] : levels.layers) look_at(parts);
}

[[nodiscard]] inline Where place_of(const PickedQuantization& picked) {
  const auto& [data, weights] = picked;
  if (weights.stated != nullptr) return weights.stated->where;
  return data.stated != nullptr ? data.stated->where : Where{};
}

inline void settle_quantization(const RetrainConfig& config, const LayerInfo& info, const FlavourRules& rules,
                                LayerSettler& settler, RetrainLayer& layer) {
  const PickedQuantization picked = pick_quantization(config.levels, info, retrain_form(rules));
  layer.enabled = !config.not_quantized.contains(info.name);
  const int inputs = retrain_form(rules).lists_inputs ? std::max(info.activation_inputs, 1) : 1;
  layer.data.assign(static_cast<std::size_t>(inputs), settler.data(info, picked.data));
  if (!has_weights(info.kind)) return;
  layer.weights = settler.weights(info, picked.weights, layer.data, place_of(picked));
}

inline void settle_pruning(const RetrainConfig& config, const LayerInfo& info, LayerSettler& settler,
                           RetrainLayer& layer) {
  const auto prune = config.levels.pick(info, &RetrainParts::prune);
  if (prune.stated == nullptr) return;
  if (!can_prune(info, prune.stated->value)) {
    if (prune.named) settler.report(true, info, prune.stated->where, type_name(info) + " cannot be pruned so", "");
    return;
  }
  layer.prune = prune.stated->value;
  layer.prune_enabled = !config.not_pruned.contains(info.name);
}

}  // namespace detail

/// An error if nothing is left to do.
inline void check_something_enabled(const RetrainPlan& plan, const std::string& file, Diagnostics& out) {
  const auto any = [&](auto RetrainLayer::*flag) {
    return std::any_of(plan.layers.begin(), plan.layers.end(), [&](const auto& layer) { return layer.*flag; });
  };
  if (quantizes(plan.mode) && !any(&RetrainLayer::enabled)) {
    out.error(ErrorCode::config_layer, {.file = file}, "no layer is left to quantize");
  }
  if (prunes(plan.mode) && !any(&RetrainLayer::prune_enabled)) {
    out.error(ErrorCode::config_layer, {.file = file}, "no layer is left to prune");
  }
}

/// What an easy config means for the layers of a network.
/// \param layers  the quantizable layers, in the order of the model
/// \param file    the config's name, for messages
/// An override that states only data or only weights leaves the default for the other, as in AMCT; on hotwheels, what
/// the upper level states. Defaults: data ULQ (hotwheels: LUQ) of 8 bits, weights ARQ of 8 bits, one scale an output
/// channel where the flavour has that. Downgrades are warnings in `out`: more than 8 data bits set for all layers, on a
/// layer that has only 8; 4-bit weights that cannot be packed.
[[nodiscard]] inline RetrainPlan resolve_retrain(const RetrainConfig& config, const LayerTable& layers,
                                                 const FlavourRules& rules, RetrainMode mode, const std::string& file,
                                                 Diagnostics& out) {
  RetrainPlan plan{.mode = mode, .batch_num = config.batch_num, .force_fp16 = config.force_fp16};
  detail::LayerSettler settler(rules, kRetrainPairs, file, out);
  if (quantizes(mode)) detail::warn_of_defaults(config.levels, retrain_form(rules), out);
  for (const LayerInfo& info : retrainable_layers(layers, rules)) {
    RetrainLayer layer{.name = info.name, .kind = info.kind, .op_type = info.op_type, .enabled = false};
    if (quantizes(mode)) detail::settle_quantization(config, info, rules, settler, layer);
    if (prunes(mode)) detail::settle_pruning(config, info, settler, layer);
    plan.layers.push_back(std::move(layer));
  }
  check_something_enabled(plan, file, out);
  return plan;
}

}  // namespace amct
