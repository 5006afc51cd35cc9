// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/codebook.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/snq.hpp>
#include <amct/quantize/channel_values.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Numbers of SNQ, with AMCT's defaults.
struct SnqOptions {
  bool channel_wise = true;   ///< levels for each channel, or for the whole weight
  SnqObserverOptions search;  ///< of the levels

  [[nodiscard]] constexpr Status check() const noexcept { return search.check(); }
};

/// SNQ: weights of few bits whose 2^n levels lie where the weights are (observe/snq.hpp), not at equal distances.
///
/// The code of a weight is the index of the nearest level of its channel, the first of equally near ones. The levels
/// are params * scale with INT8 params, so a device computes with INT8 weights of that scale after looking them up. A
/// channel of zeros has scale 1 and levels 0. Source: AMCT's `snq_quantize`.
template <BitWidth B = Int4>
requires(B::width <= 8) class Snq {
 public:
  using Bits = B;
  using Options = SnqOptions;

  static constexpr std::size_t kLevels = std::size_t{1} << B::width;

  explicit Snq(Options options = {}) noexcept : options_(options) {}

  /// Finds the levels. Refuses options out of their range, empty data, a size that does not agree, NaN and Inf, and is
  /// then unchanged. Costs what lloyd() does, for each channel.
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (const Status status = options_.check(); !status) return status;
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (const Status status = check_finite(weight); !status) return status;
    const ChannelLayout used = options_.channel_wise ? layout : ChannelLayout::per_tensor(weight.size());
    const ChannelValues values(weight, used);
    std::vector<Codebook> books;
    for (std::size_t channel = 0; channel < used.channels(); ++channel) {
      SnqObserver observer(options_.search);
      if (const Status status = observer.observe(values[channel]); !status) return status;
      books.push_back(observer.codebook(B::range));
    }
    layout_ = used;
    books_ = std::move(books);
    return {};
  }

  /// Weights as integer execution sees them: the nearest level of each. Refuses NaN and Inf and other sizes than
  /// calibrated. O(n).
  Status forward(std::span<const float> x, std::span<float> y) const noexcept {
    if (const Status status = check_sizes(x, y.size()); !status) return status;
    for_each_weight([&](std::size_t i, const Codebook& book) { y[i] = book.levels[nearest_level(book.levels, x[i])]; });
    return {};
  }

  /// The codes: indices of levels, 0 .. 2^n - 1. Refuses what forward() refuses. O(n).
  Status quantize(std::span<const float> weight, std::span<std::uint8_t> indices) const noexcept {
    if (const Status status = check_sizes(weight, indices.size()); !status) return status;
    for_each_weight([&](std::size_t i, const Codebook& book) {
      indices[i] = static_cast<std::uint8_t>(nearest_level(book.levels, weight[i]));
    });
    return {};
  }

  /// One codebook a channel, or a single one.
  [[nodiscard]] const std::vector<Codebook>& codebooks() const noexcept { return books_; }

  /// The scales of the INT8 images.
  [[nodiscard]] QuantParams params() const {
    QuantParams result{{}, Int8::range};
    for (const Codebook& book : books_) result.channels.push_back({book.scale, 0});
    return result;
  }
  /// Levels and their INT8 images, 2^n a channel.
  [[nodiscard]] RecordExtras extras() const {
    RecordExtras result;
    for (const Codebook& book : books_) {
      result.centroids.insert(result.centroids.end(), book.levels.begin(), book.levels.end());
      result.params.insert(result.params.end(), book.params.begin(), book.params.end());
    }
    return result;
  }

 private:
  /// Calls visit(element, codebook of its channel) for all weights.
  template <class Visit>
  void for_each_weight(Visit&& visit) const {
    for_each_run(layout_, [&](std::size_t channel, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) visit(i, books_[channel]);
    });
  }
  [[nodiscard]] Status check_sizes(std::span<const float> x, std::size_t other) const noexcept {
    if (x.empty()) return {StatusCode::empty};
    if (x.size() != layout_.size()) return {StatusCode::size_mismatch, x.size()};
    if (other != x.size()) return {StatusCode::size_mismatch, other};
    return check_finite(x);
  }

  Options options_;
  ChannelLayout layout_;
  std::vector<Codebook> books_;
};

static_assert(WeightQuantizer<Snq<>>);

}  // namespace amct
