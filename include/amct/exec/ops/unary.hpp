// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <amct/core/parallel.hpp>
#include <amct/core/rounding.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/kernel/elementwise_f32.hpp>

namespace amct::exec::ops {

/// Elements of functions that take tens of operations each, of which a thread takes at once.
inline constexpr std::size_t kFunctionGrain = std::size_t{1} << 14;

/// A kernel over all elements of float32 input 0, on several threads, in place if nobody reads the input later.
inline void map_tensor(const OpContext& context, MapF32 function, float a = 0.0F, float b = 0.0F) {
  const auto [x, y] = context.make_output_over<float>(0);
  const std::size_t grain = function <= MapF32::sigmoid ? kFunctionGrain : kElementGrain;
  parallel_for(x.size(), grain, [&, x = x, y = y](std::size_t first, std::size_t count) {
    map_f32(function, x.subspan(first, count), y.subspan(first, count), a, b);
  });
}

/// The same for a function of one element of type T.
template <class T, class Function>
void map_elements(const OpContext& context, const Function& function) {
  const auto [x, y] = context.make_output_over<T>(0);
  parallel_for(x.size(), kFunctionGrain, [&, x = x, y = y](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) y[i] = function(x[i]);
  });
}

/// A function of real numbers.
struct RealFunction {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
};

/// Refuses what is not float32 or float64.
inline void require_real(const OpContext& context) {
  const ElementType type = context.input(0).type();
  if (type != ElementType::float32 && type != ElementType::float64) {
    context.unsupported(std::string("input 0 is ") + name_of(type) + ", expected float32");
  }
}

/// The operator of a kernel for float32 and a function for float64; float16 goes by way of float32.
[[nodiscard]] inline Op real_op(MapF32 kernel, double (*f64)(double)) {
  return with_halves([=](const OpContext& context) {
    require_real(context);
    if (context.input(0).type() == ElementType::float64) map_elements<double>(context, f64);
    else map_tensor(context, kernel);
  });
}
/// The operator of two functions.
[[nodiscard]] inline Op real_op(float (*f32)(float), double (*f64)(double)) {
  return with_halves([=](const OpContext& context) {
    require_real(context);
    if (context.input(0).type() == ElementType::float64) map_elements<double>(context, f64);
    else map_elements<float>(context, f32);
  });
}

namespace arithmetic {

/// |x|; the least integer stays itself.
template <class T>
[[nodiscard]] T abs(T x) {
  if constexpr (std::unsigned_integral<T>) return x;
  else if constexpr (std::floating_point<T>) return std::fabs(x);
  else return x < 0 ? sub(T{0}, x) : x;
}
template <class T>
[[nodiscard]] T neg(T x) {
  if constexpr (std::floating_point<T>) return -x;
  else return sub(T{0}, x);
}
/// -1, 0 or 1; NaN stays NaN.
template <class T>
[[nodiscard]] T sign(T x) {
  if constexpr (std::unsigned_integral<T>) return x == T{0} ? T{0} : T{1};
  else return x > T{0} ? T{1} : x < T{0} ? T{-1} : x;
}

}  // namespace arithmetic

inline void abs(const OpContext& context) {
  with_number_type(context, [&]<class T>() {
    if constexpr (std::same_as<T, float>) map_tensor(context, MapF32::abs);
    else map_elements<T>(context, arithmetic::abs<T>);
  });
}
inline void neg(const OpContext& context) {
  with_number_type(context, [&]<class T>() { map_elements<T>(context, arithmetic::neg<T>); });
}
inline void sign(const OpContext& context) {
  with_number_type(context, [&]<class T>() { map_elements<T>(context, arithmetic::sign<T>); });
}

/// A row of the table below: a function of <cmath> for both types.
#define AMCT_REAL_FUNCTION(name, function)                                          \
  {                                                                                 \
    name, [](float x) { return function(x); }, [](double x) { return function(x); } \
  }

inline constexpr RealFunction kRealFunctions[] = {
    AMCT_REAL_FUNCTION("Ceil", std::ceil),        AMCT_REAL_FUNCTION("Floor", std::floor),
    AMCT_REAL_FUNCTION("Round", round_half_even), AMCT_REAL_FUNCTION("Sin", std::sin),
    AMCT_REAL_FUNCTION("Cos", std::cos),          AMCT_REAL_FUNCTION("Tan", std::tan),
    AMCT_REAL_FUNCTION("Asin", std::asin),        AMCT_REAL_FUNCTION("Acos", std::acos),
    AMCT_REAL_FUNCTION("Atan", std::atan),        AMCT_REAL_FUNCTION("Sinh", std::sinh),
    AMCT_REAL_FUNCTION("Cosh", std::cosh),        AMCT_REAL_FUNCTION("Asinh", std::asinh),
    AMCT_REAL_FUNCTION("Acosh", std::acosh),      AMCT_REAL_FUNCTION("Atanh", std::atanh),
};

#undef AMCT_REAL_FUNCTION

inline void add_unary(OpSet& set) {
  for (const auto& row : kRealFunctions) set.add(row.name, real_op(row.f32, row.f64));
  set.add("Reciprocal", real_op([](float x) { return 1.0F / x; }, [](double x) { return 1.0 / x; }));
  set.add("Exp", real_op(MapF32::exp, [](double x) { return std::exp(x); }));
  set.add("Log", real_op(MapF32::log, [](double x) { return std::log(x); }));
  set.add("Sqrt", real_op(MapF32::sqrt, [](double x) { return std::sqrt(x); }));
  set.add("Erf", real_op(MapF32::erf, [](double x) { return std::erf(x); }));
  set.add("Abs", with_halves(abs));
  set.add("Neg", with_halves(neg));
  set.add("Sign", with_halves(sign));
}

}  // namespace amct::exec::ops
