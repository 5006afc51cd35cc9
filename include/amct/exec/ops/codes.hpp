// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>

/// \file
/// How ONNX's quantization operators give codes, scales and zero points. The kernels know signed codes only; an
/// unsigned code is the signed one with its top bit flipped, and its zero point is 2^(n-1) larger.

namespace amct::exec {

/// The type of the codes of a quantized tensor.
struct CodeType {
  CodeRange range;
  bool is_signed;

  /// What turns a zero point into the offset of signed codes.
  [[nodiscard]] std::int32_t offset_of(std::int32_t zero_point) const noexcept {
    return is_signed ? zero_point : zero_point + range.min();
  }
};

/// \throws Error model_unsupported if tensors of this type are no codes
[[nodiscard]] inline CodeType code_type(const OpContext& context, ElementType type) {
  switch (type) {
    case ElementType::int8: return {{8}, true};
    case ElementType::uint8: return {{8}, false};
    case ElementType::int16: return {{16}, true};
    case ElementType::uint16: return {{16}, false};
    default: context.unsupported(std::string("codes are ") + name_of(type) + ", expected int8, uint8, int16 or uint16");
  }
}

/// The codes of 8 bits that integer products take.
inline void require_8_bits(const OpContext& context, std::size_t index) {
  const ElementType type = context.input(index).type();
  if (type == ElementType::int8 || type == ElementType::uint8) return;
  context.unsupported("input " + std::to_string(index) + " is " + name_of(type) + ", expected int8 or uint8");
}

/// Turns unsigned codes into signed ones and back.
inline void flip_signs(std::span<std::byte> codes, int bits) noexcept {
  const std::size_t width = bits == 8 ? 1 : 2;  // the last byte of a little-endian number has the sign
  for (std::size_t i = width - 1; i < codes.size(); i += width) codes[i] ^= std::byte{0x80};
}

/// The elements of a tensor of signed or unsigned codes as signed ones.
template <CodeStorage T>
[[nodiscard]] std::span<T> signed_codes(Tensor& tensor) noexcept {
  return {reinterpret_cast<T*>(tensor.raw().data()), tensor.size()};
}
template <CodeStorage T>
[[nodiscard]] std::span<const T> signed_codes(const Tensor& tensor) noexcept {
  return {reinterpret_cast<const T*>(tensor.raw().data()), tensor.size()};
}

/// Refuses parameters that are neither one nor a vector of one for each channel.
inline void require_one_or(const OpContext& context, const char* what, const Shape& shape, std::size_t channels) {
  if (shape.size() == 1 || (shape.rank() == 1 && shape.size() == channels && channels != 0)) return;
  context.fail(std::string(what) + " are " + to_string(shape) + ", expected one or " + std::to_string(channels));
}

/// The zero points in an input, one for all or `channels` of them; one of 0 if it is not given.
/// \param codes  the type that they must have
[[nodiscard]] inline std::vector<std::int32_t> zero_points(const OpContext& context, std::size_t index,
                                                           ElementType codes, std::size_t channels) {
  if (!context.has(index)) return {0};
  const Tensor wide = cast(context.input(index, codes), ElementType::int32);
  require_one_or(context, "zero points", wide.shape(), channels);
  const auto values = wide.data<std::int32_t>();
  return {values.begin(), values.end()};
}

/// The scales in an input, one for all or `channels` of them, all finite.
[[nodiscard]] inline std::vector<float> scales(const OpContext& context, std::size_t index, std::size_t channels) {
  const Tensor& given = context.floats(index);
  require_one_or(context, "scales", given.shape(), channels);
  const auto values = given.data<float>();
  for (const float scale : values) {
    if (!std::isfinite(scale)) context.fail("a scale is not finite");
  }
  return {values.begin(), values.end()};
}

/// Refuses scales that values cannot be divided by.
inline void require_usable(const OpContext& context, std::span<const float> scales) {
  for (const float scale : scales) {
    if (!is_usable(Affine{scale, 0}))
      context.fail("a scale is " + std::to_string(scale) + ", expected a positive number");
  }
}

/// Where the channels of an axis lie.
[[nodiscard]] inline ChannelLayout channels_on(const Shape& shape, std::size_t axis) {
  return {1, static_cast<std::size_t>(shape.count(0, axis)), static_cast<std::size_t>(shape[axis]),
          static_cast<std::size_t>(shape.count(axis + 1, shape.rank()))};
}

}  // namespace amct::exec
