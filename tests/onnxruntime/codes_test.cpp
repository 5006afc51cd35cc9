// SPDX-License-Identifier: Apache-2.0
// The integer network against ONNX Runtime running our fake-quant model, which is an exact simulation while sums stay
// below 2^24: the same codes in front of every quantized layer, and the same results behind it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/onnx/export.hpp>

#include "onnxruntime/layer_codes.hpp"
#include "onnxruntime/networks.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

namespace {

/// The first rows of a network's data.
amct::Tensor some_data(const networks::Network& network, std::size_t rows) {
  std::vector<std::int64_t> dims = network.data.shape().dims();
  dims[0] = std::min(dims[0], static_cast<std::int64_t>(rows));
  const amct::Shape shape(dims);
  return {shape, network.data.data<float>().first(shape.size())};
}

void check_network(const std::string& name, const networks::Network& network, const networks::Types& types = {}) {
  const auto quantized = networks::quantize(network, types);
  const auto deployed = amct::flow::deploy(quantized.graph, quantized.record);
  networks::check_layers(name, networks::compare_layers(deployed, some_data(network, 20)));
}

/// The same for whole networks whose float operators round in one way alone.
void check_outputs(const networks::Network& network) {
  const auto quantized = networks::quantize(network);
  const auto deployed = amct::flow::deploy(quantized.graph, quantized.record);
  const support::TempDir folder;
  amct::onnx::export_model(folder / "fake.onnx", amct::flow::fake_quant(deployed));
  const auto theirs = networks::run_onnxruntime(folder / "fake.onnx", networks::input_name(deployed), network.data);
  const amct::flow::Execution integers(deployed, amct::flow::Mode::real_quant, support::integer_ops());
  std::vector<float> ours;
  for (auto& batch : networks::batches_of(network.data)) {
    std::vector<amct::Tensor> inputs;
    inputs.push_back(std::move(batch));
    const auto outputs = integers.run(inputs);
    ours.insert(ours.end(), outputs[0].data<float>().begin(), outputs[0].data<float>().end());
  }
  CHECK(ours == theirs);
}

}  // namespace

TEST_CASE("codes of layers: networks of AMCT's golden runs") {
  for (const char* run : {"ptq_a_default", "ptq_b_default", "ptq_c_default", "ptq_d_default"}) {
    check_network(run, networks::golden(run));
  }
}
TEST_CASE("codes of layers: 16 bits, whose sums leave float32") {
  for (const char* run : {"ptq_a_default", "ptq_b_default", "ptq_c_default", "ptq_d_default"}) {
    check_network(std::string(run) + " with INT16", networks::golden(run), {.act_type = "INT16"});
  }
}
TEST_CASE("codes of layers: networks for digits and pictures of clothes") {
  check_network("digits", networks::digits());
  for (const char* model : {"mbv2_fashion_bn", "resnet_fashion_bn", "vit_fashion_bn"}) {
    check_network(model, networks::on_digits(model));
  }
}
TEST_CASE("outputs of whole networks in integers are those of ONNX Runtime") {
  check_outputs(networks::digits());
  check_outputs(networks::golden("ptq_a_default"));
  check_outputs(networks::golden("ptq_b_default"));
  check_outputs(networks::golden("ptq_d_default"));
}
