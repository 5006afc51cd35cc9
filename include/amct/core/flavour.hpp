// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <amct/core/layer_table.hpp>

/// \file
/// AMCT comes in flavours whose rules differ. Everything that differs stands in one row of kFlavours, so that no other
/// code asks "which flavour is this?" but only "what does the flavour say?". docs/flavours.md explains the rows.

namespace amct {

/// The flavours of AMCT whose files and rules are known.
enum class Flavour : std::uint8_t { pytorch, onnx, mindspore, tensorflow, hotwheels, hotwheels_dynamic, caffe };

/// Layouts of record files. Field numbers clash between them, so each has a schema of its own under proto/.
enum class RecordDialect : std::uint8_t { pytorch, mindspore, tensorflow, hotwheels, caffe, caffe_pico };

/// What the full quantization config of a flavour looks like.
enum class ConfigFamily : std::uint8_t {
  classic,       ///< JSON, one activation object a layer
  classic_list,  ///< JSON, a list of activation objects, one an input
  fx,            ///< JSON, named quantizers with arguments, a list of activations; its easy config is YAML
};

/// What becomes of a scale too small to divide by.
enum class DegenerateScale : std::uint8_t {
  one,  ///< it becomes 1 (and an asymmetric offset the lowest code)
  eps,  ///< it is raised to eps, 1.1920929e-7 unless the config says otherwise
};

/// What a config gets that asks for one weight scale a channel where the flavour has none.
enum class ChannelWiseElsewhere : std::uint8_t {
  refused,  ///< an error that names the layer
  ignored,  ///< one scale for the tensor
};

/// The operators a BatchNormalization is folded into.
struct FoldSet {
  bool conv = false;         ///< convolutions without groups
  bool grouped = false;      ///< grouped and depthwise convolutions
  bool transposed = false;   ///< transposed convolutions
  bool linear = false;       ///< fully connected layers
  bool standalone = false;   ///< a BatchNormalization with no convolution becomes arithmetic of its own
  bool when_saving = false;  ///< folded when the model is saved instead of before calibration
};

/// Everything that differs between flavours.
struct FlavourRules {
  Flavour flavour = Flavour::pytorch;
  std::string_view name;  ///< as `--flavour` spells it

  // Files
  RecordDialect record_dialect = RecordDialect::pytorch;
  ConfigFamily config_family = ConfigFamily::classic;
  bool writes_fake_quant_model = true;  ///< beside the deploy model and the record
  bool writes_float_model = false;      ///< the float network as an ONNX file too
  bool merges_requant = false;          ///< a dequantization and the quantization behind it are one node

  // Ranges
  std::span<const int> activation_bits;
  std::span<const int> weight_bits;
  double search_lowest = 0.0;  ///< bounds of an IFMR search range; both ends excluded if `search_open`
  double search_highest = std::numeric_limits<double>::infinity();
  bool search_open = true;
  bool shift_bit_allowed = false;
  bool wide_activation_needs_int8_weight = false;    ///< 9..16-bit activations only with 8-bit weights
  bool narrow_activation_needs_int4_weight = false;  ///< 4-bit activations only with 4-bit weights

  // Calibration algorithms beside IFMR and ARQ
  bool has_hfmg = false;
  bool has_ada_round = false;
  bool has_snq = false;
  bool has_dmq = false;

  bool overrides_inherit = false;  ///< an override that leaves a part out takes it from the level above; else defaults

  // Layers
  std::span<const std::string_view> data_operators;     ///< ONNX operators without weights whose data is quantized
  std::span<const std::string_view> fused_activations;  ///< of these, those that stay float behind a convolution
  std::span<const LayerKind> channel_wise_kinds;        ///< may have one weight scale a channel, and have by default
  ChannelWiseElsewhere channel_wise_elsewhere = ChannelWiseElsewhere::refused;
  std::span<const LayerKind> wide_activation_kinds;            ///< may have activations above 8 bits
  std::span<const LayerKind> weighted_kinds = kAllLayerKinds;  ///< quantized, data and weights
  std::span<const LayerKind> narrow_weight_kinds{};  ///< may have weights of 6 and 7 bits, if the flavour has these
  std::span<const LayerKind> symmetric_kinds{};      ///< have activations without an offset only
  bool int4_needs_even_channels = false;             ///< 4-bit weights only where LayerInfo::packs_int4 holds
  bool shared_weights_quantized = false;             ///< layers that use one weight twice are quantized
  bool dilated_transposed_quantized = true;          ///< transposed convolutions with dilations are quantized
  bool biased_matmul_quantized = true;  ///< a fully connected layer that is a MatMul and an Add is quantized
  bool pool_has_weight_factors = true;  ///< AveragePool writes scale_w 1 and offset_w 0
  FoldSet fold{};
  DegenerateScale degenerate_scale = DegenerateScale::one;

