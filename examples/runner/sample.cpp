// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>

#include "data_arguments.hpp"
#include "eval.hpp"
#include "model_file.hpp"
#include "ptq_session.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

/// The options of AMCT's script, and those that its Python code would say.
struct Arguments {
  std::string model{}, eval_set = "./images/image_label.txt", config{};
  std::uint32_t eval_iter = 20, batch_size = 16;
  bool benchmark = false;
  PreprocessArguments preprocess{};
};

/// How the networks of the ImageNet samples are fed, for a model with one input of 224 x 224 in colour.
void take_imagenet_preprocessing(const std::string& model, PreprocessArguments& preprocess) {
  if (preprocess.read().given) return;
  const auto graph = read_model(model);
  if (graph.inputs.size() != 1) return;
  const auto& shape = graph.value(graph.inputs.front()).shape;
  constexpr std::int64_t kSide = 224;
  if (!shape || shape->size() != 4 || (*shape)[1].size != 3 || (*shape)[2].size != kSide || (*shape)[3].size != kSide) {
    return;
  }
  preprocess.resize = "256";
  preprocess.crop = "224";
  preprocess.mean = "0.485,0.456,0.406";
  preprocess.stddev = "0.229,0.224,0.225";
}

DataArguments data_of(const Arguments& arguments) {
  DataArguments data{
      .data_dir = arguments.eval_set, .open_batch_size = arguments.batch_size, .preprocess = arguments.preprocess};
  take_imagenet_preprocessing(arguments.model, data.preprocess);
  return data;
}

/// Calibrates into checkpoints/calibration and tmp/calibration. \return the deploy model
std::string calibrate(const Arguments& arguments, const DataArguments& data, const std::string& network) {
  const std::filesystem::path folder = "checkpoints/calibration";
  PtqArguments session{.model = arguments.model,
                       .save_path = (folder / network).string(),
                       .data = data,
                       .notes = true,
                       .notes_path = "tmp/calibration/"};
  session.wishes.flavour = "hotwheels";
  session.wishes.definition = arguments.config;
  if (arguments.config.empty()) session.wishes.stated.batch_num = 1;  // as create_quant_config_fx
  (void)run_ptq(session);
  const auto deployed = folder / (network + "_deploy_model.onnx");
  const auto renamed = folder / (network + "_calibration_deploy_model.onnx");
  std::error_code failure;
  std::filesystem::rename(deployed, renamed, failure);
  if (failure) throw Error(ErrorCode::io_write, {.file = renamed.string()}, failure.message());
  spdlog::info("{} is now called {}", deployed.string(), renamed.filename().string());
  return renamed.string();
}

void run(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const std::string network = std::filesystem::path(arguments.model).stem().string();
  const DataArguments data = data_of(arguments);
  const auto available = static_cast<std::uint32_t>(open_data(data, arguments.model, LastBatch::repeat).size());
  const std::string deployed = calibrate(arguments, data, network);

  EvalArguments evaluation{.models = {arguments.model, deployed}};
  evaluation.network.data = data;
  if (!arguments.benchmark) evaluation.network.batches = std::min(arguments.eval_iter, available);
  evaluate(evaluation);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << fmt::format("\n==> AMCT run {}_calibration in {:.0f}s\n", network, seconds);
  std::cout.flush();
}

}  // namespace

void add_sample(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "sample",
      "AMCT's PTQ sample, <net>_calibration.py, for any network: calibrates on labelled images, then compares the\n"
      "float and the quantized network. Writes checkpoints/calibration/<net>_calibration_deploy_model.onnx,\n"
      "<net>_quant_param_record.txt and <net>_calibration.ckpt there, and config.json, float.svg and quant.svg in\n"
      "tmp/calibration");
  verb->add_option("--model", arguments->model, "ONNX model of class scores; <net> is its name without extension")
      ->required();
  verb->add_option("--eval_set", arguments->eval_set, "list of images, a line \"path label\"")->capture_default_str();
  verb->add_option("--eval_iter", arguments->eval_iter, "batches to evaluate")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb->add_option("--batch_size", arguments->batch_size, "samples a batch, unless the model says it")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{65536}));
  verb->add_flag("--benchmark", arguments->benchmark, "evaluate all batches");
  verb->add_option("--config_def", arguments->config, "easy config; default: AMCT's defaults and one batch");
  arguments->preprocess.add_options(*verb);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
