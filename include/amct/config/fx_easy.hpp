// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <amct/config/fx_fields.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/skip_list.hpp>
#include <amct/config/type_names.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// An easy config of the static graph, free of its file format. Its names are those of a network.
struct FxEasyConfig {
  /// Layer types, and what is different for them.
  struct TypeEntry {
    std::vector<const LayerPattern*> patterns{};
    std::vector<std::string> operators{};  ///< a user's own
    fx::Setting setting{};
    std::string field{};  ///< for messages: `override_layer_types[1]`

    [[nodiscard]] bool matches(const LayerInfo& layer) const noexcept {
      return std::any_of(patterns.begin(), patterns.end(), [&](const auto* it) { return it->matches(layer); }) ||
             std::find(operators.begin(), operators.end(), layer.op_type) != operators.end();
    }
  };
  /// What is different for named layers.
  struct LayerEntry {
    fx::Setting setting{};
    std::string field{};
  };

  std::string file{};  ///< for messages
  std::set<std::string> skipped{};
  std::optional<std::string> mapping_file{};  ///< om_config, as stated; see config/om.hpp
  fx::Setting common{};
  std::vector<TypeEntry> type_entries{};
  std::vector<LayerEntry> layer_entries{};
  std::unordered_map<std::string, std::size_t> layer_entry_of{};  ///< index in layer_entries

  [[nodiscard]] const LayerEntry* entry_of(const std::string& layer) const {
    const auto found = layer_entry_of.find(layer);
    return found == layer_entry_of.end() ? nullptr : &layer_entries[found->second];
  }
};

namespace fx {

/// Reads an easy config. All findings go to `out`; what they concern is left out.
class EasyReader {
 public:
  EasyReader(std::string file, const LayerTable& layers, const NetworkNames& network, const FlavourRules& rules,
             Diagnostics& out)
      : layers_(layers), network_(network), refuse_unknown_(rules.unknown_config_fields_refused), out_(out) {
    config_.file = std::move(file);
    for (const LayerInfo& layer : layers) operators_.insert(layer.op_type);
  }

  [[nodiscard]] FxEasyConfig read(const ConfigValue& value) {
    if (value.is_null()) return config_;  // an empty file
    ObjectReader top(value, where(), "", out_);
    if (!take_null(top, "skip_layers")) read_skip_layers(top, "skip_layers", layers_, network_, config_.skipped);
    read_om_config(top);
    if (const ConfigValue* const common = take_section(top, "common_config")) {
      ObjectReader reader(*common, where(), "common_config", out_);
      config_.common = read_setting(reader, where(), "common_config", refuse_unknown_);
      reader.refuse_others(refuse_unknown_);
    }
    read_entries(top, "override_layer_types", "layer_type");
    read_entries(top, "override_layer_configs", "layer_name");
    top.refuse_others(refuse_unknown_);
    return std::move(config_);
  }

 private:
  [[nodiscard]] Where where() const { return {.file = config_.file}; }

  /// A section without content, as YAML has where everything below a key is commented out, counts as absent.
  static bool take_null(ObjectReader& top, std::string_view name) {
    const ConfigValue* const value = top.take(name);
    return value == nullptr || value->is_null();
  }
  static const ConfigValue* take_section(ObjectReader& top, std::string_view name) {
    return take_null(top, name) ? nullptr : top.take(name);
  }

  void read_om_config(ObjectReader& top) {
    const ConfigValue* const value = take_section(top, "om_config");
    if (value == nullptr) return;
    ObjectReader reader(*value, where(), "om_config", out_);
    std::string path;
    if (reader.read("mapping_file", path) && !path.empty()) config_.mapping_file = path;
    else if (value->object() != nullptr) reader.refuse("mapping_file", "the path of an om.json file");
    reader.refuse_others(refuse_unknown_);
  }

