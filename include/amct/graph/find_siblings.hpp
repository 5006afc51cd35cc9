// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/fx_plan.hpp>
#include <amct/config/network.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/plan.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/element_types.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/network.hpp>
#include <amct/graph/region.hpp>

/// \file
/// Layers that read one tensor and quantize it differently, as a configuration decides. AMCT's own check
/// (config/network_checks.hpp) does not see those that a Cast to the same type stands between, which the compiler
/// removes.

namespace amct::graph {

/// A layer that reads a tensor.
struct TensorUse {
  std::string layer{};
  std::string op_type{};
  std::size_t input = 0;  ///< among those that carry data
  bool behind_cast = false;

  friend bool operator==(const TensorUse&, const TensorUse&) = default;
};

/// The layers of each tensor that several read, in model order; what a Cast makes of a tensor of the same type counts
/// as the tensor. \param layers  those that count, by name
[[nodiscard]] inline std::vector<std::pair<std::string, std::vector<TensorUse>>> tensor_uses(
    const Graph& graph, const std::set<std::string>& layers, const FlavourRules& rules) {
  const auto types = element_types(graph);
  std::map<std::string, std::string> source;  // of what casts make
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Cast" || !node.domain.empty() || node.input(0) == kNoValue || node.outputs.empty()) continue;
    const auto from = types[static_cast<std::size_t>(node.inputs[0])];
    if (!from || from != onnx_element_type(node.attribute_or<std::int64_t>("to", 0))) continue;
    const std::string& input = graph.value(node.inputs[0]).name;
    const auto earlier = source.find(input);
    source[graph.value(node.outputs[0]).name] = earlier == source.end() ? input : earlier->second;
  }
  std::vector<std::pair<std::string, std::vector<TensorUse>>> found;
  std::map<std::string, std::size_t> place;
  for (const NetworkNode& node : network_of(graph, rules.data_operators)) {
    if (!layers.contains(node.name)) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto cast = source.find(node.inputs[i]);
      const std::string& tensor = cast == source.end() ? node.inputs[i] : cast->second;
      const auto [entry, is_new] = place.try_emplace(tensor, found.size());
      if (is_new) found.push_back({tensor, {}});
      found[entry->second].second.push_back({node.name, node.op_type, i, cast != source.end()});
    }
  }
  std::erase_if(found, [](const auto& entry) { return entry.second.size() < 2; });
  return found;
}

/// The layers that quantize a tensor otherwise than the first layer that reads it. Nothing where the flavour has no
/// such checks.
/// \param graph  with the names and in the form that configurations speak of
[[nodiscard]] inline std::vector<Fault> find_siblings(const Graph& graph, const NetworkQuantization& quantization,
                                                      const FlavourRules& rules) {
  std::vector<Fault> faults;
  if (!rules.network_checks) return faults;
  std::set<std::string> layers;
  for (const auto& [name, layer] : quantization) layers.insert(name);
  for (const auto& [tensor, uses] : tensor_uses(graph, layers, rules)) {
    const TensorUse& first = uses.front();
    for (auto use = uses.begin() + 1; use != uses.end(); ++use) {
      const LayerQuantization& own = quantization.at(use->layer);
      const std::string what = input_difference(quantization.at(first.layer), first.input, own, use->input);
      if (what.empty()) continue;
      Fault fault{.kind = FaultKind::siblings, .layer = use->layer, .node = use->layer};
      fault.text = "reads " + tensor + " as " + first.layer + " does, but differs in " + what;
      if (use->behind_cast || first.behind_cast) fault.text += "; only a Cast that the compiler removes is between";
      for (const TensorUse& one : uses) {
        const bool quantized = quantization.at(one.layer).enabled;
        if (quantized && !is_matrix_operator(one.op_type)) fault.skip.push_back(one.layer);
      }
      faults.push_back(std::move(fault));
    }
  }
  return faults;
}

namespace detail {

[[nodiscard]] inline bool& switch_of(FxLayerPlan& layer) { return layer.quant_enable; }
[[nodiscard]] inline bool& switch_of(LayerPlan& layer) { return layer.enabled; }

inline void set_activation(LayerPlan& layer, std::size_t input, const ActivationPlan& parameters) {
  layer.activations[input] = parameters;
}
inline void set_activation(FxLayerPlan& layer, std::size_t input, const QuantizerSpec& parameters) {
  QuantizerSpec& own = layer.activations[input];
  own = parameters;
  if (own.arg("object_layer") != nullptr) own.set("object_layer", layer.name);
}

/// An input of a layer of a plan.
struct PlannedUse {
  std::size_t layer = 0;  ///< index in the plan
  std::size_t input = 0;
  std::string op_type{};
};
using AlikeUses = std::vector<std::vector<PlannedUse>>;

/// The inputs that the device quantizes alike: those that read one tensor, and those of a layer that only moves data
/// together with what reads its result. One input may stand in several sets.
[[nodiscard]] inline AlikeUses uses_alike(const Graph& graph, const std::vector<std::string>& layers,
                                          const FlavourRules& rules) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < layers.size(); ++i) index.emplace(layers[i], i);
  AlikeUses found;
  for (const auto& [tensor, uses] : tensor_uses(graph, {layers.begin(), layers.end()}, rules)) {
    auto& alike = found.emplace_back();
    for (const TensorUse& use : uses) alike.push_back({index.at(use.layer), use.input, use.op_type});
  }
  const Network network = network_of(graph, rules.data_operators);
  std::map<std::string_view, PlannedUse> readers;  // the first of each tensor; the others are its siblings
  for (const NetworkNode& node : network) {
    const auto layer = index.find(node.name);
    for (std::size_t i = 0; layer != index.end() && i < node.inputs.size(); ++i) {
      readers.try_emplace(node.inputs[i], PlannedUse{layer->second, i, node.op_type});
    }
  }
  for (const NetworkNode& node : network) {
    const auto layer = index.find(node.name);
    if (layer == index.end() || !is_no_command(node.op_type)) continue;
    for (const std::string& tensor : node.outputs) {
      const auto reader = readers.find(tensor);
      if (reader == readers.end()) continue;
      auto& alike = found.emplace_back(1, reader->second);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) alike.push_back({layer->second, i, node.op_type});
    }
  }
  return found;
}

