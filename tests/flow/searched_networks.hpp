// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/evaluator.hpp>
#include <amct/flow/prepare.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

/// \file
/// Small networks that searches of precisions are tried on, and what judges them.

[[nodiscard]] inline amct::Tensor random_floats(amct::Shape shape, std::uint32_t seed, float width = 1.0F) {
  std::mt19937 random(seed);
  amct::Tensor tensor(amct::ElementType::float32, std::move(shape));
  for (float& value : tensor.data<float>()) {
    value = width * (static_cast<float>(random() % 2001) / 1000.0F - 1.0F);
  }
  return tensor;
}

/// Four convolutions, one beside a shortcut, and a fully connected layer.
[[nodiscard]] inline amct::graph::Graph convolutions() {
  return support::GraphBuilder()
      .input("x", {2, 2, 6, 6})
      .initializer("w1", random_floats({4, 2, 3, 3}, 1))
      .initializer("w2", random_floats({4, 4, 3, 3}, 2, 0.3F))
      .initializer("w3", random_floats({4, 4, 1, 1}, 3))
      .initializer("w4", random_floats({2, 4, 3, 3}, 4, 3.0F))
      .initializer("fw", random_floats({8, 3}, 5))
      .node("Conv", "c1", {"x", "w1"}, "a")
      .node("Relu", "r1", {"a"}, "b")
      .node("Conv", "c2", {"b", "w2"}, "c", {{"pads", support::Ints{1, 1, 1, 1}}})
      .node("Conv", "c3", {"b", "w3"}, "d")
      .node("Add", "add", {"c", "d"}, "e")
      .node("Relu", "r2", {"e"}, "f")
      .node("Conv", "c4", {"f", "w4"}, "g")
      .node("Flatten", "flat", {"g"}, "h")
      .node("MatMul", "fc", {"h", "fw"}, "y")
      .output("y")
      .build();
}

/// Fully connected layers, of which the first gets data with a long tail.
[[nodiscard]] inline amct::graph::Graph perceptron() {
  return support::GraphBuilder()
      .input("x", {2, 2, 6, 6})
      .initializer("w1", random_floats({72, 24}, 6, 0.2F))
      .initializer("w2", random_floats({24, 24}, 7, 0.5F))
      .initializer("w3", random_floats({24, 24}, 8, 0.5F))
      .initializer("w4", random_floats({24, 3}, 9, 0.5F))
      .node("Flatten", "flat", {"x"}, "f")
      .node("MatMul", "m1", {"f", "w1"}, "a")
      .node("Mul", "cube", {"a", "a"}, "b")
      .node("MatMul", "m2", {"b", "w2"}, "c")
      .node("Relu", "r2", {"c"}, "d")
      .node("MatMul", "m3", {"d", "w3"}, "e")
      .node("Relu", "r3", {"e"}, "g")
      .node("MatMul", "m4", {"g", "w4"}, "y")
      .output("y")
      .build();
}

/// \param weight_bits  of all layers
[[nodiscard]] inline amct::flow::Prepared prepared_of(const amct::graph::Graph& graph,
                                                      amct::Flavour flavour = amct::Flavour::pytorch,
                                                      int weight_bits = 8) {
  amct::EasyConfig config;
  config.batch_num = 2;
  if (weight_bits != 8) config.common.weights = amct::WeightSetting{.bits = weight_bits};
  return amct::flow::prepare(graph, config, support::ops(), amct::rules_of(flavour));
}

/// The metric is minus the largest difference from the float output, over two batches.
struct LargestError {
  double allowed = 0.0;
  int calibrations = 0;
  int evaluations = 0;
  std::vector<amct::Tensor> original{};

  static std::vector<amct::Tensor> batch(std::uint32_t seed) { return {random_floats({2, 2, 6, 6}, seed)}; }

  void calibration(const amct::flow::CalibrationRun& run) {
    ++calibrations;
    for (std::uint32_t seed = 20; seed < 22; ++seed) run(batch(seed));
  }
  double evaluate(const amct::flow::EvaluatedNetwork& network) {
    ++evaluations;
    std::vector<amct::Tensor> outputs;
    for (std::uint32_t seed = 30; seed < 32; ++seed) outputs.push_back(network.run(batch(seed)).at(0));
    if (original.empty()) original = outputs;
    float largest = 0.0F;
    for (std::size_t b = 0; b < outputs.size(); ++b) {
      for (std::size_t i = 0; i < outputs[b].size(); ++i) {
        largest = std::max(largest, std::fabs(outputs[b].data<float>()[i] - original[b].data<float>()[i]));
      }
    }
    return -static_cast<double>(largest);
  }
  [[nodiscard]] amct::flow::MetricVerdict metric_eval(double before, double after) const {
    return {before - after <= allowed, before - after};
  }
};
