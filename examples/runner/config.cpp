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
#include <amct/config/network_checks.hpp>
#include <amct/config/om.hpp>
#include <amct/config/read_classic_json.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/config_text.hpp>

#include "definition.hpp"
#include "flavour_option.hpp"
#include "layered_model.hpp"
#include "model_file.hpp"
#include "plugin.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::Diagnostics;
using amct::FlavourRules;
using amct::protobuf::CfgSchema;

using Model = LayeredModel;

struct Arguments {
  std::string model, config_file, definition, recipe, capacity;
  std::uint32_t batch_size = 16;
  std::string flavour = "pytorch", mode = "calibration";
  amct::CreateArguments stated;
  bool om_all_layers = false;
  PluginArguments plugins{};
};

/// Reads the easy config that a mode other than calibration has, or gives null without one.
ConfigValue read_definition(const Arguments& arguments, CfgSchema schema) {
  return arguments.definition.empty() ? ConfigValue() : amct::protobuf::read_cfg(arguments.definition, schema);
}

/// The easy config of a calibration, or the recipe.
Definition definition_of(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  if (arguments.recipe.empty()) return Definition(arguments.definition);
  return {find_recipe(arguments.recipe), {.rules = rules, .model = &model, .batch_size = arguments.batch_size}};
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
  amct::CreateArguments stated = arguments.stated;
  const auto definition = definition_of(arguments, model, rules).easy_config(rules, stated, out);
  amct::EasyConfig config = amct::effective_config(stated, definition, out);
  model.name_layers(config, out);
  auto plan = amct::resolve(config, model.layers, model.nodes, rules, out);
  if (config.om_mapping_file) {
    apply_mapping(plan, *config.om_mapping_file, arguments, out);
    // Bits of the mapping file have not been checked: read the plan as if somebody had written it.
    (void)amct::from_classic_json(amct::to_classic_json(plan, rules), model.layers, model.nodes, rules,
                                  *config.om_mapping_file, out);
  }
  settle(out);
  warn_of_network(model, amct::network_quantization(plan, model.layers), arguments, rules);
  return amct::to_classic_json(plan, rules);
}

ConfigValue create_fx(const Arguments& arguments, const Model& model, const FlavourRules& rules) {
  Diagnostics out;
  const Definition definition = definition_of(arguments, model, rules);
  ConfigValue value = definition.yaml(arguments.stated, out);
  model.name_layers(value, definition.file(), out);
  const amct::NetworkNames names(model.layers, model.nodes);
  const auto easy = amct::read_fx_easy(value, definition.file(), model.layers, names, rules, out);
  auto plan = amct::resolve_fx(easy, model.layers, rules, out);
  amct::align_no_command_layers(plan, model.network);
  if (arguments.stated.batch_num && !states_batch_num(value) && !definition.is_file()) {
    set_batch_num(plan, *arguments.stated.batch_num);
  }
  if (easy.mapping_file) {
    apply_mapping(plan, amct::om_mapping_path(definition.file(), *easy.mapping_file), arguments, out);
  }
  amct::check_fx_plan(plan, rules, quantizers(arguments.plugins), definition.file(), out);
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
    amct::check_fx_plan(plan, rules, quantizers(arguments.plugins), arguments.config_file, out);
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
  if (!arguments.recipe.empty() && arguments.mode != "calibration") {
    throw amct::Error(amct::ErrorCode::config_unsupported, {.field = "--recipe"},
                      "recipes are configs of calibration, and --mode is " + arguments.mode);
  }
  const FlavourRules& rules = amct::rules_of(*amct::flavour_named(arguments.flavour));
  const Model model(read_model(arguments.model), rules, read_capacity(arguments.capacity));
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
    const Model model(read_model(arguments.model), rules, read_capacity(arguments.capacity));
    (void)modes().at(arguments.mode).create(arguments, model, rules);
    std::cout << arguments.config_file << ": good as an easy config\n";
    return;
  }
  ConfigValue value = amct::json_yaml::read_json(arguments.config_file);
  const Model model(read_model(arguments.model), rules, read_capacity(arguments.capacity));
  Diagnostics out;
  model.name_layers(value, arguments.config_file, out);
  settle(out);
  const std::size_t count = modes().at(arguments.mode).check(arguments, value, model, rules);
  std::cout << arguments.config_file << ": good, " << count << " of " << model.layers.size()
            << " quantizable layers are quantized\n";
}

void add_common_options(CLI::App& verb, Arguments& arguments) {
  std::vector<std::string> mode_names;
  for (const auto& [name, mode] : modes()) mode_names.push_back(name);
  verb.add_option("--model", arguments.model, "ONNX model, opset 7 to 17")->required();
  add_flavour_option(verb, arguments.flavour);
  arguments.plugins.add_options(verb);
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
  CLI::Option* definition =
      make->add_option("--config_def,--config_defination", arguments->definition,
                       "easy config: .cfg, or .yaml/.yml for flavour hotwheels; without it AMCT's defaults");
  make->add_option("--recipe", arguments->recipe, "a ready-made easy config, see amct recipes; mode calibration only")
      ->excludes(definition);
  make->add_option("--batch_size", arguments->batch_size, "samples a batch, for recipes that count them (default 16)")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
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
