// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/config/classic_json.hpp>
#include <amct/config/create.hpp>
#include <amct/config/distill_config.hpp>
#include <amct/config/distill_json.hpp>
#include <amct/config/easy_config.hpp>
#include <amct/config/fx_align.hpp>
#include <amct/config/fx_checks.hpp>
#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/config/fx_resolve.hpp>
#include <amct/config/kv_cache.hpp>
#include <amct/config/kv_cache_json.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/om.hpp>
#include <amct/config/read_classic_json.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/read_file.hpp>
#include <amct/graph/capacity.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/network.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/fuse_batch_norm.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/json_yaml/yaml.hpp>
#include <amct/protobuf/calibration_cfg.hpp>
#include <amct/protobuf/config_text.hpp>

#include "builtin_quantizers.hpp"
#include "model_file.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::Diagnostics;
using amct::FlavourRules;
using amct::protobuf::CfgSchema;

struct Arguments {
  std::string model, config_file, definition, capacity;
  std::string flavour = "pytorch", mode = "calibration";
  amct::CreateArguments stated;
  bool om_all_layers = false;
};

/// Shows warnings, and throws the errors as one.
void settle(const Diagnostics& out) {
  for (const auto& finding : out.all()) {
    if (!finding.is_error) spdlog::warn(amct::Error(finding.code, finding.where, finding.message).what());
  }
  out.throw_if_errors();
}

/// The operators that a user wants quantized beside those of the flavour.
amct::graph::Capacity read_capacity(const Arguments& arguments) {
  if (arguments.capacity.empty()) return {};
  Diagnostics out;
  constexpr std::uintmax_t kMostBytes = 1U << 20U;
  auto capacity = amct::graph::parse_capacity(amct::read_file(arguments.capacity, kMostBytes), arguments.capacity, out);
  settle(out);
  return capacity;
}

/// What a model is to a config.
struct Model {
  amct::graph::ModuleNames names;
  amct::LayerTable layers;
  std::vector<std::string> nodes;
  amct::Network network;

  Model(const Arguments& arguments, const FlavourRules& rules)
      : Model(read_model(arguments.model), read_capacity(arguments), rules) {}

  /// Lets a config call layers by any of their names. \param config  an easy config, or a value
  void name_layers(amct::EasyConfig& config, Diagnostics& out) const {
    amct::rename_layers(config, amct::graph::layer_namer(names, out));
  }
  void name_layers(ConfigValue& config, const std::string& file, Diagnostics& out) const {
    amct::rename_layers(config, file, amct::graph::layer_namer(names, out));
  }

 private:
  Model(amct::graph::Graph graph, const amct::graph::Capacity& capacity, const FlavourRules& rules) : names(graph) {
    const auto renamed = amct::graph::name_layers(graph, names);
    for (const auto& node : graph.nodes) nodes.push_back(node.name);
    amct::graph::fold_weight_transpose(graph);
    // A BatchNormalization that a convolution takes in is no layer of its own, and what follows stands behind the
    // convolution; groups of distillation do name it.
    if (rules.network_checks) (void)amct::graph::fuse_batch_norm(graph, {});
    layers = amct::graph::find_quantizable(graph, rules, capacity).layers;
    network = amct::graph::network_of(graph, rules.data_operators);
    for (auto& node : network) {
      if (const auto found = renamed.find(node.name); found != renamed.end()) node.onnx_name = found->second;
    }
  }
};

/// The easy config, or null without one.
ConfigValue read_definition(const Arguments& arguments, CfgSchema schema) {
  return arguments.definition.empty() ? ConfigValue() : amct::protobuf::read_cfg(arguments.definition, schema);
}

template <class Plan>
void apply_mapping(Plan& plan, const std::filesystem::path& file, const Arguments& arguments, Diagnostics& out) {
  const auto operators = amct::read_om(amct::json_yaml::read_json(file), file.string(), out);
  const auto known =
      amct::apply_om(plan, operators, arguments.om_all_layers ? amct::OmScope::all : amct::OmScope::additions);
  spdlog::info("{}: bits of {} layers are those of the mapping file", file.string(), known);
}

