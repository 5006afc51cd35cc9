// SPDX-License-Identifier: Apache-2.0
#include <amct/config/retrain_resolve.hpp>

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const LayerTable kLayers{{.name = "conv1", .packs_int4 = false},
                         {.name = "conv2"},
                         {.name = "conv3d", .kind = LayerKind::conv3d},
                         {.name = "dw", .packs_int4 = false, .depthwise = true},
                         {.name = "pool", .kind = LayerKind::avg_pool2d, .op_type = "AveragePool"},
                         {.name = "fc", .kind = LayerKind::linear}};

struct Outcome {
  RetrainPlan plan{};
  std::string findings{};
};

Outcome resolve(const std::string& text, RetrainMode mode = RetrainMode::quantize, Flavour flavour = Flavour::pytorch) {
  const FlavourRules& rules = rules_of(flavour);
  Diagnostics out;
  const auto config = read_retrain_config(support::config(text), "f", kLayers, {}, rules, mode, out);
  Outcome outcome;
  outcome.plan = resolve_retrain(config, kLayers, rules, mode, "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

std::string pair(const std::string& data, const std::string& weights) {
  return resolve(R"({"skip_layer_types": ["Conv3d"], "retrain_data_quant_config": {"ulq_quantize": {"dst_type": ")" +
                 data + R"("}}, "retrain_weight_quant_config": {"arq_retrain": {"channel_wise": false, "dst_type": ")" +
                 weights + R"("}}})")
      .findings;
}

}  // namespace

TEST_CASE("Defaults: every layer with weights, 8 bits, one scale a channel where there are channels") {
  const auto [plan, findings] = resolve("{}");
  CHECK(findings.empty());
  REQUIRE(plan.layers.size() == 5);
  CHECK(plan.find("pool") == nullptr);
  const RetrainLayer& conv = *plan.find("conv1");
  CHECK(conv.enabled);
  CHECK(conv.data == std::vector{RetrainData{}});
  CHECK(conv.weights == RetrainWeights{.channel_wise = true});
  CHECK(plan.find("fc")->weights == RetrainWeights{.channel_wise = false});
  CHECK_FALSE(conv.prune_enabled);
}

TEST_CASE("The pairs of widths that training has are accepted, all others refused once") {
  for (const auto& [data, weights] : {std::pair{"INT8", "INT8"}, {"INT16", "INT8"}, {"INT8", "INT4"}}) {
    CHECK_FALSE(contains(pair(data, weights), "not supported"));
  }
  for (const auto& [data, weights] :
       {std::pair{"INT4", "INT4"}, {"INT4", "INT8"}, {"INT4", "INT16"}, {"INT8", "INT16"}, {"INT16", "INT16"}}) {
    const std::string findings = pair(data, weights);
    CHECK(contains(findings, "are not supported, expected INT8 with INT8, INT16 with INT8, INT8 with INT4"));
  }
  const std::string findings = pair("INT8", "INT16");
  CHECK(findings.find("not supported") == findings.rfind("not supported"));
  CHECK(contains(
      findings, "layer \"conv1\" retrain_weight_quant_config.arq_retrain: data of 8 bits with weights of 16 bits are"));
}

TEST_CASE("Weights of 4 bits that cannot be packed have 8, with a warning") {
  const auto [plan, findings] =
      resolve(R"({"retrain_weight_quant_config": {"arq_retrain": {"channel_wise": false, "dst_type": "INT4"}}})");
  CHECK(contains(findings, "warning: "));
  CHECK(contains(findings, "weights of 4 bits cannot be packed"));
  CHECK(plan.find("conv1")->weights.bits == 8);
  CHECK(plan.find("conv2")->weights.bits == 4);
}

TEST_CASE("Wide data are common or named: a layer without them has 8 bits or is refused") {
  const auto common = resolve(R"({"retrain_data_quant_config": {"ulq_quantize": {"dst_type": "INT16"}}})");
  CHECK(contains(common.findings, "warning: "));
  CHECK(contains(common.findings, "data of 16 bits are not possible for Conv3d; 8 are used"));
  CHECK(common.plan.find("conv3d")->data.front().bits == 8);
  CHECK(common.plan.find("conv1")->data.front().bits == 16);
  const auto named = resolve(R"({"override_layer_types": [{"layer_type": "Conv3d",
                                 "retrain_data_quant_config": {"ulq_quantize": {"dst_type": "INT16"}}}]})");
  CHECK_FALSE(contains(named.findings, "warning: "));
  CHECK(contains(named.findings, "layer \"conv3d\""));
}

