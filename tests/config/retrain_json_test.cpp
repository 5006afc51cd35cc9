// SPDX-License-Identifier: Apache-2.0
#include <amct/config/retrain_json.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const LayerTable kLayers{
    {.name = "conv1"}, {.name = "pool", .kind = LayerKind::avg_pool2d}, {.name = "fc", .kind = LayerKind::linear}};
const LayerTable kLayersWithAdd{{.name = "conv1"},
                                {.name = "add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2}};

struct Outcome {
  RetrainPlan plan{};
  std::string findings{};
};

Outcome read(const std::string& text, Flavour flavour = Flavour::pytorch, const LayerTable& layers = kLayers) {
  Diagnostics out;
  Outcome outcome;
  outcome.plan = from_retrain_json(support::config(text), layers, rules_of(flavour), "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

std::string with(const std::string& members) {
  return read(R"({"conv1": {"retrain_enable": true, )" + members + "}}").findings;
}

}  // namespace

TEST_CASE("A plan is written in AMCT's order and read back") {
  RetrainPlan plan{.batch_num = 2, .force_fp16 = true};
  plan.layers.push_back({.name = "conv1", .data = {RetrainData{.bits = 16}}, .weights = {.channel_wise = true}});
  plan.layers.push_back({.name = "fc", .kind = LayerKind::linear, .enabled = false, .data = {RetrainData{}}});
  const ConfigValue value = to_retrain_json(plan, rules_of(Flavour::pytorch));
  CHECK(support::compact(value) ==
        R"({"version":1,"fakequant_precision_mode":"FORCE_FP16_QUANT","batch_num":2,)"
        R"("conv1":{"retrain_enable":true,"retrain_data_config":{"algo":"ulq_quantize","dst_type":"INT16"},)"
        R"("retrain_weight_config":{"algo":"arq_retrain","channel_wise":true,"dst_type":"INT8"}},)"
        R"("fc":{"retrain_enable":false,"retrain_data_config":{"algo":"ulq_quantize","dst_type":"INT8"},)"
        R"("retrain_weight_config":{"algo":"arq_retrain","channel_wise":false,"dst_type":"INT8"}}})");
  const auto back = read(support::compact(value));
  CHECK(back.findings.empty());
  CHECK(back.plan == plan);
}

TEST_CASE("Pruning adds its members, or stands alone") {
  RetrainPlan plan{.mode = RetrainMode::compress};
  plan.layers.push_back(
      {.name = "conv1", .data = {RetrainData{}}, .prune_enabled = true, .prune = FilterPrune{.prune_ratio = 0.5}});
  plan.layers.push_back({.name = "fc", .kind = LayerKind::linear, .data = {RetrainData{}}});
  const auto both = support::compact(to_retrain_json(plan, rules_of(Flavour::pytorch)));
  CHECK(contains(both, R"("dst_type":"INT8"},"regular_prune_enable":true,"regular_prune_config":{"prune_type":)"));
  CHECK(contains(both, R"("regular_prune_enable":false}})"));
  CHECK(read(both).plan == plan);

  plan.mode = RetrainMode::prune;
  for (auto& layer : plan.layers) {
    layer.enabled = false;
    layer.data.clear();
  }
  const auto alone = support::compact(to_retrain_json(plan, rules_of(Flavour::pytorch)));
  CHECK_FALSE(contains(alone, "retrain_"));
  CHECK(read(alone).plan == plan);
}

TEST_CASE("A layer that was deleted is not retrained, missing members take their defaults") {
  const auto [plan, findings] = read(R"({"conv1": {}, "fc": {"retrain_enable": true}})");
  CHECK(findings.empty());
  CHECK(plan.layers.size() == 2);
  CHECK(plan.find("conv1")->weights.channel_wise);
  CHECK(read(R"({"fc": {}})").plan.find("conv1") == nullptr);
}

TEST_CASE("Global parameters are checked") {
  CHECK(contains(read(R"({"version": 2, "fc": {}})").findings, "f:1:13 version: got 2, expected 1"));
  CHECK(contains(read(R"({"batch_num": 0, "fc": {}})").findings, "batch_num: got 0, expected at least 1"));
  CHECK(contains(read(R"({"batch_num": 1.0, "fc": {}})").findings, "batch_num: got 1, expected a whole number"));
  CHECK(contains(read(R"({"fakequant_precision_mode": 3, "fc": {}})").findings, "got 3, expected a text"));
  CHECK(contains(read(R"({"fc": {}, "conv2": {}})").findings, "conv2: is neither a parameter nor a layer"));
  CHECK(contains(read(R"({"fc": {}, "pool": {}})").findings, "pool: is neither a parameter nor a layer"));
  CHECK(contains(read("{}").findings, "no layer is left to quantize"));
  CHECK(contains(read("[]").findings, "got a list, expected an object"));
  CHECK(contains(read(R"({"fc": 3})").findings, "f:1:8 layer \"fc\": got 3, expected an object"));
}

TEST_CASE("Layers are checked as in easy configs, with line, layer and field") {
  CHECK(contains(with(R"("retrain_enable2": true)"), "retrain_enable2: is not a known parameter"));
  CHECK(contains(with(R"("retrain_data_config": {"algo": "ulq_quantize", "clip_max": 1})"),
                 "layer \"conv1\" retrain_data_config.clip_min: is missing"));
  CHECK(contains(with(R"("retrain_data_config": {"algo": "ulq_quantize", "dst_type": "INT4"})"),
                 "data of 4 bits with weights of 8 bits are not supported"));
  CHECK(contains(with(R"("retrain_weight_config": {"algo": "foo"})"),
                 "got \"foo\", expected arq_retrain or ulq_retrain"));
  CHECK(contains(with(R"("regular_prune_enable": true)"), "regular_prune_config: is missing: how the layer is pruned"));
  CHECK(contains(read(R"({"fc": {"retrain_weight_config": {"algo": "arq_retrain", "channel_wise": true}}})").findings,
                 "channel_wise: got true, expected false for Linear"));
}

TEST_CASE("Hotwheels lists an object for each input, also of layers without weights") {
  const std::string text = R"({"version":1,"batch_num":1,"add":{"retrain_enable":true,"retrain_data_config":[)"
                           R"({"algo":"luq_quantize","num_bits":8},{"algo":"ulq_quantize","num_bits":12}]}})";
  const auto [plan, findings] = read(text, Flavour::hotwheels_dynamic, kLayersWithAdd);
  CHECK(findings.empty());
  CHECK(plan.layers.at(0).data ==
        std::vector{RetrainData{.algorithm = RetrainDataAlgorithm::luq}, RetrainData{.bits = 12}});
  CHECK(support::compact(to_retrain_json(plan, rules_of(Flavour::hotwheels_dynamic))) == text);

  const auto refused = [](const std::string& data) {
    return read(R"({"add": {"retrain_enable": true, "retrain_data_config": )" + data + "}}", Flavour::hotwheels_dynamic,
                kLayersWithAdd)
        .findings;
  };
  CHECK(contains(refused(R"([{"algo": "luq_quantize"}])"),
                 "got a list of 1, expected a list with an object for each of 2"));
  CHECK(contains(refused("{}"), "got an object, expected a list"));
  CHECK(contains(refused(R"([{"algo": "luq_quantize"}, {"algo": "x"}])"), "retrain_data_config[1].algo: got \"x\""));
  CHECK(contains(read(R"({"conv1": {}})", Flavour::hotwheels_dynamic).findings, "retrain_enable: is missing"));
}
