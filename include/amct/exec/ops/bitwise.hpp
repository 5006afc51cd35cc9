// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/arithmetic.hpp>

namespace amct::exec::ops {

namespace arithmetic {

/// Shifts; all bits are gone from the width of T on.
template <std::unsigned_integral T>
[[nodiscard]] T shift_left(T a, T b) {
  return b < sizeof(T) * 8 ? static_cast<T>(a << b) : T{0};
}
template <std::unsigned_integral T>
[[nodiscard]] T shift_right(T a, T b) {
  return b < sizeof(T) * 8 ? static_cast<T>(a >> b) : T{0};
}

}  // namespace arithmetic

/// ONNX BitShift of unsigned integers.
inline void bit_shift(const OpContext& context) {
  const auto direction = context.node.attribute_or<std::string>("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    context.fail("direction is \"" + direction + "\", expected LEFT or RIGHT", ErrorCode::model_corrupt);
  }
  with_number_type(context, [&]<class T>() {
    if constexpr (std::unsigned_integral<T>) {
      combine_tensors<T>(context, direction == "LEFT" ? arithmetic::shift_left<T> : arithmetic::shift_right<T>,
                         context.input(0).shape(), context.input(1).shape());
    } else {
      context.unsupported(std::string("input 0 is ") + name_of(context.input(0).type()) +
                          ", expected unsigned integers");
    }
  });
}

inline void add_bitwise(OpSet& set) { set.add("BitShift", bit_shift); }

}  // namespace amct::exec::ops