TEST_CASE("channel_wise on a layer without channels is refused, or ignored with a warning, as the flavour has it") {
  const std::string text = R"({"retrain_weight_quant_config": {"arq_retrain": {"channel_wise": true}}})";
  const auto pytorch = resolve(text);
  CHECK(contains(pytorch.findings, "amct: [config.range] f:1:49 layer \"fc\""));
  CHECK(contains(pytorch.findings, "channel_wise: got true, expected false for Linear"));
  const auto hotwheels = resolve(text, RetrainMode::quantize, Flavour::hotwheels_dynamic);
  CHECK(contains(hotwheels.findings, "warning: "));
  CHECK_FALSE(hotwheels.plan.find("fc")->weights.channel_wise);
  CHECK(hotwheels.plan.find("conv1")->weights.channel_wise);
}

TEST_CASE("An override that states one part takes the default for the other, on hotwheels the upper level's") {
  const std::string text = R"({"retrain_data_quant_config": {"ulq_quantize": {"fixed_min": true}},
    "override_layer_types": [{"layer_type": "Linear", "retrain_weight_quant_config": {"arq_retrain": {}}}]})";
  const auto pytorch = resolve(text);
  CHECK(contains(pytorch.findings, "warning: "));
  CHECK(contains(pytorch.findings, "states no data setting, so its layers take the default"));
  CHECK(pytorch.plan.find("fc")->data.front() == RetrainData{});
  CHECK(pytorch.plan.find("conv1")->data.front() == RetrainData{.fixed_min = true});
  const auto hotwheels = resolve(text, RetrainMode::quantize, Flavour::hotwheels_dynamic);
  CHECK(hotwheels.findings.empty());
  CHECK(hotwheels.plan.find("fc")->data.front() == RetrainData{.fixed_min = true});
}

TEST_CASE("An override that only prunes does not touch quantization") {
  const auto [plan, findings] = resolve(R"({"retrain_data_quant_config": {"ulq_quantize": {"fixed_min": true}},
    "override_layer_configs": [{"layer_name": "fc",
      "prune_config": {"n_out_of_m_pruner": {"l1_selective_prune": {}}}}]})",
                                        RetrainMode::compress);
  CHECK(findings.empty());
  CHECK(plan.find("fc")->data.front() == RetrainData{.fixed_min = true});
  CHECK(plan.find("fc")->prune_enabled);
  CHECK_FALSE(plan.find("conv1")->prune_enabled);
}

TEST_CASE("Layers that cannot be pruned are left out, unless they are named") {
  const std::string prune =
      R"("prune_config": {"filter_pruner": {"balanced_l2_norm_filter_prune": {"prune_ratio": 0.5}}})";
  const auto common = resolve('{' + prune + R"(, "regular_prune_skip_layers": ["fc"]})", RetrainMode::prune);
  CHECK(common.findings.empty());
  CHECK(common.plan.find("conv1")->prune_enabled);
  CHECK_FALSE(common.plan.find("conv1")->enabled);
  CHECK_FALSE(common.plan.find("dw")->prune.has_value());
  CHECK_FALSE(common.plan.find("fc")->prune_enabled);
  CHECK(common.plan.find("fc")->prune.has_value());
  const auto named =
      resolve(R"({"override_layer_configs": [{"layer_name": "dw", )" + prune + "}]}", RetrainMode::prune);
  CHECK(contains(named.findings, "layer \"dw\" override_layer_configs.prune_config: Conv2d cannot be pruned so"));
}

TEST_CASE("Something must be left to do") {
  CHECK(contains(resolve(R"({"skip_layers": ["*"]})").findings, "no layer is left to quantize"));
  CHECK(contains(resolve("{}", RetrainMode::prune).findings, "no layer is left to prune"));
  const auto skipped = resolve(R"({"skip_layers": ["conv1"]})");
  CHECK(skipped.findings.empty());
  CHECK_FALSE(skipped.plan.find("conv1")->enabled);
  CHECK(skipped.plan.find("conv2")->enabled);
}

TEST_CASE("Hotwheels counts bits, and some do not go together") {
  const auto refused = [](const std::string& data, const std::string& weights) {
    return resolve(R"({"retrain_data_quant_config": )" + data + R"(, "retrain_weight_quant_config": )" + weights + '}',
                   RetrainMode::quantize, Flavour::hotwheels_dynamic)
        .findings;
  };
  const std::string luq12 = R"({"luq_retrain": {"num_bits": 12}})";
  CHECK(refused(luq12, R"({"arq_retrain": {"num_bits": 8}})").empty());
  CHECK(contains(refused(luq12, R"({"lnq_retrain": {}})"), "data of more than 8 bits need weights of 8"));
  CHECK(contains(refused(luq12, R"({"arq_retrain": {"num_bits": 7}})"), "expected weights of 4 or 8 bits"));
  CHECK(contains(refused(R"({"fixed_quant_param_retrain": {"scale": 1, "zero_point": 0, "num_bits": 4}})",
                         R"({"arq_retrain": {"num_bits": 8}})"),
                 "data of 4 bits need weights of 4"));
}
