// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/accumulator.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/kernel/reduce_f32.hpp>

namespace amct::exec::ops {

/// Which elements of a tensor a reduction brings together.
struct Reduction {
  Shape result;              ///< the shape of the output
  Shape kept;                ///< the same with all axes kept: 1 where an axis is reduced
  std::size_t count = 1;     ///< elements that make one of the result
  bool is_identity = false;  ///< nothing is to be done

  /// Whether the elements of each result are consecutive.
  [[nodiscard]] bool has_rows(const Shape& x) const noexcept {
    bool reduced = false;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      if (x[axis] == 1) continue;
      if (kept[axis] != 1) {
        if (reduced) return false;
      } else {
        reduced = true;
      }
    }
    return true;
  }
};

/// Reads axes (an attribute, in later opsets an input; all if there are none), keepdims and noop_with_empty_axes.
[[nodiscard]] inline Reduction read_reduction(const OpContext& context) {
  const Shape& x = context.input(0).shape();
  const auto axes = context.integers("axes", 1);
  const bool keep = context.node.attribute_or<std::int64_t>("keepdims", 1) != 0;
  Reduction reduction;
  reduction.is_identity = axes.empty() && context.node.attribute_or<std::int64_t>("noop_with_empty_axes", 0) != 0;
  std::vector<char> reduced(x.rank(), axes.empty() ? 1 : 0);
  for (const auto axis : axes) reduced[context.axis(axis, x.rank())] = 1;
  std::vector<std::int64_t> kept = x.dims();
  std::vector<std::int64_t> result;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (reduced[axis] != 0) {
      reduction.count *= static_cast<std::size_t>(x[axis]);
      kept[axis] = 1;
    }
    if (reduced[axis] == 0 || keep) result.push_back(kept[axis]);
  }
  reduction.kept = Shape(std::move(kept));
  reduction.result = Shape(std::move(result));
  return reduction;
}

/// Calls add(first element of x, first element of the result, count, one) for all runs of consecutive elements in
/// order; `one` says that all elements of the run belong to the same element of the result.
inline void for_each_run(const Reduction& reduction, const Shape& x,
                         const std::function<void(std::size_t, std::size_t, std::size_t, bool)>& add) {
  const BroadcastRows<2> rows(x, {x, reduction.kept});
  rows.for_each_in_order(
      [&](std::size_t, const auto& from, std::size_t count) { add(from[0], from[1], count, rows.is_repeated(1)); });
}

/// Brings the elements of `x` together in an Accumulator for each of `y`.
template <class Accumulator, class T>
void reduce_to(const Reduction& reduction, const Tensor& x, Tensor& y) {
  const T* const from = x.data<T>().data();
  T* const to = y.data<T>().data();
  std::vector<Accumulator> accumulators(y.size());
  for_each_run(reduction, x.shape(), [&](std::size_t first, std::size_t target, std::size_t count, bool one) {
    Accumulator* const sums = accumulators.data() + target;
    if (!one) {
      for (std::size_t i = 0; i < count; ++i) sums[i].add(from[first + i]);
      return;
    }
    Accumulator sum = *sums;
    for (std::size_t i = 0; i < count; ++i) sum.add(from[first + i]);
    *sums = sum;
  });
  for (std::size_t i = 0; i < accumulators.size(); ++i) to[i] = static_cast<T>(accumulators[i].result(reduction.count));
}

/// Float32 rows whose elements are consecutive, by a kernel.
inline void reduce_rows(const Reduction& reduction, float (*kernel)(std::span<const float>), std::span<const float> x,
                        std::span<float> y) {
  parallel_for(y.size(), std::max<std::size_t>(1, kElementGrain / std::max<std::size_t>(1, reduction.count)),
               [&](std::size_t first, std::size_t count) {
                 for (std::size_t i = first; i < first + count; ++i) {
                   y[i] = kernel(x.subspan(i * reduction.count, reduction.count));
                 }
               });
}

