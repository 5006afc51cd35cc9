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
#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/ifmr_stream.hpp>
#include <amct/observe/log_histogram.hpp>

namespace amct {

/// How many values IfmrAuto keeps: 8 MiB of them.
inline constexpr std::size_t kDefaultExactValues = std::size_t{1} << 21;

/// Numbers of IfmrAuto: those of IfmrStream, and where it begins.
struct IfmrAutoOptions {
  IfmrStreamOptions stream{};
  std::size_t exact_values = kDefaultExactValues;  ///< up to so many values the result is Ifmr's; any number

  [[nodiscard]] constexpr Status check() const noexcept { return stream.check(); }
};

/// What IfmrAuto has seen: the values themselves, or, once there were too many, their histogram.
struct IfmrAutoState {
  std::vector<float> values;    ///< of all batches, in order; empty once `histogram` is not
  LogHistogramState histogram;  ///< of all values
};

/// IFMR in bounded memory: exactly Ifmr while all values together are at most `exact_values`, IfmrStream beyond.
///
/// So results are AMCT's to the bit on the calibration sets that AMCT can hold, and any number of batches takes 8 MiB
/// a tensor at most with the defaults, 20 bytes a bin from then on. Which of the two it is depends on the number of
/// values alone. The state, to the byte, is the same for one observer that saw all batches and for several that saw
/// consecutive parts of them and were merged in their order; beyond `exact_values` in any order.
///
/// There is no number of batches: it is ready once it saw one. Refuses what Ifmr refuses; degenerate data as there.
class IfmrAuto {
 public:
  using Options = IfmrAutoOptions;
  using State = IfmrAutoState;

  explicit IfmrAuto(Options options = {}) : options_(options), histogram_(options.stream.max_bins) {}

  Status observe(std::span<const float> batch) {
    if (const Status status = options_.check(); !status) return status;
    if (batch.empty()) return {StatusCode::empty};
    if (const Status status = check_finite(batch); !status) return status;
    if (is_streaming() || batch.size() > options_.exact_values - values_.size()) {
      stop_keeping();
      return histogram_.add(batch);
    }
    keep(batch);
    return {};
  }
  [[nodiscard]] bool ready() const noexcept { return !values_.empty() || is_streaming(); }
  /// \pre at least one batch
  [[nodiscard]] Affine compute(CodeRange range) const {
    if (!is_streaming()) return exact().compute(range);
    return stream().compute(range);
  }
  /// \pre the same options
  Status merge(const IfmrAuto& other) {
    if (const Status status = options_.check(); !status) return status;
    if (!other.ready()) return {};
    const std::vector<float> theirs = other.values_;  // other may be this one
    const bool is_short = theirs.size() <= options_.exact_values - values_.size();
    if (!is_streaming() && !other.is_streaming() && is_short) {
      keep(theirs);
      return {};
    }
    stop_keeping();
    if (!theirs.empty()) return histogram_.add(theirs);
    histogram_.merge(other.histogram_);
    return {};
  }
  [[nodiscard]] State state() const { return {values_, histogram_.state()}; }
  /// \pre a state of an observer with the same options
  void restore(State state) noexcept {
    values_ = std::move(state.values);
    histogram_.restore(std::move(state.histogram));
  }
  void reset() noexcept {
    values_ = std::vector<float>();
    histogram_.reset();
  }

  /// True once values are only counted.
  [[nodiscard]] bool is_streaming() const noexcept { return !histogram_.empty(); }
  /// The choice with the loss of every candidate. \pre at least one batch
  [[nodiscard]] IfmrResult search(CodeRange range) const {
    return is_streaming() ? stream().search(range) : exact().search(range);
  }

 private:
  /// \pre there is room for them within the limit, beyond which no memory is taken either
  void keep(std::span<const float> values) {
    const std::size_t needed = values_.size() + values.size();
    const std::size_t capacity = values_.capacity();
    if (needed > capacity) values_.reserve(std::min(options_.exact_values, std::max(needed, 2 * capacity)));
    values_.insert(values_.end(), values.begin(), values.end());
  }
  /// Counts what was kept so far, and gives its memory back, which `= {}` would not.
  void stop_keeping() {
    if (!values_.empty()) (void)histogram_.add(values_);  // they are finite
    values_ = std::vector<float>();
  }
  [[nodiscard]] Ifmr exact() const {
    Ifmr observer(options_.stream.search());
    observer.restore({values_, 1});
    return observer;
  }
  [[nodiscard]] IfmrStream stream() const {
    IfmrStream observer(options_.stream);
    observer.restore(histogram_.state());
    return observer;
  }

  Options options_;
  std::vector<float> values_;
  LogHistogram histogram_;
};

static_assert(Observer<IfmrAuto>);

}  // namespace amct
