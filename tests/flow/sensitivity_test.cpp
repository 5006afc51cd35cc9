// SPDX-License-Identifier: Apache-2.0
// Also of flow/mixed_precision.hpp, which decides by sensitivities.
#include <amct/flow/sensitivity.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <amct/flow/calibrate.hpp>
#include <amct/flow/mixed_precision.hpp>

#include "flow/searched_networks.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;

namespace {

Record record_of(const flow::Prepared& prepared) {
  flow::MemoryBatches batches({LargestError::batch(20), LargestError::batch(21)});
  return flow::calibrate(prepared, support::ops(), batches);
}

/// Noise by two runs of the whole network.
double noise_by_definition(const flow::Prepared& prepared, const LayerRecord& layer) {
  const auto quantized = flow::fake_quant(flow::deploy(prepared.graph, {layer}));
  double signal = 0.0;
  double noise = 0.0;
  for (std::uint32_t seed = 20; seed < 22; ++seed) {
    const auto expected = exec::Interpreter(prepared.graph, support::ops()).run(LargestError::batch(seed)).at(0);
    const auto found = exec::Interpreter(quantized, support::ops()).run(LargestError::batch(seed)).at(0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto r = static_cast<double>(expected.data<float>()[i]);
      signal += r * r;
      noise += std::pow(static_cast<double>(found.data<float>()[i]) - r, 2);
    }
  }
  return noise / signal;
}

flow::MixedPrecision search(const flow::Prepared& prepared, LargestError& evaluator,
                            const flow::MixedPrecisionOptions& options = {}) {
  return flow::mixed_precision(prepared, support::ops(), evaluator, options);
}
double loss_of_all(const flow::Prepared& prepared) {
  LargestError evaluator{.allowed = 1e9};
  return search(prepared, evaluator).chosen.verdict.loss;
}
/// The levels that layers have in a choice.
std::set<std::string> level_names(const flow::MixedPrecision& found) {
  std::set<std::string> names;
  for (const auto& choice : found.choices) {
    for (const auto& level : choice.levels) names.insert(level.name);
  }
  return names;
}

}  // namespace

TEST_CASE("Noise is that of the network's output with one layer quantized, though only the rest behind it runs again") {
  for (const auto& graph : {convolutions(), perceptron()}) {
    const auto prepared = prepared_of(graph);
    const Record record = record_of(prepared);
    std::vector<flow::LayerVariants> layers;
    for (const auto& layer : record) layers.push_back({layer.name, {layer}});
    const std::vector<std::vector<Tensor>> batches{LargestError::batch(20), LargestError::batch(21)};
    const auto measured = flow::measure_sensitivity(prepared.graph, layers, support::ops(), batches);
    REQUIRE(measured.size() == record.size());
    for (std::size_t l = 0; l < record.size(); ++l) {
      REQUIRE(measured[l].noise.size() == 1);
      CHECK(measured[l].noise[0] > 0.0);
      CHECK(measured[l].noise[0] == doctest::Approx(noise_by_definition(prepared, record[l])));
    }
  }
}

TEST_CASE("Multiplications of a layer are counted for one batch") {
  const auto prepared = prepared_of(convolutions());
  std::vector<flow::LayerVariants> layers;
  for (const auto& layer : record_of(prepared)) layers.push_back({layer.name, {layer}});
  const std::vector<std::vector<Tensor>> batches{LargestError::batch(20)};
  const auto measured = flow::measure_sensitivity(prepared.graph, layers, support::ops(), batches);
  std::vector<double> macs;
  for (const auto& layer : measured) macs.push_back(layer.macs);
  const std::vector<double> expected{2.0 * 16 * 4 * 18, 2.0 * 16 * 4 * 36, 2.0 * 16 * 4 * 4, 2.0 * 4 * 2 * 36,
                                     2.0 * 3 * 8};
  CHECK(macs == expected);
}

TEST_CASE("A transposed convolution is counted by its input channels") {
  const graph::Graph graph = support::GraphBuilder()
                                 .input("x", {1, 2, 3, 3})
                                 .initializer("w", random_floats({2, 4, 2, 2}, 1))
                                 .node("ConvTranspose", "up", {"x", "w"}, "y", {{"strides", support::Ints{2, 2}}})
                                 .output("y")
                                 .build();
  const auto prepared = prepared_of(graph);
  const std::vector<std::vector<Tensor>> batches{{random_floats({1, 2, 3, 3}, 2)}};
  const auto measured = flow::measure_sensitivity(prepared.graph, {{.layer = "up"}}, support::ops(), batches);
  CHECK(measured[0].macs == 36.0 * 4 * 2 * 4);
  CHECK(measured[0].noise.empty());
}

TEST_CASE("SQNR is minus ten times the logarithm of noise, infinite without any") {
  CHECK(flow::sqnr(0.001) == doctest::Approx(30.0));
  CHECK(std::isinf(flow::sqnr(0.0)));
}

