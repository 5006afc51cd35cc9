// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/record/factors.hpp>

/// \file
/// The nodes of a deployed network that turn numbers into codes and back, and their attributes. docs/deploy.md
/// describes them; passes write them through these functions, and whoever executes a deployed network reads them so.

namespace amct::graph {

inline constexpr std::string_view kQuantOp = "AscendQuant";          ///< float -> codes
inline constexpr std::string_view kDequantOp = "AscendDequant";      ///< accumulator -> float
inline constexpr std::string_view kAntiQuantOp = "AscendAntiQuant";  ///< codes -> float
inline constexpr std::string_view kReQuantOp = "AscendReQuant";      ///< accumulator -> codes

/// True for nodes of this operator in the default domain.
[[nodiscard]] inline bool is_op(const Node& node, std::string_view op_type) noexcept {
  return node.op_type == op_type && node.domain.empty();
}

/// The type of tensors that hold codes of this width, one code an element.
[[nodiscard]] constexpr ElementType code_type(CodeRange range) noexcept {
  return range.bits <= 8 ? ElementType::int8 : ElementType::int16;
}

/// By which arithmetic a ReQuant goes from accumulator to code, see core/requantize.hpp. The multiplier of the last two
/// is the float32 product of the dequantization scale and the node's `scale`.
enum class RequantRule : std::uint8_t {
  two_products,                ///< RequantizeByScales: the bits of the fake-quant model
  one_product,                 ///< RequantizeByMultiplier<RoundThenAdd>
  one_product_add_then_round,  ///< RequantizeByMultiplier<AddThenRound>, as the NPU does
};

inline constexpr RequantRule kAllRequantRules[] = {RequantRule::two_products, RequantRule::one_product,
                                                   RequantRule::one_product_add_then_round};

/// The rule as the attribute `contract` spells it.
[[nodiscard]] constexpr std::string_view name_of(RequantRule rule) noexcept {
  switch (rule) {
    case RequantRule::two_products: return "two_products";
    case RequantRule::one_product: return "one_product";
    case RequantRule::one_product_add_then_round: return "one_product_add_then_round";
  }
  return "unknown";
}

/// What an AscendQuant or an AscendReQuant makes: code = clamp(round(x * scale) + offset, lowest, highest).
struct QuantTarget {
  float scale = 1.0F;  ///< the reciprocal of scale_d, as the node stores it
  std::int32_t offset = 0;
  CodeRange range{};
  std::int32_t lowest = Int8::min;  ///< the ends of `range`, unless a ReQuant took in a Relu or Clip
  std::int32_t highest = Int8::max;

  friend bool operator==(const QuantTarget&, const QuantTarget&) = default;
};

/// What an AscendAntiQuant undoes: y = (code - offset) * scale.
struct AntiQuantSource {
  float scale = 1.0F;       ///< scale_d
  std::int32_t offset = 0;  ///< offset_d; the node stores -offset_d

  friend bool operator==(const AntiQuantSource&, const AntiQuantSource&) = default;
};

/// What the parameter of an AscendDequant or AscendReQuant says, one value or one an output channel.
struct DequantFactors {
  std::vector<float> scales{};  ///< of the accumulator: scale_d * scale_w
  std::vector<int> shifts{};    ///< shift_bit, as many; empty if the layer is not shifted
};

namespace detail {

[[noreturn]] inline void refuse_attribute(const Node& node, const char* attribute, const std::string& got,
                                          const std::string& expected) {
  throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = attribute},
              "got " + got + ", expected " + expected);
}

[[nodiscard]] inline float positive_attribute(const Node& node, const char* attribute) {
  const float value = node.attribute_or<float>(attribute, 0.0F);
  if (!(value > 0.0F) || !std::isfinite(value)) {
    refuse_attribute(node, attribute, shortest_text(value), "a finite number above 0");
  }
  return value;
}

