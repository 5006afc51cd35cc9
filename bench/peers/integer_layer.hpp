// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// A convolution of int8 codes, channels last, with square kernels and inputs of one image. A matrix product is one of
/// 1x1 over an image of a single column.
struct IntegerShape {
  std::size_t height, width;
  std::size_t channels_in, channels_out;
  std::size_t kernel = 1, stride = 1, padding = 0, groups = 1;

  [[nodiscard]] std::size_t height_out() const { return (height + 2 * padding - kernel) / stride + 1; }
  [[nodiscard]] std::size_t width_out() const { return (width + 2 * padding - kernel) / stride + 1; }
  [[nodiscard]] std::size_t inputs() const { return height * width * channels_in; }
  [[nodiscard]] std::size_t outputs() const { return height_out() * width_out() * channels_out; }
  [[nodiscard]] std::size_t group_channels_in() const { return channels_in / groups; }
  [[nodiscard]] std::size_t weights() const { return channels_out * terms(); }
  /// Products of one output, those of padding included.
  [[nodiscard]] std::size_t terms() const { return group_channels_in() * kernel * kernel; }
  [[nodiscard]] bool is_matrix_product() const { return width == 1 && kernel == 1; }
};

/// Its parameters: accumulators get a bias, are multiplied by a factor for each channel, rounded, moved by the offset
/// and saturated. Padding has the code of zero. bench/peers/integer_layers.mjs makes the same.
struct IntegerLayer {
  static constexpr std::int32_t kInputOffset = -7;
  static constexpr std::int32_t kOutputOffset = 5;

  IntegerShape shape;
  std::vector<std::int8_t> weights;  ///< as in ONNX: [channels_out][channels_in / groups][kernel][kernel]
  std::vector<std::int32_t> bias;
  std::vector<float> multipliers;

  /// Weights are even and small: some peers add pairs of products in 16 bits, or halve the weights first, and would
  /// compute something else with others. The multipliers let results fill int8.
  explicit IntegerLayer(const IntegerShape& of) : shape(of), weights(of.weights()) {
    std::uint32_t state = 1;
    for (auto& weight : weights) {
      state = state * 1664525U + 1013904223U;
      weight = static_cast<std::int8_t>(2 * static_cast<std::int32_t>((state >> 16) % 63U) - 62);
    }
    const float widest = 0.0150317F / std::sqrt(static_cast<float>(of.terms()));
    for (std::size_t c = 0; c < of.channels_out; ++c) {
      bias.push_back(static_cast<std::int32_t>(c * 37 % 2001) - 1000);
      multipliers.push_back(widest * (1.0F + 0.1F * static_cast<float>(c % 7)));
    }
  }

  /// Accumulators' bias with the term of the input's offset, which makes the two one. Not for layers with padding.
  [[nodiscard]] std::vector<std::int32_t> bias_with_offset(std::int32_t offset) const {
    std::vector<std::int32_t> sums = bias;
    for (std::size_t c = 0; c < shape.channels_out; ++c) {
      const std::span row(weights.data() + c * shape.terms(), shape.terms());
      sums[c] -= offset * std::accumulate(row.begin(), row.end(), std::int32_t{0});
    }
    return sums;
  }
};

using SharedLayer = std::shared_ptr<const IntegerLayer>;

/// Codes moved by 128: uint8, which some peers want.
[[nodiscard]] inline std::shared_ptr<std::vector<std::uint8_t>> as_unsigned(std::span<const std::int8_t> codes) {
  auto values = std::make_shared<std::vector<std::uint8_t>>();
  values->reserve(codes.size());
  for (const std::int8_t code : codes) values->push_back(static_cast<std::uint8_t>(code + 128));
  return values;
}

}  // namespace bench
