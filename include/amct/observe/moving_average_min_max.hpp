// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// Numbers of the moving average of extremes, with torch's default.
struct MovingAverageMinMaxOptions {
  Symmetry symmetry = Symmetry::asymmetric;
  float averaging_constant = 0.01F;  ///< weight of the newest batch, (0, 1]; 1 keeps the last batch only

  [[nodiscard]] constexpr Status check() const noexcept {
    return check_option(averaging_constant > 0.0F && averaging_constant <= 1.0F, "averaging_constant",
                        static_cast<double>(averaging_constant), "(0, 1]");
  }
};

/// What the observer has seen.
struct MovingAverageMinMaxState {
  ValueRange average;  ///< of the extremes of all batches
  ValueRange first;    ///< extremes of the first batch, which merging needs
  std::size_t batches = 0;
};

namespace moving_average {

AMCT_EXACT_BEGIN

/// average + weight * (newest - average) in float32, as torch does; in double where the difference overflows.
[[nodiscard]] inline float step(float average, float newest, float weight) noexcept {
  const float difference = newest - average;
  if (std::fabs(difference) <= std::numeric_limits<float>::max()) return average + weight * difference;
  const double whole = static_cast<double>(newest) - static_cast<double>(average);
  return static_cast<float>(static_cast<double>(average) + static_cast<double>(weight) * whole);
}

/// The average after the batches of two observers, one after the other. The first batch of the second one, which
/// counted in full there, gets the weight of any other, and what was before it the rest.
[[nodiscard]] inline float join(float before, float average, float first, double kept) noexcept {
  const double moved = (static_cast<double>(before) - static_cast<double>(first)) * kept;
  return static_cast<float>(static_cast<double>(average) + moved);
}

AMCT_EXACT_END

}  // namespace moving_average

/// Follows the extremes of batches with an exponential average: the first batch sets them, each later one moves them
/// by `averaging_constant` of the distance, as torch's MovingAverageMinMaxObserver does. For data that drift, as in
/// training; single outliers lose their influence, and values of later batches may be clipped.
///
/// The result depends on the order of batches and on how data are split into them. A few floats of memory. Merging is
/// the same as observing the other's batches behind the own ones, but for rounding.
///
/// Degenerate data: zeros give scale 1; constants and single values give the range from zero to them; a huge outlier
/// counts in full in the first batch only.
class MovingAverageMinMax {
 public:
  using Options = MovingAverageMinMaxOptions;
  using State = MovingAverageMinMaxState;

  explicit MovingAverageMinMax(Options options = {}) noexcept : options_(options) {}

  Status observe(std::span<const float> batch) noexcept {
    if (const Status status = options_.check(); !status) return status;
    if (batch.empty()) return {StatusCode::empty};
    ValueRange newest;
    if (const Status status = newest.extend(batch); !status) return status;
    if (seen_.batches++ == 0) {
      seen_.average = seen_.first = newest;
      return {};
    }
    const float weight = options_.averaging_constant;
    seen_.average.min = moving_average::step(seen_.average.min, newest.min, weight);
    seen_.average.max = moving_average::step(seen_.average.max, newest.max, weight);
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return seen_.batches > 0; }
  [[nodiscard]] Affine compute(CodeRange range) const noexcept {
    return affine_from_range(seen_.average.min, seen_.average.max, range, options_.symmetry);
  }
  Status merge(const MovingAverageMinMax& other) noexcept {
    if (other.seen_.batches == 0) return {};
    if (seen_.batches == 0) {
      seen_ = other.seen_;
      return {};
    }
    const State& behind = other.seen_;
    const double kept =
        std::pow(1.0 - static_cast<double>(options_.averaging_constant), static_cast<double>(behind.batches));
    seen_.average = {moving_average::join(seen_.average.min, behind.average.min, behind.first.min, kept),
                     moving_average::join(seen_.average.max, behind.average.max, behind.first.max, kept)};
    seen_.batches += behind.batches;
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_; }
  void restore(const State& state) noexcept { seen_ = state; }
  void reset() noexcept { seen_ = {}; }

 private:
  Options options_;
  State seen_;
};

static_assert(Observer<MovingAverageMinMax>);

}  // namespace amct
