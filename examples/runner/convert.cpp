// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/float_text.hpp>
#include <amct/flow/convert.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/session.hpp>

#include "model_file.hpp"
#include "model_formats.hpp"
#include "table.hpp"

namespace runner {

namespace {

struct Arguments {
  std::string model, save_path;
  FormatArguments formats{};
};

void print_summary(const amct::flow::Converted& converted, const amct::onnx::OutputFiles& files) {
  std::cout << counted(converted.record.size(), "layer") << " converted:\n";
  Table layers({"layer", "scale_d", "offset_d", "weight scales"});
  for (const auto& layer : converted.record) {
    layers.add({layer.name, amct::shortest_text(*layer.scale_d), std::to_string(*layer.offset_d),
                layer.wts_type ? std::to_string(layer.scale_w.size()) : std::string("-")});
  }
  layers.print(std::cout);
  if (!converted.left_float.empty()) {
    std::cout << '\n' << counted(converted.left_float.size(), "quantized layer") << " left float:\n";
    Table floats({"layer", "type", "why"});
    for (const auto& layer : converted.left_float) floats.add({layer.name, layer.op_type, layer.reason});
    floats.print(std::cout);
  }
  std::cout << "\nFiles written:\n";
  for (const auto& file : files.all()) std::cout << "  " << file.string() << '\n';
  std::cout.flush();
}

void run(const Arguments& arguments) {
  const amct::onnx::OutputFiles files(arguments.save_path, formats_of(arguments.formats));
  spdlog::info("reading {}", arguments.model);
  const auto converted = [&] {
    amct::graph::Graph graph = read_model(arguments.model);
    try {
      return amct::flow::convert_qat(std::move(graph), amct::rules_of(amct::Flavour::pytorch));
    } catch (const amct::Error& error) {
      throw error.in_file(arguments.model);
    }
  }();
  for (const auto& name : converted.dropped) {
    spdlog::warn("layer \"{}\": the file quantizes its input, which AMCT's models cannot say; it reads float now",
                 name);
  }
  amct::onnx::save_model(files, converted.graph, converted.record, [&](const amct::graph::Graph& deployed) {
    return amct::json_yaml::json_text(amct::flow::quant_map(deployed, converted.origins)) + '\n';
  });
  print_summary(converted, files);
}

}  // namespace

void add_convert(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("convert",
                                      "Make the model of quantization-aware training, with QuantizeLinear and\n"
                                      "DequantizeLinear nodes, AMCT's: write <save_path>_deploy_model.onnx,\n"
                                      "<save_path>_fake_quant_model.onnx, <save_path>_quant_param_record.txt and\n"
                                      "<save_path>_quant.json (names)");
  verb->add_option("--model", arguments->model, "ONNX model with QuantizeLinear and DequantizeLinear")->required();
  verb->add_option("--save_path", arguments->save_path,
                   "folder and beginning of the file names, such as out/m; out/ for none")
      ->required();
  add_format_options(*verb, arguments->formats);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