/// A whole number that the node stores as a float.
[[nodiscard]] inline std::int32_t offset_attribute(const Node& node) {
  constexpr float kMost = 32768.0F;
  const float value = node.attribute_or<float>("offset", 0.0F);
  if (!(std::fabs(value) <= kMost) || value != std::trunc(value)) {
    refuse_attribute(node, "offset", shortest_text(value), "a whole number from -32768 to 32768");
  }
  return static_cast<std::int32_t>(value);
}

/// The width that dst_type stands for if num_bits does not say another.
[[nodiscard]] inline int bits_of_dst_type(const Node& node) {
  const auto type = node.attribute_or<std::string>("dst_type", "INT8");
  for (const auto& [name, bits] : {std::pair("INT4", 4), std::pair("INT8", 8), std::pair("INT16", 16)}) {
    if (type == name) return bits;
  }
  refuse_attribute(node, "dst_type", '"' + type + '"', "INT4, INT8 or INT16");
}

[[nodiscard]] inline CodeRange range_attribute(const Node& node) {
  const int most = bits_of_dst_type(node);
  const auto bits = node.attribute_or<std::int64_t>("num_bits", most);
  if (bits < 2 || bits > most) {
    refuse_attribute(node, "num_bits", std::to_string(bits), "2 to " + std::to_string(most));
  }
  return {static_cast<int>(bits)};
}

}  // namespace detail

/// Writes dst_type, and num_bits if that type is wider than the codes.
inline void set_range(Node& node, CodeRange range) {
  const int stored = range.bits <= 4 ? 4 : range.bits <= 8 ? 8 : 16;
  node.set_attribute("dst_type", "INT" + std::to_string(stored));
  if (range.bits != stored) node.set_attribute("num_bits", std::int64_t{range.bits});
}

/// An AscendQuant: reciprocal scale, offset and type. \pre input.scale is usable
[[nodiscard]] inline Node make_quant(std::string name, const InputFactors& input, ValueId from, ValueId to) {
  Node node{std::string(kQuantOp),
            "",
            std::move(name),
            {from},
            {to},
            {{"scale", 1.0F / input.scale}, {"offset", static_cast<float>(input.offset)}}};
  set_range(node, {input.bits});
  return node;
}

/// The AscendAntiQuant that undoes make_quant(). The device computes (code + offset) * scale, so the offset is negated.
[[nodiscard]] inline Node make_anti_quant(std::string name, const InputFactors& input, ValueId from, ValueId to) {
  Node node{std::string(kAntiQuantOp),
            "",
            std::move(name),
            {from},
            {to},
            {{"scale", input.scale}, {"offset", static_cast<float>(-input.offset)}}};
  set_range(node, {input.bits});
  return node;
}

/// The parameter of AscendDequant, one uint64 a channel: the float32 bits of scale_d * scale_w in bits 31..0, shift_bit
/// in bits 39..32, offset_w, which is 0, in bits 47..40.
/// \param shift_bit  one value, one a channel, or none
[[nodiscard]] inline Tensor dequant_parameter(float scale_d, const std::vector<float>& scale_w,
                                              const std::vector<std::uint32_t>& shift_bit = {}) {
  Tensor parameter(ElementType::uint64, Shape{static_cast<std::int64_t>(scale_w.size())});
  for (std::size_t c = 0; c < scale_w.size(); ++c) {
    const std::uint64_t scale = std::bit_cast<std::uint32_t>(accumulator_scale(scale_d, scale_w[c]));
    const std::uint64_t shift = shift_bit.empty() ? 0 : shift_bit[shift_bit.size() == 1 ? 0 : c];
    parameter.data<std::uint64_t>()[c] = scale | (shift & 0xFFU) << 32U;
  }
  return parameter;
}