TEST_CASE("Bits are raised where that is enough, at no more cost than AMCT's search, on two networks") {
  for (const auto& graph : {convolutions(), perceptron()}) {
    for (const int weight_bits : {8, 4}) {
      const auto prepared = prepared_of(graph, Flavour::pytorch, weight_bits);
      const double all = loss_of_all(prepared);
      for (const double part : {0.8, 0.5, 0.2}) {
        LargestError evaluator{.allowed = part * all};
        const auto found = search(prepared, evaluator);
        CAPTURE(weight_bits);
        CAPTURE(part);
        REQUIRE(found.chosen.verdict.satisfied);
        CHECK(found.chosen.verdict.loss <= evaluator.allowed);
        REQUIRE(found.binary_search);
        if (!found.binary_search->chosen) continue;
        double rolled_back = 0.0;
        double own = 0.0;
        for (const auto& choice : found.choices) {
          const auto& quantized = found.binary_search->chosen->quantized;
          const auto layer = std::find_if(quantized.begin(), quantized.end(),
                                          [&](const auto& entry) { return entry.first == choice.layers[0]; });
          rolled_back += layer->second ? choice.levels.front().cost : choice.levels.back().cost;
          own += choice.levels.front().cost;
        }
        CHECK(found.chosen.cost <= rolled_back / own);
      }
    }
  }
}

TEST_CASE("The chosen plan and record belong together") {
  const auto prepared = prepared_of(convolutions(), Flavour::pytorch, 4);
  LargestError evaluator{.allowed = 0.3 * loss_of_all(prepared)};
  const auto found = search(prepared, evaluator, {.binary_search = false});
  REQUIRE(found.chosen.verdict.satisfied);
  CHECK_FALSE(found.binary_search);
  auto again = prepared;
  again.plan = found.plan;
  CHECK(record_of(again) == found.record);
  LargestError judge{.allowed = 0.0};
  const double original = judge.evaluate(flow::EvaluatedNetwork(prepared.graph, support::ops()));
  const auto quantized = flow::fake_quant(flow::deploy(prepared.graph, found.record));
  CHECK(original - judge.evaluate(flow::EvaluatedNetwork(quantized, support::ops())) == found.chosen.verdict.loss);
}

TEST_CASE("A latency budget is kept, and what it allows is used") {
  const auto prepared = prepared_of(perceptron());
  LargestError evaluator{.allowed = 0.0};
  const auto found = search(prepared, evaluator, {.most_cost = 1.5});
  CHECK(found.chosen.cost <= 1.5);
  CHECK(found.chosen.cost > 1.0);
  CHECK(found.chosen.metric >= found.trials.front().metric);
  CHECK_FALSE(found.binary_search);
  const auto error = error_of([&] { (void)search(prepared, evaluator, {.most_cost = 0.5}); });
  REQUIRE(error);
  CHECK(error->where().field == "most_cost");
}

TEST_CASE("K15 on hotwheels no layer of CUBE becomes float: data get 12 and 16 bits, layers of one tensor together") {
  const auto prepared = prepared_of(convolutions(), Flavour::hotwheels_dynamic);
  LargestError evaluator{.allowed = 0.0};  // nothing quantized can satisfy
  const auto found = search(prepared, evaluator);
  CHECK_FALSE(found.chosen.verdict.satisfied);
  CHECK_FALSE(found.binary_search);
  const auto names = level_names(found);
  CHECK(names.contains("A12W8"));
  CHECK(names.contains("A16W8"));
  for (const auto& choice : found.choices) {
    for (const auto& name : choice.layers) {
      const LayerPlan* layer = found.plan.find(name);
      if (!name.starts_with('c') && name != "fc") continue;
      CHECK(choice.levels.back().name == "A16W8");
      CHECK(layer->enabled);
      CHECK(layer->activations.front().bits == 16);
    }
  }
  // c2 and c3 read one tensor.
  const auto together = std::find_if(found.choices.begin(), found.choices.end(), [](const auto& choice) {
    return std::find(choice.layers.begin(), choice.layers.end(), "c2") != choice.layers.end();
  });
  REQUIRE(together != found.choices.end());
  CHECK(std::find(together->layers.begin(), together->layers.end(), "c3") != together->layers.end());
}

TEST_CASE("A search that may try nothing, or look at nothing, is refused") {
  LargestError evaluator{.allowed = 0.0};
  const auto refused = [&](const flow::MixedPrecisionOptions& options) {
    return error_of([&] { (void)search(prepared_of(perceptron()), evaluator, options); });
  };
  CHECK(refused({.most_trials = 0})->where().field == "most_trials");
  CHECK(refused({.sensitivity_batches = 0})->where().field == "sensitivity_batches");
}

TEST_CASE("Without float layers the search stops at 16 bits") {
  LargestError evaluator{.allowed = 0.0};
  const auto found = search(prepared_of(perceptron()), evaluator, {.float_layers = false});
  CHECK_FALSE(found.chosen.verdict.satisfied);
  CHECK_FALSE(level_names(found).contains("float"));
  for (const auto& layer : found.plan.layers) CHECK(layer.activations.front().bits == 16);
}
