// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/state_bytes.hpp>

namespace amct {

/// The numbers of a FixedObserver.
struct FixedObserverOptions {
  Affine affine{};
};

/// What a FixedObserver keeps.
struct FixedObserverState {
  std::uint64_t batches = 0;
};

/// The observer of a Fixed quantizer in a calibration: whatever it sees, it proposes the scale and offset that it was
/// given. Refuses empty data, NaN and Inf, as Fixed does. O(n).
class FixedObserver {
 public:
  using Options = FixedObserverOptions;
  using State = FixedObserverState;

  explicit FixedObserver(Options options = {}) noexcept : options_(options) {}

  Status observe(std::span<const float> batch) noexcept {
    if (batch.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(batch); !status) return status;
    ++seen_.batches;
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return seen_.batches > 0; }
  [[nodiscard]] Affine compute(CodeRange) const noexcept { return options_.affine; }
  Status merge(const FixedObserver& other) noexcept {
    seen_.batches += other.seen_.batches;
    return {};
  }
  [[nodiscard]] State state() const noexcept { return seen_; }
  void restore(State state) noexcept { seen_ = state; }
  void reset() noexcept { seen_ = {}; }

 private:
  Options options_;
  State seen_;
};

static_assert(Observer<FixedObserver>);

template <class Bytes, LikeConst<FixedObserverOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.affine.scale, options.affine.offset);
}
template <class Bytes, LikeConst<FixedObserverState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.batches);
}
[[nodiscard]] inline Status check_state(const FixedObserverOptions&, const FixedObserverState&) noexcept { return {}; }

}  // namespace amct
