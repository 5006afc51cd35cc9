// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/strided_copy.hpp>
#include <amct/exec/type_attribute.hpp>

/// \file
/// Operators that make data out of little: constants, ranges and unit vectors.

namespace amct::exec::ops {

namespace detail {

template <class T>
void put_constant(const OpContext& context, Shape shape, const T* values) {
  const auto output = context.make_output<T>(std::move(shape));
  std::copy_n(values, output.size(), output.begin());
}

/// Number of steps of `delta` from `start` to before `limit`; beyond what a tensor can hold, some larger number.
template <std::floating_point T>
[[nodiscard]] std::int64_t range_size(T start, T limit, T delta) {
  const double steps =
      std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
  return steps > 0.0 ? static_cast<std::int64_t>(std::min(steps, 0x1p40)) : 0;
}
template <std::integral T>
[[nodiscard]] std::int64_t range_size(T start, T limit, T delta) {
  const auto distance = [](T low, T high) {
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  };
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  const std::uint64_t whole = delta > 0 ? distance(start, limit) : distance(limit, start);
  const std::uint64_t step = delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  return static_cast<std::int64_t>(std::min((whole - 1) / step + 1, std::uint64_t{1} << 40));
}

template <class T>
void fill_range(const OpContext& context) {
  const auto value = [&](std::size_t i) {
    (void)context.input(i);
    return context.scalar_or<T>(i, T{});
  };
  const T start = value(0);
  const T delta = value(2);
  if (!(delta < T{} || delta > T{})) context.fail("the step is " + std::to_string(delta) + ", expected another number");
  const auto output = context.make_output<T>({range_size(start, value(1), delta)});
  for (std::size_t i = 0; i < output.size(); ++i) {
    if constexpr (std::integral<T>) {
      output[i] = static_cast<T>(static_cast<std::uint64_t>(start) + i * static_cast<std::uint64_t>(delta));
    } else {
      output[i] = start + static_cast<T>(i) * delta;
    }
  }
}

}  // namespace detail

/// ONNX Constant with one of its numeric attributes.
inline void constant(const OpContext& context) {
  const graph::Node& node = context.node;
  if (const auto* value = node.attribute<Tensor>("value")) {
    Tensor& output = context.make_output(0, value->type(), value->shape());
    if (value->bytes() != 0) std::memcpy(output.raw().data(), value->raw().data(), value->bytes());
  } else if (const auto* number = node.attribute<float>("value_float")) {
    detail::put_constant(context, {}, number);
  } else if (const auto* integer = node.attribute<std::int64_t>("value_int")) {
    detail::put_constant(context, {}, integer);
  } else if (const auto* numbers = node.attribute<std::vector<float>>("value_floats")) {
    detail::put_constant(context, {static_cast<std::int64_t>(numbers->size())}, numbers->data());
  } else if (const auto* integers = node.attribute<std::vector<std::int64_t>>("value_ints")) {
    detail::put_constant(context, {static_cast<std::int64_t>(integers->size())}, integers->data());
  } else {
    context.unsupported("has no value that is a tensor, a number or a list of numbers");
  }
}

/// ONNX ConstantOfShape: the attribute's one element everywhere, or float32 zeros.
inline void constant_of_shape(const OpContext& context) {
  const Tensor value = context.node.attribute_or<Tensor>("value", Tensor::scalar(0.0F));
  if (value.size() != 1) context.fail("value is " + to_string(value.shape()) + ", expected one element");
  fill_elements(context.make_output(0, value.type(), Shape(context.integers(0))).raw(), value.raw());
}

/// ONNX Range: start + i · delta for the numbers before `limit`.
inline void range(const OpContext& context) {
  switch (context.input(0).type()) {
    case ElementType::float32: return detail::fill_range<float>(context);
    case ElementType::float64: return detail::fill_range<double>(context);
    case ElementType::int16: return detail::fill_range<std::int16_t>(context);
    case ElementType::int32: return detail::fill_range<std::int32_t>(context);
    case ElementType::int64: return detail::fill_range<std::int64_t>(context);
    default: context.unsupported(std::string("a range of ") + name_of(context.input(0).type()));
  }
}

/// ONNX EyeLike: ones on the k-th diagonal of a matrix like the input.
inline void eye_like(const OpContext& context) {
  const Tensor& x = context.input(0);
  if (x.shape().rank() != 2) context.fail("input " + to_string(x.shape()) + " is no matrix");
  const std::int64_t rows = x.shape()[0];
  const std::int64_t columns = x.shape()[1];
  const std::int64_t k = std::clamp(context.node.attribute_or<std::int64_t>("k", 0), -rows, columns);
  Tensor& output = context.make_output(0, type_attribute(context, "dtype", x.type()), x.shape());
  std::fill(output.raw().begin(), output.raw().end(), std::byte{0});
  const Tensor one = amct::cast(Tensor::scalar(1.0F), output.type());
  for (std::int64_t row = std::max<std::int64_t>(0, -k); row < rows && row + k < columns; ++row) {
    const auto position = static_cast<std::size_t>(row * columns + row + k) * one.bytes();
    std::memcpy(output.raw().data() + position, one.raw().data(), one.bytes());
  }
}

/// ONNX OneHot: along a new axis of size `depth`, the "on" value at each index and "off" elsewhere. An index outside
/// gives "off" only.
inline void one_hot(const OpContext& context) {
  const Tensor indices = amct::cast(context.input(0), ElementType::int64);
  const auto depths = context.integers(1);
  const Tensor& values = context.input(2);
  if (depths.size() != 1) context.fail("depth has " + std::to_string(depths.size()) + " elements, expected one");
  if (values.shape() != Shape{2}) context.fail("values is " + to_string(values.shape()) + ", expected [2]");
  const std::size_t rank = indices.shape().rank();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", -1), rank + 1);
  std::vector<std::int64_t> dims = indices.shape().dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depths[0]);
  Tensor& output = context.make_output(0, values.type(), Shape(std::move(dims)));

  const std::size_t width = size_of(values.type());
  fill_elements(output.raw(), values.raw().first(width));
  const std::byte* const on = values.raw().data() + width;
  const std::int64_t depth = depths[0];
  const std::int64_t inner = indices.shape().count(axis, rank);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t value = indices.data<std::int64_t>()[i];
    if (value < -depth || value >= depth) continue;
    const auto position = static_cast<std::int64_t>(i);
    const std::int64_t row = position / inner * depth + (value < 0 ? value + depth : value);
    std::memcpy(output.raw().data() + static_cast<std::size_t>(row * inner + position % inner) * width, on, width);
  }
}

inline void add_constant(OpSet& set) {
  set.add("Constant", constant);
  set.add("ConstantOfShape", constant_of_shape);
  set.add("Range", range);
  set.add("EyeLike", eye_like);
  set.add("OneHot", one_hot);
}

}  // namespace amct::exec::ops
