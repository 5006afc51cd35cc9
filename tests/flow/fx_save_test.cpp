// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/fx_save.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/flow/apply_record.hpp>
#include <amct/flow/batch_norm_update.hpp>
#include <amct/flow/calibration.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/flow/fx_jobs.hpp>

#include "flow/fx_net.hpp"

using namespace amct;

namespace {

/// A record that quantizes conv1 alone.
Record conv1(std::vector<float> scale_w) {
  const std::vector<std::int32_t> offset_w(scale_w.size(), 0);
  return {{.name = "conv1",
           .record_d = {{.scale_d = 0.05F, .offset_d = 3, .index = 0, .num_bits_d = 8}},
           .scale_w = std::move(scale_w),
           .offset_w = offset_w,
           .num_bits_w = 8}};
}

}  // namespace

TEST_CASE("A saved static graph has its BatchNormalization folded, and nodes know what they stand for") {
  const auto prepared = support::prepared_fx();
  const auto saved = flow::fold_fx(prepared, conv1({0.02F}));
  CHECK(saved.graph.find_node("bn1") == nullptr);
  CHECK(saved.origins.at("conv1") == std::vector<std::string>{"conv1", "bn1"});
  // gamma / sqrt(variance + eps) of the first two channels: 1/5, -0.5/sqrt(20)
  REQUIRE(saved.record[0].scale_w.size() == 6);
  CHECK(saved.record[0].scale_w[0] == doctest::Approx(0.02 / 5.0).epsilon(1e-5));
  CHECK(saved.record[0].scale_w[1] == doctest::Approx(0.02 * 0.5 / 4.472136).epsilon(1e-5));
  CHECK_NOTHROW((void)flow::deploy(saved.graph, saved.record, flow::deploy_options(rules_of(Flavour::hotwheels))));
  CHECK(prepared.graph.find_node("bn1") != nullptr);
}

TEST_CASE("The record that is written deploys the float network as the calibration did") {
  const auto prepared = support::prepared_fx();
  flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, support::quantizers()),
                                flow::calibration_options(prepared), support::ops());
  const auto batch = support::fx_batches(1)[0];
  (void)calibration.observe(batch);
  const FlavourRules& rules = rules_of(Flavour::hotwheels);
  const auto saved = flow::fold_fx(prepared, calibration.finish());
  const auto applied = flow::apply_record(support::fx_net(), saved.record, rules, support::ops());
  const auto outputs = [&](const flow::Recorded& network) {
    const flow::Execution execution(flow::deploy(network.graph, network.record, flow::deploy_options(rules)),
                                    flow::Mode::real_quant, support::integer_ops());
    return execution.run(batch);
  };
  CHECK(support::same_bits(outputs(saved)[0], outputs(applied)[0]));
}

TEST_CASE("Factors that the network cannot have are refused by name") {
  const auto error = support::error_of([] { (void)flow::fold_fx(support::prepared_fx(), conv1({0.1F, 0.1F})); });
  REQUIRE(error.has_value());
  CHECK(error->code() == ErrorCode::record_value);
  CHECK(support::contains(error->what(), "layer \"conv1\" scale_w"));
}

TEST_CASE("Statistics that were updated on the quantized network are those that are folded") {
  auto prepared = support::prepared_fx();
  flow::BatchNormUpdater updater(prepared.graph, {.momentum = 1.0}, support::ops());
  updater.update_bn_status(true);
  (void)updater.run(support::fx_batches(1)[0]);
  updater.write_to(prepared.graph);
  const auto& found = updater.statistics().at("bn1");
  const auto saved = flow::fold_fx(prepared, conv1({0.02F}));
  CHECK(saved.record[0].scale_w[0] ==
        doctest::Approx(0.02 / std::sqrt(static_cast<double>(found.variance[0]) + 1e-5)).epsilon(1e-5));
}
