// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/layer_rules.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/ranges.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

namespace detail {

/// Reads and checks one layer of a full config.
class ClassicLayerReader {
 public:
  /// \param globals  the plan as far as its globals are read
  ClassicLayerReader(const LayerInfo& layer, const QuantPlan& globals, const FlavourRules& rules,
                     const std::string& file, Diagnostics& out)
      : layer_(layer), globals_(globals), rules_(rules), where_{.file = file, .layer = layer.name}, out_(out) {}

  [[nodiscard]] LayerPlan read(const ConfigValue& value) {
    ObjectReader reader(value, where_, "", out_);
    LayerPlan plan{.name = layer_.name, .kind = layer_.kind, .op_type = layer_.op_type};
    if (value.object() == nullptr) return plan;
    if (!reader.read("quant_enable", plan.enabled) && !reader.has("quant_enable") && rules_.quant_enable_required) {
      reader.refuse("quant_enable", "true or false");
    }
    plan.activations = read_activations(reader, plan.enabled);
    plan.weights = read_weights(reader.take("weight_quant_params"));
    plan.dmq_strength = read_balance(reader);
    check_pairs(reader, plan);
    reader.refuse_others(rules_.unknown_config_fields_refused);
    return plan;
  }

 private:
  /// A function for the checks of config/ranges.hpp: two ends of a range are one field here.
  [[nodiscard]] static auto refuser(ObjectReader& reader) {
    return [&reader](std::string_view field, const std::string& got, const std::string& expected) {
      reader.refuse_with(json_field(field), "got " + got + ", expected " + expected);
    };
  }
  /// A function for config/layer_rules.hpp.
  [[nodiscard]] auto reporter(ObjectReader& reader) {
    return [this, &reader](bool is_error, std::string_view field, const std::string& message) {
      if (is_error) {
        reader.refuse_with(json_field(field), message);
      } else {
        out_.warning(ErrorCode::config_range, reader.where(json_field(field)), message);
      }
    };
  }
  [[nodiscard]] static std::string_view json_field(std::string_view field) {
    if (field.starts_with("search_range")) return "search_range";
    return field.starts_with("beta_range") ? "beta_range" : field;
  }

  [[nodiscard]] std::vector<ActivationPlan> read_activations(ObjectReader& reader, bool enabled) {
    constexpr std::string_view kField = "activation_quant_params";
    const auto inputs = static_cast<std::size_t>(std::max(layer_.activation_inputs, 1));
    std::vector<ActivationPlan> plans(inputs, ActivationPlan{.asymmetric = globals_.activation_offset});
    const ConfigValue* value = reader.take(kField);
    const bool in_list = rules_.config_family == ConfigFamily::classic_list;
    const std::string form = in_list ? "a list with one entry for each input" : "an object";
    if (value == nullptr) {
      if (enabled) reader.refuse(kField, form);
    } else if (in_list && value->list() == nullptr) {
      reader.refuse(kField, form);
    } else if (in_list && value->list()->size() != inputs) {
      reader.refuse_with(kField, "got " + std::to_string(value->list()->size()) + " entries, expected " +
                                     std::to_string(inputs) + ", one for each input of the layer");
    } else if (in_list) {
      for (std::size_t i = 0; i < inputs; ++i) {
        plans[i] = read_activation((*value->list())[i], std::string(kField) + '[' + std::to_string(i) + ']');
      }
    } else {
      plans.assign(inputs, read_activation(*value, std::string(kField)));
    }
    return plans;
  }

  [[nodiscard]] ActivationPlan read_activation(const ConfigValue& value, const std::string& path) {
    ObjectReader reader(value, where_, path, out_);
    ActivationPlan plan{.asymmetric = globals_.activation_offset};
    reader.read("num_bits", plan.bits);
    const bool asymmetry_stated = reader.read("asymmetric", plan.asymmetric);
    plan.algorithm = read_algorithm(reader);
    if (plan.algorithm == ActivationAlgorithm::hfmg) {
      reader.read("num_of_bins", plan.num_of_bins);
      refuse_foreign(reader, {"max_percentile", "min_percentile", "search_range", "search_step"}, "hfmg");
    } else {
      reader.read("max_percentile", plan.max_percentile);
      reader.read("min_percentile", plan.min_percentile);
      read_pair(reader, "search_range", plan.search_start, plan.search_end);
      read_step(reader, plan.search_step);
      refuse_foreign(reader, {"num_of_bins"}, "ifmr");
    }
    reader.refuse_others(rules_.unknown_config_fields_refused);
    check_ranges(plan, rules_, refuser(reader));
    fit(plan, layer_, rules_, true, asymmetry_stated, reporter(reader));
    return plan;
  }

