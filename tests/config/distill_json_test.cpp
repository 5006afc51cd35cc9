// SPDX-License-Identifier: Apache-2.0
#include <amct/config/distill_json.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const LayerTable kLayers{{.name = "conv1"}, {.name = "fc", .kind = LayerKind::linear}};
const Network kNetwork{{.name = "conv1", .op_type = "Conv", .inputs = {"x"}, .outputs = {"a"}},
                       {.name = "relu", .op_type = "Relu", .inputs = {"a"}, .outputs = {"b"}},
                       {.name = "fc", .op_type = "Gemm", .inputs = {"b"}, .outputs = {"y"}}};

struct Outcome {
  DistillPlan plan{};
  std::string findings{};
};

Outcome read(const std::string& text) {
  Diagnostics out;
  Outcome outcome;
  outcome.plan = from_distill_json(support::config(text), kLayers, kNetwork, rules_of(Flavour::pytorch), "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

}  // namespace

TEST_CASE("A plan is written in AMCT's order and read back") {
  DistillPlan plan{.batch_num = 2, .group_size = 3, .data_dump = true, .groups = {{"conv1", "relu"}, {"fc"}}};
  plan.layers.push_back({.name = "conv1", .weights = {.channel_wise = true}});
  plan.layers.push_back({.name = "fc",
                         .kind = LayerKind::linear,
                         .data = {.bits = 4, .fixed_min = true},
                         .weights = {.algorithm = RetrainWeightAlgorithm::ulq, .bits = 4}});
  const std::string text = support::compact(to_distill_json(plan, rules_of(Flavour::pytorch)));
  CHECK(text ==
        R"({"version":1,"batch_num":2,"group_size":3,"data_dump":true,"distill_group":[["conv1","relu"],["fc"]],)"
        R"("conv1":{"quant_enable":true,"distill_data_config":{"algo":"ulq_quantize","dst_type":"INT8"},)"
        R"("distill_weight_config":{"algo":"arq_distill","channel_wise":true,"dst_type":"INT8"}},)"
        R"("fc":{"quant_enable":true,"distill_data_config":{"algo":"ulq_quantize","fixed_min":true,"dst_type":"INT4"},)"
        R"("distill_weight_config":{"algo":"ulq_distill","dst_type":"INT4","channel_wise":false}}})");
  const auto back = read(text);
  CHECK(back.findings.empty());
  CHECK(back.plan == plan);
}

TEST_CASE("Missing members take their defaults, and a deleted layer is not quantized") {
  const auto [plan, findings] = read(R"({"fc": {}})");
  CHECK(findings.empty());
  CHECK(plan.layers.size() == 1);
  CHECK(plan.find("fc")->enabled);
  CHECK(plan.groups.empty());
}

TEST_CASE("What does not fit is refused with its place") {
  CHECK(contains(read(R"({"version": 2, "fc": {}})").findings, "version: got 2, expected 1"));
  CHECK(contains(read(R"({"fc": {"x": 1}})").findings, "layer \"fc\" x: is not a known parameter"));
  CHECK(contains(read(R"({"zz": {}})").findings, "zz: is neither a parameter nor a layer"));
  CHECK(contains(read("{}").findings, "no layer is left to quantize"));
  CHECK(contains(read(R"({"fc": {"distill_weight_config": {"algo": "arq_retrain"}}})").findings,
                 "got \"arq_retrain\", expected arq_distill or ulq_distill"));
  CHECK(contains(read(R"({"fc": {"distill_data_config": {"algo": "ulq_quantize", "dst_type": "INT16"}}})").findings,
                 "data of 16 bits with weights of 8 bits are not supported"));
}

TEST_CASE("Groups are lists of names of the network, in its order, and share nothing") {
  const auto group = [](const std::string& list) {
    return read("{\"distill_group\": " + list + R"(, "conv1": {}, "fc": {}})").findings;
  };
  CHECK(group(R"([["conv1", "relu"], ["fc"]])").empty());
  CHECK(contains(group(R"([["relu", "conv1"]])"), "f:1:20 distill_group: node \"conv1\" stands behind a later one"));
  CHECK(contains(group(R"([["fc"], ["fc"]])"), "node \"fc\" is in another group"));
  CHECK(contains(group(R"([["zz"]])"), "there is no node \"zz\""));
  CHECK(contains(group(R"([[]])"), "the group is empty"));
  CHECK(contains(group(R"([["relu"]])"), "the group from \"relu\" to \"relu\" has no layer to quantize"));
  CHECK(contains(group(R"([3])"), "got 3, expected a list of names"));
  CHECK(contains(group(R"([[3]])"), "got a list, expected a list of names"));
  CHECK(contains(group("3"), "got 3, expected a list of lists of names"));
}
