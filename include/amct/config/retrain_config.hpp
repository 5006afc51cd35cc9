// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/levels.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/prune_config.hpp>
#include <amct/config/retrain_fields.hpp>
#include <amct/config/retrain_plan.hpp>
#include <amct/config/skip_list.hpp>
#include <amct/config/value.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// What an easy config says of a layer, a type or all layers.
struct RetrainParts {
  std::optional<Stated<RetrainData>> data{};
  std::optional<Stated<StatedWeights>> weights{};
  std::optional<Stated<PruneSetting>> prune{};
};

/// An easy retrain config (AMCTRetrainConfig), for quantization-aware training, pruning, or both.
struct RetrainConfig {
  std::uint32_t batch_num = 1;
  bool force_fp16 = false;
  Levels<RetrainParts> levels{};
  std::set<std::string> not_quantized{};  ///< layers skipped by name or type
  std::set<std::string> not_pruned{};
  std::filesystem::path om_mapping_file{};  ///< om_config, relative paths made relative to the config; empty: none
};

namespace detail {

[[nodiscard]] inline RetrainParts read_retrain_parts(ObjectReader& reader, const std::string& file,
                                                     const std::string& path, const FlavourRules& rules,
                                                     RetrainMode mode) {
  const Where where{.file = file};
  Diagnostics& out = reader.diagnostics();
  const auto inner = [&](const std::string& name) { return path.empty() ? name : path + '.' + name; };
  const auto note_unused = [&](const std::string& name) {
    if (quantizes(mode)) return;
    out.warning(ErrorCode::config_range, reader.where(name), "has no effect, as quantization is off");
  };
  RetrainParts parts;
  if (const auto* data = reader.take("retrain_data_quant_config"); data != nullptr) {
    parts.data = read_easy_data(*data, where, inner("retrain_data_quant_config"), rules, out);
    note_unused("retrain_data_quant_config");
  }
  if (const auto* weights = reader.take("retrain_weight_quant_config"); weights != nullptr) {
    parts.weights =
        read_easy_weights(*weights, where, inner("retrain_weight_quant_config"), rules, kRetrainWeightAlgorithms, out);
    note_unused("retrain_weight_quant_config");
  }
  if (const auto* prune = reader.take("prune_config"); prune != nullptr) {
    if (!prunes(mode)) reader.refuse_with("prune_config", "must not be given, as pruning is off");
    if (const auto setting = read_prune_config(*prune, where, inner("prune_config"), out)) {
      parts.prune = Stated<PruneSetting>{*setting, reader.where("prune_config")};
    }
  }
  return parts;
}

inline void read_batch_num(ObjectReader& reader, std::uint32_t& batch_num) {
  if (reader.read("batch_num", batch_num) && batch_num == 0) reader.refuse("batch_num", "at least 1");
}

/// fakequant_precision_mode. \return whether factors are rounded to what fp16 holds
[[nodiscard]] inline bool read_precision_mode(ObjectReader& reader) {
  std::string mode = "DEFAULT";
  reader.read("fakequant_precision_mode", mode);
  if (mode != "DEFAULT" && mode != "FORCE_FP16_QUANT") {
    reader.refuse("fakequant_precision_mode", "DEFAULT or FORCE_FP16_QUANT");
  }
  return mode == "FORCE_FP16_QUANT";
}

[[nodiscard]] inline std::filesystem::path read_om_config(ObjectReader& reader, const std::string& file) {
  const ConfigValue* const om_config = reader.take("om_config");
  if (om_config == nullptr) return {};
  ObjectReader inner(*om_config, {.file = file}, "om_config", reader.diagnostics());
  std::string mapping_file;
  if (!inner.read("mapping_file", mapping_file) || mapping_file.empty()) inner.refuse("mapping_file", "a path");
  inner.refuse_others();
  return mapping_file.empty() ? std::filesystem::path{} : std::filesystem::path(file).parent_path() / mapping_file;
}

/// Whether any layer with weights, or any layer at all if `also_weightless`, can be of the type.
[[nodiscard]] inline bool names_retrainable(const LayerPattern& pattern, bool also_weightless) noexcept {
  if (also_weightless) return true;
  for (const LayerKind kind : kAllLayerKinds) {
    if (has_weights(kind) && pattern.has_kind(kind)) return true;
  }
  return false;
}

}  // namespace detail

/// Reads an easy retrain config from the members of its file.
/// \param value   an object; null stands for a config that says nothing
/// \param layers  the quantizable layers of the network
/// \param nodes   names of all nodes: a skip list may name any of them
/// \param out     gets all that does not fit, with file, line, column and field
[[nodiscard]] inline RetrainConfig read_retrain_config(const ConfigValue& value, const std::string& file,
                                                       const LayerTable& layers, const std::vector<std::string>& nodes,
                                                       const FlavourRules& rules, RetrainMode mode, Diagnostics& out) {
  RetrainConfig config;
  if (value.is_null()) return config;
  const LayerTable own = retrainable_layers(layers, rules);
  const auto usable = [also = retrain_form(rules).lists_inputs](const LayerPattern& pattern) {
    return detail::names_retrainable(pattern, also);
  };
  const NetworkNames network(own, nodes);
  ObjectReader reader(value, {.file = file}, "", out);
  detail::read_batch_num(reader, config.batch_num);
  config.force_fp16 = detail::read_precision_mode(reader);
  config.om_mapping_file = detail::read_om_config(reader, file);

  read_skip_layers(reader, "skip_layers", own, network, config.not_quantized);
  read_skip_types(reader, "skip_layer_types", own, usable, config.not_quantized);
  config.not_pruned = config.not_quantized;
  read_skip_layers(reader, "quant_skip_layers", own, network, config.not_quantized);
  read_skip_types(reader, "quant_skip_types", own, usable, config.not_quantized);
  read_skip_layers(reader, "regular_prune_skip_layers", own, network, config.not_pruned);
  read_skip_types(reader, "regular_prune_skip_types", own, usable, config.not_pruned);

  const auto read_parts = [&](ObjectReader& parts, const std::string& path) {
    return detail::read_retrain_parts(parts, file, path, rules, mode);
  };
  config.levels.common = read_parts(reader, "");
  config.levels.types = read_overrides<RetrainParts>(
      reader, file, "override_layer_types", "layer_type",
      [&](const std::string& type, const Where& where) { check_type_name(out, where, type, usable); }, read_parts);
  for (auto& [name, parts] : read_overrides<RetrainParts>(
           reader, file, "override_layer_configs", "layer_name",
           [&](const std::string&layer, const Where&where) { check_layer_name(out, where, layer, network); },
           read_parts)) {
    config.levels.layers.emplace(std::move(name), std::move(parts));
  }
  reader.refuse_others();
  return config;
}

}  // namespace amct
