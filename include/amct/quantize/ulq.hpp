// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/clip_gradient.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/quantize/clip_ends.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// The ends of a clip range, as training moves them.
struct UlqClips {
  float max = 0.0F;
  float min = 0.0F;

  friend constexpr bool operator==(const UlqClips&, const UlqClips&) = default;
};

/// Repair policy of AMCT's PyTorch flavour, the default: both clips go back if their difference is exactly 0. (Its
/// comparison with an epsilon is one of a truth value.)
struct RepairAtZero {
  [[nodiscard]] static constexpr bool collapsed(const UlqClips& clips) noexcept {
    return clips.max - clips.min == 0.0F;
  }
};

/// Repair policy as it was meant: both clips go back if the range is 2^-23 wide or less, or if the clips have crossed.
struct RepairWithinEpsilon {
  [[nodiscard]] static constexpr bool collapsed(const UlqClips& clips) noexcept {
    return clips.max - clips.min <= kScaleEpsilon;
  }
};

/// Tells when a learned clip range is so narrow that the clips of the step before come back.
template <class P>
concept RepairPolicy = requires(const UlqClips& clips) {
  { P::collapsed(clips) } -> std::same_as<bool>;
};

namespace ulq {

AMCT_EXACT_BEGIN

/// The clips that a step computes with: the minimum fixed at 0 if wanted, both those of the step before if collapsed,
/// otherwise a negative maximum or else a positive minimum that of the step before.
template <RepairPolicy P>
[[nodiscard]] constexpr UlqClips repaired(UlqClips clips, const UlqClips& previous, bool fixed_min) noexcept {
  if (fixed_min) clips.min = 0.0F;
  if (P::collapsed(clips)) return previous;
  if (clips.max < 0.0F) clips.max = previous.max;
  else if (clips.min > 0.0F) clips.min = previous.min;
  return clips;
}

/// How far rounding moves a clip, in steps, as a part of the whole range: (round(c/s) - c/s) / (2^n - 1).
[[nodiscard]] constexpr float rounding_share(float clip, float scale, CodeRange range) noexcept {
  const float steps = clip / scale;
  return (round_half_even(steps) - steps) / static_cast<float>(range.steps());
}

/// The gradients of the clips from the three sums of clip_gradient. With E = rounding_share:
/// max: inside / (2^n - 1) + above * (1 + E(max)) + below * E(min);
/// min: below * (1 - E(min)) - above * E(max) - inside / (2^n - 1).
[[nodiscard]] constexpr std::pair<double, double> clip_gradients(const ClipGradient& sums, const UlqClips& clips,
                                                                 float scale, CodeRange range) noexcept {
  const double of_max = static_cast<double>(rounding_share(clips.max, scale, range));
  const double of_min = static_cast<double>(rounding_share(clips.min, scale, range));
  const double inside = sums.inside / static_cast<double>(range.steps());
  return {inside + sums.above * (1.0 + of_max) + sums.below * of_min,
          sums.below * (1.0 - of_min) - sums.above * of_max - inside};
}

AMCT_EXACT_END

/// An observer's default options, symmetric if the observer knows the difference: AMCT begins ULQ with a symmetric
/// IFMR.
template <Observer O>
[[nodiscard]] constexpr typename O::Options symmetric_options() {
  typename O::Options options{};
  if constexpr (requires { options.symmetry = Symmetry::symmetric; }) options.symmetry = Symmetry::symmetric;
  return options;
}

}  // namespace ulq

/// Numbers of ULQ, with AMCT's defaults.
template <Observer O>
struct UlqOptions {
  std::optional<float> clip_max;                               ///< first clips, above 0 ...
  std::optional<float> clip_min;                               ///< ... and below 0: both or none
  bool fixed_min = false;                                      ///< keep the minimum at 0, as after a Relu
  Symmetry symmetry = Symmetry::asymmetric;                    ///< AMCT's training is always asymmetric
  typename O::Options observer = ulq::symmetric_options<O>();  ///< finds the first clips if none are given

  [[nodiscard]] constexpr Status check() const noexcept {
    constexpr float kLargest = std::numeric_limits<float>::max();
    const float max = clip_max.value_or(1.0F);
    const float min = clip_min.value_or(-1.0F);
    for (const Status status :
         {check_option(max > 0.0F && max <= kLargest, "clip_max", static_cast<double>(max), "above 0"),
          check_option(min < 0.0F && min >= -kLargest, "clip_min", static_cast<double>(min), "below 0"),
          check_option(clip_min.has_value() || !clip_max, "clip_min", 0.0, "given together with clip_max"),
          check_option(clip_max.has_value() || !clip_min, "clip_max", 0.0, "given together with clip_min")}) {
      if (!status.ok()) return status;
    }
    return {};
  }
};

