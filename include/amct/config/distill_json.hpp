// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/distill_config.hpp>
#include <amct/config/distill_groups.hpp>
#include <amct/config/distill_plan.hpp>
#include <amct/config/layer_members.hpp>
#include <amct/config/network.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/retrain_fields.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// Full distill configs (config.json): version, batch_num, group_size, data_dump, distill_group, and a member a layer.

namespace amct {

namespace detail {

inline constexpr std::string_view kDistillParameters[] = {"version", "batch_num", "group_size", "data_dump",
                                                          "distill_group"};

[[nodiscard]] inline DistillLayer read_distill_layer(const ConfigValue& value, const LayerInfo& info,
                                                     const std::string& file, const FlavourRules& rules,
                                                     LayerSettler& settler, Diagnostics& out) {
  DistillLayer layer{.name = info.name, .kind = info.kind};
  const Where where{.file = file, .layer = info.name};
  ObjectReader reader(value, where, "", out);
  reader.read("quant_enable", layer.enabled);
  Stated<RetrainData> data{{}, reader.where("distill_data_config")};
  Stated<StatedWeights> weights{{}, reader.where("distill_weight_config")};
  if (const auto* const config = reader.take("distill_data_config"); config != nullptr) {
    if (const auto read = read_full_data(*config, where, "distill_data_config", rules, out)) data.value = *read;
  }
  if (const auto* const config = reader.take("distill_weight_config"); config != nullptr) {
    if (const auto read =
            read_full_weights(*config, where, "distill_weight_config", rules, kDistillWeightAlgorithms, out)) {
      weights.value = *read;
    }
  }
  layer.data = settler.data(info, {&data, true});
  layer.weights = settler.weights(info, {&weights, true}, std::span(&layer.data, 1), weights.where);
  reader.refuse_others(rules.unknown_config_fields_refused);
  return layer;
}

/// The distill_group of a full config: a list of lists of node names.
inline void read_group_lists(ObjectReader& top, const std::string& file, DistillGrouper& grouper) {
  const ConfigValue* const list = top.take("distill_group");
  if (list == nullptr) return;
  if (list->list() == nullptr) return top.refuse("distill_group", "a list of lists of names");
  for (const ConfigValue& item : *list->list()) {
    const Where where{.file = file, .line = item.line, .column = item.column, .field = "distill_group"};
    std::vector<std::string> names;
    if (item.list() != nullptr) {
      for (const ConfigValue& name : *item.list()) {
        if (name.text() != nullptr) names.push_back(*name.text());
      }
    }
    const bool fits = item.list() != nullptr && names.size() == item.list()->size();
    const std::string why = fits ? grouper.add(names) : "got " + describe(item) + ", expected a list of names";
    if (!why.empty()) top.diagnostics().error(ErrorCode::config_layer, where, why);
  }
}

}  // namespace detail

/// The full config of a plan, in AMCT's order of keys; layers in the order of the plan.
[[nodiscard]] inline ConfigValue to_distill_json(const DistillPlan& plan, const FlavourRules& rules) {
  const RetrainForm form = retrain_form(rules);
  ConfigValue value;
  value.add("version", 1);
  value.add("batch_num", static_cast<std::int64_t>(plan.batch_num));
  value.add("group_size", static_cast<std::int64_t>(plan.group_size));
  value.add("data_dump", plan.data_dump);
  ConfigValue::List groups;
  for (const auto& group : plan.groups) {
    groups.emplace_back(ConfigValue::List(group.begin(), group.end()));
  }
  value.add("distill_group", ConfigValue(std::move(groups)));
  for (const DistillLayer& layer : plan.layers) {
    ConfigValue& member = value.add(layer.name, ConfigValue{});
    member.add("quant_enable", layer.enabled);
    member.add("distill_data_config", to_full_data(layer.data, form));
    member.add("distill_weight_config", to_full_weights(layer.weights, form, kDistillWeightAlgorithms));
  }
  return value;
}

/// Reads a full config. A layer that it does not mention is not quantized and not in the plan; missing members take
/// their defaults. Groups are those of the file, which must not share nodes.
/// \param out  gets all that does not fit, with file, line, column, layer and field
[[nodiscard]] inline DistillPlan from_distill_json(const ConfigValue& value, const LayerTable& layers,
                                                   const Network& network, const FlavourRules& rules,
                                                   const std::string& file, Diagnostics& out) {
  DistillPlan plan;
  ObjectReader reader(value, {.file = file}, "", out);
  detail::read_version(reader);
  detail::read_batch_num(reader, plan.batch_num);
  detail::read_group_size(reader, plan.group_size);
  reader.read("data_dump", plan.data_dump);
  DistillGrouper grouper(network);
  detail::read_group_lists(reader, file, grouper);
  plan.groups = grouper.groups();
  detail::LayerSettler settler(rules, kDistillPairs, file, out);
  visit_layer_members(value, file, retrainable_layers(layers, rules), detail::kDistillParameters, out,
                      [&](const LayerInfo& info, const ConfigValue& member) {
                        plan.layers.push_back(detail::read_distill_layer(member, info, file, rules, settler, out));
                      });
  detail::check_groups(plan, file, out);
  return plan;
}

}  // namespace amct
