// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/exec/ops/pool.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/reduce_f32.hpp>

namespace amct::exec::ops {

namespace detail {

/// Makes one number, pool(plane), of all spatial elements of each channel.
template <class T = float, class Pool>
void pool_planes(const OpContext& context, const Pool& pool) {
  const Tensor& x = context.input(0, element_type_of<T>);
  const Shape& shape = x.shape();
  if (shape.rank() < 3) context.fail("input " + to_string(shape) + " has no spatial axes");
  std::vector<std::int64_t> dims(shape.rank(), 1);
  dims[0] = shape[0];
  dims[1] = shape[1];
  const auto from = x.data<T>();
  const auto y = context.make_output<T>(Shape(std::move(dims)));
  const auto size = static_cast<std::size_t>(shape.count(2, shape.rank()));
  parallel_for(y.size(), std::max<std::size_t>(1, kElementGrain / std::max<std::size_t>(1, size)),
               [&](std::size_t first, std::size_t count) {
                 for (std::size_t p = first; p < first + count; ++p) y[p] = pool(from.subspan(p * size, size));
               });
}

}  // namespace detail

/// ONNX GlobalAveragePool.
inline void global_average_pool(const OpContext& context) {
  detail::pool_planes(context, [](std::span<const float> plane) {
    return static_cast<float>(sum_f32(plane) / static_cast<double>(plane.size()));
  });
}

/// ONNX GlobalMaxPool, also of codes.
inline void global_max_pool(const OpContext& context) {
  const auto largest = []<class T>(std::span<const T> plane) {
    return plane.empty() ? std::numeric_limits<T>::lowest() : *std::max_element(plane.begin(), plane.end());
  };
  switch (context.input(0).type()) {
    case ElementType::int8: return detail::pool_planes<std::int8_t>(context, largest);
    case ElementType::int16: return detail::pool_planes<std::int16_t>(context, largest);
    default: return detail::pool_planes(context, max_f32);
  }
}

/// ONNX GlobalLpPool.
inline void global_lp_pool(const OpContext& context) {
  const double p = norm_order(context);
  detail::pool_planes(context, [p](std::span<const float> plane) {
    double sum = 0.0;
    for (const float value : plane) sum += std::pow(std::fabs(static_cast<double>(value)), p);
    return static_cast<float>(std::pow(sum, 1.0 / p));
  });
}

inline void add_global_pool(OpSet& set) {
  set.add("GlobalAveragePool", in_float32(global_average_pool));
  set.add("GlobalMaxPool", in_float32(global_max_pool));
  set.add("GlobalLpPool", in_float32(global_lp_pool));
}

}  // namespace amct::exec::ops