/// Sets that are joined; the lowest number of each stands for it.
class JoinedSets {
 public:
  explicit JoinedSets(std::size_t count) : lower_(count) { std::iota(lower_.begin(), lower_.end(), std::size_t{0}); }

  [[nodiscard]] std::size_t find(std::size_t one) const noexcept {
    while (lower_[one] != one) one = lower_[one];
    return one;
  }
  void join(std::size_t a, std::size_t b) noexcept {
    const std::size_t low = std::min(find(a), find(b));
    for (std::size_t one : {a, b}) {
      while (one != low) one = std::exchange(lower_[one], low);
    }
  }

 private:
  std::vector<std::size_t> lower_;
};

/// Layers that hang together, over any number of tensors, are all quantized or all float: quantized if none of them is
/// float, or if one of the quantized ones computes on the matrix unit.
template <class Layer>
void align_switches(std::vector<Layer>& layers, const AlikeUses& sets) {
  JoinedSets joined(layers.size());
  for (const auto& uses : sets) {
    for (const PlannedUse& use : uses) joined.join(uses.front().layer, use.layer);
  }
  std::vector<char> has_float(layers.size(), 0);
  std::vector<char> has_matrix(layers.size(), 0);
  for (const auto& uses : sets) {
    for (const PlannedUse& use : uses) {
      const std::size_t set = joined.find(use.layer);
      if (!switch_of(layers[use.layer])) has_float[set] = 1;
      else if (is_matrix_operator(use.op_type)) has_matrix[set] = 1;
    }
  }
  for (const auto& uses : sets) {
    for (const PlannedUse& use : uses) {
      const std::size_t set = joined.find(use.layer);
      switch_of(layers[use.layer]) = has_matrix[set] != 0 || has_float[set] == 0;
    }
  }
}

/// How much choice a layer has for the parameters of an input; 0 is the least.
[[nodiscard]] inline int freedom(const PlannedUse& use, LayerKind kind, const FlavourRules& rules) {
  if (use.op_type == "MatMul") return use.input == 1 ? 0 : 1;
  return may_have_wide_activation(rules, kind) ? 3 : 2;
}

/// All have the parameters of the input that has the least choice, and of these the first.
template <class Layer>
void align_parameters(std::vector<Layer>& layers, const AlikeUses& sets, const FlavourRules& rules) {
  std::vector<std::size_t> first{0};  // number of the first input of each layer
  for (const Layer& layer : layers) first.push_back(first.back() + layer.activations.size());
  std::map<std::size_t, PlannedUse> inputs;
  JoinedSets joined(first.back());
  for (const auto& uses : sets) {
    std::optional<std::size_t> before;
    for (const PlannedUse& use : uses) {
      if (use.input >= layers[use.layer].activations.size()) continue;
      const std::size_t number = first[use.layer] + use.input;
      inputs.emplace(number, use);
      joined.join(before.value_or(number), number);
      before = number;
    }
  }
  std::map<std::size_t, PlannedUse> leaders;
  for (const auto& [number, use] : inputs) {
    const auto [leader, is_new] = leaders.try_emplace(joined.find(number), use);
    const auto choice = [&](const PlannedUse& one) { return freedom(one, layers[one.layer].kind, rules); };
    if (!is_new && choice(use) < choice(leader->second)) leader->second = use;
  }
  for (const auto& [number, use] : inputs) {
    const PlannedUse& leader = leaders.at(joined.find(number));
    const auto parameters = layers[leader.layer].activations[leader.input];
    set_activation(layers[use.layer], use.input, parameters);
  }
}

}  // namespace detail

/// Gives layers that read one tensor equal quantization of it, as the compiler demands, and layers that only move data
/// that of the layer behind them: a layer that is float beside quantized ones is quantized too if one of these is on
/// the matrix unit, else all stay float; parameters become those of the layer with the least choice: a product, then
/// one that cannot have more than 8 bits, then the first. \param plan  a QuantPlan or an FxPlan
template <class Plan>
void align_siblings(Plan& plan, const Graph& graph, const FlavourRules& rules) {
  std::vector<std::string> names;
  for (const auto& layer : plan.layers) names.push_back(layer.name);
  const detail::AlikeUses sets = detail::uses_alike(graph, names, rules);
  detail::align_switches(plan.layers, sets);
  detail::align_parameters(plan.layers, sets, rules);
}

}  // namespace amct::graph
