// SPDX-License-Identifier: Apache-2.0
// Models with QuantizeLinear and DequantizeLinear in ONNX Runtime, which runs them with its integer kernels, against
// the fake-quant models that they stand for in our executor.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/session.hpp>

#include "onnxruntime/networks.hpp"
#include "onnxruntime/peer.hpp"
#include "support/temp_dir.hpp"

namespace {

/// The largest difference in steps of outputs of 8 bits: each runtime rounds differently where a number lies between
/// two codes, so one step is what may be.
double difference_in_steps(const std::vector<float>& ours, const std::vector<float>& theirs) {
  const auto [low, high] = std::minmax_element(ours.begin(), ours.end());
  peer::Distance distance;
  distance.add(ours, theirs);
  return distance.difference / (static_cast<double>(*high) - static_cast<double>(*low)) * 255.0;
}

/// How many operators of each type ONNX Runtime makes of a model on one row of data.
std::map<std::string, int> executed(const std::filesystem::path& model, const std::string& input,
                                    const amct::Tensor& data) {
  const std::filesystem::path optimized = model.string() + ".optimized";
  peer::Job job{.model = model, .runs = {}, .optimize = true, .optimized = optimized};
  job.runs.push_back({{input, data}});
  (void)peer::run_onnxruntime(job);
  ::onnx::ModelProto message;
  std::ifstream file(optimized, std::ios::binary);
  REQUIRE(message.ParseFromIstream(&file));
  std::map<std::string, int> counts;
  for (const auto& node : message.graph().node()) ++counts[node.op_type()];
  return counts;
}

/// Compares a network in both forms, with and without ONNX Runtime's optimizations.
/// \param integer  operators that the optimizations make of layers with unsigned activations
void check_qdq(const networks::Network& network, const std::map<std::string, int>& integer,
               const networks::Types& types = {}) {
  const auto quantized = networks::quantize(network, types);
  const auto deployed = amct::flow::deploy(quantized.graph, quantized.record);
  const auto ours = networks::run_ours(amct::flow::fake_quant(deployed), network.data);
  for (const bool is_unsigned : {false, true}) {
    CAPTURE(is_unsigned);
    const support::TempDir folder;
    const auto path = folder / "qdq.onnx";
    const auto model =
        amct::onnx::qdq(deployed, quantized.record, {.unsigned_activations = is_unsigned, .int4_weights = true});
    const std::string input = networks::input_name(model.graph);
    amct::onnx::export_model(path, model.graph, model.int4);
    double worst = 0.0;
    for (const bool optimize : {false, true}) {
      CAPTURE(optimize);
      const auto theirs = networks::run_onnxruntime(path, input, network.data, optimize);
      const double steps = difference_in_steps(ours, theirs);
      worst = std::max(worst, steps);
      CHECK(steps <= 1.0);
      if (network.classes > 0) CHECK(networks::different_top1(ours, theirs, network.classes) == 0);
    }
    MESSAGE("the outputs are up to ", worst, " steps apart");
    if (!is_unsigned) continue;
    auto counts = executed(path, input, networks::batches_of(network.data).front());
    for (const auto& least : integer) {
      CAPTURE(least.first);
      CHECK(counts[least.first] >= least.second);
    }
  }
}

}  // namespace

TEST_CASE("qdq: the digit network, on all evaluation images") {
  check_qdq(networks::digits(), {{"QLinearConv", 3}, {"QGemm", 1}});
}
TEST_CASE("qdq: a residual network with average pooling") {
  check_qdq(networks::golden("ptq_a_default"), {{"QLinearConv", 1}, {"QGemm", 1}});
}
TEST_CASE("qdq: depthwise and transposed convolutions") {
  check_qdq(networks::golden("ptq_b_default"), {{"QLinearConv", 2}});
}
TEST_CASE("qdq: a transformer block") { check_qdq(networks::golden("ptq_c_default"), {{"MatMulIntegerToFloat", 6}}); }
TEST_CASE("qdq: a multi-layer perceptron") { check_qdq(networks::golden("ptq_d_default"), {{"QGemm", 2}}); }
TEST_CASE("qdq: weights of 4 bits, in opset 21") {
  check_qdq(networks::golden("ptq_a_default"), {{"QuantizeLinear", 4}}, {.wts_type = "INT4"});
  check_qdq(networks::golden("ptq_d_default"), {{"QuantizeLinear", 2}}, {.wts_type = "INT4"});
}
TEST_CASE("qdq: activations of 16 bits, in opset 21") {
  check_qdq(networks::golden("ptq_a_default"), {{"QuantizeLinear", 4}}, {.act_type = "INT16"});
  check_qdq(networks::golden("ptq_c_default"), {{"QuantizeLinear", 4}}, {.act_type = "INT16"});
}
