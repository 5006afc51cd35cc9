// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/kl_weight.hpp>
#include <amct/quantize/channel_values.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Numbers of AdaRound, with AMCT's defaults.
struct AdaRoundOptions {
  std::size_t num_iteration = 10000;  ///< steps of the optimisation; 0 leaves the weights as they are
  double reg_param = 0.01;            ///< (0, 1): weight of the term that drives roundings to 0 or 1
  double beta_start = 20.0;           ///< above beta_end; first value of AMCT's beta_range
  double beta_end = 2.0;              ///< above 0; second value of AMCT's beta_range
  double warm_start = 0.2;            ///< (0, 1): part of the steps without that term

  [[nodiscard]] constexpr Status check() const noexcept {
    const auto part = [](double value) { return value > 0.0 && value < 1.0; };
    for (const Status status :
         {check_option(part(reg_param), "reg_param", reg_param, "(0, 1)"),
          check_option(beta_end > 0.0, "beta_range end", beta_end, "above 0"),
          check_option(beta_start > beta_end && beta_start <= 1e30, "beta_range start", beta_start, "above its end"),
          check_option(part(warm_start), "warm_start", warm_start, "(0, 1)")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

namespace ada_round {

AMCT_EXACT_BEGIN

/// The sigmoid is stretched to [kGamma, kZeta] and clipped to [0, 1], so that roundings reach 0 and 1.
inline constexpr float kGamma = -0.1F;
inline constexpr float kZeta = 1.1F;

/// How far a weight is rounded up, and its derivative by alpha.
struct Rounding {
  float value;
  float slope;
};

/// clip(sigmoid(alpha) * 1.2 - 0.1, 0, 1); the slope is 0 where it is clipped.
[[nodiscard]] inline Rounding soft_rounding(float alpha) noexcept {
  const float sigmoid = 1.0F / (1.0F + std::exp(-alpha));
  const float stretched = sigmoid * (kZeta - kGamma) + kGamma;
  const bool inside = stretched >= 0.0F && stretched <= 1.0F;
  return {std::clamp(stretched, 0.0F, 1.0F), inside ? sigmoid * (1.0F - sigmoid) * (kZeta - kGamma) : 0.0F};
}

/// The alpha that rounds up by the fraction of a weight's steps, so that the soft weight is the weight itself.
[[nodiscard]] inline float initial_alpha(float steps) noexcept {
  // Infinite steps, which a weight far beyond its scale can have, have no fraction.
  const float fraction = std::isfinite(steps) ? steps - std::floor(steps) : 0.0F;
  return -std::log((kZeta - kGamma) / (fraction - kGamma) - 1.0F);
}

/// The code of a weight that is rounded up by `rounding`, before it saturates.
[[nodiscard]] inline float soft_code(float weight, float scale, float rounding) noexcept {
  return std::floor(weight / scale) + rounding;
}

/// Whether a step has no term that drives roundings to 0 or 1: those below warm_start * num_iteration.
[[nodiscard]] inline bool is_warm_up(std::size_t iteration, const AdaRoundOptions& options) noexcept {
  return static_cast<double>(iteration) < options.warm_start * static_cast<double>(options.num_iteration);
}

/// Exponent of that term: from beta_start at the end of the warm-up to beta_end along half a cosine. Iterations before
/// and behind continue the cosine, as AMCT's does.
[[nodiscard]] inline double beta(std::size_t iteration, const AdaRoundOptions& options) noexcept {
  const auto all = static_cast<double>(options.num_iteration);
  const double start = options.warm_start * all;
  if (options.num_iteration == 0) return options.beta_end;
  const double progress = (static_cast<double>(iteration) - start) / (all - start);
  return options.beta_end +
         0.5 * (options.beta_start - options.beta_end) * (1.0 + std::cos(progress * std::numbers::pi));
}

AMCT_EXACT_END

}  // namespace ada_round

/// AdaRound: learns for each weight whether to round it up or down. AMCT's `ada_quantize`.
///
/// A weight w becomes clip(floor(w/s) + h(alpha)) * s, h the rectified sigmoid of ada_round::soft_rounding. Only alpha
/// learns; w and s stay. The trainer's loss is the mean over positions of the squared error of the layer's output
/// (after its activation), summed over channels, plus regularize(); AMCT uses Adam with a rate of 1e-3 and 32 samples a
/// step.
///
/// Zero weights have scale 1 and fraction 0: h starts at 0 within rounding. Weights beyond the scale's range saturate,
/// and their alpha has no gradient. NaN and Inf are refused. Costs two floats a weight.
/// Sources: M. Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization", 2020; AMCT's `ada_round`.
template <BitWidth B = Int8>
class AdaRound {
 public:
  using Bits = B;
  using Options = AdaRoundOptions;

  explicit AdaRound(Options options = {}) noexcept : options_(options) {}

  /// Finds the scale of each channel by KlWeight and starts each rounding at the fraction of its weight. Refuses what
  /// the other overload refuses.
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (const Status status = check_finite(weight); !status) return status;
    const ChannelValues values(weight, layout);
    std::vector<Affine> channels;
    for (std::size_t channel = 0; channel < layout.channels(); ++channel) {
      KlWeight observer;
      if (const Status status = observer.observe(values[channel]); !status) return status;
      channels.push_back(observer.compute(B::range));
    }
    return calibrate(weight, layout, channels);
  }

  /// The same with scales from elsewhere, one a channel, offsets 0. Refuses options out of range, empty data, sizes
  /// that do not agree, NaN and Inf, and a scale that is not usable (index = channel).
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout, std::span<const Affine> channels) {
    if (const Status status = options_.check(); !status) return status;
    if (weight.empty()) return {StatusCode::empty};
    if (weight.size() != layout.size()) return {StatusCode::size_mismatch, weight.size()};
    if (channels.size() != layout.channels()) return {StatusCode::size_mismatch, channels.size()};
    if (const Status status = check_finite(weight); !status) return status;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (!is_usable(channels[i])) return {StatusCode::unusable_scale, i, static_cast<double>(channels[i].scale)};
    }
    layout_ = layout;
    channels_.assign(channels.begin(), channels.end());
    alpha_.resize(weight.size());
    gradient_.assign(weight.size(), 0.0F);
    for_each_weight([&](std::size_t i, float scale) { alpha_[i] = ada_round::initial_alpha(weight[i] / scale); });
    return {};
  }

  /// Soft weights: rounded up by h(alpha). Refuses NaN and Inf and another size than calibrated.
  Status forward(std::span<const float> x, std::span<float> y) const noexcept {
    if (const Status status = check_sizes(x, y.size()); !status) return status;
    for_each_weight([&](std::size_t i, float scale) {
      const float code = ada_round::soft_code(x[i], scale, ada_round::soft_rounding(alpha_[i]).value);
      y[i] = std::clamp(code, kLowest, kHighest) * scale;
    });
    return {};
  }

  /// Adds the gradient of alpha: upstream * scale * h'(alpha), 0 where the code saturates. The gradient of x is 0: the
  /// weights do not learn, and floor has no slope.
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) noexcept {
    if (const Status status = check_sizes(x, upstream.size()); !status) return status;
    if (gradient.size() != x.size()) return {StatusCode::size_mismatch, gradient.size()};
    for_each_weight([&](std::size_t i, float scale) {
      const ada_round::Rounding rounding = ada_round::soft_rounding(alpha_[i]);
      const float code = ada_round::soft_code(x[i], scale, rounding.value);
      if (code >= kLowest && code <= kHighest) gradient_[i] += upstream[i] * scale * rounding.slope;
      gradient[i] = 0.0F;
    });
    return {};
  }

