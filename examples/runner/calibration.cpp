// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/session.hpp>

#include "builtin_ops.hpp"
#include "console.hpp"
#include "data_folder.hpp"
#include "easy_config_file.hpp"
#include "model_file.hpp"
#include "model_formats.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

struct Arguments {
  std::string model, save_path, input_shape, data_types, data_dir, config;
  std::optional<std::uint32_t> batch_num;
  bool allow_fewer_batches = false;
  FormatArguments formats{};
};

/// The number of batches somebody asked for: the config's word if there is a config, as AMCT's documents prescribe,
/// else the argument, else all there are.
std::uint32_t decide_batch_num(const Arguments& arguments, const amct::EasyConfig& config, const DataFolder& data) {
  const bool has_config = !arguments.config.empty();
  if (has_config && arguments.batch_num) {
    spdlog::warn("--batch_num is ignored, because a config is given: state batch_num in {}", arguments.config);
  }
  const auto wanted = has_config ? config.batch_num : arguments.batch_num;
  const auto available = static_cast<std::uint32_t>(data.size());
  if (wanted && *wanted > available && available > 0 && arguments.allow_fewer_batches) {
    spdlog::warn("{}: found {} batches, fewer than the {} asked for; using them all", data.place(), available, *wanted);
    return available;
  }
  if (!wanted) spdlog::info("no batch_num is stated: calibrating with all {} batches", available);
  const std::uint32_t count = wanted.value_or(available);
  amct::flow::require_batches(data.size(), count, data.place());
  return count;
}

void print_summary(const amct::flow::Prepared& prepared, const amct::Record& record, const PhaseClock& clock,
                   const amct::onnx::OutputFiles& files) {
  std::cout << '\n' << record.size() << " layers quantized:\n";
  Table layers({"layer", "type", "scale_d", "offset_d", "weight scales"});
  for (const auto& layer : record) {
    layers.add({layer.name, type_name(prepared.plan.find(layer.name)->kind), amct::shortest_text(*layer.scale_d),
                std::to_string(*layer.offset_d),
                layer.wts_type ? std::to_string(layer.scale_w.size()) : std::string("-")});
  }
  layers.print(std::cout);

  std::cout << '\n' << prepared.left_float.size() << " layers of quantizable types left float";
  std::cout << (prepared.left_float.empty() ? ".\n" : ":\n");
  if (!prepared.left_float.empty()) {
    Table floats({"layer", "type", "why"});
    for (const auto& layer : prepared.left_float) floats.add({layer.name, layer.op_type, layer.reason});
    floats.print(std::cout);
  }
  std::cout << prepared.fused.size() << " BatchNormalization layers folded.\n\n";

  Table phases({"phase", "seconds"});
  for (const auto& phase : clock.phases()) phases.add({phase.name, fixed(phase.seconds, 2)});
  phases.print(std::cout);
  std::cout << "\nFiles written:\n";
  for (const auto& file : files.all()) std::cout << "  " << file.string() << '\n';
  std::cout.flush();
}

void run(const Arguments& arguments) {
  PhaseClock clock;
  clock.start("read");
  auto inputs = parse_inputs(arguments.input_shape, arguments.data_types, arguments.data_dir);
  const auto shapes = shapes_of(inputs);

  // Everything that can be refused cheaply is refused before the network is looked at.
  amct::EasyConfig config;
  if (!arguments.config.empty()) config = read_easy_config(arguments.config);
  DataFolder data(std::move(inputs));
  config.batch_num = decide_batch_num(arguments, config, data);
  const amct::onnx::OutputFiles files(arguments.save_path, formats_of(arguments.formats));
  for (const auto& file : files.all()) amct::AtomicFile probe(file);

  spdlog::info("reading {}", arguments.model);
  amct::graph::Graph graph = read_model(arguments.model, shapes);
  data.arrange(inputs_of(graph));

  clock.start("prepare");
  const auto in_model = [&](auto&& work) {  // errors inside the network name its file
    try {
      return work();
    } catch (const Error& error) {
      if (!error.where().file.empty()) throw;
      throw error.in_file(arguments.model);
    }
  };
  const auto prepared = in_model([&] { return amct::flow::prepare(std::move(graph), config, builtin_ops()); });
  show_warnings(prepared.diagnostics);
  spdlog::info("{} layers to quantize, {} BatchNormalization layers folded", prepared.plan.layers.size(),
               prepared.fused.size());
  clock.start("calibrate");
  const auto record =
      in_model([&] { return amct::flow::calibrate(prepared, builtin_ops(), data, terminal_progress()); });
  clock.start("write");
  in_model([&] {
    amct::onnx::save_model(files, prepared.graph, record, [&](const amct::graph::Graph& deployed) {
      return amct::json_yaml::json_text(amct::flow::quant_map(deployed, prepared.origins)) + '\n';
    });
  });
  clock.stop();
  print_summary(prepared, record, clock, files);
}

}  // namespace

void add_calibration(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("calibration",
                         "Post-training quantization: read a trained ONNX network and calibration data, write\n"
                         "<save_path>_deploy_model.onnx, <save_path>_fake_quant_model.onnx,\n"
                         "<save_path>_quant_param_record.txt and <save_path>_quant.json (names)");
  verb->add_option("--model", arguments->model, "ONNX model, opset 7 to 17")->required();
  verb->add_option("--save_path", arguments->save_path,
                   "folder and beginning of the file names, such as out/m; out/ for none")
      ->required();
  verb->add_option("--input_shape", arguments->input_shape, "\"input:16,1,28,28\", several inputs joined by ';'")
      ->required();
  verb->add_option(
          "--data_types,--data_type", arguments->data_types,
          "element type of the .bin files: float32, float64, int8, uint8, int32, int64; one an input, joined by ';'")
      ->required();
  verb->add_option(
          "--data_dir", arguments->data_dir,
          "folder of calibration data, one batch a file in bytewise order of names: raw little-endian .bin, or\n"
          ".npy (which states its own type); one folder an input, joined by ';'")
      ->required();
  verb->add_option("--calibration_config", arguments->config,
                   "easy config (.cfg); without it every layer gets AMCT's defaults");
  verb->add_option("--batch_num", arguments->batch_num,
                   "batches to calibrate with; ignored beside a config, which states its own; default: all files")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb->add_flag("--allow_fewer_batches", arguments->allow_fewer_batches,
                 "go on with a warning if there are fewer batches than asked for");
  add_format_options(*verb, arguments->formats);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
