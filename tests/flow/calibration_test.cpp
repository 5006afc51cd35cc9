// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/calibration.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::values;
using Names = std::vector<std::string>;

namespace {

/// Two layers behind each other, the second with a channel of zeros.
graph::Graph net(float weight = 0.5F) {
  return GraphBuilder()
      .input("x")
      .initializer("w", floats({2, 2}, {weight, 1, -1, 0.25F}))
      .initializer("v", floats({2, 2, 1, 1}, {1, 2, 0, 0}))
      .initializer("shape", support::int64s({-1, 2, 1, 1}))
      .node("MatMul", "first", {"x", "w"}, "h")
      .node("Reshape", "reshape", {"h", "shape"}, "r")
      .node("Conv", "second", {"r", "v"}, "y")
      .output("y")
      .build();
}

/// Batches whose ranges differ.
std::vector<Tensor> data() {
  std::vector<Tensor> batches;
  for (int b = 0; b < 6; ++b) {
    Tensor& batch = batches.emplace_back(support::whole_numbers({5, 2}, static_cast<std::uint32_t>(b) + 1));
    for (float& value : batch.data<float>()) value *= 0.3F + 0.17F * static_cast<float>(b);
  }
  return batches;
}

flow::Prepared prepared(ActivationAlgorithm algorithm = ActivationAlgorithm::ifmr, float weight = 0.5F) {
  EasyConfig config{.batch_num = 6};
  config.common.activation.emplace().algorithm = algorithm;
  return flow::prepare(net(weight), config, support::ops());
}

flow::Calibration calibration_of(const flow::Prepared& network, const flow::ObserverChoice& choice = {},
                                 const ProgressSink& sink = {}) {
  return {network.graph, flow::jobs_of(network, {}, choice), flow::calibration_options(network), support::ops(), sink};
}

/// Shows batches [first, last) to a calibration.
void observe(flow::Calibration& calibration, std::size_t first, std::size_t last) {
  const auto batches = data();
  for (std::size_t b = first; b < last; ++b) (void)calibration.observe({batches[b]});
}

/// A sink that keeps warnings.
ProgressSink warnings_in(Names& texts) {
  return {.on_message = [&texts](LogLevel level, const std::string& text) {
    CHECK(level == LogLevel::warning);
    texts.push_back(text);
  }};
}

}  // namespace

TEST_CASE("A calibration counts its batches, and gives back what the network makes of them") {
  const auto network = prepared();
  auto calibration = calibration_of(network);
  CHECK(calibration.batches() == 0);
  const auto outputs = calibration.observe({floats({1, 2}, {2, 1})});
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].shape() == Shape{1, 2, 1, 1});
  CHECK(calibration.batches() == 1);
  CHECK_FALSE(calibration.complete());
  CHECK(calibration.jobs().size() == 2);
  CHECK(calibration.options().batch_num == 6);
}

