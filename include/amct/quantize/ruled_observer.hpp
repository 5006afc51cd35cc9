// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/luq_mse.hpp>
#include <amct/observe/state_bytes.hpp>
#include <amct/quantize/clip_ends.hpp>
#include <amct/quantize/luq.hpp>
#include <amct/quantize/ulq.hpp>

namespace amct {

/// What a trainable quantizer makes of the scale and offset that its observer found, before any training.
struct RangeRule {
  enum class Kind : std::uint8_t {
    none,  ///< nothing: the observer's own
    ulq,   ///< the clips of Ulq
    luq,   ///< max_value and min_value of Luq
  };
  Kind kind = Kind::none;
  bool fixed_min = false;                                    ///< ULQ: the smallest value is 0
  float max_value_eps = LuqOptions<LuqMse>{}.max_value_eps;  ///< LUQ: the least max_value
};

AMCT_EXACT_BEGIN

/// The same numbers as Ulq::params() and Luq::params() after their calibration.
[[nodiscard]] constexpr Affine apply(const RangeRule& rule, const Affine& found, CodeRange range) noexcept {
  if (rule.kind == RangeRule::Kind::none || !is_usable(found)) return found;
  const ClipRange ends = clip_ends(found, range);
  if (rule.kind == RangeRule::Kind::ulq) {
    const UlqClips clips{ends.high, ends.low};
    const UlqClips repaired = ulq::repaired<RepairAtZero>(clips, clips, rule.fixed_min);
    return affine_from_range(repaired.min, repaired.max, range, Symmetry::asymmetric);
  }
  const bool affine = found.offset != 0;
  const float max = ends.high < rule.max_value_eps ? rule.max_value_eps : ends.high;
  const float min = affine && ends.low < 0.0F ? ends.low : 0.0F;
  return luq_mse::affine_of({max, min}, !affine, range);
}

AMCT_EXACT_END

/// Options of a RuledObserver.
template <Observer O>
struct RuledOptions {
  typename O::Options observer{};
  RangeRule rule{};
  std::size_t batch_num = std::numeric_limits<std::size_t>::max();  ///< batches that count, at least 1
};

/// What a RuledObserver has seen.
template <Observer O>
struct RuledState {
  std::size_t batches = 0;
  typename O::State inner{};
};

/// An observer for the calibration of a quantizer that could be trained: the first `batch_num` batches count, and what
/// observer O finds goes through the rule of the quantizer. Unlike the quantizer it can be merged and saved.
///
/// merge() takes in the other's batches as if behind the own ones: those behind the last that counts are left out, and
/// if only a part of the other's would count, the answer is not_offered. Everything else is as O has it.
template <Observer O>
class RuledObserver {
 public:
  using Options = RuledOptions<O>;
  using State = RuledState<O>;

  explicit RuledObserver(Options options = {}) : options_(options), observer_(std::move(options.observer)) {}

  /// \return already_ready behind the last batch that counts
  Status observe(std::span<const float> batch) {
    if (batches_ >= options_.batch_num) return {StatusCode::already_ready};
    const Status status = observer_.observe(batch);
    if (status.ok()) ++batches_;
    return status;
  }
  [[nodiscard]] bool ready() const { return batches_ > 0; }
  /// \pre at least one batch
  [[nodiscard]] Affine compute(CodeRange range) const { return apply(options_.rule, observer_.compute(range), range); }

  Status merge(const RuledObserver& other) {
    if (batches_ >= options_.batch_num) return {};
    if (other.batches_ > options_.batch_num - batches_) return {StatusCode::not_offered};
    const std::size_t batches = other.batches_;  // other may be this one
    const Status status = observer_.merge(other.observer_);
    if (status.ok()) batches_ += batches;
    return status;
  }
  [[nodiscard]] State state() const { return {batches_, observer_.state()}; }
  void restore(State state) {
    batches_ = state.batches;
    observer_.restore(std::move(state.inner));
  }
  void reset() {
    batches_ = 0;
    observer_.reset();
  }

 private:
  Options options_;
  O observer_;
  std::size_t batches_ = 0;
};

static_assert(Observer<RuledObserver<LuqMse>>);

template <class Bytes, LikeConst<RangeRule> S>
void transfer(Bytes& bytes, S& rule) {
  bytes(rule.kind, rule.fixed_min, rule.max_value_eps);
}
template <class Bytes, Observer O>
void transfer(Bytes& bytes, const RuledOptions<O>& options) {
  bytes(options.observer, options.rule, options.batch_num);
}
template <class Bytes, Observer O>
void transfer(Bytes& bytes, const RuledState<O>& state) {
  bytes(state.batches, state.inner);
}
template <class Bytes, Observer O>
void transfer(Bytes& bytes, RuledState<O>& state) {
  bytes(state.batches, state.inner);
}
template <Observer O>
[[nodiscard]] Status check_state(const RuledOptions<O>& options, const RuledState<O>& state) noexcept {
  const Status counted = check_option(state.batches <= options.batch_num, "state", static_cast<double>(state.batches),
                                      "at most batch_num batches");
  return counted.ok() ? check_state(options.observer, state.inner) : counted;
}

}  // namespace amct
