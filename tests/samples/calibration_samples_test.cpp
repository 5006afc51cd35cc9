// SPDX-License-Identifier: Apache-2.0
// Samples of the users' documents for calibration configs: MindSpore's page and the hotwheels guide (dynamic graph).
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/config/read_classic_json.hpp>
#include <amct/config/resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

#include "support/config_text.hpp"
#include "support/data.hpp"

using namespace amct;

namespace {

const LayerInfo kConv{.name = "conv1", .kind = LayerKind::conv2d, .op_type = "Conv"};

LayerInfo named(LayerInfo layer, const std::string& name) {
  layer.name = name;
  return layer;
}

const FlavourRules& kDynamic = rules_of(Flavour::hotwheels_dynamic);

}  // namespace

TEST_CASE("K1: MindSpore's sample resolves on a network with a Dense layer although channel_wise is true for all") {
  const LayerTable layers = {named(kConv, "conv_1"), {.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"}};
  const std::vector<std::string> nodes = {"conv_1", "fc"};
  const FlavourRules& rules = rules_of(Flavour::mindspore);
  Diagnostics out;
  const EasyConfig config = protobuf::read_calibration_cfg(support::seed("calibration_mindspore.cfg"), rules, out);
  const QuantPlan plan = resolve(config, layers, nodes, rules, out);
  CHECK_FALSE(out.has_errors());
  CHECK_FALSE(plan.find("conv_1")->enabled);  // named, and of a skipped type
  CHECK(plan.find("fc")->enabled);
  CHECK_FALSE(plan.find("fc")->weights.channel_wise);
  CHECK(plan.skip_fusion_layers == std::vector<std::string>{"conv_1"});

  Diagnostics strict;
  (void)resolve(config, layers, nodes, rules_of(Flavour::pytorch), strict);
  CHECK(support::contains(support::text_of(strict), "got true, expected false for layer type Linear"));
}

TEST_CASE("K8: the guide's easy config: SNQ and 12 bits for all, ARQ for Gemm and for one layer") {
  const LayerTable layers = {kConv,
                             named(kConv, "layer1.2.conv2"),
                             {.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"},
                             {.name = "add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2}};
  const std::vector<std::string> nodes = {"conv1", "layer1.1.conv2", "layer1.2.conv2", "fc", "add"};
  Diagnostics out;
  const auto file = support::seed("calibration_hotwheels.cfg");
  const EasyConfig config = protobuf::read_calibration_cfg(file, kDynamic, out);
  const QuantPlan plan = resolve(config, layers, nodes, kDynamic, out);
  CHECK(support::text_of(out).empty());
  CHECK(plan.batch_num == 2);
  CHECK(plan.batch_norm_update == BatchNormUpdate{.iterations = 30, .momentum = 0.1});
  CHECK(config.om_mapping_file == (file.parent_path() / "./retrain_conf/inst.om.json").string());
  CHECK(plan.find("conv1")->weights == WeightPlan{.algorithm = WeightAlgorithm::snq, .bits = 4, .channel_wise = true});
  for (const auto& layer : plan.layers) CHECK(layer.activations.front().bits == 12);
  CHECK(plan.find("add")->activations.size() == 2);
  CHECK(plan.find("fc")->weights == WeightPlan{});
  CHECK(plan.find("fc")->activations[0].search_start == 0.8);
  CHECK(plan.find("layer1.2.conv2")->weights == WeightPlan{.channel_wise = true});
  CHECK(plan.find("layer1.2.conv2")->activations[0].search_step == 0.02);
}

TEST_CASE("the guide's full config is read; written, it states the widths that it leaves out") {
  const LayerTable layers = {kConv, named(kConv, "layer1.0.conv1")};
  Diagnostics out;
  const QuantPlan plan = from_classic_json(support::config_file(support::seed("calibration_hotwheels.json")), layers,
                                           {}, kDynamic, "config.json", out);
  CHECK(support::text_of(out).empty());
  CHECK(plan.batch_num == 2);
  REQUIRE(plan.layers.size() == 2);
  CHECK(plan.layers[0].weights.channel_wise);
  CHECK_FALSE(plan.layers[1].weights.channel_wise);
  CHECK(plan.layers[0].activations == std::vector<ActivationPlan>{ActivationPlan{}});
}

TEST_CASE("scene 1 of the guide: a config that quantizes nothing is refused; its layers are written as printed") {
  const LayerTable layers = {{.name = "add_1", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2}};
  const auto value = support::config_file(support::seed("calibration_hotwheels_disabled.json"));
  Diagnostics out;
  const QuantPlan plan = from_classic_json(value, layers, {}, kDynamic, "config.json", out);
  CHECK(support::text_of(out) ==
        "amct: [config.layer] config.json: No quant enable layer in quant config file, please check the quant config "
        "file.\n");
  CHECK(support::compact(to_classic_json(plan, kDynamic)) == support::compact(value));
}
