// SPDX-License-Identifier: Apache-2.0
#include "auto_evaluator.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/interop/dump_folder.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/export.hpp>

#include "eval_run.hpp"
#include "labels.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Tensor;

std::size_t batch_size(const DataFolder& data) {
  const auto& shape = data.inputs().front().shape;
  return shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[0]);
}

double percent(std::size_t part, std::size_t all) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::vector<std::filesystem::path> npy_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

DataEvaluator::DataEvaluator(Parts parts, double budget, amct::ProgressSink progress)
    : AutoEvaluator(budget, std::move(progress)), parts_(std::move(parts)) {
  if (parts_.evaluation.size() == 0) {
    throw Error(ErrorCode::data_empty, {.file = parts_.evaluation.place(), .field = "--eval_data"},
                "holds nothing to measure networks with");
  }
  if (!parts_.metric.command.empty()) return;
  labels_ = parts_.labels_file.empty() ? class_numbers(parts_.evaluation.labels(), parts_.evaluation.place())
                                       : read_labels(parts_.labels_file);
  if (labels_.empty() || labels_.size() == parts_.evaluation.samples()) return;
  throw Error(ErrorCode::data_format, {.file = parts_.labels_file},
              "has " + std::to_string(labels_.size()) + " labels, expected one for each of " +
                  std::to_string(parts_.evaluation.samples()) + " samples of " + parts_.evaluation.place());
}

void DataEvaluator::calibration(const amct::flow::CalibrationRun& run) {
  for (std::size_t b = 0; b < parts_.calibration.size(); ++b) run(parts_.calibration.load(b));
}

double DataEvaluator::evaluate(const amct::flow::EvaluatedNetwork& network) {
  return parts_.metric.command.empty() ? count_classes(network) : measure_outputs(network);
}

std::string DataEvaluator::metric_name() const {
  if (!parts_.metric.command.empty()) return "metric";
  return labels_.empty() ? "same class %" : "top-1 %";
}

template <class Use>
void DataEvaluator::run_all(const amct::flow::EvaluatedNetwork& network, const Use& use) {
  const std::size_t batches = parts_.evaluation.size();
  const std::size_t size = batch_size(parts_.evaluation);
  const std::string phase = networks_ == 0 ? "float" : "trial " + std::to_string(networks_);
  ++networks_;
  for (std::size_t b = 0; b < batches; ++b) {
    use(b, network.run(parts_.evaluation.load(b)), std::min(size, parts_.evaluation.samples() - b * size));
    progress_.step(phase, b + 1, batches);
  }
}

double DataEvaluator::count_classes(const amct::flow::EvaluatedNetwork& network) {
  std::size_t hits = 0;
  std::size_t samples = 0;
  std::vector<std::int64_t> classes;
  run_all(network, [&](std::size_t, std::vector<Tensor> outputs, std::size_t count) {
    const Tensor scores = first_samples(std::move(outputs.at(0)), batch_size(parts_.evaluation), count);
    if (!labels_.empty()) {
      hits += count_hits(scores, std::span(labels_).subspan(samples, count)).top1;
    } else {
      const auto found = best_classes(scores, count);
      if (found.size() != count) {
        throw Error(ErrorCode::model_shape, {.tensor = network.graph().value(network.graph().outputs[0]).name},
                    "has shape " + to_string(scores.shape()) + ", which is no row of class scores for each of " +
                        std::to_string(count) + " samples; a --metric_command can judge it");
      }
      classes.insert(classes.end(), found.begin(), found.end());
    }
    samples += count;
  });
  if (!labels_.empty()) return percent(hits, samples);
  if (!float_classes_) float_classes_ = classes;
  for (std::size_t i = 0; i < samples; ++i) hits += classes[i] == (*float_classes_)[i] ? 1U : 0U;
  return percent(hits, samples);
}

double DataEvaluator::measure_outputs(const amct::flow::EvaluatedNetwork& network) {
  const TemporaryFolder folder;
  const auto model = folder.path() / "model.onnx";
  const auto outputs_folder = folder.path() / "outputs";
  amct::onnx::export_model(model, network.graph());
  amct::interop::DumpWriter kept(outputs_folder, amct::interop::DumpFormat::npy);
  const std::string mode = networks_ == 0 ? "float" : "fake_quant";
  run_all(network, [&](std::size_t batch, const std::vector<Tensor>& outputs, std::size_t count) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      kept.write({.kind = amct::interop::DumpKind::output,
                  .batch = batch,
                  .layer = network.graph().value(network.graph().outputs[o]).name},
                 first_samples(outputs[o], batch_size(parts_.evaluation), count));
    }
  });
  kept.finish();
  std::map<std::string, std::string> values{
      {"outputs", outputs_folder.string()}, {"model", model.string()}, {"mode", mode}};
  if (!parts_.labels_file.empty()) values.emplace("labels", parts_.labels_file);
  return parts_.metric.run(values);
}

CommandEvaluator::CommandEvaluator(MetricCommand command, std::vector<std::pair<std::string, amct::ElementType>> inputs,
                                   double budget, amct::ProgressSink progress)
    : AutoEvaluator(budget, std::move(progress)), command_(std::move(command)), inputs_(std::move(inputs)) {
  find_files(command_.run({{"action", "data"}, {"data", folder_.path().string()}, {"model", ""}}));
}

void CommandEvaluator::find_files(double announced) {
  for (const auto& [name, type] : inputs_) {
    const auto folder = inputs_.size() == 1 ? folder_.path() : folder_.path() / name;
    const auto found = npy_files(folder);
    if (static_cast<double>(found.size()) != announced) {
      throw Error(ErrorCode::data_format, {.tensor = name, .field = "--evaluator"},
                  "said that it wrote " + amct::shortest_text(announced) + " batches, found " +
                      std::to_string(found.size()) + " .npy files of this input");
    }
    files_.resize(found.size());
    for (std::size_t b = 0; b < found.size(); ++b) files_[b].push_back(found[b]);
  }
}

void CommandEvaluator::calibration(const amct::flow::CalibrationRun& run) {
  for (const auto& batch : files_) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      inputs.push_back(amct::cast(amct::interop::read_npy(batch[i]), inputs_[i].second));
    }
    run(inputs);
  }
}

double CommandEvaluator::evaluate(const amct::flow::EvaluatedNetwork& network) {
  const TemporaryFolder folder;
  const auto model = folder.path() / "model.onnx";
  amct::onnx::export_model(model, network.graph());
  return command_.run({{"action", "evaluate"}, {"data", folder_.path().string()}, {"model", model.string()}});
}

}  // namespace runner
