// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/pool_window.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/elementwise_f32.hpp>

namespace amct::exec::ops {

namespace detail {

/// Brings the input rows that one output row needs together in `line`, element by element, and returns where the
/// result is: there or, if there is one row only, at that row. Null if there is none.
[[nodiscard]] inline const float* fold_rows(const Window& w, CombineF32 op, const float* plane, std::int64_t oz,
                                            std::int64_t oy, std::span<float> line) {
  const float* so_far = nullptr;
  const Taps planes = real_taps(w, 0, oz);
  const Taps rows = real_taps(w, 1, oy);
  for (std::int64_t kz = planes.first; kz < planes.last; ++kz) {
    for (std::int64_t ky = rows.first; ky < rows.last; ++ky) {
      const float* row = plane + (position(w, 0, oz, kz) * w.input[1] + position(w, 1, oy, ky)) * w.input[2];
      if (so_far != nullptr) {
        combine_f32(op, {so_far}, {row}, line);
        row = line.data();
      }
      so_far = row;
    }
  }
  return so_far;
}

/// One plane of a pool: what lies under each window folded into a result that starts as `start`, first down the columns
/// and then along the row.
inline void fold_plane(const Window& w, CombineF32 op, float start, const float* plane, float* y,
                       std::span<float> line) {
  const auto width = static_cast<std::size_t>(w.output[2]);
  for (std::int64_t oz = 0; oz < w.output[0]; ++oz) {
    for (std::int64_t oy = 0; oy < w.output[1]; ++oy, y += width) {
      std::fill_n(y, width, start);
      const float* const row = fold_rows(w, op, plane, oz, oy, line);
      if (row == nullptr) continue;
      for (std::int64_t kx = 0; kx < w.kernel[2]; ++kx) {
        const Taps outputs = real_outputs(w, 2, kx);
        if (outputs.count() == 0) continue;
        fold_f32(op, row + position(w, 2, outputs.first, kx), static_cast<std::size_t>(w.stride[2]),
                 {y + outputs.first, static_cast<std::size_t>(outputs.count())});
      }
    }
  }
}

/// A pool of float32 to `y`, which is not empty, plane by plane and several at once; then calls finish(plane of y).
template <class Finish>
void fold_planes(const OpContext& context, const Window& window, CombineF32 op, float start, std::span<float> y,
                 const Finish& finish) {
  const Tensor& input = context.floats(0);
  const auto x = input.data<float>();
  const auto in_size = static_cast<std::size_t>(window.input_size());
  const auto out_size = static_cast<std::size_t>(window.output_size());
  const auto planes = static_cast<std::size_t>(input.shape().count(0, 2));
  parallel_for(planes, std::max<std::size_t>(1, (kElementGrain >> 2) / std::max<std::size_t>(1, in_size)),
               [&](std::size_t first, std::size_t count) {
                 std::vector<float> line(static_cast<std::size_t>(window.input[2]));
                 for (std::size_t p = first; p < first + count; ++p) {
                   const auto result = y.subspan(p * out_size, out_size);
                   fold_plane(window, op, start, x.data() + p * in_size, result.data(), line);
                   finish(result);
                 }
               });
}

/// MaxPool of any type, with the position of each maximum in the whole input as second output if it is wanted.
template <class T>
void max_pool_with_indices(const OpContext& context, const Window& w) {
  const auto x = context.data<T>(0);
  const Shape shape = pooled_shape(context, w);
  const auto y = context.make_output<T>(shape);
  const bool indexed = context.wants_output(1);
  std::span<std::int64_t> indices;
  if (indexed) indices = context.make_output(1, ElementType::int64, shape).data<std::int64_t>();
  const bool by_column = context.node.attribute_or<std::int64_t>("storage_order", 0) != 0;
  const std::int64_t planes = shape.count(0, 2);
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const std::int64_t start = plane * w.input_size();
    const auto first_output = static_cast<std::size_t>(plane * w.output_size());
    for_each_window(w, [&](std::size_t o, const auto& at) {
      T top =
          std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
      std::int64_t index = -1;
      for_each_in_window(w, at, [&](std::int64_t iz, std::int64_t iy, std::int64_t ix) {
        const T value = x[static_cast<std::size_t>(start + (iz * w.input[1] + iy) * w.input[2] + ix)];
        if (index >= 0 && !(value > top || (arithmetic::is_nan(value) && !arithmetic::is_nan(top)))) return;
        top = value;
        index =
            start + (by_column ? iz + (iy + ix * w.input[1]) * w.input[0] : (iz * w.input[1] + iy) * w.input[2] + ix);
      });
      y[first_output + o] = top;
      if (indexed) indices[first_output + o] = index;
    });
  }
}

}  // namespace detail

