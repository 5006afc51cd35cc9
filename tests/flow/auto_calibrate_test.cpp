// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/auto_calibrate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "flow/searched_networks.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;

namespace {

flow::AutoCalibration calibrate(const flow::Prepared& prepared, LargestError& evaluator,
                                const flow::TrialSink& on_trial = {}) {
  return flow::auto_calibrate(prepared, support::ops(), evaluator, {}, on_trial);
}
std::size_t rolled_back(const flow::RollBackTrial& trial) {
  return static_cast<std::size_t>(
      std::count_if(trial.quantized.begin(), trial.quantized.end(), [](const auto& layer) { return !layer.second; }));
}

}  // namespace

TEST_CASE("The search asks as AMCT's does: halves of positions, from all down to one") {
  for (std::size_t layers = 1; layers <= 17; ++layers) {
    for (std::size_t needed = 1; needed <= layers; ++needed) {
      flow::RollBackSearch search(layers);
      int left = 0;
      int right = static_cast<int>(layers) - 1;
      std::optional<std::size_t> best;
      while (left <= right) {
        const int middle = (left + right) / 2;
        const auto count = static_cast<std::size_t>(middle) + 1;
        REQUIRE(search.next() == count);
        const bool satisfied = count >= needed;
        search.tell(satisfied);
        if (satisfied) best = count;
        (satisfied ? right : left) = satisfied ? middle - 1 : middle + 1;
        CHECK(search.ended_on_best() == satisfied);
      }
      CHECK_FALSE(search.next());
      CHECK(search.best() == best);
      CHECK(search.best() == needed);
    }
  }
}

TEST_CASE("Similarity is 1 for an original of zeros, 0 for a result of zeros, else from the angle") {
  const std::vector<float> zero{0, 0};
  const std::vector<float> right{2, 0};
  const std::vector<float> up{0, 3};
  const std::vector<float> left{-1, 0};
  CHECK(flow::cosine_similarity(zero, right) == 1.0);
  CHECK(flow::cosine_similarity(right, zero) == 0.0);
  CHECK(flow::cosine_similarity(zero, zero) == 1.0);
  CHECK(flow::cosine_similarity(right, right) == 1.0);
  CHECK(flow::cosine_similarity(right, up) == 0.5);
  CHECK(flow::cosine_similarity(right, left) == 0.0);
}

TEST_CASE("A network that is good enough is quantized as a whole, and its layers are ranked") {
  const auto prepared = prepared_of(convolutions());
  LargestError evaluator{.allowed = 1e9};
  const auto found = calibrate(prepared, evaluator);
  REQUIRE(found.chosen);
  CHECK(found.trials.size() == 1);
  CHECK(rolled_back(*found.chosen) == 0);
  CHECK(found.plan == prepared.plan);
  CHECK(found.record.size() == prepared.plan.layers.size());
  REQUIRE(found.ranking.size() == prepared.plan.layers.size());
  CHECK(std::is_sorted(found.ranking.begin(), found.ranking.end(),
                       [](const auto& a, const auto& b) { return a.similarity < b.similarity; }));
  for (const auto& layer : found.ranking) CHECK((layer.similarity > 0.9 && layer.similarity < 1.0));
}

TEST_CASE("Layers go back to float in the order of the ranking, and the rest is calibrated anew") {
  const auto prepared = prepared_of(convolutions());
  LargestError probe{.allowed = 1e9};
  const double all = calibrate(prepared, probe).chosen->verdict.loss;
  LargestError evaluator{.allowed = 0.5 * all};
  std::size_t reports = 0;
  const auto found = calibrate(prepared, evaluator, [&](const flow::TrialReport&) { ++reports; });
  REQUIRE(found.chosen);
  const std::size_t count = rolled_back(*found.chosen);
  CHECK(count > 0);
  CHECK(found.chosen->verdict.loss <= evaluator.allowed);
  for (std::size_t i = 0; i < found.ranking.size(); ++i) {
    const std::string& name = found.ranking[i].layer;
    CHECK(found.chosen->quantized[i].first == name);
    CHECK(found.chosen->quantized[i].second == (i >= count));
    CHECK(found.plan.find(name)->enabled == (i >= count));
    CHECK((find_record(found.record, name) != nullptr) == (i >= count));
  }
  auto again = prepared;
  again.plan = found.plan;
  LargestError all_of_them{.allowed = 1e9};
  CHECK(calibrate(again, all_of_them).record == found.record);
  CHECK(reports <= found.trials.size());
}

TEST_CASE("If only the float network satisfies, no quantized one is chosen and the last trial has all layers float") {
  LargestError evaluator{.allowed = 0.0};
  const auto prepared = prepared_of(convolutions());
  const auto found = calibrate(prepared, evaluator);
  CHECK_FALSE(found.chosen);
  CHECK(found.record.empty());
  CHECK(rolled_back(found.trials.back()) == prepared.plan.layers.size());
  CHECK(found.trials.back().verdict.satisfied);
  CHECK(found.trials.back().metric == found.original_metric);
}

TEST_CASE("A metric that does not accept the float network itself is refused before anything is calibrated") {
  LargestError evaluator{.allowed = -1.0};
  const auto error = error_of([&] { (void)calibrate(prepared_of(convolutions()), evaluator); });
  REQUIRE(error);
  CHECK(error->where().field == "metric_eval");
  CHECK(evaluator.calibrations == 0);
}

TEST_CASE("Too few batches are refused") {
  LargestError evaluator{.allowed = 1.0};
  auto prepared = prepared_of(convolutions());
  prepared.plan.batch_num = 3;
  const auto error = error_of([&] { (void)calibrate(prepared, evaluator); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_too_few);
}

TEST_CASE("K15 a search that rolls layers back to float refuses the layers that hotwheels computes on CUBE") {
  LargestError evaluator{.allowed = 1.0};
  const auto prepared = prepared_of(convolutions(), Flavour::hotwheels_dynamic);
  const auto error = error_of([&] { (void)calibrate(prepared, evaluator); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_unsupported);
  CHECK(contains(error->what(), "CUBE"));
  CHECK(error->where().layer == "c1");
}