  /// Without act_algo, bins mean HFMG.
  [[nodiscard]] ActivationAlgorithm read_algorithm(ObjectReader& reader) const {
    std::string name = rules_.has_hfmg && reader.has("num_of_bins") ? "hfmg" : "ifmr";
    reader.read("act_algo", name);
    if (name == "hfmg" && rules_.has_hfmg) return ActivationAlgorithm::hfmg;
    if (name != "ifmr") reader.refuse("act_algo", rules_.has_hfmg ? "\"ifmr\" or \"hfmg\"" : "\"ifmr\"");
    return ActivationAlgorithm::ifmr;
  }
  static void refuse_foreign(ObjectReader& reader, std::initializer_list<const char*> fields, const char* algorithm) {
    for (const char* field : fields) {
      if (reader.take(field) != nullptr) {
        reader.refuse_with(field, std::string("is no parameter of act_algo ") + algorithm);
      }
    }
  }

  static void read_pair(ObjectReader& reader, std::string_view field, double& first, double& second) {
    const ConfigValue* value = reader.take(field);
    if (value == nullptr) return;
    const auto* list = value->list();
    const auto number = [](const ConfigValue& item) -> std::optional<double> {
      if (const double* real = item.real()) return *real;
      if (const auto* integer = item.integer()) return static_cast<double>(*integer);
      return std::nullopt;
    };
    if (list == nullptr) return reader.refuse(field, "a list of two numbers");
    if (list->size() != 2 || !number((*list)[0]) || !number((*list)[1])) {
      return reader.refuse_with(
          field, "got a list of " + std::to_string(list->size()) + " entries, expected a list of two numbers");
    }
    first = *number((*list)[0]);
    second = *number((*list)[1]);
  }

