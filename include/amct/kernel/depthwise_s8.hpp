// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <amct/core/buffer.hpp>
#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/conv_shape.hpp>
#include <amct/kernel/depthwise_kernel.hpp>
#include <amct/kernel/depthwise_taps.hpp>
#include <amct/kernel/epilogue_run.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/stages.hpp>

/// \file
/// Convolutions in which each channel has a filter of its own. Lines of the image are copied into scratch memory with
/// their padding; four at a time are brought together element by element, so that one instruction multiplies a
/// channel's four elements with its four weights; kernel elements beside each other read what was brought together at
/// other places.

namespace amct::kernel {

/// The most positions of the output that are computed at once.
inline constexpr std::size_t kMostStrip = 128;

/// The activations of a depthwise convolution, the code of 0.0, and what is added to sums: nothing, one for all
/// channels or one a channel.
template <ActivationCode X>
struct DepthwiseInput {
  const X* x;
  std::int32_t zero_point;
  std::span<const std::int32_t> bias;
};

/// A depthwise convolution and how it is cut up: blocks of channels, lines of the output, strips of a line.
template <ActivationCode X, class Element>
struct DepthwiseJob {
  static constexpr std::size_t kParts = sizeof(Element);  ///< integers for four elements that are brought together
  static constexpr std::size_t kRound = 64;               ///< elements are brought together in steps of at most this

  DepthwiseJob(const ConvShape& job_shape, const PackedDepthwise& packed, const DepthwiseInput<X>& data,
               const DepthwiseKernel<X, Element>& body)
      : shape(job_shape), weights(packed), input(data), kernel(body), line(shape, TapSums::kPositions - 1) {
    const DepthwiseTaps& taps = weights.taps();
    pairs_lines = taps.variants() == 2 && !shape.is_transposed && shape.stride[1] == 1 && shape.dilation[1] == 1;
    keeps_lines = shape.dilation[1] == 1;
    reach = taps.is_flat() ? 0 : line.reach();
    constexpr std::size_t kCache = std::size_t{kParts == 1 ? 48 : 16} << 10;
    const std::size_t width = PackedDepthwise::padded(weights.block_channels(0));
    const std::size_t integers = width * (taps.quads() * kParts * line.step() + output_lines());
    const std::size_t length = (shape.output[2] + 3) / 4 * 4;
    strip = std::min(length, std::clamp<std::size_t>(kCache / (4 * integers) / 4 * 4, 16, kMostStrip));
  }

  /// Positions of a line that so many output positions read.
  [[nodiscard]] std::size_t read_by(std::size_t positions) const noexcept {
    return (positions - 1) * line.step() + reach + 1;
  }
  /// Lines of the output that are computed at once.
  [[nodiscard]] std::size_t output_lines() const noexcept { return pairs_lines ? 2 : 1; }
  /// Lines of the input that these need.
  [[nodiscard]] std::size_t lines() const noexcept { return weights.taps().lines() + (pairs_lines ? 1 : 0); }
  [[nodiscard]] std::size_t lines_of_plane() const noexcept { return lines() / shape.kernel[0]; }

  ConvShape shape;
  const PackedDepthwise& weights;
  DepthwiseInput<X> input;
  DepthwiseKernel<X, Element> kernel;
  DepthwiseLine line;
  bool pairs_lines = false;  ///< whether two lines of the output are computed from the same lines of the input
  bool keeps_lines = false;  ///< whether the next line of the output needs some of the same lines
  std::size_t reach = 0;     ///< positions that are brought together behind the first one of an output position
  std::size_t strip = 16;    ///< positions of the output that are computed at once
};

/// The scratch memory and the work of a thread on a block of channels.
template <ActivationCode X, class Element>
class DepthwisePart {
 public:
  using Job = DepthwiseJob<X, Element>;

  DepthwisePart(const Job& job, std::size_t block)
      : job_(job),
        first_channel_(block * PackedDepthwise::kBlock),
        channels_(job.weights.block_channels(block)),
        width_(PackedDepthwise::padded(channels_)),
        line_size_(job.line.size() * width_),
        bundle_size_(rounded(job.read_by(job.strip) * width_)),
        held_(job.lines(), kNothing),
        sources_(job.weights.taps().quads() * 4) {
    const std::size_t lines = rounded((held_.size() + 1) * line_size_ + Job::kRound);
    const std::size_t zipped = job.weights.taps().quads() * Job::kParts * bundle_size_;
    const std::size_t sums = job.output_lines() * job.strip * width_;
    memory_ = Buffer(4 * (zipped + sums + width_) + lines * sizeof(Element));
    zipped_ = reinterpret_cast<std::int32_t*>(memory_.data());
    sums_ = zipped_ + zipped;
    start_ = sums_ + sums;
    lines_ = reinterpret_cast<Element*>(start_ + width_);
    fill(lines_, lines, padding());
    for (std::size_t c = 0; c < width_; ++c) start_[c] = c < channels_ ? start_of(first_channel_ + c) : 0;
    find_offsets();
    tile_ = {.zipped = zipped_,
             .offsets = offsets_.data(),
             .groups = offsets_.size(),
             .part = bundle_size_,
             .width = width_,
             .step = job.line.step() * width_,
             .weights = job.weights.block(block),
             .variant = offsets_.size() * width_ * 4,
             .start = start_,
             .sums = sums_,
             .line = job.strip * width_};
  }

