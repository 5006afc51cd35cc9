// SPDX-License-Identifier: Apache-2.0
#include <amct/config/distill_config.hpp>

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
                         {.name = "pool", .kind = LayerKind::avg_pool2d},
                         {.name = "fc", .kind = LayerKind::linear}};
const Network kNetwork{{.name = "conv1", .op_type = "Conv", .inputs = {"x"}, .outputs = {"a"}},
                       {.name = "relu", .op_type = "Relu", .inputs = {"a"}, .outputs = {"b"}},
                       {.name = "conv2", .op_type = "Conv", .inputs = {"b"}, .outputs = {"c"}},
                       {.name = "pool", .op_type = "AveragePool", .inputs = {"c"}, .outputs = {"d"}},
                       {.name = "fc", .op_type = "Gemm", .inputs = {"d"}, .outputs = {"y"}}};

using Groups = std::vector<std::vector<std::string>>;

struct Outcome {
  DistillPlan plan{};
  std::string findings{};
};

Outcome resolve(const std::string& text) {
  const FlavourRules& rules = rules_of(Flavour::pytorch);
  Diagnostics out;
  const auto config = read_distill_config(support::config(text), "f", kLayers, kNetwork, rules, out);
  Outcome outcome;
  outcome.plan = resolve_distill(config, kLayers, kNetwork, rules, "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

std::string pair(const std::string& data, const std::string& weights) {
  return resolve(R"({"quant_skip_layers": ["conv1"], "distill_data_quant_config": {"ulq_quantize": {"dst_type": ")" +
                 data + R"("}}, "distill_weight_quant_config": {"arq_distill": {"dst_type": ")" + weights + R"("}}})")
      .findings;
}

}  // namespace

TEST_CASE("Defaults: every layer a group, 8 bits") {
  const auto [plan, findings] = resolve("{}");
  CHECK(findings.empty());
  CHECK(plan.batch_num == 1);
  CHECK(plan.group_size == 1);
  CHECK_FALSE(plan.data_dump);
  CHECK(plan.groups == Groups{{"conv1", "relu"}, {"conv2"}, {"fc"}});
  REQUIRE(plan.layers.size() == 3);
  CHECK(plan.find("conv2")->data == RetrainData{});
  CHECK(plan.find("conv2")->weights == RetrainWeights{.channel_wise = true});
  CHECK(plan.find("fc")->weights == RetrainWeights{.channel_wise = false});
}

TEST_CASE("Parameters, groups and levels are read") {
  const auto [plan, findings] = resolve(R"({"batch_num": 4, "group_size": 2, "data_dump": true,
    "distill_group": [{"start_layer_name": "conv1", "end_layer_name": "conv2"}],
    "distill_data_quant_config": {"ulq_quantize": {"clip_max_min": {"clip_max": 2, "clip_min": -1}}},
    "distill_override_layers": [{"layer_name": "conv1", "distill_weight_quant_config": {"ulq_distill": {}},
                                 "distill_data_quant_config": {"ulq_quantize": {}}}],
    "distill_override_layer_types": [{"layer_type": "Linear",
                                      "distill_data_quant_config": {"ulq_quantize": {"fixed_min": true}}}]})");
  CHECK(findings.empty());
  CHECK(plan.batch_num == 4);
  CHECK(plan.group_size == 2);
  CHECK(plan.data_dump);
  CHECK(plan.groups == Groups{{"conv1", "relu", "conv2"}, {"fc"}});
  CHECK(plan.find("conv1")->weights.algorithm == RetrainWeightAlgorithm::ulq);
  CHECK(plan.find("conv1")->data == RetrainData{});
  CHECK(plan.find("conv2")->data == RetrainData{.clip_max = 2.0, .clip_min = -1.0});
  CHECK(plan.find("fc")->data == RetrainData{.fixed_min = true});
}

TEST_CASE("Skipped layers stay in the plan but in no group") {
  const auto [plan, findings] = resolve(R"({"quant_skip_layers": ["conv1"], "quant_skip_layer_types": ["Linear"]})");
  CHECK(findings.empty());
  CHECK_FALSE(plan.find("conv1")->enabled);
  CHECK_FALSE(plan.find("fc")->enabled);
  CHECK(plan.groups == Groups{{"conv2"}});
}

TEST_CASE("Data and weights have 4 or 8 bits") {
  for (const auto& [data, weights] : {std::pair{"INT8", "INT8"}, {"INT8", "INT4"}, {"INT4", "INT4"}}) {
    CHECK_FALSE(contains(pair(data, weights), "not supported"));
  }
  for (const auto& [data, weights] : {std::pair{"INT16", "INT8"}, {"INT4", "INT8"}}) {
    CHECK(contains(pair(data, weights), "are not supported, expected INT8 with INT8, INT8 with INT4, INT4 with INT4"));
  }
}

TEST_CASE("Data of 4 bits follow weights that cannot be packed") {
  const auto [plan, findings] = resolve(R"({"distill_data_quant_config": {"ulq_quantize": {"dst_type": "INT4"}},
    "distill_weight_quant_config": {"arq_distill": {"dst_type": "INT4"}}})");
  CHECK(contains(findings, "warning: "));
  CHECK_FALSE(contains(findings, "not supported"));
  CHECK((plan.find("conv1")->data.bits == 8 && plan.find("conv1")->weights.bits == 8));
  CHECK((plan.find("conv2")->data.bits == 4 && plan.find("conv2")->weights.bits == 4));
}

TEST_CASE("What does not fit is refused with its place") {
  CHECK(contains(resolve(R"({"batch_num": 0})").findings, "f:1:15 batch_num: got 0, expected at least 1"));
  CHECK(contains(resolve(R"({"group_size": 0})").findings, "group_size: got 0, expected at least 1"));
  CHECK(contains(resolve(R"({"x": 0})").findings, "x: is not a known parameter"));
  CHECK(contains(resolve(R"({"quant_skip_layers": ["zz"]})").findings, "there is no layer \"zz\""));
  CHECK(contains(resolve(R"({"quant_skip_layer_types": ["AvgPool2d"]})").findings, "cannot be configured here"));
  CHECK(contains(resolve(R"({"quant_skip_layers": ["*"]})").findings, "no layer is left to quantize"));
  CHECK(contains(resolve(R"({"distill_override_layers": [{"layer_name": "pool"}]})").findings,
                 "cannot be configured here"));
}

TEST_CASE("Groups that do not exist are refused with their places") {
  const auto group = [](const std::string& start, const std::string& end) {
    return resolve("{\"distill_group\":\n[{\"start_layer_name\": \"" + start + "\", \"end_layer_name\": \"" + end +
                   "\"}]}")
        .findings;
  };
  CHECK(group("conv1", "fc").empty());
  CHECK(contains(group("zz", "fc"), "f:2:2 distill_group: there is no node \"zz\""));
  CHECK(contains(group("fc", "conv1"), "node \"conv1\" does not follow \"fc\""));
  CHECK(contains(group("pool", "pool"), "the group from \"pool\" to \"pool\" has no layer to quantize"));
  CHECK(contains(resolve(R"({"distill_group": [{"start_layer_name": "fc"}]})").findings,
                 "distill_group.end_layer_name: is missing"));
}
