// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/codebook.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/lloyd.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Numbers of LNQ, with AMCT's defaults.
struct LnqOptions {
  std::size_t cluster_freq = 400;    ///< steps between two searches of levels, at least 1
  std::size_t max_iteration = 1000;  ///< 500..2000, of a search
  double min_distance = 1e-4;        ///< [1e-8, 1e-2]: a search ends when no centroid moves by as much
  float clip_max = 3.0F;             ///< above 0: where the learned clip starts, in standard deviations
  bool symmetric = false;            ///< true: the range is centred at 0, false: at the mean
  ClusterInit init_algo = ClusterInit::uniform;
  std::uint64_t seed = 0;  ///< of d2sampling, any value

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool iterations = max_iteration >= 500 && max_iteration <= 2000;
    for (const Status status :
         {check_option(cluster_freq >= 1, "cluster_freq", static_cast<double>(cluster_freq), "at least 1"),
          check_option(iterations, "max_iteration", static_cast<double>(max_iteration), "500 .. 2000"),
          check_option(min_distance >= 1e-8 && min_distance <= 1e-2, "min_distance", min_distance, "[1e-8, 1e-2]"),
          check_option(clip_max > 0.0F && clip_max <= 1e30F, "clip_max", static_cast<double>(clip_max), "above 0")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

namespace lnq {

AMCT_EXACT_BEGIN

/// What LNQ keeps of a weight's distribution. A value x is normalised to clip((x - mean) / (deviation * clip), -1, 1).
struct Normalizer {
  float mean = 0.0F;
  float deviation = 1.0F;
  float clip = 1.0F;

  /// Half the width of the range.
  [[nodiscard]] constexpr float reach() const noexcept { return deviation * clip; }
  [[nodiscard]] constexpr ClipRange range() const noexcept { return {mean - reach(), mean + reach(), 1.0F}; }
  [[nodiscard]] constexpr float normalized(float x) const noexcept {
    return std::clamp((x - mean) / reach(), -1.0F, 1.0F);
  }
};

/// Mean (0 if symmetric) and root mean square distance from it, summed in double. A deviation below 2^-23 becomes 1.
[[nodiscard]] inline Normalizer normalizer_of(std::span<const float> x, float clip, bool symmetric) noexcept {
  const auto count = static_cast<double>(x.size());
  double mean = 0.0;
  if (!symmetric) {
    for (const float value : x) mean += static_cast<double>(value);
    mean /= count;
  }
  double squares = 0.0;
  for (const float value : x) {
    const double distance = static_cast<double>(value) - mean;
    squares += distance * distance;
  }
  return {static_cast<float>(mean), ReplaceByOne{}(static_cast<float>(std::sqrt(squares / count))), clip};
}

/// Codebook of normalised centroids that includes the mean: its levels times reach() are the real levels.
[[nodiscard]] inline Codebook normalized_book(std::span<const double> centroids, const Normalizer& normalizer) {
  const double shift = static_cast<double>(normalizer.mean) / static_cast<double>(normalizer.reach());
  std::vector<double> shifted;
  for (const double centroid : centroids) shifted.push_back(centroid + shift);
  return codebook_from_centroids(shifted);
}

/// Sum over x of upstream times the derivative of the result by the clip; `result` is what forward() made of x. Inside
/// the range a level's distance from x grows with the clip; outside the result follows the end of the range.
[[nodiscard]] inline double clip_slope_sum(std::span<const float> x, std::span<const float> result,
                                           std::span<const float> upstream, const Normalizer& normalizer) noexcept {
  const ClipRange range = normalizer.range();
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    float slope = (result[i] - x[i]) / normalizer.clip;
    if (x[i] > range.high) slope = normalizer.deviation;
    if (x[i] < range.low) slope = -normalizer.deviation;
    sum += static_cast<double>(upstream[i]) * static_cast<double>(slope);
  }
  return sum;
}

AMCT_EXACT_END

}  // namespace lnq

/// LNQ, learned non-uniform quantization of weights: training with 2^n levels that follow the weights.
///
/// Each forward pass takes mean m and standard deviation d of the weights; with the learned clip c they are normalised
/// to [-1, 1] by (w - m) / (c * d). There the levels are centroids of Lloyd's algorithm, searched anew every
/// cluster_freq steps from its start, and fixed in between. As in SNQ they then are moved, with m included, to INT8
/// multiples of a common scale: centroid = params * k, real level = params * scale_w with scale_w = k * c * d. The
/// result is the nearest real level, the first of equally near ones.
///
/// Backwards: the gradient of w is upstream where |w - m| <= c * d, 0 outside; that of c is the sum of upstream times
/// (q - w_n) * d inside and sign(w - m) * d outside, divided by sqrt(number of weights). m and d count as constants.
/// A clip that training made 0, negative or not finite goes back to the one before.
///
/// Equal weights, one weight: all levels are that weight, within float32 rounding (unless symmetric, the deviation is
/// then 1). Zeros: all levels 0. One huge outlier raises the deviation, and is clipped. NaN and Inf are refused. One
/// scale for the whole weight, whatever the layout: AMCT knows no other. Source: AMCT's `lnq_retrain`, whose documents
/// give parameters and record; the steps are amct's.
template <BitWidth B = Int4>
requires(B::width <= 8) class Lnq {
 public:
  using Bits = B;
  using Options = LnqOptions;

  static constexpr std::size_t kLevels = std::size_t{1} << B::width;

  explicit Lnq(Options options = {}) noexcept : options_(options), clip_(options.clip_max), good_clip_(clip_) {}

  /// Searches the levels of a weight. Refuses what forward() refuses, and a size that does not agree with the layout.
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (!weight.empty() && weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    const bool was_due = std::exchange(search_is_due_, true);
    const Status status = update(weight);
    if (!status) search_is_due_ = was_due;
    return status;
  }

  /// Writes the nearest level of each weight; searches levels first when that is due. Refuses options out of range,
  /// empty data, NaN and Inf, sizes that do not agree, and weights whose scale float32 cannot hold; is then unchanged.
  /// O(n), and the cost of lloyd() when a search is due.
  Status forward(std::span<const float> x, std::span<float> y) {
    if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
    if (const Status status = update(x); !status) return status;
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = levels_[nearest_level(levels_, x[i])];
    return {};
  }

  /// Ends a training step. \pre x is what forward() saw last
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) {
    if (x.empty()) return {StatusCode::empty};
    if (levels_.empty()) return {StatusCode::not_ready};
    if (upstream.size() != x.size()) return {StatusCode::size_mismatch, upstream.size()};
    if (gradient.size() != x.size()) return {StatusCode::size_mismatch, gradient.size()};
    std::vector<float> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = levels_[nearest_level(levels_, x[i])];
    const double sum = lnq::clip_slope_sum(x, result, upstream, normalizer_);
    gradient_ += static_cast<float>(sum / std::sqrt(static_cast<double>(x.size())));
    mask_clipped(x, upstream, normalizer_.range(), gradient);
    if (++steps_ % options_.cluster_freq == 0) search_is_due_ = true;
    return {};
  }

  /// The codes: indices of levels, 0 .. 2^n - 1, by the levels of the last forward pass. O(n).
  Status quantize(std::span<const float> weight, std::span<std::uint8_t> indices) const noexcept {
    if (weight.empty()) return {StatusCode::empty};
    if (levels_.empty()) return {StatusCode::not_ready};
    if (indices.size() != weight.size()) return {StatusCode::size_mismatch, indices.size()};
    if (const Status status = check_finite(weight); !status) return status;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      indices[i] = static_cast<std::uint8_t>(nearest_level(levels_, weight[i]));
    }
    return {};
  }