/// ONNX MaxPool: the largest real element of each window. NaN in a window gives NaN.
inline void max_pool(const OpContext& context) {
  const Window window = pool_window(context);
  const ElementType type = context.input(0).type();
  if (type == ElementType::float32 && !context.wants_output(1)) {
    constexpr float kLowest = -std::numeric_limits<float>::infinity();
    const auto y = context.make_output(pooled_shape(context, window));
    if (!y.empty()) detail::fold_planes(context, window, CombineF32::max, kLowest, y, [](std::span<float>) {});
    return;
  }
  switch (type) {
    case ElementType::float32: return detail::max_pool_with_indices<float>(context, window);
    case ElementType::float64: return detail::max_pool_with_indices<double>(context, window);
    case ElementType::int8: return detail::max_pool_with_indices<std::int8_t>(context, window);
    case ElementType::uint8: return detail::max_pool_with_indices<std::uint8_t>(context, window);
    case ElementType::int16: return detail::max_pool_with_indices<std::int16_t>(context, window);  // codes
    default:
      context.unsupported(std::string("input 0 is ") + name_of(type) +
                          ", expected float32, float64, int8, uint8 or int16");
  }
}

/// ONNX AveragePool: the sum divided by the number of elements.
inline void average_pool(const OpContext& context) {
  const Window window = pool_window(context);
  const bool count_padding = context.node.attribute_or<std::int64_t>("count_include_pad", 0) != 0;
  const auto y = context.make_output(pooled_shape(context, window));
  if (y.empty()) return;
  const auto divisors = pool_divisors(window, count_padding);
  detail::fold_planes(context, window, CombineF32::add, 0.0F, y, [&](std::span<float> plane) {
    combine_f32(CombineF32::div, {plane.data()}, {divisors.data()}, plane);
  });
}

/// The attribute `p` of an Lp norm, a float in opset 1.
[[nodiscard]] inline double norm_order(const OpContext& context) {
  const float real = context.node.attribute_or<float>("p", 2.0F);
  const double p = static_cast<double>(context.node.attribute_or<std::int64_t>("p", 0));
  const double order = p != 0.0 ? p : static_cast<double>(real);
  if (!(order > 0.0))
    context.fail("p is " + std::to_string(order) + ", expected more than 0", ErrorCode::model_corrupt);
  return order;
}

/// ONNX LpPool: the norm (sum of |x|^p)^(1/p) of each window, in double.
inline void lp_pool(const OpContext& context) {
  const Window w = pool_window(context);
  const double p = norm_order(context);
  const auto x = context.floats(0).data<float>();
  const Shape shape = pooled_shape(context, w);
  const auto y = context.make_output(shape);
  for (std::int64_t plane = 0; plane < shape.count(0, 2); ++plane) {
    const float* const from = x.data() + plane * w.input_size();
    float* const to = y.data() + plane * w.output_size();
    for_each_window(w, [&](std::size_t o, const auto& at) {
      double sum = 0.0;
      for_each_in_window(w, at, [&](std::int64_t iz, std::int64_t iy, std::int64_t ix) {
        sum += std::pow(std::fabs(static_cast<double>(from[(iz * w.input[1] + iy) * w.input[2] + ix])), p);
      });
      to[o] = static_cast<float>(std::pow(sum, 1.0 / p));
    });
  }
}

inline void add_pool(OpSet& set) {
  set.add("MaxPool", with_halves(max_pool));
  set.add("AveragePool", in_float32(average_pool));
  set.add("LpPool", in_float32(lp_pool));
}

}  // namespace amct::exec::ops
