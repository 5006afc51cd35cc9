// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <amct/core/fp_environment.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/vec.hpp>

/// \file
/// Element-wise arithmetic of float32 networks. Formulas are written once, in kernel/body/elementwise_f32-inl.hpp and
/// math_f32-inl.hpp, and compiled for plain C++ (amct::kernel::reference) and each instruction set: all give the same
/// bits, except for the sign and payload of a NaN. Nothing is fused that is not said to be.
///
/// Largest errors against the true value, in units in the last place, over all floats: exp 1, log 1, erf 2, tanh 2,
/// sigmoid 3. sqrt is rounded to nearest.

namespace amct {

/// Functions of one value, with two parameters `a` and `b` where the formula has them. NaN stays NaN.
enum class MapF32 : std::uint8_t {
  exp,           ///< infinite from 88.72284 on; denormal and then 0 below -87.3
  log,           ///< -infinity at 0, NaN below
  erf,           ///< the error function
  tanh,          ///< hyperbolic tangent
  sigmoid,       ///< 1 / (1 + e^-x)
  sqrt,          ///< square root, NaN below 0
  abs,           ///< absolute value
  leaky_relu,    ///< a * x where x < 0, else x
  clip,          ///< from a to b; b where a > b
  hard_sigmoid,  ///< a * x + b, clipped to 0 .. 1
  hard_swish     ///< x * hard_sigmoid(x)
};

/// Operations of two values. max and min are NaN if either operand is.
enum class CombineF32 : std::uint8_t {
  add,
  sub,
  mul,
  div,
  max,
  min,
  prelu  ///< a * b where a < 0, else a
};

/// One operand of a row: an element for each of the result, or one for all.
struct OperandF32 {
  const float* data = nullptr;
  bool repeated = false;
};

}  // namespace amct

#define AMCT_KERNEL_IS_REFERENCE
#define AMCT_KERNEL_BODY <amct/kernel/body/math_f32-inl.hpp>
#include <amct/simd/for_each_arch.hpp>
#define AMCT_KERNEL_IS_REFERENCE
#define AMCT_KERNEL_BODY <amct/kernel/body/elementwise_f32-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set.
inline void map_f32(MapF32 function, float a, float b, const float* x, float* y, std::size_t count) noexcept {
  AMCT_DISPATCH(map_f32(function, a, b, x, y, count))
}
inline void normalize_f32(const float* x, float mean, float factor, float offset, float* y,
                          std::size_t count) noexcept {
  AMCT_DISPATCH(normalize_f32(x, mean, factor, offset, y, count))
}
inline void combine_f32(CombineF32 operation, OperandF32 a, OperandF32 b, float* y, std::size_t count) noexcept {
  AMCT_DISPATCH(combine_f32(operation, a, b, y, count))
}
inline void fold_f32(CombineF32 operation, const float* x, std::size_t step, float* y, std::size_t count) noexcept {
  AMCT_DISPATCH(fold_f32(operation, x, step, y, count))
}

}  // namespace kernel

/// y[i] = function(x[i]).
/// \param y  as many elements as x; may be the same memory
/// \note O(n), no allocation, on the calling thread; so are the other functions of this file.
inline void map_f32(MapF32 function, std::span<const float> x, std::span<float> y, float a = 0.0F,
                    float b = 0.0F) noexcept {
  assert(x.size() == y.size());
  in_default_fp_environment([&] { kernel::map_f32(function, a, b, x.data(), y.data(), x.size()); });
}

/// y[i] = (x[i] - mean) * factor + offset, rounded after each step. y may be the same memory as x.
inline void normalize_f32(std::span<const float> x, float mean, float factor, float offset,
                          std::span<float> y) noexcept {
  assert(x.size() == y.size());
  in_default_fp_environment([&] { kernel::normalize_f32(x.data(), mean, factor, offset, y.data(), x.size()); });
}

/// y[i] = a[i] op b[i]. y may be the same memory as an operand that is not repeated.
/// \pre  not both operands are repeated, unless y has one element
inline void combine_f32(CombineF32 operation, OperandF32 a, OperandF32 b, std::span<float> y) noexcept {
  assert(y.size() <= 1 || !a.repeated || !b.repeated);
  in_default_fp_environment([&] { kernel::combine_f32(operation, a, b, y.data(), y.size()); });
}

/// y[i] = y[i] op x[i * step], where op is max or add.
/// \param x  at least (y.size() - 1) * step + 1 elements, apart from y
inline void fold_f32(CombineF32 operation, const float* x, std::size_t step, std::span<float> y) noexcept {
  assert(operation == CombineF32::max || operation == CombineF32::add);
  in_default_fp_environment([&] { kernel::fold_f32(operation, x, step, y.data(), y.size()); });
}

}  // namespace amct
