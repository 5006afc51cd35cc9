// SPDX-License-Identifier: Apache-2.0
// The same networks in our executor and in ONNX Runtime: float within 1e-4, fake-quantized bit for bit.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/import.hpp>
#include <amct/onnx/session.hpp>

#include "onnxruntime/peer.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

namespace {

using amct::Shape;
using amct::Tensor;

constexpr std::size_t kBatch = 100;
constexpr double kExactLimit = 16777216.0;  // 2^24: up to here float32 holds every integer

std::vector<float> read_floats(const std::filesystem::path& path) {
  std::vector<float> values(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

/// The rows of `data` in batches of kBatch.
std::vector<Tensor> batches_of(const Tensor& data) {
  std::vector<Tensor> batches;
  const auto samples = static_cast<std::size_t>(data.shape()[0]);
  for (std::size_t first = 0; first < samples; first += kBatch) {
    std::vector<std::int64_t> dims = data.shape().dims();
    dims[0] = static_cast<std::int64_t>(std::min(kBatch, samples - first));
    const std::size_t start = first * (data.size() / samples);
    batches.emplace_back(Shape(dims), data.data<float>().subspan(start, Shape(dims).size()));
  }
  return batches;
}

std::vector<float> run_onnxruntime(const std::filesystem::path& model, const std::string& input, const Tensor& data) {
  peer::Job job{.model = model, .runs = {}};
  for (auto& batch : batches_of(data)) job.runs.push_back({{input, std::move(batch)}});
  std::vector<float> all;
  for (const auto& outputs : peer::run_onnxruntime(job)) {
    all.insert(all.end(), outputs[0].data<float>().begin(), outputs[0].data<float>().end());
  }
  return all;
}

Tensor absolute(const Tensor& tensor) {
  Tensor result = tensor;
  for (float& value : result.data<float>()) value = std::fabs(value);
  return result;
}

/// Runs every layer of a fake-quant model once more on absolute values: no partial sum in any order is larger than the
/// largest result of that.
class AccumulatorBound {
 public:
  explicit AccumulatorBound(const amct::graph::Graph& graph) : graph_(graph) {}

  void before(const amct::graph::Node& node, std::span<const Tensor* const> inputs) {
    static const std::set<std::string> kLayers{"Conv", "ConvTranspose", "Gemm", "MatMul", "AveragePool"};
    if (!kLayers.contains(node.op_type)) return;
    std::vector<Tensor> copies;
    for (const Tensor* input : inputs) copies.push_back(absolute(*input));
    std::vector<const Tensor*> pointers;
    for (const auto& copy : copies) pointers.push_back(&copy);
    std::vector<Tensor> outputs(1);
    (*support::ops().find(graph_, node))({.node = node, .opset = graph_.opset, .inputs = pointers, .outputs = outputs});
    // A pool shows the mean; its sum is larger by the number of elements.
    const auto* kernel =
        node.op_type == "AveragePool" ? node.attribute<std::vector<std::int64_t>>("kernel_shape") : nullptr;
    const double factor = kernel == nullptr ? 1.0 : static_cast<double>((*kernel)[0] * (*kernel)[1]);
    for (const float value : outputs[0].data<float>())
      largest_ = std::max(largest_, factor * static_cast<double>(value));
  }
  void after(const amct::graph::Node&, std::span<const Tensor>) const {}
  [[nodiscard]] double largest() const noexcept { return largest_; }

 private:
  const amct::graph::Graph& graph_;
  double largest_ = 0.0;
};

template <class Hook>
std::vector<float> run_ours(const amct::graph::Graph& graph, const Tensor& data, Hook&& hook) {
  const amct::exec::Interpreter interpreter(graph, support::ops());
  std::vector<float> all;
  for (auto& batch : batches_of(data)) {
    std::vector<Tensor> inputs;
    inputs.push_back(std::move(batch));
    const std::vector<Tensor> outputs = interpreter.run(inputs, hook);
    all.insert(all.end(), outputs[0].data<float>().begin(), outputs[0].data<float>().end());
  }
  return all;
}

const std::string& input_name(const amct::graph::Graph& graph) { return graph.value(graph.inputs[0]).name; }

void check_close(const std::vector<float>& ours, const std::vector<float>& theirs) {
  peer::Distance distance;
  distance.add(ours, theirs);
  MESSAGE("largest difference relative to the largest output: ", distance.relative());
  CHECK(distance.largest > 0.0);
  CHECK(distance.relative() <= 1e-4);
}

std::size_t different_top1(const std::vector<float>& a, const std::vector<float>& b, std::size_t classes) {
  std::size_t count = 0;
  for (std::size_t first = 0; first + classes <= a.size(); first += classes) {
    const auto best = [&](const std::vector<float>& scores) {
      const auto row = scores.begin() + static_cast<std::ptrdiff_t>(first);
      return std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row;
    };
    count += best(a) != best(b) ? 1U : 0U;
  }
  return count;
}

/// Quantizes the network with `calibration` and compares float and fake-quant execution on `data`.
void compare(const std::filesystem::path& model, std::vector<std::vector<Tensor>> calibration, const Tensor& data,
             std::size_t classes) {
  const amct::graph::Graph graph = amct::onnx::import_model(model);
  check_close(run_ours(graph, data, amct::exec::NoHook{}), run_onnxruntime(model, input_name(graph), data));

  amct::EasyConfig config;
  config.batch_num = static_cast<std::uint32_t>(calibration.size());
  amct::flow::MemoryBatches batches(std::move(calibration));
  const auto prepared = amct::flow::prepare(graph, config, support::ops());
  const support::TempDir folder;
  const amct::onnx::OutputFiles files((folder / "m").string());
  amct::onnx::save_model(files, prepared.graph, amct::flow::calibrate(prepared, support::ops(), batches),
                         [](const amct::graph::Graph&) { return ""; });

  const amct::graph::Graph fake = amct::onnx::import_model(files.fake_quant_model);
  AccumulatorBound bound(fake);
  const auto ours = run_ours(fake, data, bound);
  const auto theirs = run_onnxruntime(files.fake_quant_model, input_name(fake), data);
  MESSAGE("largest possible accumulator: ", bound.largest());
  if (bound.largest() < kExactLimit) {
    CHECK(ours == theirs);
  } else {
    check_close(ours, theirs);
  }
  if (classes > 0) CHECK(different_top1(ours, theirs, classes) == 0);
}

void compare_golden(const std::string& run) {
  const std::filesystem::path folder = std::filesystem::path(AMCT_GOLDEN) / run;
  std::vector<std::vector<Tensor>> calibration;
  for (const char* name : {"calib_0.npy", "calib_1.npy"})
    calibration.emplace_back().push_back(amct::interop::read_npy(folder / name));
  compare(folder / "float.onnx", std::move(calibration), amct::interop::read_npy(folder / "test_input.npy"), 0);
}

}  // namespace

TEST_CASE("the digit network, on all evaluation images") {
  const std::filesystem::path data = AMCT_EXAMPLE_DATA;
  std::vector<std::vector<Tensor>> calibration;
  for (int b = 0; b < 4; ++b) {
    const auto values = read_floats(data / "calibration" / ("batch_" + std::to_string(b) + ".bin"));
    calibration.emplace_back().emplace_back(Shape{16, 1, 28, 28}, std::span<const float>(values));
  }
  const Tensor images = amct::cast(amct::interop::read_npy(data / "eval_images.npy"), amct::ElementType::float32);
  compare(data / "digits.onnx", std::move(calibration), images, 10);
}

TEST_CASE("a residual network with average pooling") { compare_golden("ptq_a_default"); }
TEST_CASE("depthwise and transposed convolutions") { compare_golden("ptq_b_default"); }
TEST_CASE("a multi-layer perceptron") { compare_golden("ptq_d_default"); }
