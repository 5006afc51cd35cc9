// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <amct/graph/ir.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/kernel/row_source.hpp>

/// \file
/// The nodes that lower() makes, of domain "amct": a quantized layer with everything up to the codes of the next one.
///
/// | op_type | the layer | axes of codes and results |
/// |---|---|---|
/// | IntegerConv, IntegerConvTranspose, IntegerAveragePool | Conv, ConvTranspose, AveragePool | channels last |
/// | IntegerMatMul | MatMul, Gemm | as in ONNX |
/// | MaxPool | MaxPool of codes or float32 | channels last |
/// | GlobalAveragePool | GlobalAveragePool of float32 | channels last |
///
/// Inputs: codes, weight (int8 in ONNX's order, or codes that are made at run time), bias (int32, optional), the
/// parameter of AscendDequant, residual (float32, optional). Outputs: real values and codes of the next layer, each
/// only if somebody reads it. Attributes: those of the layer and the ones below.

namespace amct::exec::integer {

inline constexpr std::string_view kDomain = "amct";

inline constexpr std::size_t kCodesInput = 0;
inline constexpr std::size_t kWeightInput = 1;
inline constexpr std::size_t kBiasInput = 2;
inline constexpr std::size_t kScalesInput = 3;
inline constexpr std::size_t kResidualInput = 4;

inline constexpr std::size_t kRealOutput = 0;
inline constexpr std::size_t kCodesOutput = 1;

inline constexpr const char* kInputCodes = "input_codes";      ///< see InputCodes
inline constexpr const char* kWeightOffset = "weight_offset";  ///< that of a weight which is made at run time
inline constexpr const char* kClip = "clip";                   ///< two floats: the ends of a Relu or Clip
/// The AscendQuant or AscendReQuant that is a part of the node: its scale, and offset, least and largest code, bits.
inline constexpr const char* kNextScale = "next_scale";
inline constexpr const char* kNextCodes = "next_codes";
inline constexpr const char* kContract = "contract";  ///< that of AscendReQuant, see graph::RequantRule

/// The codes that a layer reads: that of 0 and the ends of their range.
struct InputCodes {
  std::int32_t offset = 0;
  CodeLimits limits = CodeLimits::of<std::int8_t>();
};

inline void set_input_codes(graph::Node& layer, const graph::QuantTarget& made) {
  layer.set_attribute(kInputCodes, std::vector<std::int64_t>{made.offset, made.lowest, made.highest});
}
/// What set_input_codes() has written.
[[nodiscard]] inline InputCodes input_codes(const graph::Node& layer) {
  const auto* numbers = layer.attribute<std::vector<std::int64_t>>(kInputCodes);
  if (numbers == nullptr || numbers->size() != 3) return {};
  const auto number = [&](std::size_t index) { return static_cast<std::int32_t>((*numbers)[index]); };
  return {number(0), {number(1), number(2)}};
}

/// A layer whose accumulators are made in integers.
[[nodiscard]] inline bool is_integer_layer(const graph::Node& node) noexcept {
  return node.domain == kDomain && node.op_type.starts_with("Integer");
}

/// Makes the codes of a quant node a second output of a layer.
inline void set_next_codes(graph::Node& layer, const graph::QuantTarget& target, graph::ValueId codes) {
  layer.outputs.resize(kCodesOutput + 1, graph::kNoValue);
  layer.outputs[kCodesOutput] = codes;
  layer.set_attribute(kNextScale, target.scale);
  layer.set_attribute(kNextCodes,
                      std::vector<std::int64_t>{target.offset, target.lowest, target.highest, target.range.bits});
}

/// What set_next_codes() has written; empty if the layer makes no codes.
[[nodiscard]] inline std::optional<graph::QuantTarget> next_codes(const graph::Node& layer) {
  const auto* numbers = layer.attribute<std::vector<std::int64_t>>(kNextCodes);
  if (numbers == nullptr || numbers->size() != 4) return std::nullopt;
  const auto number = [&](std::size_t index) { return static_cast<std::int32_t>((*numbers)[index]); };
  return graph::QuantTarget{.scale = layer.attribute_or<float>(kNextScale, 1.0F),
                            .offset = number(0),
                            .range = {number(3)},
                            .lowest = number(1),
                            .highest = number(2)};
}

}  // namespace amct::exec::integer
