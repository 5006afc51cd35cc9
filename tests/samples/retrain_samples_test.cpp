// SPDX-License-Identifier: Apache-2.0
// Samples of the hotwheels guide for quantization-aware training.
#include <filesystem>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/config_text.hpp>

#include "support/config_text.hpp"
#include "support/data.hpp"

using namespace amct;

namespace {

const FlavourRules& kRules = rules_of(Flavour::hotwheels_dynamic);

}  // namespace

TEST_CASE("The easy config of the guide: LUQ for all, LNQ for Gemm, ULQ and ARQ for one layer") {
  const LayerTable layers{{.name = "Conv", .op_type = "Conv"},
                          {.name = "Conv_1", .op_type = "Conv"},
                          {.name = "add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2},
                          {.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"}};
  const auto file = support::seed("retrain_hotwheels.cfg");
  Diagnostics out;
  const auto value = protobuf::read_cfg(file, protobuf::CfgSchema::retrain_hotwheels);
  const auto config = read_retrain_config(value, file.string(), layers, {}, kRules, RetrainMode::quantize, out);
  const RetrainPlan plan = resolve_retrain(config, layers, kRules, RetrainMode::quantize, file.string(), out);
  CHECK(support::text_of(out).empty());
  CHECK(config.om_mapping_file == file.parent_path() / "./retrain_conf/inst.om.json");

  REQUIRE(plan.layers.size() == 4);
  const RetrainLayer& named = plan.layers[0];
  CHECK(named.data == std::vector{RetrainData{.clip_max = 3.0, .clip_min = -3.0}});
  CHECK(named.weights == RetrainWeights{.channel_wise = true});
  const RetrainData luq{.algorithm = RetrainDataAlgorithm::luq};
  CHECK(plan.layers[1].data == std::vector{luq});
  CHECK(plan.layers[1].weights == RetrainWeights{.channel_wise = true});
  CHECK(plan.layers[2].data == std::vector{luq, luq});
  // The type names weights only: its data come from the upper level.
  CHECK(plan.layers[3].data == std::vector{luq});
  CHECK(plan.layers[3].weights ==
        RetrainWeights{.algorithm = RetrainWeightAlgorithm::lnq, .bits = 4, .cluster_freq = 1200});
}

TEST_CASE("The full config of the guide is read and written back") {
  const LayerTable layers{
      {.name = "conv1"},
      {.name = "layer1.0.conv1"},
      {.name = "layer1.0.eltwise_add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2},
      {.name = "fc", .kind = LayerKind::linear}};
  const auto file = support::seed("retrain_hotwheels.json");
  Diagnostics out;
  const ConfigValue value = support::config_file(file);
  const RetrainPlan plan = from_retrain_json(value, layers, kRules, file.string(), out);
  CHECK(support::text_of(out).empty());
  REQUIRE(plan.layers.size() == 4);
  CHECK(plan.layers[1].weights == RetrainWeights{.algorithm = RetrainWeightAlgorithm::lnq,
                                                 .bits = 4,
                                                 .cluster_freq = 1200,
                                                 .max_iteration = 1000,
                                                 .min_distance = 0.0001,
                                                 .clip_max = 3.0});
  CHECK(plan.layers[2].data.size() == 2);
  CHECK(support::compact(to_retrain_json(plan, kRules)) == support::compact(value));
}
