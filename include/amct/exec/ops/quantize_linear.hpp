// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/rounding.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/codes.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/dequantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/range.hpp>

namespace amct::exec::ops {

namespace detail {

/// Scale and zero point of a tensor, or of each index of one of its axes.
struct Quantization {
  ChannelLayout layout;
  std::vector<std::int32_t> zeros;  ///< by channel
  std::vector<float> scales;

  /// Parameters of the signed codes.
  [[nodiscard]] std::vector<Affine> affines(const CodeType& codes) const {
    std::vector<Affine> result;
    for (std::size_t c = 0; c < scales.size(); ++c) result.push_back({scales[c], codes.offset_of(zeros[c])});
    return result;
  }
};

/// Reads input 1 (scales) and 2 (zero points) for a tensor of this shape.
[[nodiscard]] inline Quantization read_quantization(const OpContext& context, const Shape& shape, ElementType codes) {
  const Tensor& scale = context.floats(1);
  Quantization q{.layout = ChannelLayout::per_tensor(shape.size()), .zeros = {}, .scales = {}};
  if (scale.size() != 1) {
    const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 1), shape.rank());
    q.layout = channels_on(shape, axis);
  }
  q.scales = scales(context, 1, q.layout.channels());
  q.zeros = zero_points(context, 2, codes, q.layout.channels());
  if (q.zeros.size() == 1) q.zeros.resize(q.scales.size(), q.zeros[0]);
  return q;
}

/// Fills a tensor of codes.
inline void quantize_into(Tensor& y, std::span<const float> x, const CodeType& codes, const ChannelLayout& layout,
                          std::span<const Affine> affines) {
  if (codes.range.bits == 8) {
    quantize<DivideRoundAdd>(x, signed_codes<std::int8_t>(y), layout, affines, codes.range);
  } else {
    quantize<DivideRoundAdd>(x, signed_codes<std::int16_t>(y), layout, affines, codes.range);
  }
  if (!codes.is_signed) flip_signs(y.raw(), codes.range.bits);
}

}  // namespace detail

/// ONNX QuantizeLinear: saturate(round_half_even(x / scale) + zero point), by tensor or by an axis, to int8, uint8 (the
/// default), int16 or uint16. NaN gives the zero point.
inline void quantize_linear(const OpContext& context) {
  const bool integers = context.input(0).type() == ElementType::int32;
  const Tensor converted = integers ? cast(context.input(0), ElementType::float32) : Tensor();
  const Tensor& x = integers ? converted : context.floats(0);
  const ElementType type = context.has(2) ? context.input(2).type() : ElementType::uint8;
  const CodeType codes = code_type(context, type);
  const detail::Quantization q = detail::read_quantization(context, x.shape(), type);
  require_usable(context, q.scales);
  detail::quantize_into(context.make_output(0, type, x.shape()), x.data<float>(), codes, q.layout, q.affines(codes));
}

/// ONNX DequantizeLinear: (code - zero point) * scale in float32, by tensor or by an axis, from int8, uint8, int16,
/// uint16 or int32.
inline void dequantize_linear(const OpContext& context) {
  const Tensor& x = context.input(0);
  const detail::Quantization q = detail::read_quantization(context, x.shape(), x.type());
  if (x.type() == ElementType::int32) {
    const auto y = context.make_output(x.shape());
    const auto from = x.data<std::int32_t>();
    for_each_run(q.layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) {
        y[i] = static_cast<float>(std::int64_t{from[i]} - q.zeros[channel]) * q.scales[channel];
      }
    });
    return;
  }
  const CodeType codes = code_type(context, x.type());
  Tensor flipped;
  if (!codes.is_signed) {
    flipped = x;
    flip_signs(flipped.raw(), codes.range.bits);
  }
  const Tensor& with_sign = codes.is_signed ? x : flipped;
  const auto y = context.make_output(x.shape());
  if (codes.range.bits == 8) {
    dequantize(signed_codes<std::int8_t>(with_sign), y, q.layout, q.affines(codes));
  } else {
    dequantize(signed_codes<std::int16_t>(with_sign), y, q.layout, q.affines(codes));
  }
}

/// ONNX DynamicQuantizeLinear: uint8 codes with scale and zero point from the range of the input, widened to contain 0.
/// Where all is 0 the scale is 1.
inline void dynamic_quantize_linear(const OpContext& context) {
  const Tensor& x = context.floats(0);
  ValueRange range{.min = 0.0F, .max = 0.0F};
  if (!range.extend(x.data<float>())) context.fail("a value is not finite");
  const float steps = 255.0F;
  const float width = range.max - range.min;
  const float scale = width > 0.0F ? width / steps : 1.0F;
  if (!is_usable(Affine{scale, 0}))
    context.fail("the values reach from " + std::to_string(range.min) + " to " + std::to_string(range.max) +
                 ", too far or too near for a scale");
  const float zero_point = round_half_even(std::clamp(-range.min / scale, 0.0F, steps));
  const CodeType codes = code_type(context, ElementType::uint8);
  const Affine affine{scale, codes.offset_of(static_cast<std::int32_t>(zero_point))};
  detail::quantize_into(context.make_output(0, ElementType::uint8, x.shape()), x.data<float>(), codes,
                        ChannelLayout::per_tensor(x.size()), {&affine, 1});
  if (context.wants_output(1)) context.make_output(1, ElementType::float32, {}).data<float>()[0] = scale;
  if (context.wants_output(2)) {
    context.make_output(2, ElementType::uint8, {}).data<std::uint8_t>()[0] = static_cast<std::uint8_t>(zero_point);
  }
}

inline void add_quantize_linear(OpSet& set) {
  set.add("QuantizeLinear", in_float32(quantize_linear));
  set.add("DequantizeLinear", in_float32(dequantize_linear));
  set.add("DynamicQuantizeLinear", dynamic_quantize_linear);
}

}  // namespace amct::exec::ops
