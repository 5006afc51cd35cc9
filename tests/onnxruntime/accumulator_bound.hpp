// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

#include "support/ops.hpp"

namespace networks {

/// Up to here float32 holds every whole number, 2^24.
inline constexpr double kExactLimit = 16777216.0;

/// A hook that runs every layer of a fake-quant model once more on absolute values: no partial sum in any order is
/// larger than the largest result of that.
class AccumulatorBound {
 public:
  explicit AccumulatorBound(const amct::graph::Graph& graph) : graph_(graph) {}

  void before(const amct::graph::Node& node, std::span<const amct::Tensor* const> inputs) {
    static const std::set<std::string> kLayers{"Conv", "ConvTranspose", "Gemm", "MatMul", "AveragePool"};
    if (!kLayers.contains(node.op_type)) return;
    std::vector<amct::Tensor> copies;
    for (const amct::Tensor* input : inputs) copies.push_back(absolute(*input));
    std::vector<const amct::Tensor*> pointers;
    for (const auto& copy : copies) pointers.push_back(&copy);
    std::vector<amct::Tensor> outputs(1);
    (*support::ops().find(graph_, node))({.node = node, .opset = graph_.opset, .inputs = pointers, .outputs = outputs});
    // A pool shows the mean; its sum is larger by the number of elements.
    const auto* kernel =
        node.op_type == "AveragePool" ? node.attribute<std::vector<std::int64_t>>("kernel_shape") : nullptr;
    const double factor = kernel == nullptr ? 1.0 : static_cast<double>((*kernel)[0] * (*kernel)[1]);
    for (const float value : outputs[0].data<float>())
      largest_ = std::max(largest_, factor * static_cast<double>(value));
  }
  void after(const amct::graph::Node&, std::span<const amct::Tensor>) const {}
  [[nodiscard]] double largest() const noexcept { return largest_; }

 private:
  [[nodiscard]] static amct::Tensor absolute(const amct::Tensor& tensor) {
    amct::Tensor result = tensor;
    for (float& value : result.data<float>()) value = std::fabs(value);
    return result;
  }

  const amct::graph::Graph& graph_;
  double largest_ = 0.0;
};

}  // namespace networks