  /// Computes lines first .. last - 1 of the output.
  template <class Run, class T>
  void run(std::size_t first, std::size_t last, const Run& epilogue, const ResultRows<T>& y) noexcept {
    const std::size_t height = job_.shape.output[1];
    while (first < last) {
      const bool is_pair = job_.pairs_lines && first % height + 1 < height && first + 1 < last;
      find_sources(first, is_pair);
      run_lines(first, is_pair ? 2 : 1, epilogue, y);
      first += is_pair ? 2 : 1;
    }
  }

 private:
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  static constexpr std::size_t rounded(std::size_t size) noexcept {
    return (size + Job::kRound - 1) / Job::kRound * Job::kRound;
  }

  /// Fills memory by doubling what is there: compilers leave a loop of single elements as it is.
  static void fill(Element* to, std::size_t count, Element value) noexcept {
    std::size_t done = std::min<std::size_t>(count, 16);
    std::fill_n(to, done, value);
    for (std::size_t more = 0; done < count; done += more) {
      more = std::min(done, count - done);
      std::memcpy(to + done, to, more * sizeof(Element));
    }
  }

  /// The zero point as an element.
  [[nodiscard]] Element padding() const noexcept {
    return static_cast<Element>(static_cast<std::int16_t>(job_.input.zero_point + job_.kernel.shift));
  }
  /// The bias, and what takes the zero point out of a channel's sums, modulo 2^32.
  [[nodiscard]] std::int32_t start_of(std::size_t channel) const noexcept {
    const std::int64_t zero = std::int64_t{job_.input.zero_point} + job_.kernel.shift;
    const auto& bias = job_.input.bias;
    const std::int64_t added = bias.empty() ? 0 : amct::detail::of_column(bias, channel);
    return static_cast<std::int32_t>(added - zero * job_.weights.sum(channel));
  }

  /// Where each group of taps reads at position 0 of a strip.
  void find_offsets() {
    const DepthwiseTaps& taps = job_.weights.taps();
    for (std::size_t g = 0; g < taps.groups(); ++g) {
      const std::size_t shift = taps.is_flat() ? 0 : job_.line.shift_of(g % taps.shifts());
      offsets_.push_back(g / taps.shifts() * Job::kParts * bundle_size_ + shift * width_);
    }
  }

  /// Has the lines of the input in memory that a line of the output needs, and where they are.
  void find_sources(std::size_t output_line, bool is_pair) noexcept {
    const ConvShape& shape = job_.shape;
    const OutputPosition position = output_position(shape, output_line * shape.output[2]);
    const std::size_t per_plane = shape.kernel[1] + (is_pair ? 1 : 0);
    Element* const padded = lines_ + held_.size() * line_size_;
    std::ranges::fill(sources_, padded);
    for (std::size_t z = 0; z < shape.kernel[0]; ++z) {
      const std::int64_t from_z = tap_position(shape, 0, position.at[0], z);
      for (std::size_t y = 0; y < per_plane; ++y) {
        const std::int64_t from_y = tap_position(shape, 1, position.at[1], y);
        if (from_z == kOutside || from_y == kOutside) continue;
        const auto row = static_cast<std::size_t>(from_y);
        const std::size_t slots = job_.lines_of_plane();
        const std::size_t slot = z * slots + (job_.keeps_lines ? row % slots : y);
        const std::size_t plane = position.image * shape.input[0] + static_cast<std::size_t>(from_z);
        sources_[z * per_plane + y] = hold(slot, plane * shape.input[1] + row);
      }
    }
  }

  /// The slot's memory, with a line of the input in it.
  [[nodiscard]] const Element* hold(std::size_t slot, std::size_t line) noexcept {
    Element* const to = lines_ + slot * line_size_;
    if (held_[slot] == line) return to;
    held_[slot] = line;
    const std::size_t step = job_.shape.channels_in;
    const X* const from = job_.input.x + line * job_.shape.input[2] * step + first_channel_;
    const DepthwiseLine& layout = job_.line;
    PixelCopy copy{.pixels = layout.count(),
                   .channels = channels_,
                   .from_step = step,
                   .to_step = layout.gap() * width_,
                   .flip = job_.kernel.flip};
    if (copy.from_step == channels_ && copy.to_step == channels_) {
      copy.channels *= copy.pixels;
      copy.pixels = 1;
    }
    job_.kernel.copy(copy, from + layout.first() * step, to + layout.place() * width_);
    return to;
  }

