// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/kernel/reference/gemm_f32.hpp>

namespace amct::exec {

/// One axis of an image, rearranged for a sliding window: padded, and split into the phases of the stride, each of
/// which stands in one piece. What a kernel element meets at output o then stands at tap[element] + o.
struct TapAxis {
  /// A phase that the kernel visits: positions first, first + stride, ... of the axis, of which [begin, end) are real.
  struct Phase {
    std::int64_t first, begin, end;
  };

  std::int64_t stride = 1;
  std::int64_t length = 1;  ///< positions of a phase
  std::vector<Phase> phases;
  std::vector<std::size_t> tap;  ///< by kernel element

  TapAxis() = default;
  TapAxis(const Window& w, std::size_t axis)
      : stride(w.stride[axis]), length(w.output[axis] + (w.kernel[axis] - 1) * w.dilation[axis] / stride) {
    std::map<std::int64_t, std::size_t> known;  // phase -> position in `phases`
    for (std::int64_t k = 0; k < w.kernel[axis]; ++k) {
      const std::int64_t offset = k * w.dilation[axis];
      const auto [found, is_new] = known.try_emplace(offset % stride, phases.size());
      if (is_new) phases.push_back(make_phase(offset % stride - w.pad_begin[axis], w.input[axis]));
      tap.push_back(found->second * static_cast<std::size_t>(length) + static_cast<std::size_t>(offset / stride));
    }
  }

  /// Positions of the rearranged axis.
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(phases.size()) * length; }
  /// Where a rearranged position comes from; -1 in the padding.
  [[nodiscard]] std::int64_t source(std::int64_t position) const noexcept {
    const Phase& phase = phases[static_cast<std::size_t>(position / length)];
    const std::int64_t at = position % length;
    return at >= phase.begin && at < phase.end ? phase.first + at * stride : -1;
  }

 private:
  [[nodiscard]] Phase make_phase(std::int64_t first, std::int64_t input) const noexcept {
    const std::int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    const std::int64_t end = first >= input ? 0 : (input - first + stride - 1) / stride;
    return {first, std::min(begin, length), std::clamp(end, std::min(begin, length), length)};
  }
};

/// An image rearranged so that any sliding window over it reads contiguous rows: the convolution with strides,
/// dilations and pads becomes one with taps at fixed distances, and its unrolled windows a WindowMatrix.
class TapLayout {
 public:
  TapLayout(const OpContext& context, const Window& w, std::int64_t channels)
      : axes_{TapAxis(w, 0), TapAxis(w, 1), TapAxis(w, 2)} {
    std::int64_t floats = std::max<std::int64_t>(1, channels);
    for (const TapAxis& axis : axes_) {
      if (axis.size() > kMostElements / floats) {
        context.fail("the padded input would have more than 2^29 elements; try smaller batches or pads");
      }
      floats *= axis.size();
    }
    find_row_sources(w.input);
    find_runs(w.output);
    find_taps();
  }

  /// Floats of one rearranged channel.
  [[nodiscard]] std::size_t plane_size() const noexcept {
    return static_cast<std::size_t>(axes_[0].size() * axes_[1].size() * axes_[2].size());
  }
  /// Where the kernel's elements stand within a channel, in order.
  [[nodiscard]] const std::vector<std::size_t>& taps() const noexcept { return taps_; }
  /// The same for several channels that follow each other: the rows of the unrolled windows.
  [[nodiscard]] std::vector<std::size_t> rows(std::size_t channels) const {
    std::vector<std::size_t> result;
    result.reserve(channels * taps_.size());
    for (std::size_t c = 0; c < channels; ++c) {
      for (const std::size_t tap : taps_) result.push_back(c * plane_size() + tap);
    }
    return result;
  }
  /// The unrolled windows of channels that start at `planes`.
  [[nodiscard]] WindowMatrix windows(const float* planes, std::span<const std::size_t> rows) const noexcept {
    return {planes, rows, runs_, run_length_};
  }

  /// Rearranges one channel. What is padding in `to` is left as it is: zero it once.
  void arrange(const float* from, float* to) const noexcept {
    const TapAxis& axis = axes_[2];
    for (const std::int64_t row : row_sources_) {
      for (const TapAxis::Phase& phase : axis.phases) {
        if (row >= 0 && axis.stride == 1) {
          std::copy(from + row + phase.first + phase.begin, from + row + phase.first + phase.end, to + phase.begin);
        } else if (row >= 0) {
          const float* source = from + row + phase.first + phase.begin * axis.stride;
          for (std::int64_t i = phase.begin; i < phase.end; ++i, source += axis.stride) to[i] = *source;
        }
        to += axis.length;
      }
    }
  }

 private:
  /// Where each rearranged row comes from; -1 in the padding.
  void find_row_sources(const std::array<std::int64_t, 3>& input) {
    for (std::int64_t z = 0; z < axes_[0].size(); ++z) {
      const std::int64_t from_z = axes_[0].source(z);
      for (std::int64_t y = 0; y < axes_[1].size(); ++y) {
        const std::int64_t from_y = axes_[1].source(y);
        row_sources_.push_back(from_z < 0 || from_y < 0 ? -1 : (from_z * input[1] + from_y) * input[2]);
      }
    }
  }

  /// Output rows, joined where they follow each other without a gap.
  void find_runs(const std::array<std::int64_t, 3>& output) {
    const std::int64_t width = axes_[2].size();
    const std::int64_t height = axes_[1].size();
    run_length_ = static_cast<std::size_t>(output[2]);
    std::int64_t depth = output[0];
    std::int64_t rows = output[1];
    if (width == output[2]) {
      run_length_ *= static_cast<std::size_t>(rows);
      rows = 1;
      if (height == output[1]) {
        run_length_ *= static_cast<std::size_t>(depth);
        depth = 1;
      }
    }
    for (std::int64_t z = 0; z < depth; ++z) {
      for (std::int64_t y = 0; y < rows; ++y) runs_.push_back(static_cast<std::size_t>((z * height + y) * width));
    }
  }

  void find_taps() {
    const auto width = static_cast<std::size_t>(axes_[2].size());
    const auto height = static_cast<std::size_t>(axes_[1].size());
    for (const std::size_t z : axes_[0].tap) {
      for (const std::size_t y : axes_[1].tap) {
        for (const std::size_t x : axes_[2].tap) taps_.push_back((z * height + y) * width + x);
      }
    }
  }

  std::array<TapAxis, 3> axes_;
  std::vector<std::int64_t> row_sources_;
  std::vector<std::size_t> taps_;
  std::vector<std::size_t> runs_;
  std::size_t run_length_ = 1;
};

}  // namespace amct::exec
