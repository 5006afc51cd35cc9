// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <amct/config/easy_config.hpp>
#include <amct/config/value.hpp>
#include <amct/core/error.hpp>

/// \file
/// The places where configs name layers. Users write node names, module paths or prefixes of weights there; what reads
/// the configs knows one name a layer.

namespace amct {

/// The name that a layer has in plans and records, for a name that a config gives it; the same name if there is nothing
/// better to say.
using LayerNamer = std::function<std::string(const std::string& name, const Where& where)>;

/// Gives the layers that an easy config names their names in plans.
inline void rename_layers(EasyConfig& config, const LayerNamer& namer) {
  for (std::size_t i = 0; i < config.skip_layers.size(); ++i) {
    config.skip_layers[i] = namer(config.skip_layers[i], config.at("skip_layers", i));
  }
  for (std::size_t i = 0; i < config.skip_fusion_layers.size(); ++i) {
    config.skip_fusion_layers[i] = namer(config.skip_fusion_layers[i], config.at("skip_fusion_layers", i));
  }
  for (auto& [name, setting] : config.layers) name = namer(name, config.at("override_layer_configs"));
}

namespace detail {

[[nodiscard]] inline bool names_layers(std::string_view field) {
  static constexpr std::string_view kFields[] = {
      "skip_layers",   "skip_fusion_layers", "quant_skip_layers",         "skip_approximation_layers",
      "quant_layers",  "layer_name",         "regular_prune_skip_layers", "start_layer_name",
      "end_layer_name"};
  return std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
}

[[nodiscard]] inline Where place_of(const ConfigValue& value, const std::string& file) {
  return {.file = file, .line = value.line, .column = value.column};
}

/// A text, or a list of texts.
inline void rename_texts(ConfigValue& value, const std::string& file, const LayerNamer& namer) {
  if (const std::string* text = value.text()) {
    ConfigValue renamed(namer(*text, place_of(value, file)));
    renamed.line = value.line;
    renamed.column = value.column;
    value = std::move(renamed);
  } else if (auto* list = value.list()) {
    for (ConfigValue& item : *list) {
      if (item.text() != nullptr) rename_texts(item, file, namer);
    }
  }
}

inline void rename_fields(ConfigValue& value, const std::string& file, const LayerNamer& namer) {
  if (auto* list = value.list()) {
    for (ConfigValue& item : *list) rename_fields(item, file, namer);
  } else if (auto* members = value.object()) {
    for (auto& member : *members) {
      if (names_layers(member.name)) rename_texts(member.value, file, namer);
      rename_fields(member.value, file, namer);
    }
  }
}

}  // namespace detail

/// The same for a config of any kind and format that is not read further yet: names stand in fields such as
/// `skip_layers` and `layer_name`, and as the members of a full config.
/// \param file  for messages
inline void rename_layers(ConfigValue& config, const std::string& file, const LayerNamer& namer) {
  detail::rename_fields(config, file, namer);
  auto* members = config.object();
  if (members == nullptr) return;
  for (auto& member : *members) {
    if (member.value.object() != nullptr) member.name = namer(member.name, detail::place_of(member.value, file));
  }
}

}  // namespace amct
