// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/batch_norm_update.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::floats;
using support::values;

namespace {

/// A BatchNormalization of two channels behind a convolution that multiplies by 2, at an opset.
graph::Graph doubled_and_normalized(std::int64_t opset) {
  return support::GraphBuilder()
      .opset(opset)
      .input("x", {2, 2, 1, 2})
      .initializer("w", floats({2, 2, 1, 1}, {2, 0, 0, 2}))
      .initializer("gamma", floats({2}, {1, 2}))
      .initializer("beta", floats({2}, {0, 1}))
      .initializer("mean", floats({2}, {10, 20}))
      .initializer("variance", floats({2}, {4, 8}))
      .node("Conv", "conv", {"x", "w"}, "c")
      .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "variance"}, "y", {{"epsilon", 0.0F}})
      .output("y")
      .build();
}

// Channel 0 holds 1, 2, 3, 4 and channel 1 holds 0, 0, 3, 5; behind the convolution 2, 4, 6, 8 and 0, 0, 6, 10.
const Tensor kBatch = floats({2, 2, 1, 2}, {1, 2, 0, 0, 3, 4, 3, 5});

struct Batches {
  [[nodiscard]] std::size_t size() const { return 1; }
  [[nodiscard]] std::vector<Tensor> load(std::size_t) const { return {kBatch}; }
};

std::vector<float> constant(const graph::Graph& graph, const std::string& name) {
  return values(*support::find_initializer(graph, name));
}

}  // namespace

TEST_CASE("One step of the update by hand: momentum 0.25, unbiased variance, at old and new opsets") {
  for (const std::int64_t opset : {9, 13, 15}) {
    CAPTURE(opset);
    flow::BatchNormUpdater updater(doubled_and_normalized(opset), {.momentum = 0.25}, support::ops());
    CHECK(updater.statistics().at("bn") == flow::BatchNormStatistics{{10, 20}, {4, 8}});
    updater.update_bn_status(true);
    const auto outputs = updater.run({kBatch});
    CHECK(updater.updates() == 1);
    // Means 5 and 4; sums of squared distances 20 and 72: biased 5 and 18, unbiased 20/3 and 24.
    const auto& found = updater.statistics().at("bn");
    CHECK(found.mean == std::vector<float>{0.75F * 10 + 0.25F * 5, 0.75F * 20 + 0.25F * 4});
    CHECK(found.variance[0] == doctest::Approx(0.75 * 4 + 0.25 * 20.0 / 3.0));
    CHECK(found.variance[1] == 0.75F * 8 + 0.25F * 24);
    // The batch is normalized by its own biased statistics: (6 - 4) / sqrt(18) * 2 + 1.
    CHECK(values(outputs[0])[6] == doctest::Approx(2.0 / 4.242640687 * 2.0 + 1.0));
  }
}

TEST_CASE("Frozen statistics stay and count: update_bn_status(false)") {
  flow::BatchNormUpdater updater(doubled_and_normalized(13), {.momentum = 1.0}, support::ops());
  CHECK_FALSE(updater.training());
  // (2 - 10) / sqrt(4)
  CHECK(values(updater.run({kBatch})[0])[0] == -4.0F);
  CHECK(updater.updates() == 0);
  updater.update_bn_status(true);
  (void)updater.run({kBatch});
  updater.update_bn_status(false);
  // Momentum 1: the running statistics are those of the batch, (6 - 4) / sqrt(24) * 2 + 1.
  CHECK(values(updater.run({kBatch})[0])[6] == doctest::Approx(2.0 / 4.898979486 * 2.0 + 1.0));
  CHECK(updater.updates() == 1);
  CHECK(updater.statistics().at("bn").mean == std::vector<float>{5, 4});
}

TEST_CASE("The update of a config runs its iterations and writes the statistics, gamma and beta stay") {
  auto network = doubled_and_normalized(13);
  Batches batches;
  std::vector<std::string> messages;
  const ProgressSink sink{.on_message = [&](LogLevel, const std::string& text) { messages.push_back(text); }};
  SUBCASE("with 4 bits") {
    flow::update_batch_norm(network, {.iterations = 2, .momentum = 0.5}, support::ops(), batches, true, sink);
    CHECK(messages.empty());
  }
  SUBCASE("without 4 bits there is a warning") {
    flow::update_batch_norm(network, {.iterations = 2, .momentum = 0.5}, support::ops(), batches, false, sink);
    REQUIRE(messages.size() == 1);
    CHECK(support::contains(messages[0], "no layer has 4 bits"));
  }
  // 10 -> 7.5 -> 6.25 and 20 -> 12 -> 8
  CHECK(constant(network, "mean") == std::vector<float>{6.25F, 8});
  CHECK(constant(network, "variance")[1] == 0.25F * 8 + 0.75F * 24);
  CHECK(constant(network, "gamma") == std::vector<float>{1, 2});
  CHECK(constant(network, "beta") == std::vector<float>{0, 1});
}

TEST_CASE("Nodes that share statistics get their own") {
  auto network = support::GraphBuilder()
                     .input("x", {2, 1})
                     .initializer("one", floats({1}, {1}))
                     .initializer("zero", floats({1}, {0}))
                     .node("BatchNormalization", "a", {"x", "one", "zero", "zero", "one"}, "y")
                     .node("BatchNormalization", "b", {"y", "one", "zero", "zero", "one"}, "z")
                     .output("z")
                     .build();
  flow::BatchNormUpdater updater(network, {.momentum = 1.0}, support::ops());
  updater.update_bn_status(true);
  (void)updater.run({floats({2, 1}, {1, 5})});
  updater.write_to(network);
  CHECK(values(*network.value(network.find_node("a")->inputs[3]).initializer)[0] == 3.0F);
  CHECK(values(*network.value(network.find_node("b")->inputs[3]).initializer)[0] == 0.0F);
  CHECK(constant(network, "one")[0] == 1.0F);
}

TEST_CASE("A batch of one value a channel is refused, and so are NaN and an empty set") {
  flow::BatchNormUpdater updater(doubled_and_normalized(13), {}, support::ops());
  updater.update_bn_status(true);
  const auto single = support::error_of([&] { (void)updater.run({floats({1, 2, 1, 1}, {1, 2})}); });
  REQUIRE(single.has_value());
  CHECK(single->code() == ErrorCode::data_too_few);
  CHECK(single->where().layer == "bn");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto broken = support::error_of([&] { (void)updater.run({floats({1, 2, 1, 2}, {1, 2, nan, 3})}); });
  REQUIRE(broken.has_value());
  CHECK(broken->code() == ErrorCode::data_not_finite);
  CHECK(updater.updates() == 0);

  struct None : Batches {
    [[nodiscard]] std::size_t size() const { return 0; }
  } none;
  auto network = doubled_and_normalized(13);
  const auto empty = support::error_of([&] { flow::update_batch_norm(network, {}, support::ops(), none, true); });
  REQUIRE(empty.has_value());
  CHECK(empty->code() == ErrorCode::data_empty);
}