  /// reg_param * sum(1 - |2h - 1|^beta), which is 0 when every rounding is 0 or 1; adds its gradient to alpha's. 0
  /// during the warm-up. \param iteration  0 .. num_iteration-1
  double regularize(std::size_t iteration) noexcept {
    if (ada_round::is_warm_up(iteration, options_)) return 0.0;
    const double beta = ada_round::beta(iteration, options_);
    double sum = 0.0;
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
      const ada_round::Rounding rounding = ada_round::soft_rounding(alpha_[i]);
      const double side = 2.0 * static_cast<double>(rounding.value) - 1.0;
      sum += 1.0 - std::pow(std::fabs(side), beta);
      const double slope = -2.0 * beta * std::copysign(std::pow(std::fabs(side), beta - 1.0), side);
      if (side == 0.0) continue;  // the top of the hill; a beta below 1 would give an infinite slope
      gradient_[i] += static_cast<float>(options_.reg_param * slope) * rounding.slope;
    }
    return options_.reg_param * sum;
  }

  /// Integer weights of the learned roundings: the soft weights, divided by the scale and rounded, as AMCT does at the
  /// end. Refuses what forward() refuses.
  Status quantize(std::span<const float> weight, std::span<typename B::storage> codes) const {
    if (codes.size() != weight.size()) return {StatusCode::size_mismatch, codes.size()};
    std::vector<float> soft(weight.size());
    if (const Status status = forward(weight, soft); !status) return status;
    amct::quantize<DivideAddRound>(std::span<const float>(soft), codes, layout_, channels_, B::range);
    return {};
  }

  /// "alpha", one a weight.
  [[nodiscard]] std::vector<Parameter> parameters() noexcept { return {{"alpha", alpha_, gradient_}}; }
  [[nodiscard]] QuantParams params() const { return {channels_, B::range}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }

 private:
  static constexpr auto kLowest = static_cast<float>(B::min);
  static constexpr auto kHighest = static_cast<float>(B::max);

  /// Calls visit(element, scale of its channel) for all weights.
  template <class Visit>
  void for_each_weight(Visit&& visit) const {
    for_each_run(layout_, [&](std::size_t channel, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) visit(i, channels_[channel].scale);
    });
  }
  [[nodiscard]] Status check_sizes(std::span<const float> x, std::size_t other) const noexcept {
    if (x.empty()) return {StatusCode::empty};
    if (x.size() != alpha_.size()) return {StatusCode::size_mismatch, x.size()};
    if (other != x.size()) return {StatusCode::size_mismatch, other};
    return check_finite(x);
  }

  Options options_;
  ChannelLayout layout_;
  std::vector<Affine> channels_;
  std::vector<float> alpha_;
  std::vector<float> gradient_;
};

static_assert(WeightQuantizer<AdaRound<>> && TrainableQuantizer<AdaRound<>>);

}  // namespace amct
