// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// Numbers of the min-max observer.
struct MinMaxOptions {
  Symmetry symmetry = Symmetry::asymmetric;
};

/// Covers exactly the values seen. Needs two floats of memory whatever the amount of data; the result does not depend
/// on how the data were split into batches.
class MinMax {
 public:
  using Options = MinMaxOptions;
  using State = ValueRange;

  constexpr explicit MinMax(Options options = {}) noexcept : options_(options) {}

  constexpr Status observe(std::span<const float> batch) noexcept {
    if (batch.empty()) return {StatusCode::empty};
    return seen_.extend(batch);
  }
  [[nodiscard]] constexpr bool ready() const noexcept { return !seen_.empty(); }
  [[nodiscard]] constexpr Affine compute(CodeRange range) const noexcept {
    return affine_from_range(seen_.min, seen_.max, range, options_.symmetry);
  }
  constexpr Status merge(const MinMax& other) noexcept {
    seen_.min = std::min(seen_.min, other.seen_.min);
    seen_.max = std::max(seen_.max, other.seen_.max);
    return {};
  }
  [[nodiscard]] constexpr const State& state() const noexcept { return seen_; }
  constexpr void restore(const State& state) noexcept { seen_ = state; }
  constexpr void reset() noexcept { seen_ = {}; }

 private:
  Options options_;
  ValueRange seen_;
};

static_assert(Observer<MinMax>);

}  // namespace amct
