// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/broadcast.hpp>

namespace amct::exec::ops {

/// Comparisons. All are false where an operand is NaN.
namespace comparison {

template <class T>
[[nodiscard]] bool equal(T a, T b) {
  return a == b;
}
template <class T>
[[nodiscard]] bool less(T a, T b) {
  return a < b;
}
template <class T>
[[nodiscard]] bool greater(T a, T b) {
  return a > b;
}
template <class T>
[[nodiscard]] bool less_or_equal(T a, T b) {
  return a <= b;
}
template <class T>
[[nodiscard]] bool greater_or_equal(T a, T b) {
  return a >= b;
}

}  // namespace comparison

/// Compares two tensors of one type T element by element, with broadcasting, to bools.
template <class T>
void compare(const OpContext& context, bool (*function)(T, T)) {
  const Shape a = context.input(0).shape();
  const Shape b = second_operand_shape(context, a, context.input(1).shape());
  const auto left = context.data<T>(0);
  const auto right = context.data<T>(1);
  const Shape shape = broadcast_shape(context, a, b);
  combine_rows(function, BroadcastRows<2>(shape, {a, b}), left.data(), right.data(),
               context.make_output<bool>(shape).data());
}

/// ONNX Equal, of bools too.
inline void equal(const OpContext& context) {
  if (context.input(0).type() == ElementType::boolean) return compare<bool>(context, comparison::equal<bool>);
  with_number_type(context, [&]<class T>() { compare<T>(context, comparison::equal<T>); });
}
inline void less(const OpContext& context) {
  with_number_type(context, [&]<class T>() { compare<T>(context, comparison::less<T>); });
}
inline void greater(const OpContext& context) {
  with_number_type(context, [&]<class T>() { compare<T>(context, comparison::greater<T>); });
}
inline void less_or_equal(const OpContext& context) {
  with_number_type(context, [&]<class T>() { compare<T>(context, comparison::less_or_equal<T>); });
}
inline void greater_or_equal(const OpContext& context) {
  with_number_type(context, [&]<class T>() { compare<T>(context, comparison::greater_or_equal<T>); });
}

/// ONNX Not.
inline void logical_not(const OpContext& context) {
  const auto [x, y] = context.make_output_over<bool>(0);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = !x[i];
}

namespace detail {

/// Refuses what is not float32 or float64 and calls `test` on each element.
template <class Test>
void test_reals(const OpContext& context, const Test& test) {
  const auto all = [&](auto x) {
    const auto y = context.make_output<bool>(context.input(0).shape());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = test(static_cast<double>(x[i]));
  };
  if (context.input(0).type() == ElementType::float64) all(context.data<double>(0));
  else all(context.data<float>(0));
}

}  // namespace detail

/// ONNX IsNaN.
inline void is_nan(const OpContext& context) {
  detail::test_reals(context, [](double x) { return std::isnan(x); });
}

/// ONNX IsInf; `detect_positive` and `detect_negative` choose the signs.
inline void is_inf(const OpContext& context) {
  const bool positive = context.node.attribute_or<std::int64_t>("detect_positive", 1) != 0;
  const bool negative = context.node.attribute_or<std::int64_t>("detect_negative", 1) != 0;
  detail::test_reals(context, [=](double x) { return std::isinf(x) && (std::signbit(x) ? negative : positive); });
}

inline void add_compare(OpSet& set) {
  set.add("Equal", with_halves(equal));
  set.add("Less", with_halves(less));
  set.add("Greater", with_halves(greater));
  set.add("LessOrEqual", with_halves(less_or_equal));
  set.add("GreaterOrEqual", with_halves(greater_or_equal));
  set.add("And", [](const OpContext& context) { compare<bool>(context, [](bool a, bool b) { return a && b; }); });
  set.add("Or", [](const OpContext& context) { compare<bool>(context, [](bool a, bool b) { return a || b; }); });
  set.add("Xor", [](const OpContext& context) { compare<bool>(context, [](bool a, bool b) { return a != b; }); });
  set.add("Not", logical_not);
  set.add("IsNaN", with_halves(is_nan));
  set.add("IsInf", with_halves(is_inf));
}

}  // namespace amct::exec::ops
