// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <amct/core/layer_table.hpp>

namespace amct {

/// A set of layers: those of some kinds, and those of some operators.
///
/// Operators are ONNX's, and names of composites where torch has one layer and ONNX several nodes: LayerNorm, GELU,
/// LogSigmoid, Softmin, Tanhshrink, Softsign, GLU, SiLU, Mish, Hardswish.
struct LayerPattern {
  /// Which of the layers of `kinds` and `operators`.
  enum class Only : std::uint8_t {
    all,
    depthwise,      ///< depthwise convolutions
    not_depthwise,  ///< all but them, where depthwise ones have a type of their own
    weightless,     ///< a product of two tensors, not of a tensor and a constant weight
  };

  std::uint16_t kinds = 0;                      ///< bit LayerKind
  std::array<std::string_view, 4> operators{};  ///< unused ones are empty
  Only only = Only::all;

  [[nodiscard]] constexpr bool has_kind(LayerKind kind) const noexcept {
    return ((kinds >> static_cast<unsigned>(kind)) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool has_operator(std::string_view op_type) const noexcept {
    for (const std::string_view name : operators) {
      if (!name.empty() && name == op_type) return true;
    }
    return false;
  }
  [[nodiscard]] bool matches(const LayerInfo& layer) const noexcept {
    if (!has_kind(layer.kind) && !has_operator(layer.op_type)) return false;
    switch (only) {
      case Only::all: return true;
      case Only::depthwise: return layer.depthwise;
      case Only::not_depthwise: return !layer.depthwise;
      case Only::weightless: return layer.kind == LayerKind::other;
    }
    return false;
  }
};

namespace detail {

/// How a name may be written; a row has one or more.
struct Spelling {
  std::uint16_t bit;
  std::string_view prefix;
  std::string_view suffix;
};

inline constexpr std::uint16_t kPlain = 1;
inline constexpr std::uint16_t kNn = 2 | 4;
inline constexpr std::uint16_t kFunctional = 8 | 16;
inline constexpr std::uint16_t kFunctionalInPlace = 32 | 4096;
inline constexpr std::uint16_t kTorch = 64;
inline constexpr std::uint16_t kMethod = 128 | 256;
inline constexpr std::uint16_t kMethodInPlace = 512 | 4096;
inline constexpr std::uint16_t kOperator = 1024;
inline constexpr std::uint16_t kAmct = 2048;

inline constexpr Spelling kSpellings[] = {
    {1, "", ""},
    {2, "torch.nn.", ""},
    {4, "nn.", ""},
    {8, "torch.nn.functional.", ""},
    {16, "nn.functional.", ""},
    {32, "torch.nn.functional.", "_"},
    {64, "torch.", ""},
    {128, "Tensor.", ""},
    {256, "torch.Tensor.", ""},
    {512, "Tensor.", "_"},
    {1024, "operator.", ""},
    {2048, "amct.nn.", ""},
    {4096, "", "_"},
};

struct TypeRow {
  std::string_view name;
  std::uint16_t spellings;
  LayerPattern pattern;
};

[[nodiscard]] constexpr bool is_spelling(const TypeRow& row, std::string_view text) noexcept {
  for (const Spelling& spelling : kSpellings) {
    if ((row.spellings & spelling.bit) == 0) continue;
    if (text.size() != spelling.prefix.size() + row.name.size() + spelling.suffix.size()) continue;
    if (!text.starts_with(spelling.prefix) || !text.ends_with(spelling.suffix)) continue;
    if (text.substr(spelling.prefix.size(), row.name.size()) == row.name) return true;
  }
  return false;
}

[[nodiscard]] constexpr LayerPattern kinds(std::initializer_list<LayerKind> list,
                                           LayerPattern::Only only = LayerPattern::Only::all) noexcept {
  LayerPattern pattern{.only = only};
  for (const LayerKind kind : list) {
    pattern.kinds = static_cast<std::uint16_t>(pattern.kinds | 1U << static_cast<unsigned>(kind));
  }
  return pattern;
}
[[nodiscard]] constexpr LayerPattern operators(std::string_view a, std::string_view b = {}, std::string_view c = {},
                                               std::string_view d = {}) noexcept {
  return {.operators = {a, b, c, d}};
}
[[nodiscard]] constexpr LayerPattern either(LayerPattern by_kind, LayerPattern by_operator) noexcept {
  by_kind.operators = by_operator.operators;
  return by_kind;
}

inline constexpr LayerPattern kAveragePools = either(kinds({LayerKind::avg_pool2d}), operators("AveragePool"));
inline constexpr LayerPattern kAdaptiveAveragePools =
    either(kinds({LayerKind::avg_pool2d}), operators("AveragePool", "GlobalAveragePool"));
inline constexpr LayerPattern kTensorProducts{.operators = {"MatMul"}, .only = LayerPattern::Only::weightless};

inline constexpr std::uint16_t kClass = kPlain | kNn;
inline constexpr std::uint16_t kFunction = kPlain | kFunctional;
inline constexpr std::uint16_t kOfTensor = kPlain | kTorch | kMethod;
inline constexpr std::uint16_t kArithmetic = kOfTensor | kMethodInPlace | kOperator;
inline constexpr std::uint16_t kActivation = kFunction | kFunctionalInPlace | kTorch | kMethod | kMethodInPlace;

/// No spelling stands in two rows. Where vocabularies clash, ONNX's meaning holds: "MatMul" is the operator, which is
/// a fully connected layer in TensorFlow.
inline constexpr TypeRow kTypeRows[] = {
    // Layers with weights: torch classes and MindSpore
    {"Conv1d", kClass, kinds({LayerKind::conv1d})},
    {"Conv2d", kClass, kinds({LayerKind::conv2d})},
    {"Conv3d", kClass, kinds({LayerKind::conv3d})},
    {"ConvTranspose1d", kClass, kinds({LayerKind::conv_transpose1d})},
    {"ConvTranspose2d", kClass, kinds({LayerKind::conv_transpose2d})},
    {"DepthwiseConv2d", kClass, kinds({LayerKind::conv2d}, LayerPattern::Only::depthwise)},
    {"Linear", kClass, kinds({LayerKind::linear})},
    {"Dense", kClass, kinds({LayerKind::linear})},
    {"LSTM", kClass, kinds({LayerKind::lstm})},
    {"GRU", kClass, kinds({LayerKind::gru})},
    // ONNX operators with weights
    {"Conv", kPlain, either(kinds({LayerKind::conv1d, LayerKind::conv2d, LayerKind::conv3d}), operators("Conv"))},
    {"ConvTranspose", kPlain,
     either(kinds({LayerKind::conv_transpose1d, LayerKind::conv_transpose2d}), operators("ConvTranspose"))},
    {"Gemm", kPlain, operators("Gemm")},
    {"MatMul", kPlain, operators("MatMul")},
    // TensorFlow operators
    {"Conv2D", kPlain, kinds({LayerKind::conv2d}, LayerPattern::Only::not_depthwise)},
    {"Conv3D", kPlain, kinds({LayerKind::conv3d})},
    {"DepthwiseConv2dNative", kPlain, kinds({LayerKind::conv2d}, LayerPattern::Only::depthwise)},
    {"Conv2DBackpropInput", kPlain, kinds({LayerKind::conv_transpose2d})},
    {"BatchMatMul", kPlain, operators("MatMul")},
    {"BatchMatMulV2", kPlain, operators("MatMul")},
    {"AvgPool", kPlain, kAveragePools},
    // Caffe layers
    {"Convolution", kPlain, kinds({LayerKind::conv2d})},
    {"DepthwiseConv", kPlain, kinds({LayerKind::conv2d}, LayerPattern::Only::depthwise)},
    {"Deconvolution", kPlain, kinds({LayerKind::conv_transpose2d})},
    {"InnerProduct", kPlain, kinds({LayerKind::linear})},
    {"Pooling", kPlain,
     either(kinds({LayerKind::avg_pool2d}), operators("AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool"))},
    {"Eltwise", kPlain, operators("Add")},
    {"eltwise_add", kPlain, operators("Add")},  // om.json mapping files
    // Pooling
    {"AvgPool2d", kClass, kAveragePools},
    {"avg_pool2d", kFunction, kAveragePools},
    {"AveragePool", kPlain, kAveragePools},
    {"MaxPool2d", kClass, operators("MaxPool")},
    {"max_pool2d", kFunction, operators("MaxPool")},
    {"max_pool2d_with_indices", kFunction, operators("MaxPool")},
    {"MaxPool", kPlain, operators("MaxPool")},
    {"AdaptiveMaxPool2d", kClass, operators("MaxPool", "GlobalMaxPool")},
    {"adaptive_max_pool2d", kFunction, operators("MaxPool", "GlobalMaxPool")},
    {"adaptive_max_pool2d_with_indices", kFunction, operators("MaxPool", "GlobalMaxPool")},
    {"GlobalMaxPool", kPlain, operators("GlobalMaxPool")},
    {"AdaptiveAvgPool2d", kClass, kAdaptiveAveragePools},
    {"adaptive_avg_pool2d", kFunction, kAdaptiveAveragePools},
    {"GlobalAveragePool", kPlain, operators("GlobalAveragePool")},
    // Arithmetic
    {"Add", kPlain, operators("Add")},
    {"add", kArithmetic, operators("Add")},
    {"+", kPlain, operators("Add")},
    {"Sub", kPlain, operators("Sub")},
    {"sub", kArithmetic, operators("Sub")},
    {"-", kPlain, operators("Sub")},
    {"Mul", kPlain, operators("Mul")},
    {"mul", kArithmetic, operators("Mul")},
    {"*", kPlain, operators("Mul")},
    {"Div", kPlain, operators("Div")},
    {"div", kOfTensor | kMethodInPlace, operators("Div")},
    {"truediv", kPlain | kOperator, operators("Div")},
    {"/", kPlain, operators("Div")},
    {"Pow", kPlain, operators("Pow")},
    {"pow", kArithmetic, operators("Pow")},
    {"**", kPlain, operators("Pow")},
    {"Abs", kPlain, operators("Abs")},
    {"abs", kArithmetic, operators("Abs")},
    {"matmul", kOfTensor | kOperator, kTensorProducts},
    {"bmm", kOfTensor, kTensorProducts},
    {"Clip", kPlain, operators("Clip")},
    {"clamp", kOfTensor | kMethodInPlace, operators("Clip")},
    // Reductions
    {"ReduceSum", kPlain, operators("ReduceSum")},
    {"sum", kOfTensor, operators("ReduceSum")},
    {"ReduceMean", kPlain, operators("ReduceMean")},
    {"mean", kOfTensor, operators("ReduceMean")},
    {"ReduceMax", kPlain, operators("ReduceMax")},
    {"Max", kPlain, operators("Max")},
    {"max", kOfTensor, operators("ReduceMax", "Max")},
    {"ReduceMin", kPlain, operators("ReduceMin")},
    {"Min", kPlain, operators("Min")},
    {"min", kOfTensor, operators("ReduceMin", "Min")},
    // Shapes
    {"Transpose", kPlain, operators("Transpose")},
    {"permute", kOfTensor, operators("Transpose")},
    {"transpose", kOfTensor, operators("Transpose")},
    {"Resize", kPlain, operators("Resize")},
    {"Upsample", kClass, operators("Resize", "Upsample")},
    {"upsample", kFunction, operators("Resize", "Upsample")},
    {"interpolate", kFunction, operators("Resize", "Upsample")},
    {"Concat", kPlain, operators("Concat")},
    {"concat", kPlain | kTorch, operators("Concat")},
    {"cat", kPlain | kTorch, operators("Concat")},
    {"stack", kPlain | kTorch, operators("Concat")},
    {"Flatten", kClass, operators("Flatten")},
    {"flatten", kOfTensor, operators("Flatten")},
    {"Squeeze", kPlain, operators("Squeeze")},
    {"squeeze", kOfTensor, operators("Squeeze")},
    {"Unsqueeze", kPlain, operators("Unsqueeze")},
    {"unsqueeze", kOfTensor, operators("Unsqueeze")},
    {"Reshape", kPlain, operators("Reshape")},
    {"reshape", kOfTensor, operators("Reshape")},
    {"view", kPlain | kMethod, operators("Reshape")},
    {"Split", kPlain, operators("Split")},
    {"split", kOfTensor, operators("Split")},
    {"Slice", kPlain, operators("Slice")},
    {"Tile", kPlain, operators("Tile")},
    {"SpaceToDepth", kPlain | kAmct, operators("SpaceToDepth")},
    {"DepthToSpace", kPlain | kAmct, operators("DepthToSpace")},
    {"Warp", kPlain | kAmct, operators("GridSample")},
    {"GlobalWarp", kPlain | kAmct, operators("GridSample")},
    {"GridSample", kPlain, operators("GridSample")},
    // Activations
    {"ReLU", kClass, operators("Relu")},
    {"relu", kActivation, operators("Relu")},
    {"Relu", kPlain, operators("Relu")},
    {"ReLU6", kClass, operators("Clip")},
    {"relu6", kFunction, operators("Clip")},
    {"Hardtanh", kClass, operators("Clip")},
    {"hardtanh", kFunction | kFunctionalInPlace, operators("Clip")},
    {"Sigmoid", kClass, operators("Sigmoid")},
    {"sigmoid", kActivation, operators("Sigmoid")},
    {"Tanh", kClass, operators("Tanh")},
    {"tanh", kActivation, operators("Tanh")},
    {"LeakyReLU", kClass, operators("LeakyRelu")},
    {"leaky_relu", kFunction | kFunctionalInPlace, operators("LeakyRelu")},
    {"LeakyRelu", kPlain, operators("LeakyRelu")},
    {"PReLU", kClass, operators("PRelu")},
    {"prelu", kFunction, operators("PRelu")},
    {"PRelu", kPlain, operators("PRelu")},
    {"GELU", kClass, operators("GELU", "Gelu")},
    {"gelu", kFunction, operators("GELU", "Gelu")},
    {"Gelu", kPlain, operators("GELU", "Gelu")},
    {"Softmax", kClass, operators("Softmax")},
    {"softmax", kFunction, operators("Softmax")},
    {"Softmax2d", kClass, operators("Softmax")},
    {"LogSoftmax", kClass, operators("LogSoftmax")},
    {"log_softmax", kFunction, operators("LogSoftmax")},
    {"ELU", kClass, operators("Elu")},
    {"elu", kFunction | kFunctionalInPlace, operators("Elu")},
    {"Elu", kPlain, operators("Elu")},
    {"LogSigmoid", kClass, operators("LogSigmoid")},
    {"logsigmoid", kFunction, operators("LogSigmoid")},
    {"Softsign", kClass, operators("Softsign")},
    {"softsign", kFunction, operators("Softsign")},
    {"Softmin", kClass, operators("Softmin")},
    {"softmin", kFunction, operators("Softmin")},
    {"Tanhshrink", kClass, operators("Tanhshrink")},
    {"tanhshrink", kFunction, operators("Tanhshrink")},
    {"GLU", kClass, operators("GLU")},
    {"glu", kFunction, operators("GLU")},
    {"Hardswish", kClass, operators("Hardswish", "HardSwish")},
    {"hardswish", kFunction, operators("Hardswish", "HardSwish")},
    {"HardSwish", kPlain, operators("Hardswish", "HardSwish")},
    {"SiLU", kClass, operators("SiLU")},
    {"silu", kFunction, operators("SiLU")},
    {"Mish", kClass, operators("Mish")},
    {"mish", kFunction, operators("Mish")},
    // Normalization
    {"LayerNorm", kClass, operators("LayerNorm", "LayerNormalization")},
    {"LayerNormalization", kPlain, operators("LayerNorm", "LayerNormalization")},
    {"BatchNorm2d", kClass, operators("BatchNormalization")},
    {"SyncBatchNorm2d", kClass, operators("BatchNormalization")},
    {"SyncBatchNorm", kClass, operators("BatchNormalization")},
    {"BatchNormalization", kPlain, operators("BatchNormalization")},
};

}  // namespace detail
}  // namespace amct
