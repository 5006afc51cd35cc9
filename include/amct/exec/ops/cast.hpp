// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <amct/core/cast.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

namespace amct::exec::ops {

namespace detail {

/// An element type as ONNX numbers and names it.
struct OnnxType {
  std::int64_t number;
  std::string_view name;
  ElementType type;
};
inline constexpr OnnxType kOnnxTypes[] = {
    {1, "FLOAT", ElementType::float32},   {2, "UINT8", ElementType::uint8},    {3, "INT8", ElementType::int8},
    {4, "UINT16", ElementType::uint16},   {5, "INT16", ElementType::int16},    {6, "INT32", ElementType::int32},
    {7, "INT64", ElementType::int64},     {9, "BOOL", ElementType::boolean},   {10, "FLOAT16", ElementType::float16},
    {11, "DOUBLE", ElementType::float64}, {12, "UINT32", ElementType::uint32}, {13, "UINT64", ElementType::uint64},
};

/// The attribute `to`: a number, or a name before opset 6.
[[nodiscard]] inline ElementType cast_target(const OpContext& context) {
  const auto name = context.node.attribute_or<std::string>("to", "");
  const auto number = context.node.attribute_or<std::int64_t>("to", 0);
  for (const OnnxType& row : kOnnxTypes) {
    if (row.name == name || row.number == number) return row.type;
  }
  context.unsupported("to is the type " + (name.empty() ? std::to_string(number) : name) +
                      ", expected numbers or bool");
}

inline void cast_to(const OpContext& context, ElementType type) {
  const Tensor& x = context.input(0);
  if (x.type() == type) {
    context.pass_on(0);
  } else {
    cast_into(x, context.make_output(0, type, x.shape()));
  }
}

}  // namespace detail

/// ONNX Cast; see amct::cast for what does not fit the new type.
inline void cast_op(const OpContext& context) { detail::cast_to(context, detail::cast_target(context)); }

/// ONNX CastLike: to the type of the second input.
inline void cast_like(const OpContext& context) { detail::cast_to(context, context.input(1).type()); }

inline void add_cast(OpSet& set) {
  set.add("Cast", cast_op);
  set.add("CastLike", cast_like);
}

}  // namespace amct::exec::ops