TEST_CASE("K22 A calibration that did not see all its batches is not finished") {
  const auto network = prepared();
  auto calibration = calibration_of(network);
  observe(calibration, 0, 5);
  const auto error = error_of([&] { (void)calibration.finish(); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_too_few);
  CHECK(error->where().field == "batch_num");
  CHECK(contains(error->message(), "found 5 batches, expected 6"));
  observe(calibration, 5, 6);
  CHECK(calibration.complete());
  CHECK(calibration.finish().size() == 2);
}

TEST_CASE("Batches behind the last one are run and not observed") {
  const auto network = prepared();
  auto calibration = calibration_of(network);
  observe(calibration, 0, 6);
  const auto before = calibration.state();
  CHECK(calibration.observe({floats({1, 2}, {1000, 1000})}).size() == 1);
  CHECK(calibration.state() == before);
  CHECK(calibration.batches() == 6);
}

TEST_CASE("A calibration goes on from a saved state as if it had never stopped") {
  for (const auto algorithm : {ActivationAlgorithm::ifmr, ActivationAlgorithm::hfmg}) {
    const auto network = prepared(algorithm);
    for (const std::size_t exact : {std::size_t{1000}, std::size_t{15}}) {
      const flow::ObserverChoice choice{.exact_values = exact};
      auto whole = calibration_of(network, choice);
      observe(whole, 0, 6);
      for (const std::size_t cut : {0U, 1U, 4U}) {
        auto first = calibration_of(network, choice);
        observe(first, 0, cut);
        auto second = calibration_of(network, choice);
        observe(second, 2, 3);  // is forgotten
        second.restore(first.state());
        CHECK(second.state() == first.state());
        observe(second, cut, 6);
        CHECK(second.state() == whole.state());
        CHECK(second.finish() == whole.finish());
      }
    }
  }
}

TEST_CASE("K24 Any number of processes with consecutive parts of the data gives the record of one, to the bit") {
  for (const auto algorithm : {ActivationAlgorithm::ifmr, ActivationAlgorithm::hfmg}) {
    const auto network = prepared(algorithm);
    for (const std::size_t exact : {std::size_t{1000}, std::size_t{15}}) {
      const flow::ObserverChoice choice{.exact_values = exact, .distributed = true};
      auto alone = calibration_of(network, {.exact_values = exact});
      observe(alone, 0, 6);
      auto one = calibration_of(network, choice);
      observe(one, 0, 6);
      CHECK(one.finish() == alone.finish());
      for (const std::vector<std::size_t>& ends : std::vector<std::vector<std::size_t>>{{3, 6}, {1, 6}, {1, 4, 6}}) {
        auto all = calibration_of(network, choice);
        std::size_t first = 0;
        for (const std::size_t end : ends) {
          auto part = calibration_of(network, choice);
          observe(part, first, end);
          all.merge(part.state());
          first = end;
        }
        CHECK(all.complete());
        CHECK(all.state() == one.state());
        CHECK(all.finish() == one.finish());
      }
    }
  }
}

TEST_CASE("States of other networks, configs and kinds of observers are refused") {
  const auto network = prepared();
  auto source = calibration_of(network);
  observe(source, 0, 2);
  const auto refusal = [&](const flow::Prepared& other, const flow::CalibrationState& state,
                           const flow::ObserverChoice& choice = {}) {
    auto target = calibration_of(other, choice);
    const auto error = error_of([&] { target.restore(state); });
    REQUIRE(error.has_value());
    CHECK(error->code() == ErrorCode::data_format);
    CHECK(error->where().field == "calibration state");
    return error->message();
  };
  const auto good = source.state();
  CHECK(contains(refusal(prepared(ActivationAlgorithm::ifmr, 2.0F), good), "weights"));
  CHECK(contains(refusal(prepared(ActivationAlgorithm::hfmg), good), "ifmr of layer \"first\" instead of hfmg"));
  CHECK(contains(refusal(network, good, {.exact_values = 7}), "options"));

  auto bad = good;
  bad.observers.pop_back();
  CHECK(contains(refusal(network, bad), "has 1 observers, expected 2"));
  bad = good;
  bad.observers[1].layer = "third";
  CHECK(contains(refusal(network, bad), "third"));
  bad = good;
  bad.observers[0].bytes.pop_back();
  CHECK(contains(refusal(network, bad), "bytes"));
  bad = good;
  bad.observers[0].batches = 9;
  CHECK(contains(refusal(network, bad), "more batches"));
  bad = good;
  bad.observers[0].range = {};
  CHECK(contains(refusal(network, bad), "range"));
  bad = good;
  bad.observers[0].bytes = calibration_of(network).state().observers[0].bytes;
  CHECK(contains(refusal(network, bad), "options"));  // no bytes at all
  AnyObserver fresh = std::move(flow::jobs_of(network)[0].activations[0].observer);
  REQUIRE(fresh.save(bad.observers[0].bytes).ok());
  CHECK(contains(refusal(network, bad), "empty"));
}

TEST_CASE("The states of observers stay small, whatever the number of batches") {
  const auto network = prepared();
  auto jobs = flow::jobs_of(network, {}, {.exact_values = 50});
  flow::Calibration calibration(network.graph, std::move(jobs), {.batch_num = 1000000}, support::ops());
  const auto bytes = [&] {
    std::size_t most = 0;
    for (const auto& observer : calibration.state().observers) most = std::max(most, observer.bytes.size());
    return most;
  };
  for (int round = 0; round < 3; ++round) observe(calibration, 0, 6);
  const std::size_t early = bytes();
  for (int round = 0; round < 30; ++round) observe(calibration, 0, 6);
  CHECK(bytes() == early);  // the same values, only more often
}

TEST_CASE("Degenerate data are warned of by layer and channel") {
  Names warnings;
  const auto network = prepared();
  auto calibration = calibration_of(network, {}, warnings_in(warnings));
  REQUIRE(warnings.size() == 1);
  CHECK(contains(warnings[0], "layer \"second\" channel 1: degenerate range"));
  for (int b = 0; b < 6; ++b) (void)calibration.observe({floats({1, 2}, {0, 0})});
  const Record record = calibration.finish();
  REQUIRE(warnings.size() == 3);
  CHECK(contains(warnings[1], "layer \"first\": degenerate range"));
  CHECK(*record[0].scale_d == 1.0F);
}

TEST_CASE("A layer that gets only empty data stays float, with a warning") {
  Names warnings;
  const auto network = prepared();
  auto calibration = calibration_of(network, {}, warnings_in(warnings));
  for (int b = 0; b < 6; ++b) (void)calibration.observe({Tensor(ElementType::float32, Shape{0, 2})});
  const auto error = error_of([&] { (void)calibration.finish(); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_empty);
  CHECK(contains(warnings.back(), "layer \"second\": its input was empty in every batch; it stays float"));
}

namespace {

/// Sees nothing but how many values there were, and cannot be saved.
struct Counter {
  std::size_t count = 0;

  Status observe(std::span<const float> x) {
    if (count >= 3) return {StatusCode::already_ready};
    count += x.size();
    return {};
  }
  [[nodiscard]] bool ready() const { return count > 0; }
  [[nodiscard]] Affine compute(CodeRange) const { return {static_cast<float>(count), -1}; }
};

flow::LayerJob add_job() {
  flow::LayerJob job{.layer = "add", .op_type = "Add"};
  job.activations.push_back({0, AnyObserver::of<MinMax>("min_max"), CodeRange{8}});
  job.activations.push_back({1, AnyObserver("user.Counter", Counter{}), CodeRange{12}});
  return job;
}

graph::Graph sum() {
  return GraphBuilder().input("a").input("b").node("Add", "add", {"a", "b"}, "y").output("y").build();
}

}  // namespace

TEST_CASE("Jobs may have several inputs, their own observers and no weights") {
  std::vector<flow::LayerJob> jobs;
  jobs.push_back(add_job());
  flow::Calibration calibration(sum(), std::move(jobs), {.batch_num = 2, .dialect = RecordDialect::hotwheels},
                                support::ops());
  CHECK_NOTHROW((void)calibration.state());
  (void)calibration.observe({floats({2}, {0, 255}), floats({2}, {1, 2})});
  (void)calibration.observe({floats({2}, {0, 1}), floats({2}, {1, 2})});
  const Record record = calibration.finish();
  REQUIRE(record.size() == 1);
  CHECK(record[0].scale_w.empty());
  CHECK(record[0].record_d ==
        std::vector<ActivationRecord>{{.scale_d = 1.0F, .offset_d = -128, .index = 0, .num_bits_d = 8},
                                      {.scale_d = 4.0F, .offset_d = -1, .index = 1, .num_bits_d = 12}});
  const auto error = error_of([&] { (void)calibration.state(); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_unsupported);
  CHECK(error->where().layer == "add");
  CHECK(error->where().field == "user.Counter");
}

TEST_CASE("A scale that a half cannot hold is refused by layer") {
  graph::Graph relu = GraphBuilder().input("x").node("Relu", "relu", {"x"}, "y").output("y").build();
  const auto record_with = [&](bool force_fp16) {
    std::vector<flow::LayerJob> jobs(1);
    jobs[0].layer = "relu";
    jobs[0].op_type = "Relu";
    jobs[0].activations.push_back({0, AnyObserver::of<MinMax>("min_max"), CodeRange{8}});
    flow::Calibration calibration(relu, std::move(jobs), {.force_fp16 = force_fp16}, support::ops());
    (void)calibration.observe({floats({2}, {0, 2e12F})});
    return calibration.finish();
  };
  CHECK(record_with(false).size() == 1);
  const auto error = error_of([&] { (void)record_with(true); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::numeric);
  CHECK(error->where().layer == "relu");
  CHECK(error->where().field == "scale_d");
}

TEST_CASE("The network can be changed before the first batch") {
  const auto network = prepared();
  auto calibration = calibration_of(network);
  calibration.adjust_network([](graph::Graph& graph) {
    for (auto& value : graph.values) {
      if (value.name == "w") value.initializer = floats({2, 2}, {0, 0, 0, 0});
    }
  });
  CHECK(values(calibration.observe({floats({1, 2}, {3, 4})})[0]) == std::vector<float>{0, 0});
}
