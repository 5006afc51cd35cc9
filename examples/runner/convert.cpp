// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/float_text.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/convert.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/json_yaml/yaml.hpp>
#include <amct/onnx/session.hpp>
#include <amct/protobuf/calibration_cfg.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

#include "builtin_ops.hpp"
#include "easy_config_file.hpp"
#include "model_file.hpp"
#include "model_formats.hpp"
#include "record_source.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::FlavourRules;

struct Arguments {
  std::string model, save_path, config;
  RecordArguments record{};  ///< no file: the model is quantized already
  FormatArguments formats{};
};

/// A network with its factors, ready to be written.
struct Quantized {
  amct::graph::Graph graph{};
  amct::Record record{};
  amct::flow::Origins origins{};
  std::vector<amct::graph::FloatLayer> left_float{};  ///< layers that the file quantizes and the flavour cannot
};

/// What a config says of fusion, which is all that counts beside a record.
amct::flow::FusionChoice fusion_of(const std::string& config, const FlavourRules& rules) {
  if (config.empty()) return {};
  if (config.ends_with(".json")) {
    auto wish = amct::flow::detail::fusion_wish(amct::json_yaml::read_json(config));
    return {.fold = wish.fold, .skip = std::move(wish.skip)};
  }
  if (rules.config_family == amct::ConfigFamily::fx) {
    (void)amct::json_yaml::read_yaml(config);  // says nothing of fusion, but must be a config
    return {};
  }
  amct::Diagnostics out;
  auto easy = amct::protobuf::read_calibration_cfg(config, rules, out);
  show_warnings(out);
  out.throw_if_errors();
  return {.fold = easy.do_fusion, .skip = std::move(easy.skip_fusion_layers)};
}

/// A float network and a record.
Quantized quantized_by_record(const Arguments& arguments, amct::graph::Graph graph, RecordFileSource& source) {
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(),
                  [](const auto& node) { return amct::graph::is_op(node, amct::graph::kQuantOp); })) {
    throw Error(ErrorCode::data_format, {.file = arguments.model, .field = "--record"},
                "is a deploy model, which holds its factors; expected the float model beside a record");
  }
  amct::Record layers;
  while (auto entry = source.next()) {
    if (auto* layer = std::get_if<amct::LayerRecord>(&*entry)) layers.push_back(std::move(*layer));
  }
  const FlavourRules& rules = source.rules();
  try {
    auto recorded = amct::flow::apply_record(std::move(graph), std::move(layers), rules, builtin_ops(),
                                             fusion_of(arguments.config, rules));
    show_warnings(recorded.diagnostics);
    return {std::move(recorded.graph), std::move(recorded.record), std::move(recorded.origins), {}};
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw error.in_file(error.code() == ErrorCode::record_value ? arguments.record.file : arguments.model);
  }
}

/// A network with QuantizeLinear and DequantizeLinear.
Quantized quantized_by_training(const Arguments& arguments, amct::graph::Graph graph, const FlavourRules& rules) {
  try {
    auto converted = amct::flow::convert_qat(std::move(graph), rules);
    for (const auto& name : converted.dropped) {
      spdlog::warn("layer \"{}\": the file quantizes its input, which AMCT's models cannot say; it reads float now",
                   name);
    }
    return {std::move(converted.graph), std::move(converted.record), std::move(converted.origins),
            std::move(converted.left_float)};
  } catch (const Error& error) {
    throw error.in_file(arguments.model);
  }
}

void print_summary(const Quantized& network, const amct::onnx::OutputFiles& files) {
  std::cout << counted(network.record.size(), "layer") << " converted:\n";
  Table layers({"layer", "scale_d", "offset_d", "weight scales"});
  for (const auto& layer : network.record) {
    const auto inputs = amct::inputs_of(layer);
    std::string scales, offsets;
    for (const auto& input : inputs) {
      scales += (scales.empty() ? "" : "; ") + amct::shortest_text(input.scale);
      offsets += (offsets.empty() ? "" : "; ") + std::to_string(input.offset);
    }
    const bool weights = !layer.scale_w.empty() && (layer.wts_type || layer.scale_w.size() > 1);
    layers.add({layer.name, scales, offsets, weights ? std::to_string(layer.scale_w.size()) : std::string("-")});
  }
  layers.print(std::cout, terminal_width());
  if (!network.left_float.empty()) {
    std::cout << '\n' << counted(network.left_float.size(), "quantized layer") << " left float:\n";
    Table floats({"layer", "type", "why"});
    for (const auto& layer : network.left_float) floats.add({layer.name, layer.op_type, layer.reason});
    floats.print(std::cout, terminal_width());
  }
  std::cout << "\nFiles written:\n";
  for (const auto& file : files.all()) std::cout << "  " << file.string() << '\n';
  std::cout.flush();
}

void run(const Arguments& arguments) {
  const bool has_record = !arguments.record.file.empty();
  std::unique_ptr<RecordFileSource> source;
  if (has_record) source = std::make_unique<RecordFileSource>(arguments.record);
  const std::string flavour = arguments.record.flavour.empty() ? "pytorch" : arguments.record.flavour;
  const FlavourRules& rules = has_record ? source->rules() : amct::rules_of(*amct::flavour_named(flavour));
  const amct::onnx::OutputFiles files(arguments.save_path, formats_of(arguments.formats, rules));
  spdlog::info("reading {}", arguments.model);
  const amct::graph::Graph original = read_model(arguments.model);
  const Quantized network = has_record ? quantized_by_record(arguments, original, *source)
                                       : quantized_by_training(arguments, original, rules);
  const auto map_text = [&](const amct::graph::Graph& deployed) {
    return amct::json_yaml::json_text(amct::flow::quant_map(deployed, network.origins)) + '\n';
  };
  try {
    // The float model of one that was trained quantized is what is left without its quantization.
    amct::onnx::save_model(files, network.graph, network.record, map_text, amct::onnx::file_rules(rules),
                           has_record ? &original : nullptr);
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw error.in_file(arguments.model);
  }
  print_summary(network, files);
}

}  // namespace

void add_convert(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "convert",
      "Write the quantized models of a float model and a record that is there already, or of a model of\n"
      "quantization-aware training with QuantizeLinear and DequantizeLinear nodes:\n"
      "<save_path>_deploy_model.onnx, <save_path>_fake_quant_model.onnx or others (--format),\n"
      "<save_path>_quant_param_record.txt and <save_path>_quant.json (names)");
  verb->add_option("--model", arguments->model,
                   "ONNX model: float beside --record, else with QuantizeLinear and DequantizeLinear")
      ->required();
  verb->add_option("--save_path", arguments->save_path,
                   "folder and beginning of the file names, such as out/m; out/ for none")
      ->required();
  CLI::Option* record =
      verb->add_option("--record", arguments->record.file, "factors of the float model, a record of any dialect");
  verb->add_option("--config", arguments->config,
                   "config that the record was made with, easy or full; only its fusion counts here")
      ->needs(record);
  arguments->record.add_options(*verb);
  add_format_options(*verb, arguments->formats);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
