// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <amct/config/object_reader.hpp>
#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// What configs say about pruning: channels ("filter pruning") or two of every four weights ("selective pruning").

namespace amct {

/// Channels with the smallest norms are removed (balanced_l2_norm_filter_prune).
struct FilterPrune {
  double prune_ratio = 0.0;      ///< part of the channels that goes, above 0 and below 1
  bool ascend_optimized = true;  ///< what is left is a multiple of 16 channels

  friend bool operator==(const FilterPrune&, const FilterPrune&) = default;
};

/// The two smallest of every four weights along the input channels become zero (l1_selective_prune, M4N2).
struct SelectivePrune {
  std::uint32_t update_freq = 0;  ///< batches between new masks; 0: the mask of the first batch stays

  friend bool operator==(const SelectivePrune&, const SelectivePrune&) = default;
};

/// Only one of the two for a layer.
using PruneSetting = std::variant<FilterPrune, SelectivePrune>;

/// Whether layers of this sort can be pruned this way: channels of Conv2d (not depthwise) and Linear, weights of
/// Conv2d, ConvTranspose2d and Linear.
[[nodiscard]] inline bool can_prune(const LayerInfo& layer, const PruneSetting& setting) noexcept {
  if (layer.kind == LayerKind::linear) return true;
  if (std::holds_alternative<FilterPrune>(setting)) return layer.kind == LayerKind::conv2d && !layer.depthwise;
  return layer.kind == LayerKind::conv2d || layer.kind == LayerKind::conv_transpose2d;
}

namespace detail {

inline void read_filter_prune(ObjectReader& reader, FilterPrune& prune) {
  const bool given = reader.read("prune_ratio", prune.prune_ratio);
  if (!given ? !reader.has("prune_ratio") : !(prune.prune_ratio > 0.0 && prune.prune_ratio < 1.0)) {
    reader.refuse("prune_ratio", "a number above 0 and below 1");
  }
  reader.read("ascend_optimized", prune.ascend_optimized);
}

inline void read_selective_prune(ObjectReader& reader, SelectivePrune& prune) {
  std::string type = "M4N2";
  reader.read("n_out_of_m_type", type);
  if (type != "M4N2") reader.refuse("n_out_of_m_type", "M4N2");
  reader.read("update_freq", prune.update_freq);
}

/// One of the two pruners of an easy config: an object `outer` that holds an object `inner`. Null if it is not there.
inline const ConfigValue* take_pruner(ObjectReader& reader, const Where& where, const std::string& path,
                                      const std::string& outer, const std::string& inner) {
  const ConfigValue* const pruner = reader.take(outer);
  if (pruner == nullptr) return nullptr;
  ObjectReader level(*pruner, where, path + '.' + outer, reader.diagnostics());
  const ConfigValue* const algorithm = level.take(inner);
  level.refuse_others();
  if (algorithm == nullptr) level.refuse(inner, "the pruning algorithm");
  return algorithm;
}

}  // namespace detail

/// Reads a prune_config of an easy config. Empty if it states no pruner or a wrong one, which is an error.
[[nodiscard]] inline std::optional<PruneSetting> read_prune_config(const ConfigValue& value, const Where& where,
                                                                   const std::string& path, Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  std::optional<PruneSetting> result;
  const auto read = [&](const std::string& outer, const std::string& inner, auto setting, auto read_fields) {
    const ConfigValue* const algorithm = detail::take_pruner(reader, where, path, outer, inner);
    if (algorithm == nullptr) return;
    if (result) reader.refuse_with(outer, "is a second pruner, expected filter_pruner or n_out_of_m_pruner");
    ObjectReader fields(*algorithm, where, path + '.' + outer + '.' + inner, out);
    read_fields(fields, setting);
    fields.refuse_others();
    result = setting;
  };
  read("filter_pruner", "balanced_l2_norm_filter_prune", FilterPrune{}, detail::read_filter_prune);
  read("n_out_of_m_pruner", "l1_selective_prune", SelectivePrune{}, detail::read_selective_prune);
  reader.refuse_others();
  return result;
}

/// Reads a regular_prune_config of a full config; empty if its type is missing or wrong, which is an error.
[[nodiscard]] inline std::optional<PruneSetting> read_regular_prune(const ConfigValue& value, const Where& where,
                                                                    const std::string& path, Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  std::string type;
  std::string algorithm;
  reader.read("prune_type", type);
  reader.read("algo", algorithm);
  const auto read = [&](const std::string& only_algorithm, auto setting, auto read_fields) {
    if (algorithm != only_algorithm) reader.refuse("algo", only_algorithm + " for prune_type " + type);
    read_fields(reader, setting);
    reader.refuse_others();
    return PruneSetting{setting};
  };
  if (type == "filter_prune") return read("balanced_l2_norm_filter_prune", FilterPrune{}, detail::read_filter_prune);
  if (type == "selective_prune") return read("l1_selective_prune", SelectivePrune{}, detail::read_selective_prune);
  reader.refuse("prune_type", "filter_prune or selective_prune");
  return std::nullopt;
}

/// The regular_prune_config of a full config, in AMCT's order of keys.
[[nodiscard]] inline ConfigValue to_regular_prune(const PruneSetting& setting) {
  ConfigValue value;
  if (const auto* filter = std::get_if<FilterPrune>(&setting)) {
    value.add("prune_type", "filter_prune");
    value.add("algo", "balanced_l2_norm_filter_prune");
    value.add("prune_ratio", filter->prune_ratio);
    value.add("ascend_optimized", filter->ascend_optimized);
  } else {
    value.add("prune_type", "selective_prune");
    value.add("algo", "l1_selective_prune");
    value.add("n_out_of_m_type", "M4N2");
    value.add("update_freq", static_cast<std::int64_t>(std::get<SelectivePrune>(setting).update_freq));
  }
  return value;
}

/// What an automatic search for channels to prune is asked for (AutoChannelPruneConfig).
struct AutoPruneConfig {
  double compress_ratio = 0.0;      ///< computation of the whole network over that of the pruned one, above 1; required
  bool ascend_optimized = true;     ///< what is left of a layer is a multiple of 16 channels
  double max_prune_ratio = 1.0;     ///< most that a layer may lose, above 0, at most 1
  std::int64_t test_iteration = 1;  ///< batches that the sensitivity is measured on, at least 1
  std::string override_prune_cfg{};  ///< retrain .cfg with settings for single layers; empty: none

