// SPDX-License-Identifier: Apache-2.0
#include "eval_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include <amct/core/error.hpp>

#include "json_number.hpp"

namespace runner {

namespace {

using amct::ConfigValue;
using amct::Error;
using amct::ErrorCode;
using amct::Tensor;

std::size_t find_output(const amct::graph::Graph& graph, const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& output = graph.value(graph.outputs[i]).name;
    if (name.empty() || output == name) return i;
    names += (i == 0 ? "" : ", ") + output;
  }
  throw Error(ErrorCode::model_shape, {.tensor = name, .field = "--output"},
              "is no output of the network, expected one of: " + names);
}

std::size_t batch_size(const Network& network) {
  const auto& shape = network.data().inputs().front().shape;
  return shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[0]);
}

}  // namespace

Tensor first_samples(Tensor tensor, std::size_t size, std::size_t samples) {
  const auto& shape = tensor.shape();
  if (samples >= size || shape.rank() == 0 || shape[0] != static_cast<std::int64_t>(size)) return tensor;
  amct::Shape fewer = shape;
  fewer[0] = static_cast<std::int64_t>(samples);
  Tensor part(tensor.type(), std::move(fewer));
  if (part.bytes() != 0) std::memcpy(part.raw().data(), tensor.raw().data(), part.bytes());
  return part;
}

EvalRun::EvalRun(std::string model, std::shared_ptr<const Network> network, amct::flow::Mode mode,
                 const std::string& output)
    : model_(std::move(model)), network_(std::move(network)), execution_(network_->in_mode(mode, false)) {
  network_->in_file([&] { output_ = find_output(network_->graph(), output); });
}

void EvalRun::keep_outputs(const std::string& folder) {
  folder_ = folder;
  kept_.emplace(folder, amct::interop::DumpFormat::npy);
}

void EvalRun::run(std::size_t batch, const std::vector<Tensor>& inputs, std::size_t samples) {
  const auto start = std::chrono::steady_clock::now();
  auto outputs = network_->in_file([&] { return network_->run(execution_, inputs); });
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  samples_ = samples;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Tensor output = first_samples(std::move(outputs[i]), batch_size(*network_), samples);
    const auto& graph = network_->graph();
    if (kept_) {
      kept_->write(
          {.kind = amct::interop::DumpKind::output, .batch = batch, .layer = graph.value(graph.outputs[i]).name},
          output);
    }
    if (i == output_) scores_ = std::move(output);
  }
}

void EvalRun::compare_labels(std::span<const std::int64_t> labels) {
  const TopHits more = network_->in_file([&] { return count_hits(scores_, labels); });
  hits_.top1 += more.top1;
  hits_.top5 += more.top5;
  labelled_ += labels.size();
}

void EvalRun::compare_run(const EvalRun& reference) {
  compared_ = true;
  if (!meter_.add(reference.scores_, scores_).ok()) {
    throw Error(ErrorCode::model_shape, {.file = model_},
                "has output " + to_string(scores_.shape()) + ", expected " + to_string(reference.scores_.shape()) +
                    " as in " + reference.model_);
  }
  const auto wanted = best_classes(reference.scores_, samples_);
  const auto found = best_classes(scores_, samples_);
  for (std::size_t i = 0; i < std::min(wanted.size(), found.size()); ++i) same_ += wanted[i] == found[i] ? 1U : 0U;
  decided_ += std::min(wanted.size(), found.size());
}

void EvalRun::measure(const MetricCommand& command, const std::string& labels) {
  kept_->finish();
  std::map<std::string, std::string> values{{"outputs", folder_}, {"model", model_}, {"mode", name_of(mode())}};
  if (!labels.empty()) values.emplace("labels", labels);
  metric_ = command.run(values);
}

std::string EvalRun::name() const {
  const std::string file = std::filesystem::path(model_).filename().string();
  return mode() == amct::flow::Mode::float32 ? file : file + ' ' + name_of(mode());
}

std::optional<amct::analysis::Difference> EvalRun::difference() const {
  return compared_ ? std::optional(meter_.result()) : std::nullopt;
}

ConfigValue EvalRun::to_config() const {
  ConfigValue value;
  value.add("model", model_);
  value.add("mode", name_of(mode()));
  const auto add = [&](const char* name, const std::optional<double>& number) {
    if (number) value.add(name, json_number(*number));
  };
  add("top1", top1());
  add("top5", top5());
  add("same_class", same_class());
  if (const auto found = difference()) {
    value.add("cosine", json_number(found->cosine));
    value.add("sqnr", json_number(found->sqnr));
  }
  add("metric", metric_);
  value.add("seconds", seconds_);
  return value;
}

}  // namespace runner