/// One reduction for the types that it is computed in.
struct ReduceFunctions {
  using Function = void (*)(const Reduction&, const Tensor& x, Tensor& y);
  Function f32, f64, i64, u64;
  float (*row)(std::span<const float>) = nullptr;  ///< a kernel for the same of a row of float32, if there is one
};

/// A reduction to the type of its input. Integers are brought together in 64 bits and wrap around.
inline void reduce(const OpContext& context, const ReduceFunctions& functions) {
  const Reduction reduction = read_reduction(context);
  if (reduction.is_identity) {
    context.pass_on(0);
    return;
  }
  const Tensor& x = context.input(0);
  const auto integers = [&](ReduceFunctions::Function function, ElementType type) {
    Tensor& y = context.make_output(0, x.type(), reduction.result);
    Tensor wide(type, reduction.result);
    function(reduction, cast(x, type), wide);
    cast_into(wide, y);
  };
  switch (x.type()) {
    case ElementType::float32: {
      Tensor& y = context.make_output(0, x.type(), reduction.result);
      if (functions.row == nullptr || !reduction.has_rows(x.shape())) return functions.f32(reduction, x, y);
      return reduce_rows(reduction, functions.row, x.data<float>(), y.data<float>());
    }
    case ElementType::float64: return functions.f64(reduction, x, context.make_output(0, x.type(), reduction.result));
    case ElementType::int8:
    case ElementType::int16:
    case ElementType::int32:
    case ElementType::int64: return integers(functions.i64, ElementType::int64);
    case ElementType::uint8:
    case ElementType::uint16:
    case ElementType::uint32:
    case ElementType::uint64: return integers(functions.u64, ElementType::uint64);
    default: context.unsupported(std::string("input 0 is ") + name_of(x.type()) + ", expected numbers");
  }
}

namespace detail {

[[nodiscard]] inline float row_sum(std::span<const float> x) { return static_cast<float>(sum_f32(x)); }
[[nodiscard]] inline float row_mean(std::span<const float> x) {
  return static_cast<float>(sum_f32(x) / static_cast<double>(x.size()));
}
[[nodiscard]] inline float row_sum_square(std::span<const float> x) {
  return static_cast<float>(sum_of_squares_f32(x));
}
[[nodiscard]] inline float row_l2(std::span<const float> x) {
  return static_cast<float>(std::sqrt(sum_of_squares_f32(x)));
}

}  // namespace detail

/// The operator of a reduction.
template <template <class> class Accumulator>
[[nodiscard]] Op reduce_op(float (*row)(std::span<const float>) = nullptr) {
  const ReduceFunctions functions{reduce_to<Accumulator<float>, float>, reduce_to<Accumulator<double>, double>,
                                  reduce_to<Accumulator<std::int64_t>, std::int64_t>,
                                  reduce_to<Accumulator<std::uint64_t>, std::uint64_t>, row};
  return with_halves([functions](const OpContext& context) { reduce(context, functions); });
}

inline void add_reduce(OpSet& set) {
  set.add("ReduceSum", reduce_op<accumulator::Sum>(detail::row_sum));
  set.add("ReduceMean", reduce_op<accumulator::Mean>(detail::row_mean));
  set.add("ReduceSumSquare", reduce_op<accumulator::SumOfSquares>(detail::row_sum_square));
  set.add("ReduceL1", reduce_op<accumulator::L1>());
  set.add("ReduceL2", reduce_op<accumulator::L2>(detail::row_l2));
  set.add("ReduceProd", reduce_op<accumulator::Product>());
  set.add("ReduceMax", reduce_op<accumulator::Max>(max_f32));
  set.add("ReduceMin", reduce_op<accumulator::Min>());
  set.add("ReduceLogSum", reduce_op<accumulator::LogSum>());
  set.add("ReduceLogSumExp", reduce_op<accumulator::LogSumExp>());
}

}  // namespace amct::exec::ops