/// Reads what dequant_parameter() wrote, the second input of an AscendDequant or AscendReQuant.
/// \throws Error model_unsupported naming the node if that is no such constant, or has an offset of the weights, which
///         AMCT's are without
[[nodiscard]] inline DequantFactors dequant_factors(const Node& node, const Graph& graph) {
  const ValueId id = node.input(1);
  const Tensor* parameter = id != kNoValue && graph.value(id).initializer ? &*graph.value(id).initializer : nullptr;
  if (parameter == nullptr || parameter->type() != ElementType::uint64 || parameter->shape().rank() > 1 ||
      parameter->size() == 0) {
    throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = "param"},
                (parameter == nullptr
                     ? std::string("is no initializer")
                     : "got " + std::string(name_of(parameter->type())) + ' ' + to_string(parameter->shape())) +
                    ", expected uint64, one value or one a channel");
  }
  DequantFactors factors;
  bool shifted = false;
  for (const std::uint64_t bits : parameter->data<std::uint64_t>()) {
    if ((bits >> 40U & 0xFFU) != 0) {
      throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = "param"},
                  "has an offset of the weights, expected 0");
    }
    factors.scales.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    factors.shifts.push_back(static_cast<int>(bits >> 32U & 0xFFU));
    shifted = shifted || factors.shifts.back() != 0;
  }
  if (!shifted) factors.shifts.clear();
  return factors;
}

/// Reads an AscendQuant or AscendReQuant. \throws Error model_unsupported naming node and attribute
[[nodiscard]] inline QuantTarget quant_target(const Node& node) {
  QuantTarget target{.scale = detail::positive_attribute(node, "scale"),
                     .offset = detail::offset_attribute(node),
                     .range = detail::range_attribute(node)};
  const std::int64_t low = target.range.min();
  const std::int64_t high = target.range.max();
  const auto code = [&](const char* attribute, std::int64_t otherwise) {
    const auto value = node.attribute_or<std::int64_t>(attribute, otherwise);
    if (value < low || value > high) {
      detail::refuse_attribute(node, attribute, std::to_string(value),
                               std::to_string(low) + " to " + std::to_string(high));
    }
    return static_cast<std::int32_t>(value);
  };
  target.lowest = code("code_min", low);
  target.highest = code("code_max", high);
  if (target.lowest > target.highest) {
    detail::refuse_attribute(node, "code_min", std::to_string(target.lowest),
                             "at most code_max, " + std::to_string(target.highest));
  }
  return target;
}

/// Reads an AscendAntiQuant. \throws Error model_unsupported naming node and attribute
[[nodiscard]] inline AntiQuantSource anti_quant_source(const Node& node) {
  return {detail::positive_attribute(node, "scale"), -detail::offset_attribute(node)};
}

/// Refuses quant nodes of a file that lack what they read or make, so that nobody else need look.
/// \throws Error model_corrupt naming the node
inline void check_quant_nodes(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const bool reads_parameter = is_op(node, kDequantOp) || is_op(node, kReQuantOp);
    if (!reads_parameter && !is_op(node, kQuantOp) && !is_op(node, kAntiQuantOp)) continue;
    const bool has_inputs = node.input(0) != kNoValue && (!reads_parameter || node.input(1) != kNoValue);
    if (has_inputs && node.outputs.size() == 1 && node.outputs[0] != kNoValue) continue;
    throw Error(ErrorCode::model_corrupt, {.layer = node.name, .field = node.op_type},
                std::string("lacks an input or its result, expected ") +
                    (reads_parameter ? "two inputs" : "one input") + " and one result");
  }
}

/// The arithmetic of an AscendReQuant. \throws Error model_unsupported for another name
[[nodiscard]] inline RequantRule requant_rule(const Node& node) {
  const auto name = node.attribute_or<std::string>("contract", std::string(name_of(RequantRule::two_products)));
  for (const RequantRule rule : kAllRequantRules) {
    if (name_of(rule) == name) return rule;
  }
  detail::refuse_attribute(node, "contract", '"' + name + '"',
                           "two_products, one_product or one_product_add_then_round");
}

}  // namespace amct::graph
