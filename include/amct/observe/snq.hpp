// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/codebook.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/lloyd.hpp>

namespace amct {

/// Numbers of SNQ, with AMCT's defaults.
struct SnqObserverOptions {
  std::size_t max_iteration = 1000;  ///< 500..2000
  double cali_min_distance = 1e-10;  ///< [1e-10, 1e-3]: the search ends when no centroid moves by as much
  ClusterInit init_algo = ClusterInit::uniform;
  std::uint64_t seed = 0;  ///< of d2sampling, any value

  [[nodiscard]] constexpr Status check() const noexcept {
    const bool iterations = max_iteration >= 500 && max_iteration <= 2000;
    const bool distance = cali_min_distance >= 1e-10 && cali_min_distance <= 1e-3;
    if (!iterations) return check_option(false, "max_iteration", static_cast<double>(max_iteration), "500 .. 2000");
    return check_option(distance, "cali_min_distance", cali_min_distance, "[1e-10, 1e-3]");
  }
};

/// SNQ: finds the 2^n levels of a non-uniform quantizer of weights, by Lloyd's algorithm (observe/lloyd.hpp).
///
/// The centroids then move to multiples of the scale of their range at 8 bits: level = params * scale, with params in
/// -128..127, so that integer arithmetic can use them. compute() gives that scale; codebook() gives the levels too.
///
/// All values zero, or so small that the scale would be below 2^-23: scale 1, all levels 0. Fewer distinct values than
/// levels: all are met within half a scale, the other levels stay where they started. One huge outlier takes a level of
/// its own, but its scale makes the levels of everything else coarse. The order of values and batches does not matter.
/// Source: AMCT's `snq_quantize`, whose documents give parameters and record; the steps are amct's.
///
/// Keeps all values in memory until reset: 4 bytes each. compute() costs what lloyd() does.
class SnqObserver {
 public:
  using Options = SnqObserverOptions;
  struct State {
    std::vector<float> values;  ///< of all batches, in order
  };

  explicit SnqObserver(Options options = {}) : options_(options) {}

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (batch.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(batch); !status) return status;
    seen_.values.insert(seen_.values.end(), batch.begin(), batch.end());
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return !seen_.values.empty(); }
  /// \param range  its bits, but at most 8, tell how many levels there are
  [[nodiscard]] Affine compute(CodeRange range) const { return {codebook(range).scale, 0}; }
  Status merge(const SnqObserver& other) {
    seen_.values.insert(seen_.values.end(), other.seen_.values.begin(), other.seen_.values.end());
    return {};
  }
  [[nodiscard]] const State& state() const noexcept { return seen_; }
  void restore(State state) noexcept { seen_ = std::move(state); }
  void reset() noexcept { seen_ = {}; }

  /// The levels and their INT8 images. \pre at least one batch
  [[nodiscard]] Codebook codebook(CodeRange range) const {
    const LloydOptions search{.clusters = std::size_t{1} << std::min(range.bits, 8),
                              .max_iteration = options_.max_iteration,
                              .min_distance = options_.cali_min_distance,
                              .init = options_.init_algo,
                              .seed = options_.seed};
    return codebook_from_centroids(lloyd(seen_.values, search).centroids);
  }

 private:
  Options options_;
  State seen_;
};

static_assert(Observer<SnqObserver>);

}  // namespace amct
