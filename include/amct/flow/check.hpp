// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/config/fx_plan.hpp>
#include <amct/config/plan.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/flow/planned_network.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/find_faults.hpp>
#include <amct/graph/find_post_processing.hpp>
#include <amct/graph/find_siblings.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

/// \file
/// A dry run: what would be quantized and how, and what speaks against it.

namespace amct::flow {

/// A layer that would be quantized.
struct CheckedLayer {
  std::string layer{};
  std::string node{};  ///< in the model file; several joined by " + " for a layer that took others in
  std::string type{};
  std::string activations{};  ///< "int8 ifmr", one an input, joined by "; ", once if all are equal
  std::string weights{};      ///< "int8 arq, a scale a channel"; "-" for a layer without weights
};

namespace detail {

[[nodiscard]] inline const char* name_of(ActivationAlgorithm algorithm) noexcept {
  return algorithm == ActivationAlgorithm::ifmr ? "ifmr" : "hfmg";
}
[[nodiscard]] inline const char* name_of(WeightAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case WeightAlgorithm::arq: return "arq";
    case WeightAlgorithm::ada: return "ada";
    case WeightAlgorithm::snq: return "snq";
    case WeightAlgorithm::none: break;
  }
  return "-";
}

[[nodiscard]] inline std::string text_of(const ActivationPlan& plan) {
  return "int" + std::to_string(plan.bits) + ' ' + name_of(plan.algorithm) + (plan.asymmetric ? "" : ", no offset");
}
/// "Ulq" for UlqFakeQuantize, "IFMR" for IFMRObserver; a user's own name as it is.
[[nodiscard]] inline std::string short_name(std::string name) {
  for (const std::string_view end : {"WeightFakeQuantize", "ActivationFakeQuantize", "FakeQuantize", "Observer"}) {
    const bool own = name.find('.') != std::string::npos;
    if (!own && name.size() > end.size() && name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return name;
}
[[nodiscard]] inline std::string text_of(const QuantizerSpec& spec) {
  const std::string name = short_name(spec.name);
  const std::string observer = short_name(spec.text("observer", ""));
  return "int" + std::to_string(spec.bits()) + ' ' + name +
         (observer.empty() || observer == name ? "" : '/' + observer);
}

template <class Activations>
[[nodiscard]] std::string activations_text(const Activations& activations) {
  std::vector<std::string> texts;
  for (const auto& one : activations) texts.push_back(text_of(one));
  if (texts.empty()) return "-";
  const bool equal = std::all_of(texts.begin(), texts.end(), [&](const auto& text) { return text == texts.front(); });
  if (equal) return texts.front();
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

[[nodiscard]] inline std::string weights_text(const LayerPlan& layer) {
  if (!has_weights(layer.kind)) return "-";
  return "int" + std::to_string(layer.weights.bits) + ' ' + name_of(layer.weights.algorithm) +
         (layer.weights.channel_wise ? ", a scale a channel" : "");
}
[[nodiscard]] inline std::string weights_text(const FxLayerPlan& layer) {
  if (!layer.weights) return "-";
  return text_of(*layer.weights) + (layer.weights->flag("channel_wise", false) ? ", a scale a channel" : "");
}

[[nodiscard]] inline bool is_enabled(const LayerPlan& layer) noexcept { return layer.enabled; }
[[nodiscard]] inline bool is_enabled(const FxLayerPlan& layer) noexcept { return layer.quant_enable; }

}  // namespace detail

/// The names that a layer has in the model file, joined by " + ".
[[nodiscard]] inline std::string names_in_model(const std::string& layer, const Origins& origins) {
  std::string all;
  for (const auto& name : detail::names_in_file(layer, origins)) all += (all.empty() ? "" : " + ") + name;
  return all;
}

/// The layers that would be quantized, in model order.
[[nodiscard]] inline std::vector<CheckedLayer> checked_layers(const PlannedNetwork& network) {
  std::vector<CheckedLayer> found;
  std::visit(
      [&](const auto& plan) {
        for (const auto& layer : plan.layers) {
          if (!detail::is_enabled(layer)) continue;
          found.push_back({layer.name, names_in_model(layer.name, network.origins),
                           type_name({.name = layer.name, .kind = layer.kind, .op_type = layer.op_type}),
                           detail::activations_text(layer.activations), detail::weights_text(layer)});
        }
      },
      network.plan);
  return found;
}

/// The faults that depend on the config: siblings, and small layers behind the network proper.
[[nodiscard]] inline std::vector<graph::Fault> planned_faults(const PlannedNetwork& network) {
  auto faults = graph::find_siblings(network.graph, network.quantization, network.rules());
  if (network.rules().network_checks) {
    for (auto& fault : graph::find_post_processing(network.graph, network.quantized())) {
      faults.push_back(std::move(fault));
    }
  }
  for (auto& fault : faults) fault.node = names_in_model(fault.layer, network.origins);
  return faults;
}

/// The ranges of tensors that a record knows: those of the codes.
/// \param graph  with nodes called as records call them
[[nodiscard]] inline std::map<std::string, graph::TensorRange> recorded_ranges(const Record& record,
                                                                               const graph::Graph& graph) {
  const graph::Uses uses(graph);
  std::map<std::string, graph::TensorRange> ranges;
  for (const graph::Node& node : graph.nodes) {
    const LayerRecord* layer = find_record(record, node.name);
    if (layer == nullptr) continue;
    const auto ports = graph::data_inputs(node, uses);
    for (const InputFactors& factors : inputs_of(*layer)) {
      const auto index = static_cast<std::size_t>(std::max(factors.index, 0));
      if (index >= ports.size()) continue;
      ranges[graph.value(node.inputs[ports[index]]).name] = {factors.lowest(), factors.highest()};
    }
  }
  return ranges;
}

/// Follows the advice of faults in a plan: layers that they name stay float, and siblings become equal
/// (graph::align_siblings). Its diagnostics are then those of the checks of the new plan.
inline void repair_plan(PlannedNetwork& network, const std::vector<graph::Fault>& faults) {
  std::set<std::string> skip;
  for (const auto& fault : faults) {
    if (fault.kind != graph::FaultKind::siblings) skip.insert(fault.skip.begin(), fault.skip.end());
  }
  std::visit(
      [&](auto& plan) {
        for (auto& layer : plan.layers) {
          if (skip.contains(layer.name)) graph::detail::switch_of(layer) = false;
        }
        graph::align_siblings(plan, network.graph, network.rules());
      },
      network.plan);
  network.diagnostics = {};
  detail::check_plan(network, "");
}

}  // namespace amct::flow
