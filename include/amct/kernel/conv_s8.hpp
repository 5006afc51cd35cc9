// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/buffer.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/conv_rows.hpp>
#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/depthwise_s8.hpp>
#include <amct/kernel/epilogue_columns.hpp>
#include <amct/kernel/gemm_s8.hpp>
#include <amct/kernel/reference/conv_s8.hpp>

namespace amct {

/// Weights of a convolution, packed once a layer for every instruction set. Const calls may come from any thread.
class PackedConv {
 public:
  PackedConv() = default;

  /// \param shape    only its channels, groups, kernel and is_transposed count: the rest may differ from run to run
  /// \param weights  int8 codes in the order of ONNX, see ConvShape
  /// \param storage  codes4 keeps codes of -8..7 in half the memory, except those of depthwise convolutions
  /// \return what shape.check() says, or size_mismatch; then nothing is packed
  /// \note O(weights); allocates
  Status pack(const ConvShape& shape, std::span<const std::int8_t> weights,
              PackedWeights::Storage storage = PackedWeights::Storage::codes8) {
    if (const Status status = shape.check(); !status) return status;
    if (weights.size() != shape.weight_size()) {
      return {StatusCode::size_mismatch, 0, static_cast<double>(weights.size())};
    }
    shape_ = shape;
    groups_.clear();
    depthwise_ = {};
    if (shape.is_depthwise()) {
      depthwise_ = kernel::PackedDepthwise(shape, weights);
      return {};
    }
    merged_ = merged_groups(shape);
    for (std::size_t group = 0; group < shape.groups / merged_; ++group) pack_group(group, weights, storage);
    return {};
  }

  /// Weights of 1 for each channel by itself: sums of windows, which average pools divide.
  /// \pre  as pack, with channels_in == channels_out == groups
  Status pack_ones(const ConvShape& shape) {
    return pack(shape, std::vector<std::int8_t>(shape.check() ? shape.weight_size() : 0, 1));
  }

  /// Whether the weights are those of a convolution like this one.
  [[nodiscard]] bool fits(const ConvShape& shape) const noexcept {
    return shape.channels_in == shape_.channels_in && shape.channels_out == shape_.channels_out &&
           shape.groups == shape_.groups && shape.kernel == shape_.kernel &&
           shape.is_transposed == shape_.is_transposed &&
           (shape.is_depthwise() ? depthwise_.channels() != 0 : !groups_.empty());
  }
  /// The convolution with groups as they were packed: some small ones together.
  [[nodiscard]] ConvShape merged(ConvShape shape) const noexcept {
    shape.groups /= merged_;
    return shape;
  }
  /// The weights of a group of the merged convolution; of a depthwise one, depthwise() has them.
  [[nodiscard]] const PackedWeights& group(std::size_t index) const noexcept { return groups_[index]; }
  [[nodiscard]] const kernel::PackedDepthwise& depthwise() const noexcept { return depthwise_; }

 private:
  /// Groups that fill a panel together. Weights of 0 between them cost nothing, since the panel is computed anyway.
  [[nodiscard]] static std::size_t merged_groups(const ConvShape& shape) noexcept {
    for (std::size_t count = std::min(shape.groups, PackedWeights::kPanel / shape.group_out()); count > 1; --count) {
      if (shape.groups % count == 0) return count;
    }
    return 1;
  }

  void pack_group(std::size_t group, std::span<const std::int8_t> weights, PackedWeights::Storage storage) {
    const ConvShape whole = merged(shape_);
    const std::size_t taps = shape_.kernel_size();
    const std::size_t step =
        taps * (shape_.is_transposed ? shape_.group_out() : 1);                     // from an input channel to the next
    std::vector<std::int8_t> rows(whole.group_out() * taps * whole.group_in(), 0);  // [outputs, taps, inputs]
    for (std::size_t o = 0; o < whole.group_out(); ++o) {
      const std::size_t out = group * whole.group_out() + o;
      const std::int8_t* const from = weights.data() + shape_.weight_index(out, 0, 0);
      const std::size_t own = out / shape_.group_out() % merged_ * shape_.group_in();
      std::int8_t* const to = rows.data() + o * taps * whole.group_in() + own;
      for (std::size_t in = 0; in < shape_.group_in(); ++in) {
        for (std::size_t tap = 0; tap < taps; ++tap) to[tap * whole.group_in() + in] = from[in * step + tap];
      }
    }
    const auto layout = WeightLayout::transposed(whole.group_out(), whole.kernel_size() * whole.group_in());
    groups_.emplace_back(rows.data(), layout, std::span<const std::int32_t>{}, storage);
  }

