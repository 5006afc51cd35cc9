// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/elementwise_f32.hpp>

namespace amct::exec::ops {

/// The functions of two values for element types other than float32, which has kernels. Integers wrap around; their
/// quotients are cut towards zero, and the caller has refused divisors of 0.
namespace arithmetic {

/// The unsigned type in which integers of type T wrap around without undefined overflow.
template <std::integral T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(std::uint32_t)), std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
[[nodiscard]] T add(T a, T b) {
  if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  else return a + b;
}
template <class T>
[[nodiscard]] T sub(T a, T b) {
  if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  else return a - b;
}
template <class T>
[[nodiscard]] T mul(T a, T b) {
  if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  else return a * b;
}
template <class T>
[[nodiscard]] T div(T a, T b) {
  if constexpr (std::signed_integral<T>) {
    if (b == T{-1}) return sub(T{0}, a);  // the least integer has no opposite
  }
  return static_cast<T>(a / b);
}
template <class T>
[[nodiscard]] bool is_nan(T x) {
  if constexpr (std::floating_point<T>) return x != x;
  else return false;
}
template <class T>
[[nodiscard]] T max(T a, T b) {
  return a > b || is_nan(a) ? a : b;
}
template <class T>
[[nodiscard]] T min(T a, T b) {
  return a < b || is_nan(a) ? a : b;
}
/// PRelu.
template <class T>
[[nodiscard]] T prelu(T x, T slope) {
  if constexpr (std::unsigned_integral<T>) return x;
  else return x < T{0} ? mul(x, slope) : x;
}
/// The remainder with the sign of the dividend.
template <class T>
[[nodiscard]] T remainder(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return std::fmod(a, b);
  } else if constexpr (std::signed_integral<T>) {
    return b == T{-1} ? T{0} : static_cast<T>(a % b);
  } else {
    return static_cast<T>(a % b);
  }
}
/// The remainder with the sign of the divisor.
template <std::integral T>
[[nodiscard]] T modulo(T a, T b) {
  const T rest = remainder(a, b);
  if constexpr (std::unsigned_integral<T>) return rest;
  else return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}
/// a^b, wrapped around; 0 for what lies between 0 and 1.
[[nodiscard]] inline std::int64_t power(std::int64_t a, std::int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::int64_t result = 1;
  for (; b != 0; b /= 2) {
    if (b % 2 != 0) result = mul(result, a);
    a = mul(a, a);
  }
  return result;
}

}  // namespace arithmetic

template <class T>
using Binary = T (*)(T, T);

/// One operation of two tensors: the kernel for float32, and a function for each other type; null where the operation
/// is not defined.
struct BinaryOp {
  CombineF32 f32;
  Binary<double> f64;
  Binary<std::int8_t> i8;
  Binary<std::uint8_t> u8;
  Binary<std::int16_t> i16;
  Binary<std::uint16_t> u16;
  Binary<std::int32_t> i32;
  Binary<std::uint32_t> u32;
  Binary<std::int64_t> i64;
  Binary<std::uint64_t> u64;

  template <class T>
  [[nodiscard]] Binary<T> of() const noexcept {
    if constexpr (std::same_as<T, double>) return f64;
    else if constexpr (std::same_as<T, std::int8_t>) return i8;
    else if constexpr (std::same_as<T, std::uint8_t>) return u8;
    else if constexpr (std::same_as<T, std::int16_t>) return i16;
    else if constexpr (std::same_as<T, std::uint16_t>) return u16;
    else if constexpr (std::same_as<T, std::int32_t>) return i32;
    else if constexpr (std::same_as<T, std::uint32_t>) return u32;
    else if constexpr (std::same_as<T, std::int64_t>) return i64;
    else if constexpr (std::same_as<T, std::uint64_t>) return u64;
    else return nullptr;
  }
};

