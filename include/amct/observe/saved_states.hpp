// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/hfmg_replay.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/ifmr_auto.hpp>
#include <amct/observe/ifmr_stream.hpp>
#include <amct/observe/kl_divergence.hpp>
#include <amct/observe/kl_weight.hpp>
#include <amct/observe/log_histogram.hpp>
#include <amct/observe/luq_mse.hpp>
#include <amct/observe/min_max.hpp>
#include <amct/observe/moving_average_min_max.hpp>
#include <amct/observe/percentile.hpp>
#include <amct/observe/skip_non_finite.hpp>
#include <amct/observe/snq.hpp>
#include <amct/observe/state_bytes.hpp>

/// \file
/// Options and states of the observers of amct as bytes (observe/state_bytes.hpp), and what a state that came from
/// outside must fulfil: `check_state(options, state)`. An observer of a user's own is saved if the same two functions
/// are found for its State, and transfer() for its Options.

namespace amct {

template <class Bytes, LikeConst<ValueRange> S>
void transfer(Bytes& bytes, S& range) {
  bytes(range.min, range.max);
}
template <class Bytes, LikeConst<LogHistogramState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.range, state.dropped_bits, state.keys, state.counts, state.rests);
}

template <class Bytes, LikeConst<IfmrOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry, options.batch_num, options.max_percentile, options.min_percentile, options.search_start,
        options.search_end, options.search_step);
}
template <class Bytes, LikeConst<Ifmr::State> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.batches, state.values);
}
template <class Bytes, LikeConst<IfmrStreamOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry, options.max_percentile, options.min_percentile, options.search_start, options.search_end,
        options.search_step, options.max_bins);
}
template <class Bytes, LikeConst<IfmrAutoOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.stream, options.exact_values);
}
template <class Bytes, LikeConst<IfmrAutoState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.values, state.histogram);
}
template <class Bytes, LikeConst<HfmgOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry, options.batch_num, options.num_of_bins);
}
template <class Bytes, LikeConst<HfmgState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.batches, state.range, state.counts);
}
template <class Bytes, LikeConst<HfmgReplayState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.ends, state.values);
}
template <class Bytes, LikeConst<LuqMseOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.scheme, options.search_start, options.search_end, options.steps, options.batch_num);
}
template <class Bytes, LikeConst<LuqMseState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.ends, state.values);
}
template <class Bytes, LikeConst<MinMaxOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry);
}
template <class Bytes, LikeConst<MovingAverageMinMaxOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry, options.averaging_constant);
}
template <class Bytes, LikeConst<MovingAverageMinMaxState> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.batches, state.average, state.first);
}
template <class Bytes, LikeConst<PercentileOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry, options.percentile, options.max_bins);
}
template <class Bytes, LikeConst<KlDivergenceOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.symmetry, options.num_of_bins, options.max_bins);
}
template <class Bytes, LikeConst<KlWeightOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.bins, options.searches);
}
template <class Bytes, LikeConst<KlWeight::State> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.abs_max, state.values);
}
template <class Bytes, LikeConst<SnqObserverOptions> S>
void transfer(Bytes& bytes, S& options) {
  bytes(options.max_iteration, options.cali_min_distance, options.init_algo, options.seed);
}
template <class Bytes, LikeConst<SnqObserver::State> S>
void transfer(Bytes& bytes, S& state) {
  bytes(state.values);
}
template <class Bytes, class S>
requires requires(S& state) {
  state.inner;
  state.skipped;
}
void transfer(Bytes& bytes, S& state) { bytes(state.inner, state.skipped); }

namespace detail {

/// Most values that a state may stand for: LogHistogram's sums stay within 64 bits.
inline constexpr std::uint64_t kMostValues = std::uint64_t{1} << 40;

[[nodiscard]] constexpr Status bad_state(const char* expected) noexcept {
  return check_option(false, "state", 0.0, expected);
}
[[nodiscard]] inline bool is_finite_range(const ValueRange& range) noexcept {
  return std::isfinite(range.min) && std::isfinite(range.max) && range.min <= range.max;
}
/// True for a range that no batch has widened yet.
[[nodiscard]] inline bool is_fresh(const ValueRange& range) noexcept {
  return range.min == ValueRange{}.min && range.max == ValueRange{}.max;
}
[[nodiscard]] inline Status check_values(std::span<const float> values) noexcept {
  return check_finite(values).ok() ? Status{} : bad_state("finite values");
}
/// Ends of batches that cover all values, none of them empty.
[[nodiscard]] inline Status check_batches(std::span<const std::size_t> ends, std::span<const float> values) noexcept {
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    if (end <= first) return bad_state("ascending ends of batches");
    first = end;
  }
  if (first != values.size()) return bad_state("batches that hold all values");
  return check_values(values);
}

/// Whether the number of batches, of which each has a value, and the range agree on there being data.
[[nodiscard]] inline bool agree(std::size_t batches, const ValueRange& range) noexcept {
  return batches == 0 ? is_fresh(range) : batches <= kMostValues && is_finite_range(range);
}

[[nodiscard]] inline bool is_sum_of_some(std::span<const std::uint64_t> counts) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    if (count > kMostValues - sum) return false;
    sum += count;
  }
  return sum > 0;
}

