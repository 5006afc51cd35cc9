// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/kv_cache.hpp>
#include <amct/config/layer_members.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// Full configs of key-value caches (config.json): batch_num, activation_offset, and a member a layer.

namespace amct {

namespace detail {

inline constexpr std::string_view kKvParameters[] = {"batch_num", "activation_offset"};

inline constexpr SearchFields kJsonSearch{"search_range[0]", "search_range[1]"};

/// An object with the search range as two members. \return false and an error if it is no pair
[[nodiscard]] inline bool flatten_search_range(ObjectReader& reader, const ConfigValue& object, ConfigValue& flat) {
  for (const auto& [name, member] : *object.object()) {
    if (name != "search_range") {
      flat.add(name, member);
    } else if (member.list() == nullptr || member.list()->size() != 2) {
      reader.refuse("search_range", "a list of two numbers");
      return false;
    } else {
      flat.add(kJsonSearch.start, (*member.list())[0]);
      flat.add(kJsonSearch.end, (*member.list())[1]);
    }
  }
  flat.line = object.line;
  flat.column = object.column;
  return true;
}

inline void read_kv_data(const ConfigValue& value, const Where& where, const FlavourRules& rules,
                         bool activation_offset, KvCacheLayer& layer, Diagnostics& out) {
  constexpr const char* kPath = "kv_data_quant_config";
  ObjectReader outer(value, where, kPath, out);
  ConfigValue flat{ConfigValue::Object{}};
  if (value.object() == nullptr || !flatten_search_range(outer, value, flat)) return;
  ObjectReader reader(flat, where, kPath, out);
  std::string algorithm = "ifmr";
  if (reader.read("act_algo", algorithm) && algorithm != "ifmr" && algorithm != "hfmg") {
    reader.refuse("act_algo", "ifmr or hfmg");
  }
  KvCacheSetting setting;
  if (algorithm == "hfmg") setting.data.algorithm = ActivationAlgorithm::hfmg;
  read_kv_parameters(reader, rules, kJsonSearch, setting);
  int granularity = 0;
  if (reader.read("quant_granularity", granularity) && granularity != 0 && granularity != 1) {
    reader.refuse("quant_granularity", "0 (per tensor) or 1 (per channel)");
  }
  reader.refuse_others(rules.unknown_config_fields_refused);
  layer.data = setting.data;
  layer.data.asymmetric = setting.asymmetric.value_or(activation_offset);
  layer.per_channel = granularity == 1;
}

[[nodiscard]] inline ConfigValue to_kv_json(const KvCacheLayer& layer, bool activation_offset) {
  const ActivationPlan& data = layer.data;
  ConfigValue value;
  if (data.algorithm == ActivationAlgorithm::hfmg) {
    value.add("act_algo", "hfmg");
    value.add("num_of_bins", static_cast<std::int64_t>(data.num_of_bins));
  } else {
    value.add("act_algo", "ifmr");
    value.add("max_percentile", data.max_percentile);
    value.add("min_percentile", data.min_percentile);
    value.add("search_range", ConfigValue::List{data.search_start, data.search_end});
    value.add("search_step", data.search_step);
  }
  if (data.asymmetric != activation_offset) value.add("asymmetric", data.asymmetric);
  value.add("quant_granularity", layer.per_channel ? 1 : 0);
  return value;
}

}  // namespace detail

/// The full config of a plan, in AMCT's order of keys; layers in the order of the plan.
[[nodiscard]] inline ConfigValue to_kv_cache_json(const KvCachePlan& plan) {
  ConfigValue value;
  value.add("batch_num", static_cast<std::int64_t>(plan.batch_num));
  value.add("activation_offset", plan.activation_offset);
  for (const KvCacheLayer& layer : plan.layers) {
    value.add(layer.name, ConfigValue{}).add("kv_data_quant_config", detail::to_kv_json(layer, plan.activation_offset));
  }
  return value;
}

/// Reads a full config; missing members take their defaults, and what does not fit goes to `out`.
[[nodiscard]] inline KvCachePlan from_kv_cache_json(const ConfigValue& value, const LayerTable& layers,
                                                    const FlavourRules& rules, const std::string& file,
                                                    Diagnostics& out) {
  KvCachePlan plan;
  ObjectReader reader(value, {.file = file}, "", out);
  if (reader.read("batch_num", plan.batch_num) && plan.batch_num == 0) reader.refuse("batch_num", "at least 1");
  reader.read("activation_offset", plan.activation_offset);
  const std::vector<std::string> no_nodes;
  const NetworkNames network(layers, no_nodes);
  visit_layer_members(value, file, layers, detail::kKvParameters, out,
                      [&](const LayerInfo& info, const ConfigValue& member) {
                        const Where where{.file = file, .layer = info.name};
                        KvCacheLayer layer{.name = info.name};
                        layer.data.asymmetric = plan.activation_offset;
                        ObjectReader inner(member, where, "", out);
                        detail::require_linear(info.name, network, inner.where(""), out);
                        if (const auto* const data = inner.take("kv_data_quant_config"); data != nullptr) {
                          detail::read_kv_data(*data, where, rules, plan.activation_offset, layer, out);
                        }
                        inner.refuse_others(rules.unknown_config_fields_refused);
                        plan.layers.push_back(std::move(layer));
                      });
  if (plan.layers.empty()) out.error(ErrorCode::config_layer, {.file = file}, "no layer is given to quantize");
  return plan;
}

}  // namespace amct