  /// AMCT takes a text for this number too.
  static void read_step(ObjectReader& reader, double& step) {
    const ConfigValue* value = reader.take("search_step");
    const std::string* text = value != nullptr ? value->text() : nullptr;
    if (text == nullptr) {
      reader.read("search_step", step);
      return;
    }
    const char* const end = text->data() + text->size();
    double number = 0.0;
    const auto parsed = std::from_chars(text->data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return reader.refuse("search_step", "a number");
    step = number;
  }

  [[nodiscard]] WeightPlan read_weights(const ConfigValue* value) {
    WeightPlan plan{.channel_wise = may_be_channel_wise(rules_, layer_.kind)};
    if (value == nullptr) {
      if (!has_weights(layer_.kind)) plan = {.algorithm = WeightAlgorithm::none};
      return plan;
    }
    ObjectReader reader(*value, where_, "weight_quant_params", out_);
    plan.algorithm = read_weight_algorithm(reader);
    if (plan.algorithm == WeightAlgorithm::snq) plan.bits = 4;
    reader.read("num_bits", plan.bits);
    reader.read("channel_wise", plan.channel_wise);
    if (plan.algorithm == WeightAlgorithm::ada) {
      reader.read("reg_param", plan.reg_param);
      reader.read("warm_start", plan.warm_start);
      reader.read("num_iteration", plan.num_iteration);
      read_pair(reader, "beta_range", plan.beta_start, plan.beta_end);
    } else if (plan.algorithm == WeightAlgorithm::snq) {
      reader.read("max_iteration", plan.max_iteration);
      reader.read("min_distance", plan.min_distance);
      reader.read("init_algo", plan.init_algo);
    }
    reader.refuse_others(rules_.unknown_config_fields_refused);
    check_ranges(plan, rules_, refuser(reader));
    fit(plan, layer_, rules_, true, reporter(reader));
    return plan;
  }

  [[nodiscard]] WeightAlgorithm read_weight_algorithm(ObjectReader& reader) const {
    std::string name = "arq_quantize";
    reader.read("wts_algo", name);
    if (name == "arq_quantize") return WeightAlgorithm::arq;
    if (name == "ada_quantize" && rules_.has_ada_round) return WeightAlgorithm::ada;
    if (name == "snq_quantize" && rules_.has_snq) return WeightAlgorithm::snq;
    reader.refuse("wts_algo", std::string("\"arq_quantize\"") + (rules_.has_ada_round ? " or \"ada_quantize\"" : "") +
                                  (rules_.has_snq ? " or \"snq_quantize\"" : ""));
    return WeightAlgorithm::arq;
  }

  [[nodiscard]] std::optional<double> read_balance(ObjectReader& reader) const {
    constexpr std::string_view kField = "dmq_balancer_param";
    double strength = 0.0;
    if (!rules_.has_dmq || !reader.read(kField, strength)) return std::nullopt;
    check_migration_strength(strength, [&](std::string_view, const std::string& got, const std::string& expected) {
      reader.refuse_with(kField, "got " + got + ", expected " + expected);
    });
    if (may_be_balanced(layer_.kind)) return strength;
    reader.refuse_with(kField, "is not available for layer type " + type_name(layer_));
    return std::nullopt;
  }

  void check_pairs(ObjectReader& reader, const LayerPlan& plan) {
    for (const auto& activation : plan.activations) {
      check_width_pair(activation, plan.weights, rules_, [&](bool, std::string_view field, const std::string& message) {
        reader.refuse_with("activation_quant_params", std::string(field) + ": " + message);
      });
    }
  }

  const LayerInfo& layer_;
  const QuantPlan& globals_;
  const FlavourRules& rules_;
  const Where where_;
  Diagnostics& out_;
};

/// What stands at the top of a full config beside the layers.
inline void read_classic_globals(ObjectReader& top, QuantPlan& plan, const NetworkNames& network,
                                 const FlavourRules& rules) {
  std::int64_t version = 1;
  if (top.read("version", version) && version != 1) top.refuse("version", "1");
  if (top.read("batch_num", plan.batch_num) && plan.batch_num == 0) top.refuse("batch_num", "at least 1");
  top.read("activation_offset", plan.activation_offset);
  top.read("do_fusion", plan.do_fusion);
  for (const char* field : {"joint_quant", "weight_offset"}) {
    bool wanted = false;
    if (top.read(field, wanted) && wanted) {
      top.refuse_with(field, "got true, but amct only does false", ErrorCode::config_unsupported);
    }
  }
  std::string mode = "DEFAULT";
  top.read("fakequant_precision_mode", mode);
  plan.force_fp16 = mode == "FORCE_FP16_QUANT";
  if (!plan.force_fp16 && mode != "DEFAULT") top.refuse("fakequant_precision_mode", "DEFAULT or FORCE_FP16_QUANT");
  if (top.read("skip_fusion_layers", plan.skip_fusion_layers)) {
    const auto& items = *top.take("skip_fusion_layers")->list();
    const auto place = [&](std::size_t i) {
      Where where = top.where("skip_fusion_layers");
      where.line = items[i].line;
      where.column = items[i].column;
      return where;
    };
    check_skip_fusion(plan.skip_fusion_layers, network, rules, place, top.diagnostics());
  }
}

inline void read_batch_norm_update(ObjectReader& top, QuantPlan& plan, const std::string& file,
                                   const FlavourRules& rules) {
  bool wanted = false;
  top.read("update_bn", wanted);
  BatchNormUpdate update;
  if (const ConfigValue* value = top.take("bn_update_config")) {
    ObjectReader reader(*value, {.file = file}, "bn_update_config", top.diagnostics());
    reader.read("bn_update_iterations", update.iterations);
    reader.read("bn_momentum", update.momentum);
    reader.read("bn_dump_dir", update.dump_dir);
    reader.refuse_others(rules.unknown_config_fields_refused);
    check_ranges(update, [&](std::string_view field, const std::string& got, const std::string& expected) {
      reader.refuse_with(field, "got " + got + ", expected " + expected);
    });
  }
  if (wanted) plan.batch_norm_update = update;
}

}  // namespace detail

/// Reads a full config of the classic and classic_list families with AMCT's checks. What is missing has AMCT's
/// defaults, except what a layer must state; a layer that the config does not name is not quantized and not in the
/// plan. What is wrong goes to `out`, all of it.
///
/// \param layers  the quantizable layers, in the order of the model
/// \param nodes   names of all nodes
[[nodiscard]] inline QuantPlan from_classic_json(const ConfigValue& value, const LayerTable& layers,
                                                 const std::vector<std::string>& nodes, const FlavourRules& rules,
                                                 const std::string& file, Diagnostics& out) {
  QuantPlan plan;
  ObjectReader top(value, {.file = file}, "", out);
  if (value.object() == nullptr) return plan;
  const NetworkNames network(layers, nodes);
  detail::read_classic_globals(top, plan, network, rules);
  detail::read_batch_norm_update(top, plan, file, rules);

  std::unordered_map<std::string_view, LayerPlan> read;
  for (const auto& [name, member] : *value.object()) {
    if (detail::is_classic_global(name)) continue;
    const Where where{.file = file, .line = member.line, .column = member.column, .field = name};
    if (const LayerInfo* layer = network.layer(name)) {
      read.emplace(name, detail::ClassicLayerReader(*layer, plan, rules, file, out).read(member));
    } else if (network.has(name)) {
      out.error(ErrorCode::config_layer, where, "this layer of the model cannot be quantized");
    } else if (member.object() == nullptr && !rules.unknown_config_fields_refused) {
      out.warning(ErrorCode::config_syntax, where, "is not a known parameter and is ignored");
    } else if (member.object() == nullptr) {
      out.error(ErrorCode::config_syntax, where, "is neither a parameter nor a layer of the model");
    } else {
      network.require(name, where, out);
    }
  }
  for (const auto& layer : layers) {
    if (const auto found = read.find(layer.name); found != read.end()) plan.layers.push_back(std::move(found->second));
  }
  if (std::none_of(plan.layers.begin(), plan.layers.end(), [](const auto& layer) { return layer.enabled; })) {
    out.error(ErrorCode::config_layer, {.file = file},
              "No quant enable layer in quant config file, please check the quant config file.");
  }
  return plan;
}

}  // namespace amct
