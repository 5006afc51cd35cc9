// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>

namespace amct::exec::ops {

namespace detail {

/// Chooses between elements that are as wide as Bits, whatever they are.
template <class Bits>
void choose(const BroadcastRows<3>& rows, const bool* condition, const Tensor& x, const Tensor& y, Tensor& result) {
  const auto* const then = reinterpret_cast<const Bits*>(x.raw().data());
  const auto* const otherwise = reinterpret_cast<const Bits*>(y.raw().data());
  auto* const to = reinterpret_cast<Bits*>(result.raw().data());
  const std::size_t step[] = {rows.is_repeated(0) ? 0U : 1U, rows.is_repeated(1) ? 0U : 1U,
                              rows.is_repeated(2) ? 0U : 1U};
  rows.for_each([&](std::size_t first, const auto& from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      to[first + i] = condition[from[0] + i * step[0]] ? then[from[1] + i * step[1]] : otherwise[from[2] + i * step[2]];
    }
  });
}

}  // namespace detail

/// ONNX Where, of any element type.
inline void where(const OpContext& context) {
  const auto condition = context.data<bool>(0);
  const Tensor& x = context.input(1);
  const Tensor& y = context.input(2, x.type());
  const Shape shape =
      broadcast_shape(context, broadcast_shape(context, context.input(0).shape(), x.shape()), y.shape());
  const BroadcastRows<3> rows(shape, {context.input(0).shape(), x.shape(), y.shape()});
  Tensor& result = context.make_output(0, x.type(), shape);
  switch (size_of(x.type())) {
    case 1: return detail::choose<std::uint8_t>(rows, condition.data(), x, y, result);
    case 2: return detail::choose<std::uint16_t>(rows, condition.data(), x, y, result);
    case 4: return detail::choose<std::uint32_t>(rows, condition.data(), x, y, result);
    default: return detail::choose<std::uint64_t>(rows, condition.data(), x, y, result);
  }
}

inline void add_where(OpSet& set) { set.add("Where", where); }

}  // namespace amct::exec::ops