  void read_entries(ObjectReader& top, const std::string& field, const std::string& name_field) {
    const ConfigValue* const list = take_section(top, field);
    if (list == nullptr) return;
    if (list->list() == nullptr) return top.refuse(field, "a list");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list->list()->size(); ++i) {
      const std::string path = field + '[' + std::to_string(i) + ']';
      ObjectReader reader((*list->list())[i], where(), path, out_);
      const std::vector<std::string> names = read_names(reader, name_field, path, seen);
      Setting setting = read_setting(reader, where(), path, refuse_unknown_);
      reader.refuse_others(refuse_unknown_);
      if (names.empty()) continue;
      if (name_field == "layer_type") {
        config_.type_entries.push_back(type_entry(names, std::move(setting), path));
      } else {
        for (const std::string& name : names) config_.layer_entry_of.emplace(name, config_.layer_entries.size());
        config_.layer_entries.push_back({std::move(setting), path});
      }
    }
  }

  [[nodiscard]] static FxEasyConfig::TypeEntry type_entry(const std::vector<std::string>& types, Setting setting,
                                                          const std::string& path) {
    FxEasyConfig::TypeEntry entry{.setting = std::move(setting), .field = path};
    for (const std::string& type : types) {
      if (const LayerPattern* const pattern = find_type(type)) entry.patterns.push_back(pattern);
      else entry.operators.push_back(type);
    }
    return entry;
  }

  /// One name or a list of them; those that mean nothing or were given before are reported and left out.
  std::vector<std::string> read_names(ObjectReader& reader, const std::string& name_field, const std::string& path,
                                      std::set<std::string>& seen) {
    std::vector<std::string> names;
    const ConfigValue* const value = reader.take(name_field);
    if (value == nullptr || (value->list() == nullptr && value->text() == nullptr)) {
      reader.refuse(name_field, "a name or a list of names");
      return names;
    }
    const auto add = [&](const ConfigValue& item) {
      Where place = where();
      place.line = item.line;
      place.column = item.column;
      place.field = path + '.' + name_field;
      const std::string* const name = item.text();
      if (name == nullptr) {
        out_.error(ErrorCode::config_range, place, "got " + describe(item) + ", expected a name");
      } else if (!seen.insert(*name).second) {
        out_.error(ErrorCode::config_layer, place, '"' + *name + "\" is given more than once");
      } else if (name_field == "layer_type" ? check_type(*name, place) : check_layer(*name, place)) {
        names.push_back(*name);
      }
    };
    if (value->text() != nullptr) add(*value);
    else
      for (const ConfigValue& item : *value->list()) add(item);
    return names;
  }

  [[nodiscard]] bool check_type(const std::string& type, const Where& place) {
    if (is_known_type(type) || operators_.count(type) != 0) return true;
    constexpr std::size_t kMostSuggestions = 20;  // looking for near names takes time
    const bool helpful = out_.all().size() < kMostSuggestions;
    out_.error(ErrorCode::config_layer, place,
               helpful ? describe_unknown_type(type) : "layer type \"" + type + "\" is not known");
    return false;
  }
  [[nodiscard]] bool check_layer(const std::string& name, const Where& place) {
    if (network_.layer(name) != nullptr) return true;
    if (network_.require(name, place, out_)) {
      out_.warning(ErrorCode::config_layer, place, "\"" + name + "\" cannot be quantized; the entry has no effect");
    }
    return false;
  }

  const LayerTable& layers_;
  const NetworkNames& network_;
  bool refuse_unknown_;
  Diagnostics& out_;
  std::set<std::string_view> operators_;
  FxEasyConfig config_;
};

}  // namespace fx

/// Reads an easy config of the static graph (hotwheels; .yaml or .yml): skip_layers (names, shell wildcards too),
/// om_config, common_config, override_layer_types, override_layer_configs. Unknown layers and types, repeated names and
/// values of a wrong type are errors; unknown fields are what the flavour makes of them.
///
/// \param layers   the quantizable layers
/// \param network  the names of the same layers, and of all nodes
[[nodiscard]] inline FxEasyConfig read_fx_easy(const ConfigValue& value, const std::string& file,
                                               const LayerTable& layers, const NetworkNames& network,
                                               const FlavourRules& rules, Diagnostics& out) {
  return fx::EasyReader(file, layers, network, rules, out).read(value);
}

}  // namespace amct
