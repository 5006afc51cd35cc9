// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <span>

#include <amct/core/fp_environment.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/vec.hpp>

/// \file
/// Sums and maxima of rows of float32, the same bits on every path. The order of all sums: blocks of kSumBlock
/// elements, within which element i goes to lane i % kSumLanes; lanes are added in float32, and then one after the
/// other in double.

namespace amct::kernel {

inline constexpr std::size_t kSumLanes = 32;
inline constexpr std::size_t kSumBlock = 1024;

}  // namespace amct::kernel

#define AMCT_KERNEL_IS_REFERENCE
#define AMCT_KERNEL_BODY <amct/kernel/body/reduce_f32-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// On the active instruction set.
[[nodiscard]] inline double sum_f32(const float* x, std::size_t count) noexcept { AMCT_DISPATCH(sum_f32(x, count)) }
[[nodiscard]] inline double sum_of_squares_f32(const float* x, float center, std::size_t count) noexcept {
  AMCT_DISPATCH(sum_of_squares_f32(x, center, count))
}
[[nodiscard]] inline double exp_f32(const float* x, float top, float* y, std::size_t count) noexcept {
  AMCT_DISPATCH(exp_f32(x, top, y, count))
}
[[nodiscard]] inline float max_f32(const float* x, std::size_t count) noexcept { AMCT_DISPATCH(max_f32(x, count)) }

}  // namespace kernel

/// The sum of all elements.
/// \note O(n), no allocation, on the calling thread; so are the other functions of this file.
[[nodiscard]] inline double sum_f32(std::span<const float> x) noexcept {
  double sum = 0.0;
  in_default_fp_environment([&] { sum = kernel::sum_f32(x.data(), x.size()); });
  return sum;
}

/// The sum of (x[i] - center)^2; the square is fused with its addition.
[[nodiscard]] inline double sum_of_squares_f32(std::span<const float> x, float center = 0.0F) noexcept {
  double sum = 0.0;
  in_default_fp_environment([&] { sum = kernel::sum_of_squares_f32(x.data(), center, x.size()); });
  return sum;
}

/// y[i] = e^(x[i] - top), and the sum of these. y may be the same memory as x.
[[nodiscard]] inline double exp_f32(std::span<const float> x, float top, std::span<float> y) noexcept {
  assert(x.size() == y.size());
  double sum = 0.0;
  in_default_fp_environment([&] { sum = kernel::exp_f32(x.data(), top, y.data(), x.size()); });
  return sum;
}

/// The largest element; NaN if one is, -infinity if there is none. A zero is +0.
[[nodiscard]] inline float max_f32(std::span<const float> x) noexcept {
  float top = 0.0F;
  in_default_fp_environment([&] { top = kernel::max_f32(x.data(), x.size()); });
  return top;
}

}  // namespace amct
