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
#include <amct/protobuf/checkpoint.hpp>

#include "builtin_ops.hpp"
#include "easy_config_file.hpp"
#include "input_warnings.hpp"
#include "integer_ops.hpp"
#include "model_file.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::flow::Mode;

/// Factors, and whose they are.
struct Factors {
  amct::Record layers;
  const amct::FlavourRules& rules;
};

/// The factors of a checkpoint of a finished calibration. \param model_hash  of the network they are for
Factors read_checkpoint_factors(const NetworkArguments& arguments, const std::string& model_hash) {
  const std::string& file = arguments.record.file;
  const auto checkpoint = amct::protobuf::read_checkpoint(file);
  if (checkpoint.model_hash != model_hash) {
    throw Error(ErrorCode::record_value, {.file = file, .field = "model"},
                "was made with another network, " + checkpoint.model_file + ", than " + arguments.model);
  }
  const auto& set = amct::protobuf::select_set(checkpoint, arguments.state_dict_name, file);
  return {amct::protobuf::finished_record(checkpoint, set, file),
          amct::rules_of(*amct::flavour_named(checkpoint.flavour))};
}

/// The layers of a record file in any dialect.
Factors read_record_factors(const RecordArguments& arguments) {
  RecordFileSource source(arguments);
  amct::Record layers;
  while (auto entry = source.next()) {
    if (auto* layer = std::get_if<amct::LayerRecord>(&*entry)) layers.push_back(std::move(*layer));
  }
  return {std::move(layers), source.rules()};
}

}  // namespace

void NetworkArguments::add_options(CLI::App& verb, bool required) {
  CLI::Option* network =
      verb.add_option("--model", model, "ONNX model: the float network, or a deploy model, which needs no --record");
  if (required) network->required();
  add_run_options(verb, required);
}

void NetworkArguments::add_run_options(CLI::App& verb, bool required) {
  verb.add_option("--record", record.file,
                  "quantization factors of the float network: a record file of any dialect, or the checkpoint of a\n"
                  "finished calibration (.ckpt); without it the network can only run in float");
  verb.add_option("--state_dict_name", state_dict_name, "key of the weight set, if a checkpoint has several");
  verb.add_option("--config", config, "easy config (.cfg) that the record was made with; only its fusion counts here");
  data.add_options(verb, required);
  verb.add_option("--batches", batches, "batches to run; default: all files")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb.add_option(
          "--float_layers", float_layers,
          "what layers compute in that stay float, in mode real_quant: float32 (default), or float16 as on the\n"
          "device")
      ->check(CLI::IsMember({"float32", "float16"}));
  record.add_options(verb);
}

Mode parse_mode(const char* option, std::string_view name) {
  if (const auto mode = amct::flow::mode_of(name)) return *mode;
  throw Error(ErrorCode::data_format, {.field = option},
              "got \"" + std::string(name) + "\", expected float, fake_quant or real_quant");
}

Network::Network(const NetworkArguments& arguments) : Network(arguments, open_data(arguments.data, arguments.model)) {}

Network::Network(const NetworkArguments& arguments, DataFolder data)
    : model_(arguments.model), data_(std::move(data)), float16_layers_(arguments.float_layers == "float16") {
  batches_ = arguments.batches.value_or(static_cast<std::uint32_t>(data_.size()));
  amct::flow::require_batches(data_.size(), batches_, data_.place());

  spdlog::info("reading {}", arguments.model);
  graph_ = read_model(arguments.model, shapes_of(data_.inputs()));
  data_.arrange(inputs_of(graph_));
  deployed_ = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                          [](const auto& node) { return amct::graph::is_op(node, amct::graph::kQuantOp); });
  if (!deployed_) warn_about_inputs(graph_, data_);
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
  Factors factors = amct::protobuf::is_checkpoint(file)
                        ? read_checkpoint_factors(arguments, amct::protobuf::model_hash(graph_))
                        : read_record_factors(arguments.record);
  // Nodes are not merged, since that would hide layers and changes no code.
  deploy_options_ = {.composites = factors.rules.data_operators};
  try {
    auto recorded = amct::flow::apply_record(std::move(graph_), std::move(factors.layers), factors.rules, builtin_ops(),
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
