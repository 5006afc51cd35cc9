// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/distill_groups.hpp>
#include <amct/config/distill_plan.hpp>
#include <amct/config/levels.hpp>
#include <amct/config/network.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_fields.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/config/skip_list.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// What an easy distill config says of a layer, a type or all layers.
struct DistillParts {
  std::optional<Stated<RetrainData>> data{};
  std::optional<Stated<StatedWeights>> weights{};
};

/// The first and last node of a group.
struct DistillRange {
  std::string start{};
  std::string end{};
};

/// An easy distill config (AMCTDistillConfig).
struct DistillConfig {
  std::uint32_t batch_num = 1;
  std::uint32_t group_size = 1;
  bool data_dump = false;
  std::vector<Stated<DistillRange>> groups{};
  Levels<DistillParts> levels{};
  std::set<std::string> not_quantized{};
};

namespace detail {

[[nodiscard]] inline DistillParts read_distill_parts(ObjectReader& reader, const std::string& file,
                                                     const std::string& path, const FlavourRules& rules) {
  const Where where{.file = file};
  const auto inner = [&](const std::string& name) { return path.empty() ? name : path + '.' + name; };
  DistillParts parts;
  if (const auto* data = reader.take("distill_data_quant_config"); data != nullptr) {
    parts.data = read_easy_data(*data, where, inner("distill_data_quant_config"), rules, reader.diagnostics());
  }
  if (const auto* weights = reader.take("distill_weight_quant_config"); weights != nullptr) {
    parts.weights = read_easy_weights(*weights, where, inner("distill_weight_quant_config"), rules,
                                      kDistillWeightAlgorithms, reader.diagnostics());
  }
  return parts;
}

inline void read_group_size(ObjectReader& reader, std::uint32_t& group_size) {
  if (reader.read("group_size", group_size) && group_size == 0) reader.refuse("group_size", "at least 1");
}

[[nodiscard]] inline std::vector<Stated<DistillRange>> read_distill_ranges(ObjectReader& top, const std::string& file) {
  std::vector<Stated<DistillRange>> ranges;
  const ConfigValue* const list = top.take("distill_group");
  if (list == nullptr) return ranges;
  if (list->list() == nullptr) return top.refuse("distill_group", "a list"), ranges;
  for (const ConfigValue& item : *list->list()) {
    ObjectReader reader(item, {.file = file}, "distill_group", top.diagnostics());
    DistillRange range;
    if (!reader.read("start_layer_name", range.start)) reader.refuse("start_layer_name", "the name of a node");
    if (!reader.read("end_layer_name", range.end)) reader.refuse("end_layer_name", "the name of a node");
    reader.refuse_others();
    ranges.push_back({range, reader.where("")});
  }
  return ranges;
}

[[nodiscard]] inline std::vector<std::string> names_of(const Network& network) {
  std::vector<std::string> names;
  for (const NetworkNode& node : network) names.push_back(node.name);
  return names;
}

/// An error for every group that holds no layer to train.
inline void check_groups(const DistillPlan& plan, const std::string& file, Diagnostics& out) {
  const auto enabled = [&](const std::string& name) {
    const DistillLayer* const layer = plan.find(name);
    return layer != nullptr && layer->enabled;
  };
  for (const auto& group : plan.groups) {
    if (std::any_of(group.begin(), group.end(), enabled)) continue;
    out.error(ErrorCode::config_layer, {.file = file, .field = "distill_group"},
              "the group from \"" + group.front() + "\" to \"" + group.back() + "\" has no layer to quantize");
  }
  if (std::none_of(plan.layers.begin(), plan.layers.end(), [](const auto& layer) { return layer.enabled; })) {
    out.error(ErrorCode::config_layer, {.file = file}, "no layer is left to quantize");
  }
}

}  // namespace detail

/// Reads an easy distill config from the members of its file.
/// \param value  an object; null stands for a config that says nothing
/// \param out    gets all that does not fit, with file, line, column and field
[[nodiscard]] inline DistillConfig read_distill_config(const ConfigValue& value, const std::string& file,
                                                       const LayerTable& layers, const Network& network,
                                                       const FlavourRules& rules, Diagnostics& out) {
  DistillConfig config;
  if (value.is_null()) return config;
  const LayerTable own = retrainable_layers(layers, rules);
  const auto usable = [](const LayerPattern& pattern) { return detail::names_retrainable(pattern, false); };
  const std::vector<std::string> nodes = detail::names_of(network);
  const NetworkNames names(own, nodes);
  ObjectReader reader(value, {.file = file}, "", out);
  detail::read_batch_num(reader, config.batch_num);
  detail::read_group_size(reader, config.group_size);
  reader.read("data_dump", config.data_dump);
  config.groups = detail::read_distill_ranges(reader, file);
  read_skip_layers(reader, "quant_skip_layers", own, names, config.not_quantized);
  read_skip_types(reader, "quant_skip_layer_types", own, usable, config.not_quantized);

  const auto read_parts = [&](ObjectReader& parts, const std::string& path) {
    return detail::read_distill_parts(parts, file, path, rules);
  };
  config.levels.common = read_parts(reader, "");
  config.levels.types = read_overrides<DistillParts>(
      reader, file, "distill_override_layer_types", "layer_type",
      [&](const std::string& type, const Where& where) { check_type_name(out, where, type, usable); }, read_parts);
  for (auto& [name, parts] : read_overrides<DistillParts>(
           reader, file, "distill_override_layers", "layer_name",
           [&](const std::string&layer, const Where&where) { check_layer_name(out, where, layer, names); },
           read_parts)) {
    config.levels.layers.emplace(std::move(name), std::move(parts));
  }
  reader.refuse_others();
  return config;
}

/// What an easy distill config means for a network.
/// \param layers   the quantizable layers, in the order of the model
/// \param network  all nodes
/// Defaults: data ULQ and weights ARQ of 8 bits, one scale an output channel where the flavour has that, every layer a
/// group with its BatchNormalization and activation. A group given by names holds all nodes on the ways from its first
/// to its last; layers outside such groups are grouped by themselves.
[[nodiscard]] inline DistillPlan resolve_distill(const DistillConfig& config, const LayerTable& layers,
                                                 const Network& network, const FlavourRules& rules,
                                                 const std::string& file, Diagnostics& out) {
  DistillPlan plan{.batch_num = config.batch_num, .group_size = config.group_size, .data_dump = config.data_dump};
  detail::LayerSettler settler(rules, kDistillPairs, file, out);
  detail::warn_of_defaults(config.levels, retrain_form(rules), out);
  std::set<std::string> enabled;
  for (const LayerInfo& info : layers) {
    if (!has_weights(info.kind)) continue;
    const auto picked = detail::pick_quantization(config.levels, info, retrain_form(rules));
    DistillLayer layer{.name = info.name, .kind = info.kind, .enabled = !config.not_quantized.contains(info.name)};
    layer.data = settler.data(info, picked.data);
    layer.weights = settler.weights(info, picked.weights, std::span(&layer.data, 1), detail::place_of(picked));
    if (layer.enabled) enabled.insert(info.name);
    plan.layers.push_back(std::move(layer));
  }
  DistillGrouper grouper(network);
  for (const auto& [range, where] : config.groups) {
    const std::string why = grouper.add(range.start, range.end);
    if (!why.empty()) out.error(ErrorCode::config_layer, where, why);
  }
  grouper.add_rest(enabled, config.group_size);
  plan.groups = grouper.groups();
  detail::check_groups(plan, file, out);
  return plan;
}

}  // namespace amct