/// A BinaryOp from one function template.
#define AMCT_BINARY_OP(kernel, function)                                                                  \
  ::amct::exec::ops::BinaryOp {                                                                           \
    kernel, function<double>, function<std::int8_t>, function<std::uint8_t>, function<std::int16_t>,      \
        function<std::uint16_t>, function<std::int32_t>, function<std::uint32_t>, function<std::int64_t>, \
        function<std::uint64_t>                                                                           \
  }

inline constexpr BinaryOp kAdd = AMCT_BINARY_OP(CombineF32::add, arithmetic::add);
inline constexpr BinaryOp kSub = AMCT_BINARY_OP(CombineF32::sub, arithmetic::sub);
inline constexpr BinaryOp kMul = AMCT_BINARY_OP(CombineF32::mul, arithmetic::mul);
inline constexpr BinaryOp kDiv = AMCT_BINARY_OP(CombineF32::div, arithmetic::div);
inline constexpr BinaryOp kMax = AMCT_BINARY_OP(CombineF32::max, arithmetic::max);
inline constexpr BinaryOp kMin = AMCT_BINARY_OP(CombineF32::min, arithmetic::min);
inline constexpr BinaryOp kPRelu = AMCT_BINARY_OP(CombineF32::prelu, arithmetic::prelu);

#undef AMCT_BINARY_OP

/// y = a op b of float32 along the rows. y may be a or b if that is not repeated.
inline void combine_rows(CombineF32 op, const BroadcastRows<2>& rows, const float* a, const float* b, float* y) {
  const bool one = rows.is_repeated(0) && rows.is_repeated(1);  // a result that a third operand makes longer
  rows.for_each([&](std::size_t first, const auto& from, std::size_t count) {
    const OperandF32 left{a + from[0], rows.is_repeated(0)};
    const OperandF32 right{b + from[1], rows.is_repeated(1)};
    combine_f32(op, left, right, {y + first, one ? 1 : count});
    if (one) std::fill_n(y + first + 1, count - 1, y[first]);
  });
}

/// y = function(a, b) along the rows.
template <class T, class R>
void combine_rows(R (*function)(T, T), const BroadcastRows<2>& rows, const T* a, const T* b, R* y) {
  const std::size_t step_a = rows.is_repeated(0) ? 0 : 1;
  const std::size_t step_b = rows.is_repeated(1) ? 0 : 1;
  rows.for_each([&](std::size_t first, const auto& from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      y[first + i] = function(a[from[0] + i * step_a], b[from[1] + i * step_b]);
    }
  });
}

/// Two float32 operands to a result in the memory of one of them, if it has the shape of the result and is not read
/// later.
inline void combine_f32_tensors(const OpContext& context, CombineF32 op, const Shape& a, const Shape& b) {
  const Shape shape = broadcast_shape(context, a, b);
  const BroadcastRows<2> rows(shape, {a, b});
  const float* left = context.floats(0).data<float>().data();
  const float* right = context.floats(1).data<float>().data();
  const auto may_take = [&](std::size_t i) {
    return i < context.dying.size() && context.dying[i] != nullptr && context.input(i).shape() == shape;
  };
  const std::size_t taken = may_take(0) ? 0 : 1;
  float* y = nullptr;
  if (may_take(taken)) {
    y = context.make_output_over<float>(taken).second.data();
  } else {
    y = context.make_output(shape).data();
  }
  combine_rows(op, rows, left, right, y);
}

template <class T>
void combine_tensors(const OpContext& context, Binary<T> function, const Shape& a, const Shape& b) {
  const Shape shape = broadcast_shape(context, a, b);
  const auto left = context.data<T>(0);
  const auto right = context.data<T>(1);
  combine_rows(function, BroadcastRows<2>(shape, {a, b}), left.data(), right.data(),
               context.make_output<T>(shape).data());
}

