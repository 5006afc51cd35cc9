// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/quantize.hpp>

namespace amct::exec::integer {

AMCT_EXACT_BEGIN

/// A scale whose float32 reciprocal is `reciprocal`. Every reciprocal that flow::deploy writes has one.
[[nodiscard]] inline std::optional<float> scale_of_reciprocal(float reciprocal) noexcept {
  constexpr float kMost = std::numeric_limits<float>::max();
  float scale = 1.0F / reciprocal;
  for (const float candidate : {scale, std::nextafter(scale, 0.0F), std::nextafter(scale, kMost)}) {
    if (is_usable(Affine{candidate, 0}) && 1.0F / candidate == reciprocal) return candidate;
  }
  return std::nullopt;
}

/// Brings codes within the bounds of a ReQuant that took in a Relu or Clip.
template <CodeStorage T>
void clamp_codes(std::span<T> codes, const graph::QuantTarget& target) noexcept {
  if (target.lowest == target.range.min() && target.highest == target.range.max()) return;
  const auto low = static_cast<T>(target.lowest);
  const auto high = static_cast<T>(target.highest);
  for (T& code : codes) code = std::clamp(code, low, high);
}

/// Real values that become the lowest and the highest code: values clipped to them become codes within the bounds. Ends
/// that the code's type keeps are infinite. Empty if there is no such value.
[[nodiscard]] inline std::optional<std::array<float, 2>> bounds_of_reals(const graph::QuantTarget& target) noexcept {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::array<float, 2> bounds{-kInfinity, kInfinity};
  const auto find = [&](std::int32_t code, float& bound) {
    bound = static_cast<float>(code - target.offset) / target.scale;
    const float scaled = bound * target.scale;
    return ReciprocalRoundAdd::code(scaled, {1.0F, target.offset}, target.range) == code;
  };
  const bool found = (target.lowest == target.range.min() || find(target.lowest, bounds[0])) &&
                     (target.highest == target.range.max() || find(target.highest, bounds[1]));
  return found ? std::optional(bounds) : std::nullopt;
}

/// What AscendQuant computes: clamp(round(x * scale) + offset, lowest, highest).
template <CodeStorage T>
void quantize_reals(std::span<const float> x, std::span<T> codes, const graph::QuantTarget& target) noexcept {
  if (const auto scale = scale_of_reciprocal(target.scale)) {
    amct::quantize<ReciprocalRoundAdd>(x, codes, Affine{*scale, target.offset}, target.range);
  } else {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float scaled = x[i] * target.scale;
      codes[i] = static_cast<T>(ReciprocalRoundAdd::code(scaled, {1.0F, target.offset}, target.range));
    }
  }
  clamp_codes(codes, target);
}

AMCT_EXACT_END

/// Calls visit.template operator()<T>() with the type that codes of this width are stored in.
template <class Visit>
void with_code_storage(CodeRange range, const Visit& visit) {
  if (graph::code_type(range) == ElementType::int8) return visit.template operator()<std::int8_t>();
  visit.template operator()<std::int16_t>();
}

/// Codes as real values: (code - offset) * scale.
inline void anti_quantize(const OpContext& context, const graph::AntiQuantSource& source) {
  const Tensor& codes = context.input(0);
  const auto x = context.make_output(codes.shape());
  const Affine affine{source.scale, source.offset};
  if (codes.type() == ElementType::int16) return dequantize(codes.data<std::int16_t>(), x, affine);
  dequantize(context.data<std::int8_t>(0), x, affine);
}

/// AscendQuant and AscendAntiQuant on codes, one code an element: int8 up to 8 bits, int16 above.
inline void add_quantize(OpSet& set) {
  set.add_factory(std::string(graph::kQuantOp), 1, [](const graph::Graph&, const graph::Node& node) -> Op {
    return [target = graph::quant_target(node)](const OpContext& context) {
      const Tensor& x = context.floats(0);
      with_code_storage(target.range,
                        [&]<class T>() { quantize_reals(x.data<float>(), context.make_output<T>(x.shape()), target); });
    };
  });
  set.add_factory(std::string(graph::kAntiQuantOp), 1, [](const graph::Graph&, const graph::Node& node) -> Op {
    return [source = graph::anti_quant_source(node)](const OpContext& context) { anti_quantize(context, source); };
  });
}

}  // namespace amct::exec::integer
