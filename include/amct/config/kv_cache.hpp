// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/levels.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/ranges.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// Quantization of a key-value cache: the outputs of Linear layers are calibrated to 8 bits.

namespace amct {

/// How the output of one layer is calibrated.
struct KvCacheLayer {
  std::string name{};
  ActivationPlan data{};     ///< always 8 bits
  bool per_channel = false;  ///< factors for each index of the last axis

  friend bool operator==(const KvCacheLayer&, const KvCacheLayer&) = default;
};

/// What is done to a network with a key-value cache.
struct KvCachePlan {
  std::uint32_t batch_num = 1;
  bool activation_offset = true;  ///< asymmetric, unless a layer says otherwise
  std::vector<KvCacheLayer> layers{};

  friend bool operator==(const KvCachePlan&, const KvCachePlan&) = default;
};

/// An algorithm and its parameters as an easy config states them.
struct KvCacheSetting {
  ActivationPlan data{};
  std::optional<bool> asymmetric{};  ///< empty: as activation_offset says
  bool per_channel = false;
};

/// An easy config (AMCTQuantCaliConfig).
struct KvCacheConfig {
  std::uint32_t batch_num = 1;
  bool activation_offset = true;
  std::vector<Stated<std::string>> quant_layers{};
  std::optional<KvCacheSetting> common{};
  std::map<std::string, KvCacheSetting> layers{};  ///< settings of single layers
};

namespace detail {

/// What the ends of the search range are called.
struct SearchFields {
  const char* start = "search_range_start";
  const char* end = "search_range_end";
};

/// Reads the algorithm's parameters and checks their ranges.
inline void read_kv_parameters(ObjectReader& reader, const FlavourRules& rules, const SearchFields& search,
                               KvCacheSetting& setting) {
  ActivationPlan& data = setting.data;
  if (data.algorithm == ActivationAlgorithm::hfmg) {
    reader.read("num_of_bins", data.num_of_bins);
  } else {
    reader.read(search.start, data.search_start);
    reader.read(search.end, data.search_end);
    reader.read("search_step", data.search_step);
    reader.read("max_percentile", data.max_percentile);
    reader.read("min_percentile", data.min_percentile);
  }
  bool asymmetric = true;
  if (reader.read("asymmetric", asymmetric)) setting.asymmetric = asymmetric;
  check_ranges(data, rules, [&](const std::string& field, const std::string& got, const std::string& expected) {
    const std::string name = field == SearchFields{}.start ? search.start
                             : field == SearchFields{}.end ? search.end
                                                           : field;
    reader.refuse_with(name, "got " + got + ", expected " + expected);
  });
}

[[nodiscard]] inline std::optional<KvCacheSetting> read_kv_setting(const ConfigValue& value, const Where& where,
                                                                   const std::string& path, const FlavourRules& rules,
                                                                   Diagnostics& out) {
  ObjectReader reader(value, where, path, out);
  std::optional<KvCacheSetting> result;
  const auto read = [&](const std::string& name, ActivationAlgorithm algorithm) {
    const ConfigValue* const member = reader.take(name);
    if (member == nullptr) return;
    if (result) reader.refuse_with(name, "is a second algorithm, expected ifmr_quantize or hfmg_quantize");
    KvCacheSetting setting{.data = {.algorithm = algorithm}};
    ObjectReader fields(*member, where, path + '.' + name, out);
    read_kv_parameters(fields, rules, {}, setting);
    std::string granularity = "per_tensor";
    if (fields.read("quant_granularity", granularity) && granularity != "per_tensor" && granularity != "per_channel") {
      fields.refuse("quant_granularity", "per_tensor or per_channel");
    }
    setting.per_channel = granularity == "per_channel";
    fields.refuse_others();
    result = setting;
  };
  read("ifmr_quantize", ActivationAlgorithm::ifmr);
  read("hfmg_quantize", ActivationAlgorithm::hfmg);
  reader.refuse_others();
  return result;
}

inline void read_quant_layers(ObjectReader& reader, KvCacheConfig& config) {
  std::vector<std::string> names;
  const ConfigValue* const list = reader.take("quant_layers");
  if (list == nullptr || !reader.read("quant_layers", names)) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Where where = reader.where("quant_layers");
    where.line = (*list->list())[i].line;
    where.column = (*list->list())[i].column;
    config.quant_layers.push_back({names[i], where});
  }
}

/// Whether the layer's output can be calibrated; otherwise an error.
inline bool require_linear(const std::string& name, const NetworkNames& network, const Where& where, Diagnostics& out) {
  if (!network.require(name, where, out)) return false;
  const LayerInfo* const layer = network.layer(name);
  if (layer != nullptr && layer->kind == LayerKind::linear) return true;
  out.error(ErrorCode::config_layer, where,
            "layer \"" + name + "\"" + (layer == nullptr ? "" : " is of type " + type_name(*layer) + " and") +
                " cannot be quantized here, expected a Linear layer");
  return false;
}

}  // namespace detail

