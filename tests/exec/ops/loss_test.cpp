// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kScores = floats({2, 3}, {-1, -2, -3, -4, -5, -6});
const Tensor kWeights = floats({3}, {1, 10, 100});

Attributes reduced(const std::string& reduction, Attributes more = {}) {
  more.push_back({"reduction", reduction});
  return more;
}

}  // namespace

TEST_CASE("NegativeLogLikelihoodLoss with weights and all reductions") {
  const Tensor target = int64s({2, 0});
  const auto run = [&](const OpInputs& inputs, const std::string& reduction) {
    return run_op("NegativeLogLikelihoodLoss", inputs, reduced(reduction));
  };
  check_tensor(run({kScores, target}, "none"), {2}, {3, 4});
  check_tensor(run({kScores, target}, "sum"), {}, {7});
  check_tensor(run_op("NegativeLogLikelihoodLoss", {kScores, target}), {}, {3.5F});
  check_tensor(run({kScores, target, kWeights}, "none"), {2}, {300, 4});
  check_tensor(run({kScores, target, kWeights}, "mean"), {}, {304.0F / 101.0F});
}

TEST_CASE("Targets to ignore count in no reduction, and need be no class") {
  const Tensor target = int64s({-7, 0});
  const Attributes ignore{{"ignore_index", -7}};
  check_tensor(run_op("NegativeLogLikelihoodLoss", {kScores, target}, reduced("none", ignore)), {2}, {0, 4});
  check_tensor(run_op("NegativeLogLikelihoodLoss", {kScores, target}, reduced("mean", ignore)), {}, {4});
  check_tensor(run_op("NegativeLogLikelihoodLoss", {kScores, target, kWeights}, reduced("sum", ignore)), {}, {4});
}

TEST_CASE("Losses of positions") {
  const Tensor scores = floats({1, 2, 3}, {-1, -2, -3, -10, -20, -30});
  check_tensor(run_op("NegativeLogLikelihoodLoss", {scores, typed<std::int64_t>({1, 3}, {0, 1, 0})}, reduced("none")),
               {1, 3}, {1, 20, 3});
}

TEST_CASE("SoftmaxCrossEntropyLoss is that of the log softmax, which it gives as well") {
  const Tensor scores = floats({2, 3}, {1000, 1001, 1002, 0, 0, 0});
  const OpInputs inputs{scores, int64s({2, 1})};
  const auto log_prob = values(run_output(1, 2, "SoftmaxCrossEntropyLoss", inputs));
  const double sum = std::log(1.0 + std::exp(-1.0) + std::exp(-2.0));
  REQUIRE(log_prob.size() == 6);
  CHECK(log_prob[0] == doctest::Approx(-2.0 - sum));
  CHECK(log_prob[2] == doctest::Approx(-sum));
  CHECK(log_prob[4] == doctest::Approx(-std::log(3.0)));
  CHECK(values(run_op("SoftmaxCrossEntropyLoss", inputs))[0] == doctest::Approx((sum + std::log(3.0)) / 2.0));
  const auto weighted = values(run_op("SoftmaxCrossEntropyLoss", {scores, int64s({2, 1}), kWeights}, reduced("none")));
  CHECK(weighted == std::vector<float>{-log_prob[2] * 100.0F, -log_prob[4] * 10.0F});
}

TEST_CASE("What does not fit a loss is refused") {
  const std::string nll = "NegativeLogLikelihoodLoss";
  check_refused(kShape, "scores [2,3] and targets [3] do not fit", nll, {kScores, int64s({0, 0, 0})});
  check_refused(kShape, "scores [2] and targets [2] do not fit", nll, {floats({2}, {1, 2}), int64s({0, 0})});
  check_refused(kShape, "a target is 3, expected 0 to 3 - 1", nll, {kScores, int64s({0, 3})});
  check_refused(kShape, "a target is -1", nll, {kScores, int64s({0, -1})});
  check_refused(kShape, "2 weights, expected 3", nll, {kScores, int64s({0, 0}), floats({2}, {1, 1})});
  check_refused(kShape, "reduction is \"max\"", nll, {kScores, int64s({0, 0})}, reduced("max"));
  check_refused(kShape, "the scores have no classes", "SoftmaxCrossEntropyLoss", {floats({1, 0}, {}), int64s({0})});
}
