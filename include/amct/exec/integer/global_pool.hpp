// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/shape.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/kernel/reduce_f32.hpp>

namespace amct::exec::integer {

namespace detail {

AMCT_EXACT_BEGIN

/// The mean of each channel over the positions of an image with channels last, in the order of sums of
/// kernel/reduce_f32.hpp, which has lanes of positions.
inline void mean_of_positions(const float* x, std::size_t positions, std::span<float> means) {
  constexpr std::size_t kLanes = kernel::kSumLanes;
  const std::size_t channels = means.size();
  std::vector<float> lanes(kLanes * channels);
  std::vector<double> totals(channels, 0.0);
  for (std::size_t block = 0; block < positions; block += kernel::kSumBlock) {
    std::fill(lanes.begin(), lanes.end(), 0.0F);
    for (std::size_t i = block; i < std::min(positions, block + kernel::kSumBlock); ++i) {
      float* const lane = lanes.data() + i % kLanes * channels;
      kernel::combine_f32(CombineF32::add, {lane}, {x + i * channels}, lane, channels);
    }
    for (std::size_t l = 0; l < kLanes; ++l) {
      for (std::size_t c = 0; c < channels; ++c) totals[c] += static_cast<double>(lanes[l * channels + c]);
    }
  }
  for (std::size_t c = 0; c < channels; ++c) means[c] = static_cast<float>(totals[c] / static_cast<double>(positions));
}

AMCT_EXACT_END

}  // namespace detail

/// GlobalAveragePool of float32 with channels last, with the bits of the operator of ONNX.
inline void global_average_pool(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const std::size_t rank = x.shape().rank();
  if (rank < 3) context.fail("input " + to_string(x.shape()) + " has no spatial axes");
  std::vector<std::int64_t> dims(rank, 1);
  dims.front() = x.shape()[0];
  dims.back() = x.shape()[rank - 1];
  const auto channels = static_cast<std::size_t>(dims.back());
  const auto positions = static_cast<std::size_t>(x.shape().count(1, rank - 1));
  const auto from = x.data<float>();
  const auto y = context.make_output(Shape(std::move(dims)));
  if (y.empty()) return;
  parallel_for(y.size() / channels, 1, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] {
      for (std::size_t image = first; image < first + count; ++image) {
        detail::mean_of_positions(from.data() + image * positions * channels, positions,
                                  y.subspan(image * channels, channels));
      }
    });
  });
}

/// amct:GlobalAveragePool, see form.hpp.
inline void add_global_pool(OpSet& set) { set.add("amct:GlobalAveragePool", global_average_pool); }

}  // namespace amct::exec::integer