  ConvShape shape_;
  std::size_t merged_ = 1;
  std::vector<PackedWeights> groups_;
  kernel::PackedDepthwise depthwise_;
};

namespace kernel {

/// The activations of a convolution, and the codes of 0.0 and others that can occur.
template <ActivationCode X>
struct ConvInput {
  const X* x;
  std::int32_t zero_point;
  CodeLimits limits;
  bool is_flipped = false;  ///< whether top bits are exchanged
};

/// Calls run(rows) with the source of a group's windows.
template <ActivationCode X, class Run>
auto with_rows(const ConvShape& shape, std::size_t group, const ConvInput<X>& input, const Run& run) {
  if (shape.is_pointwise()) {
    return run(CodeRows<X>(input.x + group * shape.group_in(), shape.batch * shape.output_size(), shape.group_in(),
                           shape.channels_in, input.zero_point, input.limits));
  }
  return run(ConvRows<X>(shape, group, input.x, input.zero_point, input.limits, input.is_flipped));
}

/// Convolutions as products, one a group.
template <ActivationCode X, class... Stages, class T>
Status convolve_groups(const ConvShape& shape, const PackedConv& weights, const ConvInput<X>& input,
                       const Epilogue<Stages...>& epilogue, const ResultRows<T>& y) {
  // Nothing is written unless all groups can be.
  for (std::size_t g = 0; g < shape.groups; ++g) {
    const auto part = columns_from(epilogue, g * shape.group_out());
    Width width =
        with_rows(shape, g, input, [&](const auto& rows) { return find_width<T>(rows, weights.group(g), part); });
    width.status.index += g * shape.group_out();
    if (!width.status) return width.status;
  }
  constexpr std::size_t kWork = std::size_t{1} << 21;  // products that are worth a thread's time
  constexpr std::size_t kManyGroups = 8;               // that keep a few threads busy
  const std::size_t work = shape.y_size() / shape.groups * shape.kernel_size() * shape.group_in() + 1;
  const std::size_t together = shape.groups < kManyGroups ? shape.groups : kWork / work + 1;
  parallel_for(shape.groups, together, [&](std::size_t first, std::size_t count) {
    for (std::size_t g = first; g < first + count; ++g) {
      const std::size_t column = g * shape.group_out();
      [[maybe_unused]] const Status status = with_rows(shape, g, input, [&](const auto& rows) {
        return gemm_s8(rows, weights.group(g), columns_from(epilogue, column), ResultRows<T>{y.data + column, y.row});
      });
      assert(status.ok());
    }
  });
  return {};
}

/// Whether the kernel wants codes with the other sign convention, and windows read codes several times: then they are
/// converted once, in front.
[[nodiscard]] inline bool is_flipped_first(const TileKernel& kernel, const ConvShape& shape) noexcept {
  return kernel.shift != 0 && shape.kernel_size() * shape.output_size() > shape.input_size();
}

/// Codes of a byte as the kernel wants them.
template <ActivationCode X>
[[nodiscard]] Buffer flipped(const TileKernel& kernel, const X* x, std::size_t size) {
  Buffer result(size);
  constexpr std::size_t kGrain = std::size_t{1} << 20;
  parallel_for(size, kGrain, [&](std::size_t first, std::size_t count) {
    kernel.convert({.from = x + first, .rows = 1, .count = count, .to = result.data() + first});
  });
  return result;
}

template <ActivationCode X, class... Stages, class T>
Status convolve_products(const ConvShape& shape, const PackedConv& weights, ConvInput<X> input,
                         const Epilogue<Stages...>& epilogue, const ResultRows<T>& y) {
  const TileKernel kernel = tile_kernel<X>(simd::active());
  if (!is_flipped_first(kernel, shape)) return convolve_groups(shape, weights, input, epilogue, y);
  const Buffer codes = flipped(kernel, input.x, shape.x_size());
  input.x = reinterpret_cast<const X*>(codes.data());
  input.is_flipped = true;
  return convolve_groups(shape, weights, input, epilogue, y);
}

template <ActivationCode X, class... Stages, class T>
Status convolve_channels(const ConvShape& shape, const PackedDepthwise& weights, const X* x, std::int32_t zero_point,
                         CodeLimits limits, const Epilogue<Stages...>& epilogue, const ResultRows<T>& y) {
  const std::int64_t largest = limits.largest(zero_point);
  const std::size_t beyond = first_beyond_int32(weights.absolute_sums(), largest, leading_bias(epilogue));
  const bool is_wide = beyond != weights.channels();
  if (is_wide && !WideEpilogueTo<Epilogue<Stages...>, T>) {
    return {StatusCode::sum_overflow, beyond, static_cast<double>(weights.absolute_sums()[beyond] * largest)};
  }
  bool is_done = false;
  if (!is_wide && depthwise_fits_memory(shape)) {
    constexpr std::size_t kFirst = kStartsWithBias<Stages...> ? 1 : 0;  // sums start with the bias
    const EpilogueRun<Epilogue<Stages...>, T, kFirst> run(epilogue, shape.channels_out);
    const DepthwiseInput<X> input{x, zero_point, leading_bias(epilogue)};
    is_done = with_depthwise_kernel<X>(
        simd::active(), [&](const auto& body) { convolve_depthwise(shape, weights, input, body, run, y); });
  }
  if (is_done) return {};
  const auto weight = [&](std::size_t out, std::size_t, std::size_t tap) { return weights.weight(out, tap); };
  in_default_fp_environment([&] { reference::convolve(shape, x, zero_point, weight, epilogue, is_wide, y); });
  return {};
}

}  // namespace kernel

/// y = epilogue(x * weights): a convolution of codes over one to three axes, of any groups, strides, dilations and
/// padding, transposed or not. Sums over the window of (x - zero point) * weight are exact; what lies outside of x is
/// the zero point. The bits are the same on every instruction set and for any number of threads.
///
/// Ranges are proven as for gemm_s8: int32, or int64 where the epilogue takes it, or refused.
///
/// \param x           [batch, depth, height, width, channels_in]
/// \param zero_point  the code of 0.0
/// \param epilogue    stages from a sum to a T; columns are output channels
/// \param y           a row for each output position, at least channels_out wide
/// \param limits      the codes that can occur, if fewer than X has
/// \return what shape.check() says; size_mismatch if weights or x are not of this shape; bad_option for a zero point
///         that is no X; sum_overflow with the channel and its largest possible sum. Then nothing is written.
/// \note O(y * window), allocates scratch memory on each thread. Large convolutions are split over threads, but for
///       depthwise ones without a vector body or with int64 sums.
template <ActivationCode X, class... Stages, class T>
requires EpilogueTo<Epilogue<Stages...>, T> Status convolve(const ConvShape& shape, const PackedConv& weights,
                                                            std::span<const X> x, std::int32_t zero_point,
                                                            const Epilogue<Stages...>& epilogue, const ResultRows<T>& y,
                                                            CodeLimits limits = CodeLimits::of<X>()) {
  if (const Status status = shape.check(); !status) return status;
  if (!weights.fits(shape)) return {StatusCode::size_mismatch, 0, static_cast<double>(shape.weight_size())};
  if (x.size() != shape.x_size()) return {StatusCode::size_mismatch, 0, static_cast<double>(x.size())};
  constexpr CodeLimits kAll = CodeLimits::of<X>();
  if (zero_point < kAll.min || zero_point > kAll.max) {
    return check_option(false, "zero_point", zero_point, "a value of the type of the codes");
  }
  if (!shape.is_depthwise()) {
    return kernel::convolve_products(weights.merged(shape), weights, kernel::ConvInput<X>{x.data(), zero_point, limits},
                                     epilogue, y);
  }
  return kernel::convolve_channels(shape, weights.depthwise(), x.data(), zero_point, limits, epilogue, y);
}

}  // namespace amct