/// The network checks of a config that was just made: the user may still edit it, so they only warn.
template <class Quantization>
void warn_of_network(const Model& model, const Quantization& quantization, const Arguments& arguments,
                     const FlavourRules& rules) {
  if (!rules.network_checks) return;
  Diagnostics findings;
  amct::check_network(model.network, quantization, rules, arguments.config_file, findings);
  for (const auto& finding : findings.all()) {
    spdlog::warn(amct::Error(finding.code, finding.where, finding.message).what());
  }
}

// One creator a mode.

ConfigValue create_classic(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  Diagnostics out;
  std::optional<amct::EasyConfig> definition;
  if (!arguments.definition.empty()) {
    definition = amct::protobuf::read_calibration_cfg(arguments.definition, rules, out);
    model.name_layers(*definition, out);
  }
  auto plan = amct::create_config(arguments.stated, definition, model.layers, model.nodes, rules, out);
  if (definition && definition->om_mapping_file) {
    apply_mapping(plan, *definition->om_mapping_file, arguments, out);
    // Bits of the mapping file have not been checked: read the plan as if somebody had written it.
    (void)amct::from_classic_json(amct::to_classic_json(plan, rules), model.layers, model.nodes, rules,
                                  *definition->om_mapping_file, out);
  }
  settle(out);
  warn_of_network(model, amct::network_quantization(plan, model.layers), arguments, rules);
  return amct::to_classic_json(plan, rules);
}

ConfigValue create_fx(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  Diagnostics out;
  ConfigValue definition = arguments.definition.empty() ? ConfigValue(ConfigValue::Object{})
                                                        : amct::json_yaml::read_yaml(arguments.definition);
  model.name_layers(definition, arguments.definition, out);
  const amct::NetworkNames names(model.layers, model.nodes);
  const auto easy = amct::read_fx_easy(definition, arguments.definition, model.layers, names, rules, out);
  auto plan = amct::resolve_fx(easy, model.layers, rules, out);
  amct::align_no_command_layers(plan, model.network);
  if (easy.mapping_file) {
    apply_mapping(plan, amct::om_mapping_path(arguments.definition, *easy.mapping_file), arguments, out);
  }
  amct::check_fx_plan(plan, rules, builtin_quantizers(), arguments.definition, out);
  settle(out);
  warn_of_network(model, amct::network_quantization(plan, model.layers, rules), arguments, rules);
  return amct::to_fx_json(plan);
}

ConfigValue create_calibration(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  if (rules.config_family == amct::ConfigFamily::fx) return create_fx(arguments, model, rules);
  return create_classic(arguments, model, rules);
}

template <amct::RetrainMode mode>
ConfigValue create_retrain(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  Diagnostics out;
  const bool hotwheels = rules.record_dialect == amct::RecordDialect::hotwheels;
  ConfigValue value = read_definition(arguments, hotwheels ? CfgSchema::retrain_hotwheels : CfgSchema::retrain_pytorch);
  model.name_layers(value, arguments.definition, out);
  const auto config =
      amct::read_retrain_config(value, arguments.definition, model.layers, model.nodes, rules, mode, out);
  auto plan = amct::resolve_retrain(config, model.layers, rules, mode, arguments.definition, out);
  if (!config.om_mapping_file.empty()) {
    apply_mapping(plan, config.om_mapping_file, arguments, out);
    (void)amct::from_retrain_json(amct::to_retrain_json(plan, rules), model.layers, rules,
                                  config.om_mapping_file.string(), out);
  }
  settle(out);
  return amct::to_retrain_json(plan, rules);
}

