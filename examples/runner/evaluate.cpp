// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/interop/npy.hpp>

#include "builtin_ops.hpp"
#include "console.hpp"
#include "model_file.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Tensor;

struct Arguments {
  std::vector<std::string> models;
  std::string data, labels;
  std::size_t batch_size = 100;
};

/// Samples [first, first + count) along axis 0.
Tensor slice(const Tensor& data, std::size_t first, std::size_t count) {
  std::vector<std::int64_t> dims = data.shape().dims();
  const std::size_t sample_bytes = data.bytes() / static_cast<std::size_t>(dims[0]);
  dims[0] = static_cast<std::int64_t>(count);
  Tensor part(data.type(), amct::Shape(std::move(dims)));
  std::memcpy(part.raw().data(), data.raw().data() + first * sample_bytes, part.bytes());
  return part;
}

std::size_t count_correct(const Tensor& scores, std::span<const std::int64_t> labels) {
  const std::size_t classes = scores.size() / labels.size();
  const auto values = scores.data<float>();
  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = values.subspan(i * classes, classes);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    correct += best == labels[i] ? 1U : 0U;
  }
  return correct;
}

std::size_t evaluate(const std::string& model, const Tensor& data, std::span<const std::int64_t> labels,
                     std::size_t batch_size, const amct::ProgressSink& sink) {
  const amct::graph::Graph graph = read_model(model);
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
    throw Error(ErrorCode::model_shape, {.file = model}, "must have one input and one output");
  }
  const amct::exec::Interpreter interpreter(graph, builtin_ops());
  const auto type = graph.value(graph.inputs[0]).type;
  std::size_t correct = 0;
  for (std::size_t first = 0; first < labels.size(); first += batch_size) {
    const std::size_t count = std::min(batch_size, labels.size() - first);
    try {
      const auto outputs = interpreter.run({amct::cast(slice(data, first, count), type)});
      if (outputs[0].type() != amct::ElementType::float32 || outputs[0].shape().rank() == 0 ||
          outputs[0].shape()[0] != static_cast<std::int64_t>(count)) {
        throw Error(ErrorCode::model_shape, {.tensor = graph.value(graph.outputs[0]).name},
                    "has shape " + to_string(outputs[0].shape()) + ", expected float32 scores for " +
                        std::to_string(count) + " samples");
      }
      correct += count_correct(outputs[0], labels.subspan(first, count));
    } catch (const Error& error) {
      throw error.in_file(model);
    }
    sink.step(std::filesystem::path(model).filename().string(), first + count, labels.size());
  }
  return correct;
}

void run(const Arguments& arguments) {
  const Tensor data = amct::interop::read_npy(arguments.data);
  const Tensor labels = amct::cast(amct::interop::read_npy(arguments.labels), amct::ElementType::int64);
  if (data.shape().rank() < 2 || labels.size() == 0 || data.shape()[0] != static_cast<std::int64_t>(labels.size())) {
    throw Error(
        ErrorCode::data_format, {.file = arguments.labels},
        "has " + std::to_string(labels.size()) + " labels, expected one for each sample of " + to_string(data.shape()));
  }
  const auto sink = terminal_progress();
  Table table({"model", "top-1", "drop", "images", "seconds"});
  double first_accuracy = 0.0;
  for (std::size_t m = 0; m < arguments.models.size(); ++m) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t correct =
        evaluate(arguments.models[m], data, labels.data<std::int64_t>(), arguments.batch_size, sink);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double accuracy = 100.0 * static_cast<double>(correct) / static_cast<double>(labels.size());
    if (m == 0) first_accuracy = accuracy;
    table.add({std::filesystem::path(arguments.models[m]).filename().string(), fixed(accuracy, 2) + " %",
               m == 0 ? std::string("-") : fixed(first_accuracy - accuracy, 2) + " points",
               std::to_string(labels.size()), fixed(seconds, 2)});
  }
  table.print(std::cout);
  std::cout.flush();
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("evaluate", "Top-1 accuracy of networks on labelled data; the first model is the reference");
  verb->add_option("--model", arguments->models,
                   "ONNX model with one input and one output of class scores; may be repeated")
      ->required();
  verb->add_option("--data", arguments->data, "samples along axis 0 (.npy), converted to the type the model wants")
      ->required();
  verb->add_option("--labels", arguments->labels, "one class number a sample (.npy)")->required();
  verb->add_option("--batch_size", arguments->batch_size, "samples a run")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