/// Calls `visit` with the type of the first input, which the second must have too; bool and float16 are refused.
template <class Visit>
void with_number_type(const OpContext& context, Visit&& visit) {
  const ElementType type = context.input(0).type();
  with_element_type(type, [&]<class T>() {
    if constexpr (std::same_as<T, bool> || std::same_as<T, Half>) {
      context.unsupported(std::string("input 0 is ") + name_of(type) + ", expected numbers");
    } else {
      visit.template operator()<T>();
    }
  });
}

/// Lets an operator take float16, by way of float32, besides the types that it takes itself.
[[nodiscard]] inline Op with_halves(Op op) {
  return [promoted = in_float32(op), op = std::move(op)](const OpContext& context) {
    const bool has_half = std::any_of(context.inputs.begin(), context.inputs.end(), [](const Tensor* input) {
      return input != nullptr && input->type() == ElementType::float16;
    });
    has_half ? promoted(context) : op(context);
  };
}

/// The element-wise operator of two tensors of the same type, whose second operand has the shape `b`.
inline void binary_as(const OpContext& context, const BinaryOp& op, const Shape& b) {
  const Shape a = context.input(0).shape();
  with_number_type(context, [&]<class T>() {
    (void)context.input(1, element_type_of<T>);
    if constexpr (std::same_as<T, float>) combine_f32_tensors(context, op.f32, a, b);
    else combine_tensors<T>(context, op.of<T>(), a, b);
  });
}
inline void binary(const OpContext& context, const BinaryOp& op) {
  binary_as(context, op, second_operand_shape(context, context.input(0).shape(), context.input(1).shape()));
}

/// Refuses integers that are 0.
template <std::integral T>
void require_divisors(const OpContext& context, std::span<const T> divisors) {
  const auto zero = std::find(divisors.begin(), divisors.end(), T{0});
  if (zero == divisors.end()) return;
  context.fail("divides an integer by 0, element " + std::to_string(zero - divisors.begin()) + " of input 1");
}

/// ONNX Div. An integer division by zero is refused.
inline void div(const OpContext& context) {
  with_number_type(context, [&]<class T>() {
    if constexpr (std::integral<T>) require_divisors(context, context.data<T>(1));
  });
  binary(context, kDiv);
}

/// ONNX Mod: for integers with the sign of the divisor, with `fmod` and for floats with the sign of the dividend.
inline void mod(const OpContext& context) {
  const bool fmod = context.node.attribute_or<std::int64_t>("fmod", 0) != 0;
  const Shape a = context.input(0).shape();
  const Shape b = context.input(1).shape();
  with_number_type(context, [&]<class T>() {
    if constexpr (std::integral<T>) {
      require_divisors(context, context.data<T>(1));
      combine_tensors<T>(context, fmod ? arithmetic::remainder<T> : arithmetic::modulo<T>, a, b);
    } else {
      if (!fmod) context.fail("fmod is 0, expected 1 for floating-point inputs", ErrorCode::model_corrupt);
      combine_tensors<T>(context, arithmetic::remainder<T>, a, b);
    }
  });
}

/// ONNX PRelu. Before opset 7 a slope of one axis belonged to the channels.
inline void prelu(const OpContext& context) {
  const Shape& x = context.input(0).shape();
  Shape slope = context.input(1).shape();
  if (context.opset < 7 && slope.rank() == 1 && slope[0] != 1 && x.rank() > 2) {
    std::vector<std::int64_t> dims(x.rank() - 1, 1);
    dims[0] = slope[0];
    slope = Shape(std::move(dims));
  }
  if (broadcast_shape(context, x, slope) != x) {
    context.fail("slope " + to_string(slope) + " does not fit input " + to_string(x));
  }
  binary_as(context, kPRelu, slope);
}

