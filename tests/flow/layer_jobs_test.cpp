// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/layer_jobs.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::Ints;

namespace {

graph::Graph net() {
  return GraphBuilder()
      .input("x", {1, 2, 4, 4})
      .initializer("w", floats({3, 2, 1, 1}, {1, 2, 3, 4, 5, 6}))
      .initializer("u", floats({3, 2, 1, 1}, {1, 2, 3, 4, 5, 6}))
      .node("Conv", "conv", {"x", "w"}, "c")
      .node("ConvTranspose", "up", {"c", "u"}, "d")
      .node("AveragePool", "pool", {"d"}, "e", {{"kernel_shape", Ints{2, 2}}})
      .output("e")
      .build();
}

std::vector<std::string> names_of(const std::vector<flow::LayerJob>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs) names.push_back(job.layer);
  return names;
}

}  // namespace

TEST_CASE("Every enabled layer is a job, in model order, with what the plan says of it") {
  EasyConfig config{.skip_layers = {}};
  config.common.activation.emplace().bits = 16;
  const auto prepared = flow::prepare(net(), config, support::ops());
  const auto jobs = flow::jobs_of(prepared);
  REQUIRE(names_of(jobs) == std::vector<std::string>{"conv", "up", "pool"});
  CHECK(jobs[0].kind == LayerKind::conv2d);
  CHECK(jobs[0].op_type == "Conv");
  REQUIRE(jobs[0].activations.size() == 1);
  CHECK(jobs[0].activations[0].input == 0);
  CHECK(jobs[0].activations[0].range == CodeRange{16});
  CHECK(jobs[0].activations[0].observer.name() == "ifmr");
  REQUIRE(jobs[0].weights);
  CHECK(jobs[0].weights->layout.channels() == 3);
  CHECK(jobs[0].weights->bits == 8);
  CHECK_FALSE(jobs[0].weights->float_while_calibrating);
  CHECK(jobs[1].weights->float_while_calibrating);
  CHECK(jobs[1].weights->layout.channels() == 2);
  CHECK_FALSE(jobs[2].weights);
  CHECK(jobs[2].unit_weight);
  CHECK(jobs[2].activations[0].range == CodeRange{8});  // pools have no wider data
}

TEST_CASE("A skipped layer is no job") {
  const auto prepared = flow::prepare(net(), {.skip_layers = {"up"}}, support::ops());
  CHECK(names_of(flow::jobs_of(prepared)) == std::vector<std::string>{"conv", "pool"});
}

TEST_CASE("The choice of observers: HFMG that can be merged, IFMR that keeps more or less") {
  EasyConfig config;
  config.common.activation.emplace().algorithm = ActivationAlgorithm::hfmg;
  const auto prepared = flow::prepare(net(), config, support::ops());
  CHECK(flow::jobs_of(prepared)[0].activations[0].observer.name() == "hfmg");
  CHECK(flow::jobs_of(prepared, {}, {.distributed = true})[0].activations[0].observer.name() == "hfmg_replay");
}

TEST_CASE("Balanced layers come first, and need their factors") {
  EasyConfig config;
  config.layers.emplace_back("up", LayerSetting{}).second.balancer.emplace();
  config.file = "q.cfg";
  const auto prepared = flow::prepare(net(), config, support::ops());
  Record balanced(1);
  balanced[0].name = "up";
  balanced[0].tensor_balance_factor = {1, 2, 4};
  const auto jobs = flow::jobs_of(prepared, balanced);
  CHECK(names_of(jobs) == std::vector<std::string>{"up", "conv", "pool"});
  CHECK(jobs[0].balance == std::vector<float>{1, 2, 4});
  CHECK(jobs[1].balance.empty());
  const auto error = error_of([&] { (void)flow::jobs_of(prepared); });
  REQUIRE(error);
  CHECK(error->where().layer == "up");
  CHECK(error->where().field == "dmq_balancer");
}

TEST_CASE("Weights of flavours that raise small scales have a least scale; pools there have no weight factors") {
  const auto prepared = flow::prepare(net(), {}, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  auto jobs = flow::jobs_of(prepared);
  CHECK_FALSE(jobs.back().unit_weight);
  const std::vector<float> zeros(6);
  REQUIRE(jobs[0].weights->quantizer.calibrate(zeros, jobs[0].weights->layout).ok());
  CHECK(jobs[0].weights->quantizer.params().channels[0].scale == kScaleEpsilon);

  const auto biased = flow::prepare(GraphBuilder()
                                        .input("x", {1, 2, 4, 4})
                                        .initializer("w", floats({1, 2, 1, 1}, {0, 0}))
                                        .initializer("b", floats({1}, {-6.5F}))
                                        .node("Conv", "conv", {"x", "w", "b"}, "y")
                                        .output("y")
                                        .build(),
                                    {}, support::ops(), rules_of(Flavour::hotwheels_dynamic));
  jobs = flow::jobs_of(biased);
  REQUIRE(jobs[0].weights->quantizer.calibrate(std::vector<float>(2), jobs[0].weights->layout).ok());
  CHECK(jobs[0].weights->quantizer.params().channels[0].scale == 7.63312164e-6F);  // so that the bias fits int32
}

TEST_CASE("AdaRound is refused by layer and field") {
  EasyConfig config{.file = "q.cfg"};
  config.common.weights.emplace().algorithm = WeightAlgorithm::ada;
  const auto prepared = flow::prepare(net(), config, support::ops());
  const auto error = error_of([&] { (void)flow::jobs_of(prepared); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_unsupported);
  CHECK(error->where().file == "q.cfg");
  CHECK(error->where().layer == "conv");
  CHECK(error->where().field == "ada_quantize");
}
