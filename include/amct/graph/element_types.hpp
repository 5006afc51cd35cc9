// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/flavour.hpp>
#include <amct/graph/ir.hpp>

namespace amct::graph {

/// The element type for a number of ONNX's TensorProto.DataType, as Cast has it in `to`; empty for others.
[[nodiscard]] constexpr std::optional<ElementType> onnx_element_type(std::int64_t number) noexcept {
  switch (number) {
    case 1: return ElementType::float32;
    case 2: return ElementType::uint8;
    case 3: return ElementType::int8;
    case 4: return ElementType::uint16;
    case 5: return ElementType::int16;
    case 6: return ElementType::int32;
    case 7: return ElementType::int64;
    case 9: return ElementType::boolean;
    case 10: return ElementType::float16;
    case 11: return ElementType::float64;
    case 12: return ElementType::uint32;
    case 13: return ElementType::uint64;
    default: return {};
  }
}

namespace detail {

/// Operators whose first result has the type of their first input.
// clang-format off
inline constexpr std::string_view kKeepsType[] = {
    "Abs", "Add", "AveragePool", "BatchNormalization", "Ceil", "Clip", "Concat", "Conv", "ConvTranspose", "CumSum",
    "DepthToSpace", "Div", "Dropout", "Elu", "Erf", "Exp", "Expand", "Flatten", "Floor", "GRU", "Gather",
    "GatherElements", "GatherND", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "GridSample", "HardSigmoid",
    "HardSwish", "Identity", "InstanceNormalization", "LRN", "LSTM", "LayerNormalization", "LeakyRelu", "Log",
    "LogSoftmax", "MatMul", "Max", "MaxPool", "Mean", "Min", "Mod", "Mul", "Neg", "PRelu", "Pad", "Pow", "RNN",
    "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Resize", "Round", "Selu",
    "Sigmoid", "Sign", "Slice", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub",
    "Sum", "Tanh", "ThresholdedRelu", "Tile", "Transpose", "Trilu", "Unsqueeze", "Upsample"};
inline constexpr std::string_view kMakesBool[] = {
    "And", "Or", "Xor", "Not", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsNaN", "IsInf"};
inline constexpr std::string_view kMakesInt64[] = {"ArgMax", "ArgMin", "NonZero", "Shape", "Size"};
// clang-format on

}  // namespace detail

/// The element type of each value where it follows from the operators; a file need not declare it, so Value::type says
/// nothing of what nodes make. O(nodes).
[[nodiscard]] inline std::vector<std::optional<ElementType>> element_types(const Graph& graph) {
  std::vector<std::optional<ElementType>> types(graph.values.size());
  const auto of = [&](ValueId id) { return id == kNoValue ? std::nullopt : types[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (graph.values[i].initializer) types[i] = graph.values[i].initializer->type();
  }
  for (const ValueId id : graph.inputs) types[static_cast<std::size_t>(id)] = graph.value(id).type;
  for (const auto& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    std::optional<ElementType> type;
    if (is_one_of(detail::kKeepsType, node.op_type)) type = of(node.input(0));
    else if (is_one_of(detail::kMakesBool, node.op_type)) type = ElementType::boolean;
    else if (is_one_of(detail::kMakesInt64, node.op_type)) type = ElementType::int64;
    else if (node.op_type == "Cast") type = onnx_element_type(node.attribute_or<std::int64_t>("to", 0));
    else if (node.op_type == "Where") type = of(node.input(1));
    else if (const Tensor* value = node.attribute<Tensor>("value")) type = value->type();
    const std::size_t outputs = node.op_type == "Split" ? node.outputs.size() : 1;
    for (std::size_t i = 0; i < outputs && i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) types[static_cast<std::size_t>(node.outputs[i])] = type;
    }
  }
  return types;
}

}  // namespace amct::graph
