// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/saved_states.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::check_state;
using amct::LogHistogramState;
using amct::Status;
using amct::StatusCode;

constexpr float kInf = std::numeric_limits<float>::infinity();

bool is_refused(const Status& status) {
  return status.code == StatusCode::bad_option && std::string_view(status.name) == "state" &&
         !std::string_view(status.allowed).empty();
}

LogHistogramState histogram() {
  amct::IfmrStream seen({.max_bins = 1024});
  REQUIRE(seen.observe(std::vector<float>{1.0F, 2.0F, 2.0F, -3.0F}).ok());
  return seen.state();
}

/// Whether a change of a good histogram is refused.
template <class Change>
bool is_refused_after(const Change& change) {
  LogHistogramState state = histogram();
  change(state);
  return is_refused(check_state(amct::IfmrStreamOptions{.max_bins = 1024}, state));
}

}  // namespace

TEST_CASE("all observers of amct can be saved") {
  static_assert(amct::SavedObserver<amct::Ifmr> && amct::SavedObserver<amct::IfmrAuto> &&
                amct::SavedObserver<amct::IfmrStream> && amct::SavedObserver<amct::Hfmg> &&
                amct::SavedObserver<amct::HfmgReplay> && amct::SavedObserver<amct::MinMax> &&
                amct::SavedObserver<amct::MovingAverageMinMax> && amct::SavedObserver<amct::Percentile> &&
                amct::SavedObserver<amct::KlDivergence> && amct::SavedObserver<amct::KlWeight> &&
                amct::SavedObserver<amct::LuqMse> && amct::SavedObserver<amct::SnqObserver> &&
                amct::SavedObserver<amct::SkipNonFinite<amct::Hfmg>>);
}

TEST_CASE("a histogram whose parts contradict each other is refused") {
  CHECK(check_state(amct::IfmrStreamOptions{.max_bins = 1024}, histogram()).ok());
  CHECK(check_state(amct::IfmrStreamOptions{}, LogHistogramState{}).ok());
  CHECK(is_refused_after([](auto& state) { state.counts.pop_back(); }));
  CHECK(is_refused_after([](auto& state) { state.rests.push_back(0); }));
  CHECK(is_refused_after([](auto& state) { state.dropped_bits = 24; }));
  CHECK(is_refused_after([](auto& state) { state.counts[1] = 0; }));
  CHECK(is_refused_after([](auto& state) { state.counts[1] = std::uint64_t{1} << 41; }));
  CHECK(is_refused_after([](auto& state) { state.rests[1] = 1; }));  // no bits are dropped
  CHECK(is_refused_after([](auto& state) { state.range.max = kInf; }));
  CHECK(is_refused_after([](auto& state) { state.range.max = 2.5F; }));
  CHECK(is_refused_after([](auto& state) { std::swap(state.keys[0], state.keys[1]); }));
  CHECK(is_refused_after([](auto& state) { state.keys[1] = state.keys[0]; }));
  CHECK(is_refused_after([](auto& state) { state = {.range = {0.0F, 1.0F}}; }));
  CHECK(is_refused(check_state(amct::PercentileOptions{.max_bins = 2}, histogram())));
  CHECK(is_refused(check_state(amct::KlDivergenceOptions{.max_bins = 2}, histogram())));
}

TEST_CASE("values that are not finite and batches that are none are refused") {
  const std::vector<float> bad{1.0F, kInf};
  CHECK(is_refused(check_state(amct::IfmrOptions{}, amct::Ifmr::State{bad, 1})));
  CHECK(is_refused(check_state(amct::IfmrOptions{}, amct::Ifmr::State{{1.0F}, 0})));
  CHECK(is_refused(check_state(amct::IfmrOptions{}, amct::Ifmr::State{{1.0F}, 2})));
  CHECK(is_refused(check_state(amct::SnqObserverOptions{}, amct::SnqObserver::State{bad})));
  CHECK(is_refused(check_state(amct::KlWeightOptions{}, amct::KlWeight::State{{1.0F, -2.0F}, 1.0F})));
  CHECK(is_refused(check_state(amct::KlWeightOptions{}, amct::KlWeight::State{bad, 1.0F})));
  for (const auto& ends : std::vector<std::vector<std::size_t>>{{1, 1, 2}, {2, 1}, {3}, {1}, {}}) {
    CHECK(is_refused(check_state(amct::LuqMseOptions{}, amct::LuqMseState{{1.0F, 2.0F}, ends})));
    CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgReplayState{{1.0F, 2.0F}, ends})));
  }
  CHECK(is_refused(check_state(amct::IfmrAutoOptions{}, amct::IfmrAutoState{{1.0F}, histogram()})));
  CHECK(is_refused(check_state(amct::IfmrAutoOptions{.exact_values = 1}, amct::IfmrAutoState{{1.0F, 2.0F}, {}})));
}

TEST_CASE("ranges and counts that do not go together are refused") {
  const std::vector<std::uint64_t> counts(4096, 1);
  CHECK(check_state(amct::HfmgOptions{}, amct::HfmgState{{0.0F, 1.0F}, counts, 1}).ok());
  CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgState{{1.0F, 0.0F}, counts, 1})));
  CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgState{{0.0F, 1.0F}, counts, 0})));
  CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgState{{0.0F, 1.0F}, {1, 2}, 1})));
  const std::size_t most = std::numeric_limits<std::size_t>::max();  // one more batch would make it none
  CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgState{{0.0F, 1.0F}, counts, most})));
  CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgState{{}, {1}, 0})));
  const std::vector<std::uint64_t> none(4096, 0);
  CHECK(is_refused(check_state(amct::HfmgOptions{}, amct::HfmgState{{0.0F, 1.0F}, none, 1})));
  CHECK(is_refused(check_state(amct::MinMaxOptions{}, amct::ValueRange{2.0F, 1.0F})));
  CHECK(is_refused(check_state(amct::MovingAverageMinMaxOptions{}, amct::MovingAverageMinMaxState{{}, {}, 1})));
}