  /// Computes one or two lines of the output from the sources.
  template <class Run, class T>
  void run_lines(std::size_t first_line, std::size_t lines, const Run& epilogue, const ResultRows<T>& y) noexcept {
    const std::size_t length = job_.shape.output[2];
    for (std::size_t x = 0; x < length; x += job_.strip) {
      const std::size_t count = std::min(job_.strip, length - x);
      tile_.positions = (count + TapSums::kPositions - 1) / TapSums::kPositions * TapSums::kPositions;
      zip(x, tile_.positions);
      job_.kernel.sum(tile_, lines);
      for (std::size_t l = 0; l < lines; ++l) {
        epilogue.apply(SumTile{.sums = sums_ + l * tile_.line,
                               .step = width_,
                               .first_row = (first_line + l) * length + x,
                               .rows = count,
                               .first_column = first_channel_,
                               .columns = channels_},
                       y);
      }
    }
  }

  /// Brings together what `count` output positions from x on read.
  void zip(std::size_t x, std::size_t count) noexcept {
    const std::size_t first = x * job_.line.step() * width_;
    for (std::size_t quad = 0; quad < job_.weights.taps().quads(); ++quad) {
      std::array<const Element*, 4> from{};
      for (std::size_t i = 0; i < 4; ++i) from[i] = source(quad * 4 + i) + first;
      job_.kernel.zip(from, job_.read_by(count) * width_, bundle_size_, zipped_ + quad * Job::kParts * bundle_size_);
    }
  }
  /// Where a place of a quad reads at position 0.
  [[nodiscard]] const Element* source(std::size_t index) const noexcept {
    if (!job_.weights.taps().is_flat()) return sources_[index];
    const std::size_t tap = std::min(index, job_.shape.kernel[2] - 1);
    return sources_[0] + job_.line.shift_of(tap) * width_;
  }

  const Job& job_;
  std::size_t first_channel_, channels_;
  std::size_t width_;                    ///< channels with their padding
  std::size_t line_size_;                ///< elements of a line in memory
  std::size_t bundle_size_;              ///< integers of a part of a bundle
  std::vector<std::size_t> held_;        ///< by slot: the line of the input that is there
  std::vector<const Element*> sources_;  ///< the lines that the output needs, rounded up to quads
  std::vector<std::size_t> offsets_;     ///< by group of taps, see TapSums
  Buffer memory_;
  std::int32_t* zipped_ = nullptr;
  std::int32_t* sums_ = nullptr;
  std::int32_t* start_ = nullptr;
  Element* lines_ = nullptr;  ///< a slot behind those of held_ is padding alone
  TapSums tile_;
};

/// Whether the memory that the vector bodies need is of a reasonable size. Dilations and strides far beyond the input,
/// and windows of very many elements, would need more than they are worth.
[[nodiscard]] inline bool depthwise_fits_memory(const ConvShape& shape) noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 22;  // elements, of each thread
  const DepthwiseLine line(shape, TapSums::kPositions);
  const std::size_t channels = PackedDepthwise::padded(std::min(shape.channels_in, PackedDepthwise::kBlock));
  const std::size_t lines = shape.kernel[0] * (shape.kernel[1] + 2);
  const std::size_t together = std::min(line.size(), kMostStrip * line.step() + line.reach());
  return line.size() <= kMost / channels / lines && DepthwiseTaps(shape.kernel).quads() <= kMost / channels / together;
}

/// A depthwise convolution with vector bodies; see convolve.
/// \pre  sums are known to fit int32; this machine has a kernel
template <ActivationCode X, class Element, class Run, class T>
void convolve_depthwise(const ConvShape& shape, const PackedDepthwise& weights, const DepthwiseInput<X>& input,
                        const DepthwiseKernel<X, Element>& kernel, const Run& epilogue, const ResultRows<T>& y) {
  constexpr std::size_t kWork = std::size_t{1} << 20;  // products that are worth a thread's time
  const DepthwiseJob<X, Element> job(shape, weights, input, kernel);
  const std::size_t lines = shape.batch * shape.output[0] * shape.output[1];
  const std::size_t work =
      shape.output[2] * shape.kernel_size() * std::min(weights.channels(), PackedDepthwise::kBlock);
  const std::size_t together = (kWork / work + 2) / 2 * 2;
  const std::size_t parts = (lines + together - 1) / together;
  parallel_for(weights.blocks() * parts, 1, [&](std::size_t first, std::size_t count) {
    in_default_fp_environment([&] {
      for (std::size_t p = first; p < first + count; ++p) {
        const std::size_t line = p % parts * together;
        DepthwisePart<X, Element> part(job, p / parts);
        part.run(line, std::min(lines, line + together), epilogue, y);
      }
    });
  });
}

}  // namespace amct::kernel
