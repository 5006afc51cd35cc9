// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/nearest.hpp>
#include <amct/record/check.hpp>
#include <amct/record/check_prune.hpp>
#include <amct/record/finding.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

namespace amct {

/// What a network tells about the layers that a record may name. Made by graph::record_model.
struct RecordModel {
  std::map<std::string, RecordLayer, std::less<>> layers{};       ///< those that can be quantized
  std::map<std::string, std::string, std::less<>> unquantized{};  ///< other nodes, and why they are not quantized
  std::set<std::string, std::less<>> nodes{};                     ///< all nodes of the network as it was read
};

namespace detail {

/// The name of a layer or node that a key means: the key, or what stands before ":0" of a quantized tensor.
[[nodiscard]] inline std::string_view layer_of_key(const RecordModel& model, std::string_view key) {
  if (model.nodes.contains(key) || model.layers.contains(key) || !is_tensor_key(key)) return key;
  return key.substr(0, key.rfind(':'));
}

}  // namespace detail

/// check_record with the facts of a network: also refuses a layer that it does not have or that cannot be quantized.
[[nodiscard]] inline std::vector<RecordFinding> check_record(const LayerRecord& record, const FlavourRules& rules,
                                                             const RecordModel& model) {
  const std::string_view name = detail::layer_of_key(model, record.name);
  const auto layer = model.layers.find(name);
  if (layer != model.layers.end()) return check_record(record, rules, &layer->second);

  auto findings = check_record(record, rules);
  if (record.name.empty()) return findings;
  const auto refused = model.unquantized.find(name);
  std::string message;
  if (refused != model.unquantized.end()) {
    if (name.size() != record.name.size()) return findings;  // a quantized tensor of a node that is no layer
    message = "the layer cannot be quantized: " + refused->second;
  } else {
    std::vector<std::string> names;
    for (const auto& [known, facts] : model.layers) names.push_back(known);
    message = "the network has no layer of this name" + did_you_mean(nearest_names(name, names));
  }
  findings.insert(findings.begin(), RecordFinding{.field = "key", .message = message});
  return findings;
}

/// check_record with the facts of a network: also refuses nodes that it does not have.
[[nodiscard]] inline std::vector<RecordFinding> check_record(const PruneRecord& record, const FlavourRules& rules,
                                                             const RecordModel& model) {
  auto findings = check_record(record, rules);
  const auto look_up = [&](const std::string& field, const std::vector<PruneNode>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].name || nodes[i].name->empty() || model.nodes.contains(*nodes[i].name)) continue;
      findings.push_back({.field = field + '[' + std::to_string(i) + "].name",
                          .message = "got \"" + *nodes[i].name + "\", which the network does not have" +
                                     did_you_mean(nearest_names(*nodes[i].name, model.nodes))});
    }
  };
  look_up("producer", record.producers);
  look_up("consumer", record.consumers);
  if (record.selective_prune) look_up("selective_prune", {*record.selective_prune});
  return findings;
}

}  // namespace amct
