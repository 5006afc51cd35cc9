// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

namespace networks {

/// One quantized layer in ONNX Runtime, which runs the fake-quant model, and in our integers, both on the values that
/// ONNX Runtime has in front of the layer.
struct LayerComparison {
  std::string layer{};
  double largest_sum = 0.0;  ///< no partial sum of products and bias is larger on these data
  std::size_t codes = 0;     ///< that the layer reads
  std::size_t different_codes = 0;
  std::size_t results = 0;  ///< real values that it makes
  std::size_t different_results = 0;
  double difference = 0.0;  ///< the largest of results, relative to the largest result

  /// Whether float32 sums are exact, so that results must be the same.
  [[nodiscard]] bool is_exact() const noexcept;
};

/// Compares all quantized layers of a deployed network with one input.
[[nodiscard]] std::vector<LayerComparison> compare_layers(const amct::graph::Graph& deployed,
                                                          const amct::Tensor& input);

/// Checks that codes are the same everywhere, and results wherever float32 sums are exact; elsewhere they differ by
/// rounding alone. Says how many layers there are of each kind.
void check_layers(const std::string& network, const std::vector<LayerComparison>& layers);

}  // namespace networks