  /// "clip_max", one number.
  [[nodiscard]] std::vector<Parameter> parameters() noexcept { return {{"clip_max", {&clip_, 1}, {&gradient_, 1}}}; }
  /// The scale of the INT8 images, scale_w.
  [[nodiscard]] QuantParams params() const { return {{{scale(), 0}}, Int8::range}; }
  /// Normalised centroids, their INT8 images and the learned clip.
  [[nodiscard]] RecordExtras extras() const {
    RecordExtras result;
    result.centroids = book_.levels;
    result.params = book_.params;
    result.clip_max = normalizer_.clip;
    return result;
  }

 private:
  [[nodiscard]] float scale() const noexcept { return book_.scale * normalizer_.reach(); }

  /// Takes the weights' distribution, and searches centroids when that is due.
  Status update(std::span<const float> x) {
    if (const Status status = options_.check(); !status) return status;
    if (x.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(x); !status) return status;
    const bool repaired = !(clip_ > 0.0F && std::isfinite(clip_));
    const lnq::Normalizer normalizer = lnq::normalizer_of(x, repaired ? good_clip_ : clip_, options_.symmetric);
    if (const Affine reach{normalizer.reach(), 0}; !is_usable(reach)) return unusable(reach);
    std::vector<double> centroids = search_is_due_ ? search(x, normalizer) : centroids_;
    Codebook book = lnq::normalized_book(centroids, normalizer);
    if (const Affine found{book.scale * normalizer.reach(), 0}; !is_usable(found)) return unusable(found);
    clip_ = good_clip_ = normalizer.clip;
    normalizer_ = normalizer;
    centroids_ = std::move(centroids);
    book_ = std::move(book);
    levels_.clear();
    for (const std::int32_t image : book_.params) levels_.push_back(static_cast<float>(image) * scale());
    search_is_due_ = false;
    return {};
  }
  [[nodiscard]] static Status unusable(const Affine& found) noexcept {
    return {StatusCode::unusable_scale, 0, static_cast<double>(found.scale)};
  }
  [[nodiscard]] std::vector<double> search(std::span<const float> x, const lnq::Normalizer& normalizer) const {
    std::vector<float> values;
    values.reserve(x.size());
    for (const float value : x) values.push_back(normalizer.normalized(value));
    const LloydOptions options{.clusters = kLevels,
                               .max_iteration = options_.max_iteration,
                               .min_distance = options_.min_distance,
                               .init = options_.init_algo,
                               .seed = options_.seed};
    return lloyd(std::move(values), options).centroids;
  }

  Options options_;
  float clip_;             ///< as training left it
  float good_clip_;        ///< the last one that was positive
  float gradient_ = 0.0F;  ///< of the clip
  std::size_t steps_ = 0;
  bool search_is_due_ = true;
  lnq::Normalizer normalizer_;
  std::vector<double> centroids_;  ///< normalised, without the mean
  Codebook book_;                  ///< normalised, with the mean
  std::vector<float> levels_;      ///< real
};

static_assert(WeightQuantizer<Lnq<>> && TrainableQuantizer<Lnq<>>);

}  // namespace amct
