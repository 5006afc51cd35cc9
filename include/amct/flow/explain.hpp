// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/flow/check.hpp>
#include <amct/flow/decided_values.hpp>
#include <amct/flow/planned_network.hpp>
#include <amct/flow/weight_cost.hpp>
#include <amct/graph/findings.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/region.hpp>
#include <amct/graph/share.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// Everything that is known of one layer without data, in words.
struct Explanation {
  struct Fact {
    std::string name{};
    std::string text{};
  };
  struct Section {
    std::string title{};
    std::vector<Fact> facts{};
  };

  std::vector<Section> sections{};     ///< without empty ones
  std::vector<DecidedValue> values{};  ///< of the layer's plan
  std::vector<std::string> advice{};
};

/// What explain() looks at.
struct ExplainInput {
  const graph::Graph& model;  ///< as it was read
  const PlannedNetwork& network;
  const AnyConfig& config;
  const Record* record = nullptr;      ///< called as the layers are; null: none
  std::vector<graph::Fault> faults{};  ///< of the whole model
};

namespace detail {

[[nodiscard]] inline std::string fixed_text(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// "float32 [1, 3, height, ?]"
[[nodiscard]] inline std::string value_text(const graph::Value& value) {
  std::string text = amct::name_of(value.initializer ? value.initializer->type() : value.type);
  if (value.initializer) return text + ' ' + to_string(value.initializer->shape());
  if (!value.shape) return text + ", of unknown shape";
  std::string sizes;
  for (const auto& dim : *value.shape) {
    sizes += (sizes.empty() ? "" : ", ") + (dim.size >= 0        ? std::to_string(dim.size)
                                            : dim.symbol.empty() ? std::string("?")
                                                                 : dim.symbol);
  }
  return text + " [" + sizes + ']';
}

[[nodiscard]] inline std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Explainer {
 public:
  Explainer(const ExplainInput& input, const std::string& name) : input_(input), names_(input.model) {
    const std::string meant = names_.resolve(name);
    original_ = input.model.find_node(meant);
    key_ = names_.key(meant);
    node_ = input.network.graph.find_node(key_);
    info_ = find_layer(input.network.layers, key_);
  }

  [[nodiscard]] Explanation run() {
    add("Names", names());
    add("Tensors", tensors());
    add("Quantization", quantization());
    if (info_ != nullptr) {
      result_.values = decided_values(input_.network, input_.config, names_, *info_);
    }
    add("Shares parameters with", neighbours());
    add("Factors in the record", factors());
    add("INT8 weights", weights());
    advise();
    return std::move(result_);
  }

 private:
  using Facts = std::vector<Explanation::Fact>;

  void add(const char* title, Facts facts) {
    if (!facts.empty()) result_.sections.push_back({title, std::move(facts)});
  }

  [[nodiscard]] Facts names() const {
    Facts facts{{"layer", key_}, {"node in the model", original_->name}, {"operator", original_->op_type}};
    const std::string path = graph::module_path(original_->name);
    if (!path.empty()) facts.push_back({"module path", path});
    if (info_ != nullptr) facts.push_back({"type", type_name(*info_)});
    const auto origins = names_in_model(key_, input_.network.origins);
    if (node_ != nullptr && origins != original_->name) facts.push_back({"stands for", origins});
    return facts;
  }

  [[nodiscard]] Facts tensors() const {
    Facts facts;
    const graph::Graph& model = input_.model;
    const graph::Uses uses(model);
    for (const graph::ValueId id : original_->inputs) {
      if (id == graph::kNoValue) continue;
      const graph::Node* maker = uses.producer(id);
      std::string from = maker != nullptr ? ", made by " + names_.key(maker->name) : "";
      if (maker == nullptr && !model.value(id).initializer) from = ", an input of the model";
      facts.push_back({"reads " + model.value(id).name, value_text(model.value(id)) + from});
    }
    for (const graph::ValueId id : original_->outputs) {
      if (id == graph::kNoValue) continue;
      std::vector<std::string> readers;
      for (const graph::Node* reader : uses.consumers(id)) readers.push_back(names_.key(reader->name));
      if (uses.is_graph_output(id)) readers.emplace_back("the model's user");
      facts.push_back({"makes " + model.value(id).name,
                       value_text(model.value(id)) + (readers.empty() ? "" : ", read by " + joined(readers))});
    }
    return facts;
  }

  [[nodiscard]] Facts quantization() const {
    if (is_quantized()) {
      Facts facts;
      for (const CheckedLayer& layer : checked_layers(input_.network)) {
        if (layer.layer != key_) continue;
        facts.push_back({"data", layer.activations});
        if (layer.weights != "-") facts.push_back({"weights", layer.weights});
      }
      return facts;
    }
    for (const auto& layer : input_.network.left_float) {
      if (layer.name == key_) return {{"stays float", layer.reason}};
    }
    if (node_ != nullptr) {
      return {{"stays float",
               "flavour " + std::string(input_.network.rules().name) + " does not quantize " + original_->op_type}};
    }
    for (const auto& [name, originals] : input_.network.origins) {
      const bool took_in = std::find(originals.begin(), originals.end(), original_->name) != originals.end();
      if (took_in) return {{"is part of", name}};
    }
    return {{"is gone", "it is a constant, or part of another layer, in the network that is quantized"}};
  }

  [[nodiscard]] bool is_quantized() const {
    const auto found = input_.network.quantization.find(key_);
    return found != input_.network.quantization.end() && found->second.enabled;
  }

  [[nodiscard]] Facts neighbours() const {
    Facts facts;
    if (info_ == nullptr) return facts;
    for (const auto& group : graph::sharing_inputs(input_.network.graph, input_.network.layers)) {
      const auto own = std::find_if(group.begin(), group.end(), [&](const auto& one) { return one.layer == key_; });
      if (own == group.end()) continue;
      std::set<std::string> others;
      for (const auto& one : group) {
        if (one.layer != key_) others.insert(one.layer);
      }
      if (others.empty()) continue;
      facts.push_back({"input " + std::to_string(own->input), joined({others.begin(), others.end()})});
    }
    return facts;
  }

  /// Records may call the layer by any of its names.
  [[nodiscard]] const LayerRecord* recorded() const {
    if (input_.record == nullptr) return nullptr;
    for (const auto& layer : *input_.record) {
      const auto nodes = names_.meant_by(layer.name);
      if (layer.name == key_ || (nodes.size() == 1 && nodes.front() == original_->name)) return &layer;
    }
    return nullptr;
  }

  [[nodiscard]] Facts factors() const {
    const LayerRecord* layer = recorded();
    if (layer == nullptr)
      return input_.record != nullptr ? Facts{{"none", "the record does not have the layer"}} : Facts{};
    Facts facts;
    for (const InputFactors& one : inputs_of(*layer)) {
      facts.push_back({"data " + std::to_string(one.index),
                       "scale_d " + shortest_text(one.scale) + ", offset_d " + std::to_string(one.offset) + ", INT" +
                           std::to_string(one.bits) + ": " + fixed_text(one.lowest(), 4) + " to " +
                           fixed_text(one.highest(), 4)});
    }
    if (layer->scale_w.empty()) return facts;
    const auto [least, most] = std::minmax_element(layer->scale_w.begin(), layer->scale_w.end());
    std::string text = std::to_string(layer->scale_w.size()) + " of INT" + std::to_string(weight_bits(*layer)) +
                       ", scale_w " + shortest_text(*least);
    if (*least != *most) text += " to " + shortest_text(*most);
    facts.push_back({"weight scales", text});
    const std::size_t dead = dead_channels(*layer, input_.network.rules());
    if (dead > 0) facts.push_back({"channels of zeros", std::to_string(dead)});
    return facts;
  }

  [[nodiscard]] Facts weights() {
    cost_ = node_ != nullptr ? weight_cost(*node_, input_.network.graph) : std::nullopt;
    if (!cost_) return {};
    constexpr std::uint64_t kExact = std::uint64_t{1} << 24;
    constexpr std::uint64_t kAccumulator = std::uint64_t{1} << 31;
    const char* proof = cost_->largest_sum < kExact ? "below 2^24: the fake-quant model is exact"
                        : cost_->largest_sum < kAccumulator
                            ? "below 2^31: the accumulator holds it; the fake-quant model may round it"
                            : "the accumulator of 32 bits may overflow";
    return {
        {"range", fixed_text(cost_->lowest, 6) + " to " + fixed_text(cost_->highest, 6)},
        {"size", std::to_string(cost_->float_bytes) + " bytes, " + std::to_string(cost_->float_bytes / 4) + " in INT8"},
        {"channels", std::to_string(cost_->channels) + ", of which " + std::to_string(cost_->zero_channels) +
                         " hold zeros only; the widest is " + fixed_text(cost_->spread, 1) + " times the median one"},
        {"signal to noise", fixed_text(cost_->db_per_channel, 1) + " dB with a scale a channel, " +
                                fixed_text(cost_->db_per_tensor, 1) + " dB with one scale"},
        {"largest sum", std::to_string(cost_->largest_sum) + " for any 8-bit data, " + proof}};
  }

  void advise() {
    const FlavourRules& rules = input_.network.rules();
    for (const auto& fault : input_.faults) {
      const bool about = fault.layer == key_ || fault.node == original_->name;
      if (!about) continue;
      const auto& rule = graph::rule_of(fault.kind);
      result_.advice.push_back('[' + std::string(rule.code) + "] " + fault.text + ". Fix: " + std::string(rule.fix) +
                               (fault.fixable ? " (amct check --fix)" : ""));
    }
    if (!cost_ || info_ == nullptr || !is_quantized()) return;
    constexpr double kWide = 8.0;
    constexpr double kPoor = 30.0;
    const bool may = may_be_channel_wise(rules, info_->kind);
    if (cost_->spread > kWide && may && cost_->db_per_channel - cost_->db_per_tensor > 3.0) {
      result_.advice.push_back("channels differ in width: keep channel_wise true for its weights");
    }
    if (cost_->zero_channels > 0) {
      result_.advice.emplace_back(
          "channels of zeros have a scale of their own kind; prune them, or use the policy bias_aware if a bias is "
          "left "
          "in them");
    }
    const double reached = may ? cost_->db_per_channel : cost_->db_per_tensor;
    if (reached >= kPoor && !info_->depthwise) return;
    const char* why = info_->depthwise ? "depthwise layers are" : "weights with so little signal to noise are";
    result_.advice.push_back(std::string(why) + " among the first to look at if accuracy is lost: " +
                             (rules.network_checks && graph::is_matrix_operator(info_->op_type)
                                  ? "give its data 12 or 16 bits; it cannot stay float on the device"
                                  : "leave it float (skip_layers)"));
  }

  const ExplainInput& input_;
  graph::ModuleNames names_;
  const graph::Node* original_ = nullptr;
  std::string key_;
  const graph::Node* node_ = nullptr;  ///< in the planned network; null if it is part of another
  const LayerInfo* info_ = nullptr;    ///< null if it is not quantizable
  std::optional<WeightCost> cost_;
  Explanation result_;
};

}  // namespace detail

/// Everything known of a layer: names, tensors, whether and how it is quantized and who decided it, its neighbours, its
/// factors, what INT8 weights cost, and advice.
/// \param name  any of the layer's names
/// \throws Error config_layer for a name that means no layer, or several
[[nodiscard]] inline Explanation explain(const ExplainInput& input, const std::string& name) {
  return detail::Explainer(input, name).run();
}

}  // namespace amct::flow
