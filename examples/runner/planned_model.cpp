// SPDX-License-Identifier: Apache-2.0
#include "planned_model.hpp"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/config/classic_json.hpp>
#include <amct/config/create.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/core/error.hpp>
#include <amct/core/shape.hpp>
#include <amct/flow/fixed_shapes.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>

#include "builtin_ops.hpp"
#include "data_folder.hpp"
#include "definition.hpp"
#include "flavour_option.hpp"
#include "layered_model.hpp"
#include "model_file.hpp"
#include "record_source.hpp"

namespace runner {

namespace {

using amct::flow::AnyConfig;

amct::graph::Graph read_with_shapes(const PlanArguments& arguments) {
  spdlog::info("reading {}", arguments.model);
  std::map<std::string, amct::Shape> shapes;
  if (!arguments.input_shape.empty()) shapes = shapes_of(parse_inputs(arguments.input_shape, "", "."));
  amct::graph::Graph graph = read_model(arguments.model, shapes);
  if (!amct::flow::fix_shapes(graph, shapes, builtin_ops()) && !shapes.empty()) {
    spdlog::warn("{}: not all sizes follow from --input_shape", arguments.model);
  }
  return graph;
}

AnyConfig read_config(const PlanArguments& arguments, const LayeredModel& model, const amct::FlavourRules& rules) {
  AnyConfig config{.file = arguments.config};
  if (arguments.config.ends_with(".json")) {
    config.content = amct::flow::FullConfigText{amct::json_yaml::read_json(arguments.config)};
    return config;
  }
  const Definition definition = arguments.recipe.empty()
                                    ? Definition(arguments.config)
                                    : Definition(find_recipe(arguments.recipe), {.rules = rules, .model = &model});
  config.file = definition.file();
  amct::CreateArguments nothing;
  amct::Diagnostics out;
  if (rules.config_family == amct::ConfigFamily::fx) {
    config.content = amct::flow::FxEasyText{definition.yaml(nothing, out)};
  } else {
    config.content = definition.easy_config(rules, nothing, out).value_or(amct::EasyConfig{});
  }
  settle(out);
  return config;
}

}  // namespace

void PlanArguments::add_options(CLI::App& verb) {
  CLI::Option* file =
      verb.add_option("--config,--definition,--config_def", config,
                      "config: an easy one (.cfg; .yaml of the static graph) or a full one (.json); default: AMCT's\n"
                      "defaults for every layer");
  verb.add_option("--recipe", recipe, "a named easy config instead, see `amct recipes`")->excludes(file);
  verb.add_option("--input_shape", input_shape,
                  "\"input:16,1,28,28\", several inputs joined by ';': sizes that the model leaves open");
  add_flavour_option(verb, flavour);
  regions.add_options(verb);
  plugins.add_options(verb);
}

PlannedModel::PlannedModel(const PlanArguments& arguments)
    : rules_(amct::rules_of(*amct::flavour_named(arguments.flavour))),
      model_(arguments.model),
      graph_(read_with_shapes(arguments)),
      registry_(quantizers(arguments.plugins)) {
  const LayeredModel model(graph_, rules_);
  config_ = read_config(arguments, model, rules_);
  skip_ = arguments.regions.layers(graph_, model, rules_);
  network_ = plan(graph_);
}

amct::flow::PlannedNetwork PlannedModel::plan(amct::graph::Graph graph) const {
  try {
    const amct::graph::ModuleNames names(graph);
    std::vector<std::string> skip = skip_;
    std::erase_if(skip, [&](const std::string& name) { return names.meant_by(name).empty(); });
    return amct::flow::plan_network(std::move(graph), config_, skip, rules_, registry_, builtin_ops(),
                                    {.read = [](const auto& file) { return amct::json_yaml::read_json(file); }});
  } catch (const amct::Error& error) {
    if (!error.where().file.empty()) throw;
    throw error.in_file(model_);
  }
}

amct::Record read_whole_record(const std::string& file) {
  RecordArguments arguments;
  arguments.file = file;
  RecordFileSource source(arguments);
  amct::Record layers;
  while (auto entry = source.next()) {
    if (auto* layer = std::get_if<amct::LayerRecord>(&*entry)) layers.push_back(std::move(*layer));
  }
  return layers;
}

std::string full_config_text(const amct::flow::PlannedNetwork& network) {
  const auto* classic = std::get_if<amct::QuantPlan>(&network.plan);
  const amct::ConfigValue value = classic != nullptr ? amct::to_classic_json(*classic, network.rules())
                                                     : amct::to_fx_json(std::get<amct::FxPlan>(network.plan));
  return amct::json_yaml::json_text(value) + '\n';
}

}  // namespace runner