namespace detail {

/// Pow by way of a type W that both operands are converted to; the result has the type of the base.
template <class W>
void pow_in(const OpContext& context, W (*function)(W, W)) {
  const Tensor& base = context.input(0);
  const Tensor& exponent = context.input(1);
  const Shape shape = broadcast_shape(context, base.shape(), exponent.shape());
  Tensor wide(element_type_of<W>, context.make_output(0, base.type(), shape).shape());
  const Tensor a = cast(base, wide.type());
  const Tensor b = cast(exponent, wide.type());
  const BroadcastRows<2> rows(shape, {base.shape(), exponent.shape()});
  combine_rows(function, rows, a.data<W>().data(), b.data<W>().data(), wide.data<W>().data());
  cast_into(wide, context.outputs[0]);
}

}  // namespace detail

/// ONNX Pow. The result has the type of the base. Integers to integers wrap around; all else is computed in double but
/// squares of float32, which are products.
inline void pow(const OpContext& context) {
  const Tensor& base = context.input(0);
  const Tensor& exponent = context.input(1);
  const auto is_real = [](const Tensor& t) {
    return t.type() == ElementType::float32 || t.type() == ElementType::float64 || t.type() == ElementType::float16;
  };
  if (base.type() == ElementType::float32 && exponent.size() == 1 && exponent.shape().rank() <= base.shape().rank() &&
      cast(exponent, ElementType::float64).data<double>()[0] == 2.0) {
    const auto [x, y] = context.make_output_over<float>(0);
    parallel_for(x.size(), kElementGrain, [x = x, y = y](std::size_t first, std::size_t count) {
      const OperandF32 part{x.data() + first};
      combine_f32(CombineF32::mul, part, part, y.subspan(first, count));
    });
  } else if (is_real(base) || is_real(exponent)) {
    detail::pow_in<double>(context, [](double a, double b) { return std::pow(a, b); });
  } else {
    detail::pow_in<std::int64_t>(context, arithmetic::power);
  }
}

/// ONNX Max, Min, Sum and Mean: any number of operands, combined from the first to the last.
inline void variadic(const OpContext& context, const BinaryOp& op) {
  if (context.inputs.size() == 1) {
    context.pass_on(0);
    return;
  }
  Shape shape = context.input(0).shape();
  for (std::size_t i = 1; i < context.inputs.size(); ++i) {
    shape = broadcast_shape(context, shape, context.input(i, context.input(0).type()).shape());
  }
  with_number_type(context, [&]<class T>() {
    T* const y = context.make_output<T>(shape).data();
    const T* sum = context.data<T>(0).data();
    Shape sum_shape = context.input(0).shape();
    for (std::size_t i = 1; i < context.inputs.size(); ++i) {
      const BroadcastRows<2> rows(shape, {sum_shape, context.input(i).shape()});
      if constexpr (std::same_as<T, float>) combine_rows(op.f32, rows, sum, context.data<T>(i).data(), y);
      else combine_rows(op.of<T>(), rows, sum, context.data<T>(i).data(), y);
      sum = y;
      sum_shape = shape;
    }
  });
}

/// ONNX Mean.
inline void mean(const OpContext& context) {
  variadic(context, kAdd);
  with_number_type(context, [&]<class T>() {
    if constexpr (std::floating_point<T>) {
      for (T& value : context.outputs[0].data<T>()) value /= static_cast<T>(context.inputs.size());
    } else {
      context.unsupported("is a mean of integers, expected floating-point inputs");
    }
  });
}

inline void add_arithmetic(OpSet& set) {
  const auto row = [&](const char* name, auto op) { set.add(name, with_halves(op)); };
  row("Add", [](const OpContext& context) { binary(context, kAdd); });
  row("Sub", [](const OpContext& context) { binary(context, kSub); });
  row("Mul", [](const OpContext& context) { binary(context, kMul); });
  row("Div", div);
  row("Mod", mod);
  row("Max", [](const OpContext& context) { variadic(context, kMax); });
  row("Min", [](const OpContext& context) { variadic(context, kMin); });
  row("Sum", [](const OpContext& context) { variadic(context, kAdd); });
  row("Mean", mean);
  row("PRelu", prelu);
  set.add("Pow", pow);
}

}  // namespace amct::exec::ops