ConfigValue create_distill(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  Diagnostics out;
  ConfigValue value = read_definition(arguments, CfgSchema::distill);
  model.name_layers(value, arguments.definition, out);
  const auto config = amct::read_distill_config(value, arguments.definition, model.layers, model.network, rules, out);
  const auto plan = amct::resolve_distill(config, model.layers, model.network, rules, arguments.definition, out);
  settle(out);
  return amct::to_distill_json(plan, rules);
}

ConfigValue create_kv_cache(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  Diagnostics out;
  ConfigValue value = read_definition(arguments, CfgSchema::kv_cache);
  model.name_layers(value, arguments.definition, out);
  const auto config = amct::read_kv_cache_config(value, arguments.definition, rules, out);
  const auto plan = amct::resolve_kv_cache(config, model.layers, model.nodes, arguments.definition, out);
  settle(out);
  return amct::to_kv_cache_json(plan);
}

// One check a mode. \return the number of layers that are quantized

std::size_t enabled_count(const auto& layers, auto enabled) {
  std::size_t count = 0;
  for (const auto& layer : layers) count += enabled(layer) ? 1U : 0U;
  return count;
}

std::size_t check_calibration(const Arguments& arguments, const ConfigValue& value, const Model& model,
                              const FlavourRules& rules) {
  Diagnostics out;
  std::size_t count = 0;
  if (rules.config_family == amct::ConfigFamily::fx) {
    const amct::NetworkNames names(model.layers, model.nodes);
    const auto plan = amct::from_fx_json(value, arguments.config_file, model.layers, names, rules, out);
    amct::check_fx_plan(plan, rules, builtin_quantizers(), arguments.config_file, out);
    amct::check_network(model.network, amct::network_quantization(plan, model.layers, rules), rules,
                        arguments.config_file, out);
    count = enabled_count(plan.layers, [](const auto& layer) { return layer.quant_enable; });
  } else {
    const auto plan = amct::from_classic_json(value, model.layers, model.nodes, rules, arguments.config_file, out);
    if (rules.network_checks) {
      amct::check_network(model.network, amct::network_quantization(plan, model.layers), rules, arguments.config_file,
                          out);
    }
    count = enabled_count(plan.layers, [](const auto& layer) { return layer.enabled; });
  }
  settle(out);
  return count;
}

std::size_t check_retrain(const Arguments& arguments, const ConfigValue& value, const Model& model,
                          const FlavourRules& rules) {
  Diagnostics out;
  const auto plan = amct::from_retrain_json(value, model.layers, rules, arguments.config_file, out);
  settle(out);
  return enabled_count(plan.layers, [](const auto& layer) { return layer.enabled; });
}

std::size_t check_distill(const Arguments& arguments, const ConfigValue& value, const Model& model,
                          const FlavourRules& rules) {
  Diagnostics out;
  const auto plan = amct::from_distill_json(value, model.layers, model.network, rules, arguments.config_file, out);
  settle(out);
  return enabled_count(plan.layers, [](const auto& layer) { return layer.enabled; });
}

std::size_t check_kv_cache(const Arguments& arguments, const ConfigValue& value, const Model& model,
                           const FlavourRules& rules) {
  Diagnostics out;
  const auto plan = amct::from_kv_cache_json(value, model.layers, rules, arguments.config_file, out);
  settle(out);
  return plan.layers.size();
}

/// What `--mode` can be, and who does it.
struct Mode {
  std::function<ConfigValue(const Arguments&, const Model&, const FlavourRules&)> create;
  std::function<std::size_t(const Arguments&, const ConfigValue&, const Model&, const FlavourRules&)> check;
};

const std::map<std::string, Mode>& modes() {
  using amct::RetrainMode;
  static const std::map<std::string, Mode> all = {
      {"calibration", {create_calibration, check_calibration}},
      {"retrain", {create_retrain<RetrainMode::quantize>, check_retrain}},
      {"prune", {create_retrain<RetrainMode::prune>, check_retrain}},
      {"compressed", {create_retrain<RetrainMode::compress>, check_retrain}},
      {"distill", {create_distill, check_distill}},
      {"kv_cache", {create_kv_cache, check_kv_cache}}};
  return all;
}

