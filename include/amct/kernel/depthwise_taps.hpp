// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include <amct/kernel/conv_shape.hpp>

namespace amct::kernel {

/// Which kernel elements of a depthwise convolution are multiplied by one instruction: four that stand below each other
/// (in height and depth), or beside each other if there is one line only. Groups of four follow each other by `quad`,
/// and in it by `shift`, the kernel element along the width.
class DepthwiseTaps {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  DepthwiseTaps() = default;
  explicit DepthwiseTaps(const SpatialSizes& kernel) noexcept
      : lines_(kernel[0] * kernel[1]), width_(kernel[2]), is_flat_(lines_ == 1), is_plane_(kernel[0] == 1) {}

  [[nodiscard]] std::size_t lines() const noexcept { return lines_; }
  [[nodiscard]] bool is_flat() const noexcept { return is_flat_; }
  [[nodiscard]] std::size_t quads() const noexcept { return ((is_flat_ ? width_ : lines_) + 3) / 4; }
  [[nodiscard]] std::size_t shifts() const noexcept { return is_flat_ ? 1 : width_; }
  [[nodiscard]] std::size_t groups() const noexcept { return quads() * shifts(); }
  /// Two output lines below each other can share the lines of quads where a quad has a place left: variant 1 of the
  /// weights is for the second of them, one place further.
  [[nodiscard]] std::size_t variants() const noexcept { return !is_flat_ && is_plane_ && lines_ % 4 != 0 ? 2 : 1; }

  /// The kernel element at a place of a group, or kNone.
  [[nodiscard]] std::size_t tap(std::size_t variant, std::size_t group, std::size_t place) const noexcept {
    const std::size_t at = group / shifts() * 4 + place;
    if (is_flat_) return at < width_ ? at : kNone;
    return at >= variant && at - variant < lines_ ? (at - variant) * width_ + group % shifts() : kNone;
  }

  /// Where a kernel element stands in variant 0.
  [[nodiscard]] std::size_t group_of(std::size_t tap) const noexcept {
    return is_flat_ ? tap / 4 : tap / width_ / 4 * width_ + tap % width_;
  }
  [[nodiscard]] std::size_t place_of(std::size_t tap) const noexcept { return (is_flat_ ? tap : tap / width_) % 4; }

 private:
  std::size_t lines_ = 1, width_ = 1;
  bool is_flat_ = true, is_plane_ = true;
};

/// Weights of a depthwise convolution in the one order that every instruction set reads: blocks of 64 channels; in a
/// block, for each group of four taps, four codes a channel. The last block is rounded up to 16 channels with zeros.
class PackedDepthwise {
 public:
  static constexpr std::size_t kBlock = 64;
  static constexpr std::size_t kStep = 16;

  PackedDepthwise() = default;

  /// \param weights  int8 codes in the order of ONNX, [channels, 1, kernel...]
  /// \pre  shape.is_depthwise(), shape.check() is ok, weights.size() == shape.weight_size()
  PackedDepthwise(const ConvShape& shape, std::span<const std::int8_t> weights)
      : taps_(shape.kernel), channels_(shape.channels_in), kernel_(shape.kernel_size()) {
    lines_.assign(padded(channels_) * taps_.variants() * taps_.groups() * 4 / sizeof(Line), Line{});
    for (std::size_t c = 0; c < channels_; ++c) {
      std::int64_t sum = 0;
      std::int64_t absolute = 0;
      for (std::size_t t = 0; t < kernel_; ++t) {
        const std::int64_t weight = weights[c * kernel_ + t];
        sum += weight;
        absolute += std::abs(weight);
      }
      sums_.push_back(sum);
      absolute_sums_.push_back(absolute);
      for (std::size_t v = 0; v < taps_.variants(); ++v) put(c, v, weights.data() + c * kernel_);
    }
  }

  [[nodiscard]] const DepthwiseTaps& taps() const noexcept { return taps_; }
  [[nodiscard]] std::size_t channels() const noexcept { return channels_; }
  [[nodiscard]] std::size_t blocks() const noexcept { return (channels_ + kBlock - 1) / kBlock; }
  [[nodiscard]] std::size_t block_channels(std::size_t block) const noexcept {
    return std::min(kBlock, channels_ - block * kBlock);
  }
  /// Channels of a block as they stand in scratch memory.
  [[nodiscard]] static constexpr std::size_t padded(std::size_t channels) noexcept {
    return (channels + kStep - 1) / kStep * kStep;
  }
  /// The four codes of each channel of a block for each group, one variant behind the other.
  [[nodiscard]] const std::int8_t* block(std::size_t index) const noexcept {
    return lines_.data()->bytes + index * kBlock * taps_.variants() * taps_.groups() * 4;
  }