/// Reads an easy config from the members of its file; null stands for one that says nothing. What does not fit goes to
/// `out`.
[[nodiscard]] inline KvCacheConfig read_kv_cache_config(const ConfigValue& value, const std::string& file,
                                                        const FlavourRules& rules, Diagnostics& out) {
  const Where where{.file = file};
  KvCacheConfig config;
  if (value.is_null()) return config;
  ObjectReader reader(value, where, "", out);
  if (reader.read("batch_num", config.batch_num) && config.batch_num == 0) reader.refuse("batch_num", "at least 1");
  reader.read("activation_offset", config.activation_offset);
  if (const auto* const common = reader.take("kv_cache_quant_config"); common != nullptr) {
    const std::string path = "kv_cache_quant_config";
    ObjectReader inner(*common, where, path, out);
    detail::read_quant_layers(inner, config);
    if (const auto* const setting = inner.take("calibration_config"); setting != nullptr) {
      config.common = detail::read_kv_setting(*setting, where, path + ".calibration_config", rules, out);
    }
    inner.refuse_others();
  }
  std::set<std::string> listed;
  for (const auto& layer : config.quant_layers) listed.insert(layer.value);
  const auto check_name = [&](const std::string& name, const Where& place) {
    if (!listed.contains(name))
      out.error(ErrorCode::config_layer, place, "layer \"" + name + "\" is not among the quant_layers");
  };
  using Setting = std::optional<KvCacheSetting>;
  const auto read_setting = [&](ObjectReader& item, const std::string& path) -> Setting {
    const auto* const setting = item.take("kv_data_quant_config");
    if (setting == nullptr) return std::nullopt;
    return detail::read_kv_setting(*setting, where, path + ".kv_data_quant_config", rules, out);
  };
  for (const auto& [name, setting] :
       read_overrides<Setting>(reader, file, "override_layers_configs", "layer_name", check_name, read_setting)) {
    if (setting) config.layers.emplace(name, *setting);
  }
  reader.refuse_others();
  return config;
}

/// What an easy config means for a network: the layers that it lists, in the order of the model. A layer that does not
/// exist, is not Linear or is listed twice is an error, and so is an empty list.
/// \param layers  the quantizable layers; \param nodes  the names of all nodes, for messages
[[nodiscard]] inline KvCachePlan resolve_kv_cache(const KvCacheConfig& config, const LayerTable& layers,
                                                  const std::vector<std::string>& nodes, const std::string& file,
                                                  Diagnostics& out) {
  const NetworkNames network(layers, nodes);
  KvCachePlan plan{.batch_num = config.batch_num, .activation_offset = config.activation_offset};
  std::set<std::string> chosen;
  for (const auto& [name, where] : config.quant_layers) {
    if (!chosen.insert(name).second) {
      out.error(ErrorCode::config_layer, where, "layer \"" + name + "\" is repeated, expected it once");
    } else {
      detail::require_linear(name, network, where, out);
    }
  }
  if (chosen.empty()) {
    out.error(ErrorCode::config_layer, {.file = file, .field = "quant_layers"}, "no layer is given to quantize");
  }
  for (const LayerInfo& info : layers) {
    if (!chosen.contains(info.name)) continue;
    const auto own = config.layers.find(info.name);
    const KvCacheSetting setting = own != config.layers.end() ? own->second : config.common.value_or(KvCacheSetting{});
    KvCacheLayer layer{.name = info.name, .data = setting.data, .per_channel = setting.per_channel};
    layer.data.asymmetric = setting.asymmetric.value_or(config.activation_offset);
    plan.layers.push_back(std::move(layer));
  }
  return plan;
}

}  // namespace amct
