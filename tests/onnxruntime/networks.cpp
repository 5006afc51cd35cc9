// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/networks.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>
#include <utility>

#include <amct/core/cast.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/import.hpp>

#include "onnxruntime/peer.hpp"

namespace networks {

namespace {

using amct::Shape;
using amct::Tensor;

constexpr std::size_t kBatch = 100;

std::vector<float> read_floats(const std::filesystem::path& path) {
  std::vector<float> values(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

}  // namespace

Network digits() {
  const std::filesystem::path data = AMCT_EXAMPLE_DATA;
  Network network{.model = data / "digits.onnx", .classes = 10};
  for (int b = 0; b < 4; ++b) {
    const auto values = read_floats(data / "calibration" / ("batch_" + std::to_string(b) + ".bin"));
    network.calibration.emplace_back().emplace_back(Shape{16, 1, 28, 28}, std::span<const float>(values));
  }
  network.data = amct::cast(amct::interop::read_npy(data / "eval_images.npy"), amct::ElementType::float32);
  return network;
}

Network on_digits(const std::string& model) {
  Network network = digits();
  network.model = std::filesystem::path(AMCT_TEST_DATA) / "networks" / (model + ".onnx");
  return network;
}

Network golden(const std::string& run) {
  const std::filesystem::path folder = std::filesystem::path(AMCT_GOLDEN) / run;
  Network network{.model = folder / "float.onnx", .data = amct::interop::read_npy(folder / "test_input.npy")};
  for (const char* name : {"calib_0.npy", "calib_1.npy"})
    network.calibration.emplace_back().push_back(amct::interop::read_npy(folder / name));
  return network;
}

Quantized quantize(const Network& network, const Types& types) {
  amct::EasyConfig config;
  config.batch_num = static_cast<std::uint32_t>(network.calibration.size());
  amct::flow::MemoryBatches batches(network.calibration);
  auto prepared = amct::flow::prepare(amct::onnx::import_model(network.model), config, support::ops());
  Quantized result{.record = amct::flow::calibrate(prepared, support::ops(), batches)};
  for (auto& layer : result.record) {
    if (types.act_type == "INT16") {
      *layer.scale_d /= 256.0F;
      *layer.offset_d *= 256;
    }
    layer.act_type = types.act_type;
    if (!layer.wts_type || types.wts_type == "INT8") continue;
    for (float& scale : layer.scale_w) scale *= 16.0F;
    layer.wts_type = types.wts_type;
  }
  result.graph = std::move(prepared.graph);
  return result;
}

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

const std::string& input_name(const amct::graph::Graph& graph) { return graph.value(graph.inputs[0]).name; }

std::vector<float> run_onnxruntime(const std::filesystem::path& model, const std::string& input, const Tensor& data,
                                   bool optimize) {
  peer::Job job{.model = model, .runs = {}, .optimize = optimize};
  for (auto& batch : batches_of(data)) job.runs.push_back({{input, std::move(batch)}});
  std::vector<float> all;
  for (const auto& outputs : peer::run_onnxruntime(job)) {
    all.insert(all.end(), outputs[0].data<float>().begin(), outputs[0].data<float>().end());
  }
  return all;
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

}  // namespace networks
