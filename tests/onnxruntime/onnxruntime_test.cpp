// SPDX-License-Identifier: Apache-2.0
// The same networks in our executor and in ONNX Runtime: float within 1e-4, fake-quantized bit for bit.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/onnx/import.hpp>
#include <amct/onnx/session.hpp>

#include "onnxruntime/accumulator_bound.hpp"
#include "onnxruntime/networks.hpp"
#include "onnxruntime/peer.hpp"
#include "support/temp_dir.hpp"

namespace {

void check_close(const std::vector<float>& ours, const std::vector<float>& theirs) {
  peer::Distance distance;
  distance.add(ours, theirs);
  MESSAGE("largest difference relative to the largest output: ", distance.relative());
  CHECK(distance.largest > 0.0);
  CHECK(distance.relative() <= 1e-4);
}

/// Quantizes the network and compares float and fake-quant execution on its data.
void compare(const networks::Network& network) {
  const amct::graph::Graph graph = amct::onnx::import_model(network.model);
  check_close(networks::run_ours(graph, network.data),
              networks::run_onnxruntime(network.model, networks::input_name(graph), network.data));

  const auto quantized = networks::quantize(network);
  const support::TempDir folder;
  const amct::onnx::OutputFiles files((folder / "m").string());
  amct::onnx::save_model(files, quantized.graph, quantized.record, [](const amct::graph::Graph&) { return ""; });

  const amct::graph::Graph fake = amct::onnx::import_model(files.fake_quant_model);
  networks::AccumulatorBound bound(fake);
  const auto ours = networks::run_ours(fake, network.data, bound);
  const auto theirs = networks::run_onnxruntime(files.fake_quant_model, networks::input_name(fake), network.data);
  MESSAGE("largest possible accumulator: ", bound.largest());
  if (bound.largest() <= networks::kExactLimit) {
    CHECK(ours == theirs);
  } else {
    check_close(ours, theirs);
  }
  if (network.classes > 0) CHECK(networks::different_top1(ours, theirs, network.classes) == 0);
}

}  // namespace

TEST_CASE("the digit network, on all evaluation images") { compare(networks::digits()); }
TEST_CASE("a residual network with average pooling") { compare(networks::golden("ptq_a_default")); }
TEST_CASE("depthwise and transposed convolutions") { compare(networks::golden("ptq_b_default")); }
TEST_CASE("a multi-layer perceptron") { compare(networks::golden("ptq_d_default")); }
