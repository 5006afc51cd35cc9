// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/record/record.hpp>

#include "support/ops.hpp"

/// Networks with one input and one output, on which the executor is compared with ONNX Runtime.
namespace networks {

struct Network {
  std::filesystem::path model{};
  std::vector<std::vector<amct::Tensor>> calibration{};  ///< batches
  amct::Tensor data{};                                   ///< [samples, ...]
  std::size_t classes = 0;                               ///< 0: not a classifier
};

/// The digit network of the examples, on all evaluation images.
[[nodiscard]] Network digits();
/// A network of tests/data/networks, which reads such images too.
[[nodiscard]] Network on_digits(const std::string& model);
/// A network of tests/golden/e2e with the data that AMCT itself had.
[[nodiscard]] Network golden(const std::string& run);

/// A calibrated network in the form in which it is deployed.
struct Quantized {
  amct::graph::Graph graph{};
  amct::Record record{};
};
/// Other widths than 8 bits: the same ranges in more or fewer codes.
struct Types {
  std::string act_type = "INT8";  ///< or INT16
  std::string wts_type = "INT8";  ///< or INT4
};
[[nodiscard]] Quantized quantize(const Network& network, const Types& types = {});

/// The rows of `data` in batches that both sides run.
[[nodiscard]] std::vector<amct::Tensor> batches_of(const amct::Tensor& data);

/// Name of the only input.
[[nodiscard]] const std::string& input_name(const amct::graph::Graph& graph);

/// The outputs on all rows of `data`, one behind the other.
[[nodiscard]] std::vector<float> run_onnxruntime(const std::filesystem::path& model, const std::string& input,
                                                 const amct::Tensor& data, bool optimize = false);
template <class Hook = amct::exec::NoHook>
[[nodiscard]] std::vector<float> run_ours(const amct::graph::Graph& graph, const amct::Tensor& data, Hook&& hook = {}) {
  const amct::exec::Interpreter interpreter(graph, support::ops());
  std::vector<float> all;
  for (auto& batch : batches_of(data)) {
    std::vector<amct::Tensor> inputs;
    inputs.push_back(std::move(batch));
    const std::vector<amct::Tensor> outputs = interpreter.run(inputs, hook);
    all.insert(all.end(), outputs[0].data<float>().begin(), outputs[0].data<float>().end());
  }
  return all;
}

/// Rows whose largest score stands in different places.
[[nodiscard]] std::size_t different_top1(const std::vector<float>& a, const std::vector<float>& b, std::size_t classes);

}  // namespace networks
