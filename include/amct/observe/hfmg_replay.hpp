// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/hfmg.hpp>

namespace amct {

/// All batches that HfmgReplay has seen.
struct HfmgReplayState {
  std::vector<float> values;      ///< of all batches, in order
  std::vector<std::size_t> ends;  ///< where each batch ends in `values`
};

/// HFMG for calibration that is spread over several processes: the result of Hfmg to the bit, however consecutive
/// batches are split between observers that are merged in their order.
///
/// Hfmg itself cannot give that: where ranges of batches differ, counts move into new bins, with a truncation that
/// depends on all batches before. So this one keeps the batches, 4 bytes a value, and shows them to an Hfmg, in order,
/// when it computes. Refuses what Hfmg refuses.
class HfmgReplay {
 public:
  using Options = HfmgOptions;
  using State = HfmgReplayState;

  explicit HfmgReplay(Options options = {}) noexcept : options_(options) {}

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (ready()) return {StatusCode::already_ready};
    if (batch.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(batch); !status) return status;
    append(batch);
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return seen_.ends.size() >= options_.batch_num; }
  /// \pre at least one batch
  [[nodiscard]] Affine compute(CodeRange range) const {
    HfmgOptions options = options_;
    options.batch_num = seen_.ends.size();
    Hfmg observer(options);
    std::size_t first = 0;
    for (const std::size_t end : seen_.ends) {
      (void)observer.observe(std::span(seen_.values).subspan(first, end - first));  // it was accepted before
      first = end;
    }
    return observer.compute(range);
  }
  Status merge(const HfmgReplay& other) {
    const State theirs = other.seen_;  // other may be this one
    std::size_t first = 0;
    for (const std::size_t end : theirs.ends) {
      append(std::span(theirs.values).subspan(first, end - first));
      first = end;
    }
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_; }
  void restore(State state) noexcept { seen_ = std::move(state); }
  void reset() noexcept { seen_ = {}; }

 private:
  void append(std::span<const float> batch) {
    seen_.values.insert(seen_.values.end(), batch.begin(), batch.end());
    seen_.ends.push_back(seen_.values.size());
  }

  Options options_;
  State seen_;
};

static_assert(Observer<HfmgReplay>);

}  // namespace amct