/// Keys ascend and stand for finite floats within the range, whose ends lie in the first and last bin.
[[nodiscard]] inline bool fits_range(const LogHistogramState& state) noexcept {
  const auto key_of = [&](float value) { return log_histogram::ordered(value) >> state.dropped_bits; };
  return is_finite_range(state.range) && state.keys.front() == key_of(state.range.min) &&
         state.keys.back() == key_of(state.range.max) &&
         std::adjacent_find(state.keys.begin(), state.keys.end(), [](auto a, auto b) { return a >= b; }) ==
             state.keys.end();
}

[[nodiscard]] inline Status check_histogram(const LogHistogramState& state, std::size_t max_bins) noexcept {
  const std::size_t bins = state.keys.size();
  if (state.counts.size() != bins || state.rests.size() != bins) return bad_state("one count and rest a bin");
  if (bins > max_bins) return bad_state("at most max_bins bins");
  if (state.dropped_bits > 23) return bad_state("at most 23 dropped bits");
  if (bins == 0) {
    return state.dropped_bits == 0 && is_fresh(state.range) ? Status{} : bad_state("no range without values");
  }
  if (!fits_range(state)) return bad_state("bins within a finite range");
  if (!is_sum_of_some(state.counts)) return bad_state("at most 2^40 values");
  for (std::size_t i = 0; i < bins; ++i) {
    const std::uint64_t most = state.counts[i] * ((std::uint64_t{1} << state.dropped_bits) - 1);
    if (state.counts[i] == 0 || state.rests[i] > most) return bad_state("rests that their counts allow");
  }
  return {};
}

}  // namespace detail

[[nodiscard]] inline Status check_state(const IfmrOptions&, const Ifmr::State& state) noexcept {
  const bool agree = state.batches <= state.values.size() && (state.batches == 0) == state.values.empty();
  return agree ? detail::check_values(state.values) : detail::bad_state("at least one value a batch");
}
[[nodiscard]] inline Status check_state(const IfmrStreamOptions& options, const LogHistogramState& state) noexcept {
  return detail::check_histogram(state, options.max_bins);
}
[[nodiscard]] inline Status check_state(const PercentileOptions& options, const LogHistogramState& state) noexcept {
  return detail::check_histogram(state, options.max_bins);
}
[[nodiscard]] inline Status check_state(const KlDivergenceOptions& options, const LogHistogramState& state) noexcept {
  return detail::check_histogram(state, options.max_bins);
}
[[nodiscard]] inline Status check_state(const IfmrAutoOptions& options, const IfmrAutoState& state) noexcept {
  if (!state.values.empty() && !state.histogram.keys.empty()) return detail::bad_state("values or a histogram");
  if (state.values.size() > options.exact_values) return detail::bad_state("at most exact_values values");
  if (const Status status = detail::check_values(state.values); !status) return status;
  return detail::check_histogram(state.histogram, options.stream.max_bins);
}
[[nodiscard]] inline Status check_state(const HfmgOptions& options, const HfmgState& state) noexcept {
  if (!detail::agree(state.batches, state.range)) return detail::bad_state("a finite range, and at most 2^40 batches");
  if (state.batches == 0) return state.counts.empty() ? Status{} : detail::bad_state("no counts without batches");
  if (state.counts.size() != options.num_of_bins) return detail::bad_state("num_of_bins counts");
  return detail::is_sum_of_some(state.counts) ? Status{} : detail::bad_state("between 1 and 2^40 values");
}
[[nodiscard]] inline Status check_state(const HfmgOptions&, const HfmgReplayState& state) noexcept {
  return detail::check_batches(state.ends, state.values);
}
[[nodiscard]] inline Status check_state(const LuqMseOptions&, const LuqMseState& state) noexcept {
  return detail::check_batches(state.ends, state.values);
}
[[nodiscard]] inline Status check_state(const MinMaxOptions&, const ValueRange& state) noexcept {
  const bool fine = detail::is_fresh(state) || detail::is_finite_range(state);
  return fine ? Status{} : detail::bad_state("a finite range");
}
[[nodiscard]] inline Status check_state(const MovingAverageMinMaxOptions&,
                                        const MovingAverageMinMaxState& state) noexcept {
  const bool fine = detail::agree(state.batches, state.average) && detail::agree(state.batches, state.first);
  return fine ? Status{} : detail::bad_state("finite ranges, and at most 2^40 batches");
}
[[nodiscard]] inline Status check_state(const KlWeightOptions&, const KlWeight::State& state) noexcept {
  ValueRange range;
  if (!range.extend(state.values).ok()) return detail::bad_state("finite values");
  return range.abs_max() == state.abs_max ? Status{} : detail::bad_state("the largest magnitude of its values");
}
[[nodiscard]] inline Status check_state(const SnqObserverOptions&, const SnqObserver::State& state) noexcept {
  return detail::check_values(state.values);
}
template <class Options, class O>
[[nodiscard]] Status check_state(const Options& options, const SkipNonFiniteState<O>& state) noexcept {
  return check_state(options, state.inner);
}

/// An observer whose options and state can be written as bytes and read back.
template <class O>
concept SavedObserver = Observer<O> &&
    requires(StateWriter& writer, StateReader& reader, const typename O::Options& options, typename O::State& state,
             const typename O::State& saved) {
  transfer(writer, options);
  transfer(writer, saved);
  transfer(reader, state);
  { check_state(options, saved) } -> std::same_as<Status>;
};

}  // namespace amct