  friend bool operator==(const AutoPruneConfig&, const AutoPruneConfig&) = default;
};

/// Reads the config of an automatic search; what does not fit goes to `out` and leaves the default.
[[nodiscard]] inline AutoPruneConfig read_auto_prune(const ConfigValue& value, const std::string& file,
                                                     Diagnostics& out) {
  AutoPruneConfig config;
  ObjectReader reader(value, {.file = file}, "", out);
  const bool given = reader.read("compress_ratio", config.compress_ratio);
  if (!given ? !reader.has("compress_ratio") : !(config.compress_ratio > 1.0 && std::isfinite(config.compress_ratio))) {
    reader.refuse("compress_ratio", "a number above 1");
  }
  reader.read("ascend_optimized", config.ascend_optimized);
  if (reader.read("max_prune_ratio", config.max_prune_ratio) &&
      !(config.max_prune_ratio > 0.0 && config.max_prune_ratio <= 1.0)) {
    reader.refuse("max_prune_ratio", "a number above 0, at most 1");
  }
  if (reader.read("test_iteration", config.test_iteration) && config.test_iteration < 1) {
    reader.refuse("test_iteration", "at least 1");
  }
  reader.read("override_prune_cfg", config.override_prune_cfg);
  reader.refuse_others();
  return config;
}

}  // namespace amct