  // Checks
  bool quant_enable_required = false;         ///< every layer of a full config must state it
  bool unknown_config_fields_refused = true;  ///< otherwise ignored with a warning
  bool network_checks = false;  ///< siblings agree, layers without instructions match, CUBE layers are quantized
  bool mixed_siblings_refused =
      false;  ///< a float layer beside a quantized one on the same tensor; otherwise a warning
  bool warns_of_selective_prune = false;  ///< most of its hardware gains nothing from 2:4 sparsity
};

namespace detail {

inline constexpr int kBits8[] = {8};
inline constexpr int kBits4_8_16[] = {4, 8, 16};
inline constexpr int kBits4_6_7_8[] = {4, 6, 7, 8};
inline constexpr int kBits4_8to16[] = {4, 8, 9, 10, 11, 12, 13, 14, 15, 16};
inline constexpr int kBits4_8[] = {4, 8};

inline constexpr std::string_view kAveragePool[] = {"AveragePool"};
// The rows of the guide's table: ONNX operators, then composites of several (see LayerPattern).
// clang-format off
inline constexpr std::string_view kHotwheelsData[] = {
    "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Add", "Sub", "Mul", "Div", "Pow", "MatMul",
    "ReduceSum", "ReduceMean", "Abs", "ReduceMax", "Max", "ReduceMin", "Min", "Clip", "Transpose", "Resize", "Upsample",
    "Concat", "Flatten", "Squeeze", "Unsqueeze", "Reshape", "Split", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "PRelu",
    "Softmax", "LogSoftmax", "Elu", "LayerNormalization", "HardSwish", "BatchNormalization", "SpaceToDepth",
    "DepthToSpace", "GridSample", "LayerNorm", "GELU", "LogSigmoid", "Softmin", "Tanhshrink", "Softsign", "GLU", "SiLU",
    "Mish", "Hardswish"};
// clang-format on
inline constexpr std::string_view kHotwheelsFusedActivations[] = {"Relu", "Clip",      "Sigmoid",
                                                                  "Tanh", "LeakyRelu", "PRelu"};

inline constexpr LayerKind kAllConvolutionsAndRnn[] = {
    LayerKind::conv1d,           LayerKind::conv2d, LayerKind::conv3d, LayerKind::conv_transpose1d,
    LayerKind::conv_transpose2d, LayerKind::lstm,   LayerKind::gru};
inline constexpr LayerKind kConv2d[] = {LayerKind::conv2d};
inline constexpr LayerKind kConv2dBothWays[] = {LayerKind::conv2d, LayerKind::conv_transpose2d};
inline constexpr LayerKind kInt16Kinds[] = {
    LayerKind::conv1d, LayerKind::conv2d, LayerKind::conv_transpose1d, LayerKind::conv_transpose2d, LayerKind::linear,
    LayerKind::lstm,   LayerKind::gru};

inline constexpr LayerKind kConv3d[] = {LayerKind::conv3d};
inline constexpr LayerKind kPytorchKinds[] = {
    LayerKind::conv1d,           LayerKind::conv2d, LayerKind::conv3d, LayerKind::conv_transpose1d,
    LayerKind::conv_transpose2d, LayerKind::linear, LayerKind::lstm,   LayerKind::gru};
inline constexpr LayerKind kOnnxKinds[] = {LayerKind::conv2d, LayerKind::conv3d, LayerKind::conv_transpose2d,
                                           LayerKind::linear};
inline constexpr LayerKind kMindsporeKinds[] = {LayerKind::conv2d, LayerKind::linear};
inline constexpr LayerKind kHotwheelsKinds[] = {LayerKind::conv2d, LayerKind::conv_transpose2d, LayerKind::linear};
inline constexpr LayerKind kCaffeKinds[] = {LayerKind::conv2d, LayerKind::conv_transpose2d, LayerKind::linear};

}  // namespace detail

/// One row a flavour, in the order of the enum.
inline constexpr std::array<FlavourRules, 7> kFlavours = {{
    {
        .flavour = Flavour::pytorch,
        .name = "pytorch",
        .activation_bits = detail::kBits4_8_16,
        .weight_bits = detail::kBits4_6_7_8,
        .has_hfmg = true,
        .has_ada_round = true,
        .has_dmq = true,
        .data_operators = detail::kAveragePool,
        .fused_activations = {},
        .channel_wise_kinds = detail::kAllConvolutionsAndRnn,
        .wide_activation_kinds = detail::kInt16Kinds,
        .weighted_kinds = detail::kPytorchKinds,
        .narrow_weight_kinds = detail::kConv2d,
        .symmetric_kinds = detail::kConv3d,
        .int4_needs_even_channels = true,
        .fold = {.conv = true, .grouped = true},
    },
    {
        .flavour = Flavour::onnx,
        .name = "onnx",
        .activation_bits = detail::kBits4_8_16,
        .weight_bits = detail::kBits4_6_7_8,
        .has_hfmg = true,
        .has_ada_round = true,
        .has_dmq = true,
        .data_operators = detail::kAveragePool,
        .fused_activations = {},
        .channel_wise_kinds = detail::kAllConvolutionsAndRnn,
        .wide_activation_kinds = detail::kInt16Kinds,
        .weighted_kinds = detail::kOnnxKinds,
        .narrow_weight_kinds = detail::kConv2d,
        .symmetric_kinds = detail::kConv3d,
        .int4_needs_even_channels = true,
        .dilated_transposed_quantized = false,
        .fold = {.conv = true, .grouped = true, .standalone = true},
    },
    {
        .flavour = Flavour::mindspore,
        .name = "mindspore",
        .record_dialect = RecordDialect::mindspore,
        .activation_bits = detail::kBits8,
        .weight_bits = detail::kBits8,
        .data_operators = {},
        .fused_activations = {},
        .channel_wise_kinds = detail::kConv2d,
        .channel_wise_elsewhere = ChannelWiseElsewhere::ignored,
        .wide_activation_kinds = {},
        .weighted_kinds = detail::kMindsporeKinds,
        .fold = {.conv = true, .grouped = true},
    },
    {
        .flavour = Flavour::tensorflow,
        .name = "tensorflow",
        .record_dialect = RecordDialect::tensorflow,
        .activation_bits = detail::kBits8,
        .weight_bits = detail::kBits8,
        .has_hfmg = true,
        .data_operators = detail::kAveragePool,
        .fused_activations = {},
        .channel_wise_kinds = detail::kConv2dBothWays,
        .channel_wise_elsewhere = ChannelWiseElsewhere::ignored,
        .wide_activation_kinds = {},
        .weighted_kinds = detail::kOnnxKinds,
        .symmetric_kinds = detail::kConv3d,
        .dilated_transposed_quantized = false,
        .pool_has_weight_factors = false,
        .fold = {.conv = true, .grouped = true, .transposed = true, .standalone = true},
        .warns_of_selective_prune = true,
    },
    {
        .flavour = Flavour::hotwheels,
        .name = "hotwheels",
        .record_dialect = RecordDialect::hotwheels,
        .config_family = ConfigFamily::fx,
        .writes_fake_quant_model = false,
        .writes_float_model = true,
        .merges_requant = true,
        .activation_bits = detail::kBits4_8to16,
        .weight_bits = detail::kBits4_8,
        .search_lowest = 0.7,
        .search_highest = 1.3,
        .search_open = false,
        .shift_bit_allowed = true,
        .wide_activation_needs_int8_weight = true,
        .narrow_activation_needs_int4_weight = true,
        .has_snq = true,
        .overrides_inherit = true,
        .data_operators = detail::kHotwheelsData,
        .fused_activations = detail::kHotwheelsFusedActivations,
        .channel_wise_kinds = detail::kConv2d,
        .channel_wise_elsewhere = ChannelWiseElsewhere::ignored,
        .wide_activation_kinds = kAllLayerKinds,
        .weighted_kinds = detail::kHotwheelsKinds,
        .shared_weights_quantized = true,
        .biased_matmul_quantized = false,
        .pool_has_weight_factors = false,
        .fold = {.conv = true, .grouped = true, .when_saving = true},
        .degenerate_scale = DegenerateScale::eps,
        .quant_enable_required = true,
        .unknown_config_fields_refused = false,
        .network_checks = true,
    },
    {
        .flavour = Flavour::hotwheels_dynamic,
        .name = "hotwheels-dynamic",
        .record_dialect = RecordDialect::hotwheels,
        .config_family = ConfigFamily::classic_list,
        .merges_requant = true,
        .activation_bits = detail::kBits4_8to16,
        .weight_bits = detail::kBits4_8,
        .search_lowest = 0.7,
        .search_highest = 1.3,
        .search_open = false,
        .shift_bit_allowed = true,
        .wide_activation_needs_int8_weight = true,
        .narrow_activation_needs_int4_weight = true,
        .has_snq = true,
        .overrides_inherit = true,
        .data_operators = detail::kHotwheelsData,
        .fused_activations = detail::kHotwheelsFusedActivations,
        .channel_wise_kinds = detail::kConv2d,
        .channel_wise_elsewhere = ChannelWiseElsewhere::ignored,
        .wide_activation_kinds = kAllLayerKinds,
        .weighted_kinds = detail::kHotwheelsKinds,
        .shared_weights_quantized = true,
        .biased_matmul_quantized = false,
        .pool_has_weight_factors = false,
        .fold = {.conv = true, .grouped = true},
        .degenerate_scale = DegenerateScale::eps,
        .quant_enable_required = true,
        .unknown_config_fields_refused = false,
        .network_checks = true,
        .mixed_siblings_refused = true,
    },
    {
        .flavour = Flavour::caffe,
        .name = "caffe",
        .record_dialect = RecordDialect::caffe,
        .activation_bits = detail::kBits8,
        .weight_bits = detail::kBits8,
        .has_hfmg = true,
        .has_snq = true,
        .data_operators = detail::kAveragePool,
        .fused_activations = {},
        .channel_wise_kinds = detail::kConv2dBothWays,
        .channel_wise_elsewhere = ChannelWiseElsewhere::refused,
        .wide_activation_kinds = {},
        .weighted_kinds = detail::kCaffeKinds,
        .dilated_transposed_quantized = false,
        .fold = {.conv = true, .grouped = true, .transposed = true, .linear = true},
    },
}};

[[nodiscard]] constexpr const FlavourRules& rules_of(Flavour flavour) noexcept {
  return kFlavours[static_cast<std::size_t>(flavour)];
}

/// The flavour of this name; empty if there is none.
[[nodiscard]] constexpr std::optional<Flavour> flavour_named(std::string_view name) noexcept {
  for (const auto& rules : kFlavours) {
    if (rules.name == name) return rules.flavour;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr bool is_one_of(std::span<const std::string_view> names, std::string_view name) noexcept {
  for (const std::string_view candidate : names) {
    if (candidate == name) return true;
  }
  return false;
}

[[nodiscard]] constexpr bool contains(std::span<const LayerKind> kinds, LayerKind kind) noexcept {
  for (const LayerKind one : kinds) {
    if (one == kind) return true;
  }
  return false;
}

[[nodiscard]] constexpr bool may_be_channel_wise(const FlavourRules& rules, LayerKind kind) noexcept {
  return contains(rules.channel_wise_kinds, kind);
}

[[nodiscard]] constexpr bool may_have_wide_activation(const FlavourRules& rules, LayerKind kind) noexcept {
  return contains(rules.wide_activation_kinds, kind);
}

/// The dialect's name as `--dialect` spells it.
[[nodiscard]] constexpr std::string_view name_of(RecordDialect dialect) noexcept {
  switch (dialect) {
    case RecordDialect::pytorch: return "pytorch";
    case RecordDialect::mindspore: return "mindspore";
    case RecordDialect::tensorflow: return "tensorflow";
    case RecordDialect::hotwheels: return "hotwheels";
    case RecordDialect::caffe: return "caffe";
    case RecordDialect::caffe_pico: return "caffe-pico";
  }
  return "unknown";
}

inline constexpr RecordDialect kAllRecordDialects[] = {RecordDialect::pytorch,    RecordDialect::mindspore,
                                                       RecordDialect::tensorflow, RecordDialect::hotwheels,
                                                       RecordDialect::caffe,      RecordDialect::caffe_pico};

}  // namespace amct
