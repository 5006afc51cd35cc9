// SPDX-License-Identifier: Apache-2.0
#include <amct/config/retrain_config.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const LayerTable kLayers{{.name = "conv1"},
                         {.name = "conv2"},
                         {.name = "pool", .kind = LayerKind::avg_pool2d, .op_type = "AveragePool"},
                         {.name = "fc", .kind = LayerKind::linear}};

struct Outcome {
  RetrainConfig config{};
  std::string findings{};
};

Outcome read(const std::string& text, RetrainMode mode = RetrainMode::quantize, Flavour flavour = Flavour::pytorch) {
  Diagnostics out;
  Outcome outcome;
  outcome.config = read_retrain_config(support::config(text), "dir/f.cfg", kLayers,
                                       {"conv1", "bn1", "conv2", "pool", "fc"}, rules_of(flavour), mode, out);
  outcome.findings = support::text_of(out);
  return outcome;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("A config that says nothing has AMCT's defaults") {
  Diagnostics out;
  const auto config = read_retrain_config({}, "f", kLayers, {}, rules_of(Flavour::pytorch), RetrainMode::quantize, out);
  CHECK(out.all().empty());
  CHECK(config.batch_num == 1);
  CHECK_FALSE(config.force_fp16);
  CHECK_FALSE(config.levels.common.data.has_value());
  CHECK(read("{}").findings.empty());
}

TEST_CASE("Global parameters are read and checked") {
  const auto outcome = read(R"({"batch_num": 3, "fakequant_precision_mode": "FORCE_FP16_QUANT"})");
  CHECK(outcome.findings.empty());
  CHECK(outcome.config.batch_num == 3);
  CHECK(outcome.config.force_fp16);
  CHECK(contains(read(R"({"batch_num": 0})").findings, "dir/f.cfg:1:15 batch_num: got 0, expected at least 1"));
  CHECK(contains(read(R"({"fakequant_precision_mode": "X"})").findings, "expected DEFAULT or FORCE_FP16_QUANT"));
  CHECK(contains(read(R"({"nonsense": 1})").findings, "nonsense: is not a known parameter"));
}

TEST_CASE("Skip lists keep layers from quantization, pruning, or both") {
  const auto both = read(R"({"skip_layers": ["conv1"], "skip_layer_types": ["Linear"]})").config;
  CHECK(both.not_quantized == Names{"conv1", "fc"});
  CHECK(both.not_pruned == Names{"conv1", "fc"});
  const auto quant = read(R"({"quant_skip_layers": ["conv1"], "quant_skip_types": ["Linear"]})").config;
  CHECK(quant.not_quantized == Names{"conv1", "fc"});
  CHECK(quant.not_pruned.empty());
  const auto prune = read(R"({"regular_prune_skip_layers": ["conv*"], "regular_prune_skip_types": ["Linear"]})").config;
  CHECK(prune.not_pruned == Names{"conv1", "conv2", "fc"});
  CHECK(prune.not_quantized.empty());
}

TEST_CASE("Types without weights belong to hotwheels only") {
  CHECK(contains(read(R"({"skip_layer_types": ["AvgPool2d"]})").findings,
                 "skip_layer_types: layers of type \"AvgPool2d\" cannot be configured here"));
  CHECK(read(R"({"skip_layer_types": ["AvgPool2d"]})", RetrainMode::quantize, Flavour::hotwheels_dynamic)
            .config.not_quantized == Names{"pool"});
  CHECK(read(R"({"skip_layer_types": ["ConvTranspose2d"]})").findings.empty());
}

TEST_CASE("Levels are read, and their names checked") {
  const auto outcome = read(R"({
    "retrain_data_quant_config": {"ulq_quantize": {}},
    "override_layer_types": [{"layer_type": "Linear", "retrain_weight_quant_config": {"arq_retrain": {}}}],
    "override_layer_configs": [{"layer_name": "conv1", "retrain_data_quant_config": {"ulq_quantize": {"fixed_min": true}}}]})");
  CHECK(outcome.findings.empty());
  CHECK(outcome.config.levels.common.data->where.line == 2);
  CHECK(outcome.config.levels.types.at(0).second.weights.has_value());
  CHECK(outcome.config.levels.layers.at("conv1").data->value.fixed_min == true);

  CHECK(contains(read(R"({"override_layer_types": [{"layer_type": "Foo"}]})").findings, "\"Foo\" is not known"));
  CHECK(contains(read(R"({"override_layer_configs": [{"layer_name": "zz"}]})").findings, "there is no layer \"zz\""));
  CHECK(contains(read(R"({"override_layer_configs": [{"layer_name": "bn1"}]})").findings, "cannot be configured here"));
  CHECK(contains(read(R"({"override_layer_configs": [{"layer_name": "fc"}, {"layer_name": "fc"}]})").findings,
                 "\"fc\" is repeated"));
}

TEST_CASE("Every finding is reported, not only the first") {
  const auto findings = read(R"({"batch_num": 0, "skip_layers": ["zz"], "x": 1})").findings;
  CHECK(contains(findings, "batch_num"));
  CHECK(contains(findings, "\"zz\""));
  CHECK(contains(findings, "x: is not a known parameter"));
}

TEST_CASE("What a mode does not do is refused for pruning and ignored for quantization") {
  const std::string prune =
      R"("prune_config": {"filter_pruner": {"balanced_l2_norm_filter_prune": {"prune_ratio": 0.3}}})";
  const std::string data = R"("retrain_data_quant_config": {"ulq_quantize": {}})";
  const std::string both = '{' + prune + ", " + data + '}';
  CHECK(contains(read(both).findings, "prune_config: must not be given, as pruning is off"));
  CHECK(contains(read(R"({"override_layer_configs": [{"layer_name": "fc", )" + prune + "}]}").findings,
                 "override_layer_configs.prune_config: must not be given"));
  CHECK(read(both, RetrainMode::compress).findings.empty());
  CHECK(contains(read(both, RetrainMode::prune).findings, "warning: amct: [config.range] dir/f.cfg"));
  CHECK_FALSE(contains(read(both, RetrainMode::prune).findings, "prune_config"));
}

TEST_CASE("An om.json is looked for beside the config") {
  CHECK(read(R"({"om_config": {"mapping_file": "a/inst.om.json"}})").config.om_mapping_file == "dir/a/inst.om.json");
  CHECK(read(R"({"om_config": {"mapping_file": "/a/inst.om.json"}})").config.om_mapping_file == "/a/inst.om.json");
  CHECK(contains(read(R"({"om_config": {}})").findings, "om_config.mapping_file: is missing"));
}
