// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>
#include <utility>

#include <amct/core/status.hpp>
#include <amct/observe/log_histogram.hpp>

namespace amct {

/// What observers that keep a LogHistogram and no data have in common: everything but compute(). `O` are their options,
/// with `max_bins` and `check()`.
template <class O>
class LogHistogramObserver {
 public:
  using Options = O;
  using State = LogHistogramState;

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    return seen_.add(batch);
  }
  [[nodiscard]] bool ready() const noexcept { return !seen_.empty(); }
  Status merge(const LogHistogramObserver& other) {
    if (const Status status = options_.check(); !status) return status;
    seen_.merge(other.seen_);
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_.state(); }
  /// \pre a state of an observer with the same options
  void restore(State state) noexcept { seen_.restore(std::move(state)); }
  void reset() noexcept { seen_.reset(); }

 protected:
  explicit LogHistogramObserver(Options options) : options_(options), seen_(options.max_bins) {}

  Options options_;
  LogHistogram seen_;
};

}  // namespace amct