  [[nodiscard]] std::int8_t weight(std::size_t channel, std::size_t tap) const noexcept {
    return lines_.data()->bytes[index(channel, 0, taps_.group_of(tap)) + taps_.place_of(tap)];
  }
  /// The sum of a channel's weights.
  [[nodiscard]] std::int64_t sum(std::size_t channel) const noexcept { return sums_[channel]; }
  /// The sums of the absolute values of each channel's weights.
  [[nodiscard]] std::span<const std::int64_t> absolute_sums() const noexcept { return absolute_sums_; }

 private:
  struct alignas(64) Line {
    std::int8_t bytes[4 * kStep];
  };

  [[nodiscard]] std::size_t index(std::size_t channel, std::size_t variant, std::size_t group) const noexcept {
    const std::size_t block = channel / kBlock;
    const std::size_t width = padded(block_channels(block));
    const std::size_t first = block * kBlock * taps_.variants() * taps_.groups();
    return (first + (variant * taps_.groups() + group) * width + channel % kBlock) * 4;
  }

  void put(std::size_t channel, std::size_t variant, const std::int8_t* weights) noexcept {
    for (std::size_t g = 0; g < taps_.groups(); ++g) {
      for (std::size_t place = 0; place < 4; ++place) {
        const std::size_t tap = taps_.tap(variant, g, place);
        if (tap != DepthwiseTaps::kNone) lines_.data()->bytes[index(channel, variant, g) + place] = weights[tap];
      }
    }
  }

  DepthwiseTaps taps_;
  std::size_t channels_ = 0, kernel_ = 1;
  std::vector<Line> lines_;
  std::vector<std::int64_t> sums_, absolute_sums_;
};

/// How a line of an image is laid out along the width, so that each kernel element reads it from some position on: with
/// its padding and, transposed, with the stride's gaps between elements.
class DepthwiseLine {
 public:
  /// \param slack  output positions that may be read behind the last one that counts
  DepthwiseLine(const ConvShape& shape, std::size_t slack) noexcept
      : is_reversed_(shape.is_transposed),
        dilation_(shape.dilation[2]),
        reach_((shape.kernel[2] - 1) * shape.dilation[2]),
        step_(shape.is_transposed ? 1 : shape.stride[2]),
        gap_(shape.is_transposed ? shape.stride[2] : 1),
        size_((shape.output[2] + slack - 1) * step_ + reach_ + 1) {
    // Element i of the input stands at i * gap + before - pad.
    const std::size_t pad = shape.pad_begin[2];
    const std::size_t before = is_reversed_ ? reach_ : 2 * pad;
    const std::size_t begin = pad > before ? (pad - before + gap_ - 1) / gap_ : 0;
    const std::size_t room = size_ + pad > before ? size_ + pad - before : 0;
    const std::size_t end = std::min(shape.input[2], (room + gap_ - 1) / gap_);
    if (begin >= end) return;
    first_ = begin;
    count_ = end - begin;
    place_ = begin * gap_ + before - pad;
  }

  /// Positions of a line.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Positions from one of the output to the next.
  [[nodiscard]] std::size_t step() const noexcept { return step_; }
  /// How many positions behind its first one an output position reads.
  [[nodiscard]] std::size_t reach() const noexcept { return reach_; }
  /// Which of these a kernel element reads.
  [[nodiscard]] std::size_t shift_of(std::size_t tap) const noexcept {
    return is_reversed_ ? reach_ - tap * dilation_ : tap * dilation_;
  }

  /// What is copied, the rest is padding: count() elements of the input from first() on, to place() and every gap().
  [[nodiscard]] std::size_t first() const noexcept { return first_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t place() const noexcept { return place_; }
  [[nodiscard]] std::size_t gap() const noexcept { return gap_; }

 private:
  bool is_reversed_;
  std::size_t dilation_, reach_, step_, gap_, size_;
  std::size_t first_ = 0, count_ = 0, place_ = 0;
};

}  // namespace amct::kernel