void create(const Arguments& arguments) {
  const FlavourRules& rules = amct::rules_of(*amct::flavour_named(arguments.flavour));
  const Model model(arguments, rules);
  const ConfigValue config = modes().at(arguments.mode).create(arguments, model, rules);
  amct::json_yaml::write_json(arguments.config_file, config);
  std::cout << arguments.config_file << " written: " << model.layers.size() << " quantizable layers, flavour "
            << rules.name << ", mode " << arguments.mode << '\n';
}

/// A full config if the name ends in .json, else an easy config, which is good if a full one can be made of it.
void check(Arguments arguments) {
  const FlavourRules& rules = amct::rules_of(*amct::flavour_named(arguments.flavour));
  if (!arguments.config_file.ends_with(".json")) {
    arguments.definition = arguments.config_file;
    const Model model(arguments, rules);
    (void)modes().at(arguments.mode).create(arguments, model, rules);
    std::cout << arguments.config_file << ": good as an easy config\n";
    return;
  }
  ConfigValue value = amct::json_yaml::read_json(arguments.config_file);
  const Model model(arguments, rules);
  Diagnostics out;
  model.name_layers(value, arguments.config_file, out);
  settle(out);
  const std::size_t count = modes().at(arguments.mode).check(arguments, value, model, rules);
  std::cout << arguments.config_file << ": good, " << count << " of " << model.layers.size()
            << " quantizable layers are quantized\n";
}

void add_common_options(CLI::App& verb, Arguments& arguments) {
  std::vector<std::string> flavours;
  for (const auto& rules : amct::kFlavours) flavours.emplace_back(rules.name);
  std::vector<std::string> mode_names;
  for (const auto& [name, mode] : modes()) mode_names.push_back(name);
  verb.add_option("--model", arguments.model, "ONNX model, opset 7 to 17")->required();
  verb.add_option("--flavour", arguments.flavour, "whose rules and layout (default pytorch)")
      ->check(CLI::IsMember(flavours));
  verb.add_option("--mode", arguments.mode, "what the config is for (default calibration)")
      ->check(CLI::IsMember(mode_names));
  verb.add_option("--capacity", arguments.capacity,
                  "file with the operators that are quantized beside those of the flavour: lines\n"
                  "NO_WEIGHT_QUANT_TYPES=torch.nn.Softmax,... and NO_WEIGHT_QUANT_ONNX_TYPES=Softmax,...");
}

}  // namespace

void add_config(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("config", "Full quantization configs: make one from a model, or check one");
  verb->require_subcommand(1);

  auto arguments = std::make_shared<Arguments>();
  CLI::App* make = verb->add_subcommand(
      "create", "Write the full config of a model: every quantizable layer with its parameters, to be edited");
  add_common_options(*make, *arguments);
  make->add_option("--config_file", arguments->config_file, "the JSON file to write")->required();
  make->add_option("--config_def,--config_defination", arguments->definition,
                   "easy config: .cfg, or .yaml/.yml for flavour hotwheels; without it AMCT's defaults");
  make->add_option("--skip_layers", arguments->stated.skip_layers,
                   "layers that stay float; ignored beside --config_def");
  make->add_option("--batch_num", arguments->stated.batch_num, "calibration batches; ignored beside --config_def")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  make->add_option("--activation_offset", arguments->stated.activation_offset,
                   "true: asymmetric activations; ignored beside --config_def");
  make->add_flag("--om_all_layers", arguments->om_all_layers,
                 "let the om.json mapping file set the bits of all layers, not only of eltwise_add");
  make->callback([arguments] { create(*arguments); });

  CLI::App* judge = verb->add_subcommand(
      "check", "Check a full config (.json) or an easy one against a model; exit code 1 if it is wrong");
  add_common_options(*judge, *arguments);
  judge->add_option("config_file", arguments->config_file, "the config file")->required();
  judge->callback([arguments] { check(*arguments); });
}

}  // namespace runner
