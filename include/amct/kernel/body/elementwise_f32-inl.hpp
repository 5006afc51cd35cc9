// SPDX-License-Identifier: Apache-2.0
// Bodies of kernel/elementwise_f32.hpp, for plain C++ too.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Calls `each` with vectors of elements and stores what it returns; a short end goes through a copy.
template <class Each>
AMCT_VOP void map_f32(const float* x, float* y, std::size_t count, const Each& each) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, each(load(x + i)));
  if (i == count) return;
  float end[kLanes] = {};
  std::copy(x + i, x + count, end);
  store(end, each(load(end)));
  std::copy(end, end + (count - i), y + i);
}

inline void map_f32(MapF32 function, float a, float b, const float* x, float* y, std::size_t count) noexcept {
  const F first = set(a);
  const F second = set(b);
  const F zero = set(0.0F);
  const F one = set(1.0F);
  const auto map = [&](const auto& each) AMCT_VLAMBDA { map_f32(x, y, count, each); };
  switch (function) {
    case MapF32::exp: return map([&](F v) AMCT_VLAMBDA { return exp(v); });
    case MapF32::log: return map([&](F v) AMCT_VLAMBDA { return log(v); });
    case MapF32::erf: return map([&](F v) AMCT_VLAMBDA { return erf(v); });
    case MapF32::tanh: return map([&](F v) AMCT_VLAMBDA { return tanh(v); });
    case MapF32::sigmoid: return map([&](F v) AMCT_VLAMBDA { return sigmoid(v); });
    case MapF32::sqrt: return map([&](F v) AMCT_VLAMBDA { return square_root(v); });
    case MapF32::abs: return map([&](F v) AMCT_VLAMBDA { return magnitude(v); });
    case MapF32::leaky_relu: return map([&](F v) AMCT_VLAMBDA { return where_above(zero, v, mul(first, v), v); });
    case MapF32::clip: return map([&](F v) AMCT_VLAMBDA { return at_most(at_least(v, first), second); });
    case MapF32::hard_sigmoid:
      return map([&](F v) AMCT_VLAMBDA { return at_most(at_least(add(mul(first, v), second), zero), one); });
    case MapF32::hard_swish:
      return map([&](F v) AMCT_VLAMBDA { return mul(v, at_most(at_least(add(mul(first, v), second), zero), one)); });
  }
}

/// (x - mean) * factor + offset, in this order.
inline void normalize_f32(const float* x, float mean, float factor, float offset, float* y,
                          std::size_t count) noexcept {
  const F center = set(mean);
  const F scale = set(factor);
  const F shift = set(offset);
  map_f32(x, y, count, [&](F v) AMCT_VLAMBDA { return add(mul(sub(v, center), scale), shift); });
}

/// The same for an operation of two operands, each with one value for all or one for each.
template <bool kOneA, bool kOneB, class Each>
AMCT_VOP void combine_each(const float* a, const float* b, float* y, std::size_t count, const Each& each) {
  const F all_a = set(*a);
  const F all_b = set(*b);
  const auto left = [&](std::size_t i) AMCT_VLAMBDA { return kOneA ? all_a : load(a + i); };
  const auto right = [&](std::size_t i) AMCT_VLAMBDA { return kOneB ? all_b : load(b + i); };
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, each(left(i), right(i)));
  if (i == count) return;
  float end_a[kLanes] = {};
  float end_b[kLanes] = {};
  if (!kOneA) std::copy(a + i, a + count, end_a);
  if (!kOneB) std::copy(b + i, b + count, end_b);
  store(end_a, each(kOneA ? all_a : load(end_a), kOneB ? all_b : load(end_b)));
  std::copy(end_a, end_a + (count - i), y + i);
}

template <bool kOneA, bool kOneB>
inline void combine_f32(CombineF32 operation, const float* a, const float* b, float* y, std::size_t count) noexcept {
  const F zero = set(0.0F);
  const auto all = [&](const auto& each) AMCT_VLAMBDA { combine_each<kOneA, kOneB>(a, b, y, count, each); };
  switch (operation) {
    case CombineF32::add: return all([&](F u, F v) AMCT_VLAMBDA { return add(u, v); });
    case CombineF32::sub: return all([&](F u, F v) AMCT_VLAMBDA { return sub(u, v); });
    case CombineF32::mul: return all([&](F u, F v) AMCT_VLAMBDA { return mul(u, v); });
    case CombineF32::div: return all([&](F u, F v) AMCT_VLAMBDA { return div(u, v); });
    case CombineF32::max: return all([&](F u, F v) AMCT_VLAMBDA { return where_nan(v, v, at_least(u, v)); });
    case CombineF32::min: return all([&](F u, F v) AMCT_VLAMBDA { return where_nan(v, v, at_most(u, v)); });
    case CombineF32::prelu: return all([&](F u, F v) AMCT_VLAMBDA { return where_above(zero, u, mul(u, v), u); });
  }
}

inline void combine_f32(CombineF32 operation, OperandF32 a, OperandF32 b, float* y, std::size_t count) noexcept {
  if (count == 0) return;
  if (a.repeated) return combine_f32<true, false>(operation, a.data, b.data, y, count);
  if (b.repeated) return combine_f32<false, true>(operation, a.data, b.data, y, count);
  combine_f32<false, false>(operation, a.data, b.data, y, count);
}

/// One element of `x` for each of `y`, `step` apart.
template <class Each>
AMCT_VOP void fold_each(const float* x, std::size_t step, float* y, std::size_t count, const Each& each) {
  std::size_t i = 0;
  if (step == 1) {
    for (; i + kLanes <= count; i += kLanes) store(y + i, each(load(y + i), load(x + i)));
  } else if (step == 2) {  // reads one element behind the last pair, so it stops one vector earlier
    for (; i + kLanes < count; i += kLanes) store(y + i, each(load(y + i), load_even(x + 2 * i)));
  }
  for (; i < count; i += kLanes) {
    const std::size_t some = std::min(kLanes, count - i);
    float from[kLanes] = {};
    float to[kLanes] = {};
    for (std::size_t k = 0; k < some; ++k) from[k] = x[(i + k) * step];
    std::copy(y + i, y + i + some, to);
    store(to, each(load(to), load(from)));
    std::copy(to, to + some, y + i);
  }
}

inline void fold_f32(CombineF32 operation, const float* x, std::size_t step, float* y, std::size_t count) noexcept {
  if (operation == CombineF32::max) {
    fold_each(x, step, y, count, [&](F u, F v) AMCT_VLAMBDA { return where_nan(v, v, at_least(u, v)); });
  } else {
    fold_each(x, step, y, count, [&](F u, F v) AMCT_VLAMBDA { return add(u, v); });
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
