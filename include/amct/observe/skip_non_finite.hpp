// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>

namespace amct {

/// What SkipNonFinite has seen: the inner observer's state, and how many values were left out.
template <Observer O>
struct SkipNonFiniteState {
  typename O::State inner;
  std::uint64_t skipped = 0;
};

/// Leaves NaN and infinities out and counts them, instead of refusing their batch: the `skip` policy for any observer.
/// A batch without a finite value is refused as empty, and its values are not counted. \note A clean batch costs one
/// more read; the finite values of any other are copied.
template <Observer O>
class SkipNonFinite {
 public:
  using Options = typename O::Options;
  using State = SkipNonFiniteState<O>;

  explicit SkipNonFinite(Options options = {}) : observer_(std::move(options)) {}

  Status observe(std::span<const float> batch) {
    if (check_finite(batch).ok()) return observer_.observe(batch);
    std::vector<float> finite;
    for (const float value : batch) {
      if (value - value == 0.0F) finite.push_back(value);
    }
    const Status status = observer_.observe(finite);
    if (status.ok()) skipped_ += batch.size() - finite.size();
    return status;
  }
  [[nodiscard]] bool ready() const noexcept { return observer_.ready(); }
  [[nodiscard]] Affine compute(CodeRange range) const { return observer_.compute(range); }
  Status merge(const SkipNonFinite& other) {
    const Status status = observer_.merge(other.observer_);
    if (status.ok()) skipped_ += other.skipped_;
    return status;
  }
  [[nodiscard]] State state() const { return {observer_.state(), skipped_}; }
  void restore(State state) {
    observer_.restore(std::move(state.inner));
    skipped_ = state.skipped;
  }
  void reset() {
    observer_.reset();
    skipped_ = 0;
  }

  /// How many values were left out.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  O observer_;
  std::uint64_t skipped_ = 0;
};

}  // namespace amct
