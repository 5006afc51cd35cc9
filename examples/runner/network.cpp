// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/graph/quant_nodes.hpp>

#include "builtin_ops.hpp"
#include "easy_config_file.hpp"
#include "integer_ops.hpp"
#include "model_file.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::flow::Mode;

/// The layers of a record file, in any dialect.
amct::Record read_layers(RecordFileSource& source) {
  amct::Record layers;
  while (auto entry = source.next()) {
    if (auto* layer = std::get_if<amct::LayerRecord>(&*entry)) layers.push_back(std::move(*layer));
  }
  return layers;
}

}  // namespace

void NetworkArguments::add_options(CLI::App& verb, bool required) {
  CLI::Option* network =
      verb.add_option("--model", model, "ONNX model: the float network, or a deploy model, which needs no --record");
  verb.add_option("--record", record.file,
                  "quantization factors of the float network, a record file of any dialect; without it the network\n"
                  "can only run in float");
  verb.add_option("--config", config, "easy config (.cfg) that the record was made with; only its fusion counts here");
  CLI::Option* shape =
      verb.add_option("--input_shape", input_shape, "\"input:16,1,28,28\", several inputs joined by ';'");
  verb.add_option("--data_types,--data_type", data_types,
                  "element type of .bin files, one an input, joined by ';'; default: float32");
  CLI::Option* data = verb.add_option(
      "--data_dir,--data", data_dir,
      "folder of input data, one batch a file (.bin or .npy) in bytewise order of names; one folder an\n"
      "input, joined by ';'");
  verb.add_option("--batches", batches, "batches to run; default: all files")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb.add_option(
          "--float_layers", float_layers,
          "what layers compute in that stay float, in mode real_quant: float32 (default), or float16 as on the\n"
          "device")
      ->check(CLI::IsMember({"float32", "float16"}));
  record.add_options(verb);
  if (!required) return;
  for (CLI::Option* option : {network, shape, data}) option->required();
}

Mode parse_mode(const char* option, std::string_view name) {
  if (const auto mode = amct::flow::mode_of(name)) return *mode;
  throw Error(ErrorCode::data_format, {.field = option},
              "got \"" + std::string(name) + "\", expected float, fake_quant or real_quant");
}

Network::Network(const NetworkArguments& arguments)
    : model_(arguments.model),
      data_(parse_inputs(arguments.input_shape, arguments.data_types, arguments.data_dir)),
      float16_layers_(arguments.float_layers == "float16") {
  batches_ = arguments.batches.value_or(static_cast<std::uint32_t>(data_.size()));
  amct::flow::require_batches(data_.size(), batches_, data_.place());

  spdlog::info("reading {}", arguments.model);
  graph_ = read_model(arguments.model, shapes_of(data_.inputs()));
  data_.arrange(inputs_of(graph_));
  deployed_ = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                          [](const auto& node) { return amct::graph::is_op(node, amct::graph::kQuantOp); });
  if (!arguments.record.file.empty()) apply_record(arguments);
}

void Network::apply_record(const NetworkArguments& arguments) {
  const std::string& file = arguments.record.file;
  if (deployed_) {
    throw Error(ErrorCode::data_format, {.file = model_, .field = "--record"},
                "is a deploy model, which holds its factors; expected the float network beside a record");
  }
  amct::flow::FusionChoice fusion;
  if (!arguments.config.empty()) {
    const auto config = read_easy_config(arguments.config);
    fusion = {.fold = config.do_fusion, .skip = config.skip_fusion_layers};
  }
  RecordFileSource source(arguments.record);
  // Nodes are not merged, since that would hide layers and changes no code.
  deploy_options_ = {.composites = source.rules().data_operators};
  amct::Record layers = read_layers(source);
  try {
    auto recorded = amct::flow::apply_record(std::move(graph_), std::move(layers), source.rules(), builtin_ops(),
                                             std::move(fusion));
    show_warnings(recorded.diagnostics);
    graph_ = std::move(recorded.graph);
    record_ = std::move(recorded.record);
    float_codes_.emplace(graph_, record_);
  } catch (const Error& error) {
    throw error.in_file(error.code() == ErrorCode::record_value ? file : model_);
  }
}

amct::flow::Execution Network::in_mode(Mode mode, bool every_layer) const {
  const auto refuse = [&](const char* message) -> Error {
    return {ErrorCode::data_format, {.file = model_, .field = "--mode"}, message};
  };
  if (mode == Mode::float32 && deployed_) {
    throw refuse("is a deploy model, whose weights are integers; expected fake_quant or real_quant");
  }
  if (mode != Mode::float32 && !deployed_ && record_.empty()) {
    throw refuse("is a float network; beside fake_quant and real_quant a --record is needed");
  }
  const bool deploys = mode != Mode::float32 && !deployed_;
  const auto& ops = mode == Mode::real_quant ? integer_ops() : builtin_ops();
  return in_file([&] {
    return amct::flow::Execution(deploys ? amct::flow::deploy(graph_, record_, deploy_options_) : graph_, mode, ops,
                                 {.every_layer = every_layer, .float16_layers = float16_layers_});
  });
}

std::vector<amct::Tensor> Network::run(const amct::flow::Execution& execution,
                                       const std::vector<amct::Tensor>& inputs) const {
  return execution.run(inputs);
}

std::vector<amct::Tensor> Network::run(const amct::flow::Execution& execution, const std::vector<amct::Tensor>& inputs,
                                       const TensorSink& on_result, const TensorSink& on_codes) const {
  const bool would_read = execution.mode() == Mode::float32 && float_codes_;
  if (would_read) float_codes_->of_inputs(inputs, on_codes);
  return execution.run(inputs, [&](const amct::flow::LayerResult& result) {
    const std::string layer(result.layer);
    on_result(layer, result.value);
    if (result.codes != nullptr) on_codes(layer, *result.codes);
    if (would_read) float_codes_->of_result(layer, result.value, on_codes);
  });
}

}  // namespace runner
