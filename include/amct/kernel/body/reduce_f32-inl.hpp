// SPDX-License-Identifier: Apache-2.0
// Bodies of kernel/reduce_f32.hpp, for plain C++ too.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Sums `each(vector, i)` over all elements in the order that kernel/reduce_f32.hpp states; a short end is filled up
/// with `rest`, for which `each` must give 0.
template <class Each>
AMCT_VOP double sum_each(const float* x, std::size_t count, float rest, const Each& each) {
  constexpr std::size_t kVectors = kSumLanes / kLanes;
  double total = 0.0;
  float end[kSumLanes];
  for (std::size_t block = 0; block < count; block += kSumBlock) {
    const std::size_t last = std::min(count, block + kSumBlock);
    F sums[kVectors];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { sums[v] = set(0.0F); });
    for (std::size_t i = block; i < last; i += kSumLanes) {
      const float* from = x + i;
      if (last - i < kSumLanes) {
        std::fill(end, end + kSumLanes, rest);
        std::copy(from, x + last, end);
        from = end;
      }
      unroll<kVectors>([&](auto v) AMCT_VLAMBDA { sums[v] = each(load(from + v * kLanes), sums[v], i + v * kLanes); });
    }
    float lanes[kSumLanes];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { store(lanes + v * kLanes, sums[v]); });
    for (const float lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

inline double sum_f32(const float* x, std::size_t count) noexcept {
  return sum_each(x, count, 0.0F, [&](F v, F sum, std::size_t) AMCT_VLAMBDA { return add(sum, v); });
}

inline double sum_of_squares_f32(const float* x, float center, std::size_t count) noexcept {
  const F middle = set(center);
  return sum_each(x, count, center, [&](F v, F sum, std::size_t) AMCT_VLAMBDA {
    const F distance = sub(v, middle);
    return fused_add(distance, distance, sum);
  });
}

inline double exp_f32(const float* x, float top, float* y, std::size_t count) noexcept {
  const F highest = set(top);
  return sum_each(x, count, -std::numeric_limits<float>::infinity(), [&](F v, F sum, std::size_t i) AMCT_VLAMBDA {
    const F power = exp(sub(v, highest));
    if (i + kLanes <= count) {
      store(y + i, power);
    } else if (i < count) {
      float end[kLanes];
      store(end, power);
      std::copy(end, end + (count - i), y + i);
    }
    return add(sum, power);
  });
}

inline float max_f32(const float* x, std::size_t count) noexcept {
  F top = set(-std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const F v = load(x + i);
    top = where_nan(v, v, at_least(top, v));
  }
  float lanes[kLanes];
  store(lanes, top);
  float result = -std::numeric_limits<float>::infinity();
  const auto take = [&](float value) {
    if (!(value <= result) && result == result) result = value;
  };
  for (const float lane : lanes) take(lane);
  for (; i < count; ++i) take(x[i]);
  return result + 0.0F;
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
