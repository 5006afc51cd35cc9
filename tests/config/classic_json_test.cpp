// SPDX-License-Identifier: Apache-2.0
#include <amct/config/classic_json.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

/// The value in one line, without quotes: {a:1,b:[0.7,1.3]}.
std::string line(const ConfigValue& value) {
  std::string text;
  if (const auto* members = value.object()) {
    for (const auto& [name, member] : *members) text += (text.empty() ? "" : ",") + name + ':' + line(member);
    return '{' + text + '}';
  }
  if (const auto* items = value.list()) {
    for (const auto& item : *items) text += (text.empty() ? "" : ",") + line(item);
    return '[' + text + ']';
  }
  return value.text() != nullptr ? *value.text() : describe(value);
}

std::string written(const QuantPlan& plan, Flavour flavour = Flavour::pytorch) {
  return line(to_classic_json(plan, rules_of(flavour)));
}

const std::string kIfmr =
    "num_bits:8,max_percentile:0.999999,min_percentile:0.999999,search_range:[0.7,1.3],search_step:0.01";

}  // namespace

TEST_CASE("what is global comes first, then the layers by name") {
  QuantPlan plan{.batch_num = 2, .activation_offset = false, .do_fusion = false, .skip_fusion_layers = {"b", "a"}};
  CHECK(written(plan) == "{version:1,batch_num:2,activation_offset:false,do_fusion:false,skip_fusion_layers:[b,a]}");
  plan.force_fp16 = true;
  CHECK(written(plan).find("do_fusion:false,fakequant_precision_mode:FORCE_FP16_QUANT,skip_fusion") !=
        std::string::npos);
  plan.layers = {{.name = "fc"}, {.name = "Z"}, {.name = "conv"}};
  const ConfigValue value = to_classic_json(plan, rules_of(Flavour::pytorch));
  std::string names;
  for (const auto& member : *value.object()) names += member.name + ' ';
  CHECK(names.ends_with("skip_fusion_layers Z conv fc "));
}

TEST_CASE("a layer states its algorithms with AMCT's keys in AMCT's order") {
  const auto layer = [](LayerPlan plan) {
    plan.name = "l";
    return line(*to_classic_json({.layers = {plan}}, rules_of(Flavour::pytorch)).find("l"));
  };
  CHECK(
      layer({.weights = {.channel_wise = true}}) ==
      "{quant_enable:true,activation_quant_params:{" + kIfmr +
          ",act_algo:ifmr,asymmetric:true},weight_quant_params:{num_bits:8,channel_wise:true,wts_algo:arq_quantize}}");
  CHECK(layer({.enabled = false,
               .dmq_strength = 0.5,
               .activations = {{.algorithm = ActivationAlgorithm::hfmg, .bits = 16, .asymmetric = false}},
               .weights = {.algorithm = WeightAlgorithm::ada}}) ==
        "{quant_enable:false,dmq_balancer_param:0.5,activation_quant_params:{num_bits:16,act_algo:hfmg,"
        "asymmetric:false,num_of_bins:4096},weight_quant_params:{num_bits:8,reg_param:0.01,warm_start:0.2,"
        "num_iteration:10000,beta_range:[20,2],channel_wise:false,wts_algo:ada_quantize}}");
  CHECK(layer({.weights = {.algorithm = WeightAlgorithm::none}}).ends_with("asymmetric:true}}"));
}

TEST_CASE("the list form of hotwheels: an entry for each input, update_bn, and no algorithm but SNQ") {
  QuantPlan plan;
  plan.layers = {
      {.name = "add", .activations = {{}, {.asymmetric = false}}, .weights = {.algorithm = WeightAlgorithm::none}},
      {.name = "conv", .weights = {.channel_wise = true}},
      {.name = "fc", .weights = {.algorithm = WeightAlgorithm::snq, .bits = 4}}};
  CHECK(written(plan, Flavour::hotwheels_dynamic) ==
        "{version:1,batch_num:1,activation_offset:true,do_fusion:true,skip_fusion_layers:[],update_bn:false,"
        "add:{quant_enable:true,activation_quant_params:[{" +
            kIfmr + "},{" + kIfmr +
            ",asymmetric:false}]},"
            "conv:{quant_enable:true,activation_quant_params:[{" +
            kIfmr +
            "}],weight_quant_params:{num_bits:8,channel_wise:true}},"
            "fc:{quant_enable:true,activation_quant_params:[{" +
            kIfmr +
            "}],weight_quant_params:{num_bits:4,channel_wise:false,max_iteration:1000,min_distance:1e-10,"
            "init_algo:uniform,wts_algo:snq_quantize}}}");
  plan.layers.clear();
  plan.batch_norm_update = BatchNormUpdate{.iterations = 7, .momentum = 0.2};
  CHECK(written(plan, Flavour::hotwheels_dynamic)
            .ends_with("update_bn:true,bn_update_config:{bn_update_iterations:7,bn_momentum:0.2}}"));
}

TEST_CASE("a layer that has the name of a parameter is refused") {
  try {
    (void)to_classic_json({.layers = {{.name = "version"}}}, rules_of(Flavour::pytorch));
    FAIL("no error was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::config_layer);
    CHECK(error.where().layer == "version");
  }
}