/// ULQ, universal linear quantization: activations between two clips that training learns.
///
/// The first clips are given, or come from observer O: until it is ready, calibrate() takes the ends of its batch; then
/// the real values of the smallest and the largest code that O proposes.
/// forward() repairs the clips (ulq::repaired with policy P) and stores them back, makes a scale and an offset of them
/// (affine_from_range) and fake-quantizes by DivideAddRound. backward() gives upstream inside of the smallest and the
/// largest code's value and 0 outside, and adds the gradients of ulq::clip_gradients to "clip_max" and "clip_min".
/// With `fixed_min` AMCT still computes the gradient of clip_min, and so does this; forward() sets the clip to 0 again.
///
/// Degenerate data: empty data, NaN and Inf are refused, in calibrate() and forward(). Zeros, and clips so near that
/// the scale is below 2^-23, give scale 1 and the smallest code as offset, as in AMCT. Constant and one-signed data
/// widen the range to contain 0; for one huge outlier see O. Clips that training drove to NaN or beyond float32 make
/// forward() answer unusable_scale and change nothing; it answers not_ready before any clip is known. O(n) a step, no
/// allocation but in O. Source: AMCT's `ulq_retrain`.
template <BitWidth B = Int8, Observer O = Ifmr, RepairPolicy P = RepairAtZero>
class Ulq {
 public:
  using Bits = B;
  using Options = UlqOptions<O>;
  /// All that training goes on from.
  struct State {
    UlqClips clips;      ///< of the next step
    UlqClips previous;   ///< of the step before, after repair
    bool known = false;  ///< true once there are clips
    bool ready = false;  ///< true once the first clips are final
    typename O::State observer;
  };

  explicit Ulq(Options options = {}) : options_(std::move(options)), observer_(options_.observer) {
    if (options_.clip_max && options_.clip_min) start({*options_.clip_max, *options_.clip_min}, true);
  }

  /// One batch for the first clips. Once they are final, as given ones are, batches are left out, as in AMCT.
  /// \return unusable_scale if the range of all batches is beyond float32; the observer then begins anew
  Status calibrate(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (ready_) return {};
    if (const Status status = observer_.observe(batch); !status) return status;
    if (observer_.ready()) {
      const Affine found = observer_.compute(B::range);
      observer_.reset();  // its batches are not needed any more
      if (!is_usable(found)) return {StatusCode::unusable_scale};
      const ClipRange ends = clip_ends(found, B::range);
      start({ends.high, ends.low}, true);
      return {};
    }
    ValueRange seen;
    const Status status = seen.extend(batch);
    if (status.ok()) start({seen.max, seen.min}, false);
    return status;
  }
  [[nodiscard]] bool ready() const noexcept { return ready_; }

  Status forward(std::span<const float> x, std::span<float> y) {
    if (const Status status = options_.check(); !status) return status;
    if (x.empty()) return {StatusCode::empty};
    if (y.size() != x.size()) return {StatusCode::size_mismatch, y.size()};
    if (const Status status = check_finite(x); !status) return status;
    if (!known_) return {StatusCode::not_ready};
    const UlqClips clips = repaired();
    const Affine affine = affine_of(clips);
    if (!is_usable(affine)) return {StatusCode::unusable_scale};
    clips_ = previous_ = clips;
    affine_ = affine;
    amct::fake_quantize<DivideAddRound>(x, y, affine, B::range);
    return {};
  }

  /// `gradient` may be `upstream`.
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) {
    if (upstream.size() != x.size()) return {StatusCode::size_mismatch, upstream.size()};
    if (gradient.size() != x.size()) return {StatusCode::size_mismatch, gradient.size()};
    const ClipRange ends = clip_ends(affine_, B::range);
    const ClipGradient sums = amct::clip_gradient(x, upstream, ends);
    const auto [of_max, of_min] = ulq::clip_gradients(sums, previous_, affine_.scale, B::range);
    gradient_.max += static_cast<float>(of_max);
    gradient_.min += static_cast<float>(of_min);
    amct::mask_clipped(x, upstream, ends, gradient);
    return {};
  }
  /// Views into this quantizer, valid until it is moved or destroyed.
  [[nodiscard]] std::vector<Parameter> parameters() {
    return {{"clip_max", {&clips_.max, 1}, {&gradient_.max, 1}}, {"clip_min", {&clips_.min, 1}, {&gradient_.min, 1}}};
  }

  /// Of the clips as they are now, repaired.
  [[nodiscard]] QuantParams params() const { return {{affine_of(repaired())}, B::range}; }
  [[nodiscard]] RecordExtras extras() const {
    RecordExtras result;
    const UlqClips clips = repaired();
    result.clip_max = clips.max;
    result.clip_min = clips.min;
    return result;
  }

  [[nodiscard]] State state() const { return {clips_, previous_, known_, ready_, observer_.state()}; }
  void restore(State state) {
    clips_ = state.clips;
    previous_ = state.previous;
    known_ = state.known;
    ready_ = state.ready;
    observer_.restore(std::move(state.observer));
  }

 private:
  void start(const UlqClips& clips, bool ready) noexcept {
    clips_ = previous_ = clips;
    known_ = true;
    ready_ = ready;
  }
  [[nodiscard]] UlqClips repaired() const noexcept { return ulq::repaired<P>(clips_, previous_, options_.fixed_min); }
  [[nodiscard]] Affine affine_of(const UlqClips& clips) const noexcept {
    return affine_from_range(clips.min, clips.max, B::range, options_.symmetry);
  }

  Options options_;
  O observer_;
  UlqClips clips_;
  UlqClips previous_;
  UlqClips gradient_;
  Affine affine_;  // of the last forward()
  bool known_ = false;
  bool ready_ = false;
};

static_assert(ActivationQuantizer<Ulq<>> && TrainableQuantizer<Ulq<>>);

}  // namespace amct
