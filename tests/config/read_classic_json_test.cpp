// SPDX-License-Identifier: Apache-2.0
#include <amct/config/read_classic_json.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

namespace {

using namespace amct;

const LayerTable kLayers = {{.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"},
                            {.name = "conv", .kind = LayerKind::conv2d, .op_type = "Conv", .packs_int4 = false},
                            {.name = "conv3d", .kind = LayerKind::conv3d, .op_type = "Conv"},
                            {.name = "pool", .kind = LayerKind::avg_pool2d, .op_type = "AveragePool"},
                            {.name = "add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2}};
const std::vector<std::string> kNodes = {"fc", "relu", "conv", "conv3d", "pool", "add"};

QuantPlan read(const std::string& text, Diagnostics& out, Flavour flavour = Flavour::pytorch) {
  return from_classic_json(support::config(text), kLayers, kNodes, rules_of(flavour), "config.json", out);
}
/// What is found, a line each.
std::string findings(const std::string& text, Flavour flavour = Flavour::pytorch) {
  Diagnostics out;
  (void)read(text, out, flavour);
  return support::text_of(out);
}
QuantPlan accepted(const std::string& text, Flavour flavour = Flavour::pytorch) {
  Diagnostics out;
  const QuantPlan plan = read(text, out, flavour);
  CHECK(support::text_of(out).empty());
  return plan;
}

/// A config of one layer: its activation and weight parameters, and other members.
std::string one(const std::string& layer, const std::string& activation = "{}", const std::string& weights = "",
                const std::string& more = "") {
  return "{\"" + layer + "\":{\"activation_quant_params\":" + activation +
         (weights.empty() ? "" : ",\"weight_quant_params\":" + weights) + more + "}}";
}

}  // namespace

TEST_CASE("what is missing has AMCT's defaults") {
  const QuantPlan plan = accepted(one("conv"));
  CHECK(plan.batch_num == 1);
  CHECK((plan.activation_offset && plan.do_fusion && !plan.force_fp16));
  REQUIRE(plan.layers.size() == 1);
  CHECK(plan.layers[0] ==
        LayerPlan{.name = "conv", .kind = LayerKind::conv2d, .op_type = "Conv", .weights = {.channel_wise = true}});
  CHECK(accepted(one("pool")).layers[0].weights.algorithm == WeightAlgorithm::none);
  CHECK_FALSE(accepted(one("conv3d")).layers[0].activations[0].asymmetric);
}

TEST_CASE("everything stated arrives, in the order of the model") {
  const QuantPlan plan = accepted(R"({"version": 1, "batch_num": 3, "activation_offset": false, "joint_quant": false,
    "weight_offset": false, "do_fusion": false, "fakequant_precision_mode": "FORCE_FP16_QUANT",
    "skip_fusion_layers": ["conv"], "update_bn": true, "bn_update_config": {"bn_momentum": 0.3},
    "conv": {"quant_enable": false, "dmq_balancer_param": 0.4,
      "activation_quant_params": {"num_bits": 16, "act_algo": "hfmg", "asymmetric": true, "num_of_bins": 2048},
      "weight_quant_params": {"num_bits": 8, "reg_param": 0.1, "warm_start": 0.3, "num_iteration": 4,
        "beta_range": [9, 1], "channel_wise": false, "wts_algo": "ada_quantize"}},
    "fc": {"quant_enable": true, "activation_quant_params": {"max_percentile": 0.9, "min_percentile": 0.8,
        "search_range": [0.5, 2], "search_step": 0.1},
      "weight_quant_params": {"num_bits": 4, "channel_wise": false, "wts_algo": "arq_quantize"}}})");
  CHECK(plan.batch_num == 3);
  CHECK_FALSE((plan.activation_offset || plan.do_fusion));
  CHECK(plan.force_fp16);
  CHECK(plan.skip_fusion_layers == std::vector<std::string>{"conv"});
  CHECK(plan.batch_norm_update == BatchNormUpdate{.momentum = 0.3});
  REQUIRE(plan.layers.size() == 2);
  CHECK(plan.layers[0].name == "fc");
  CHECK(plan.layers[0].activations[0] == ActivationPlan{.asymmetric = false,
                                                        .max_percentile = 0.9,
                                                        .min_percentile = 0.8,
                                                        .search_start = 0.5,
                                                        .search_end = 2.0,
                                                        .search_step = 0.1});
  CHECK(plan.layers[0].weights == WeightPlan{.bits = 4});
  CHECK_FALSE(plan.layers[1].enabled);
  CHECK(plan.layers[1].dmq_strength == 0.4);
  CHECK(plan.layers[1].activations[0] ==
        ActivationPlan{.algorithm = ActivationAlgorithm::hfmg, .bits = 16, .num_of_bins = 2048});
  CHECK(plan.layers[1].weights == WeightPlan{.algorithm = WeightAlgorithm::ada,
                                             .num_iteration = 4,
                                             .reg_param = 0.1,
                                             .beta_start = 9.0,
                                             .beta_end = 1.0,
                                             .warm_start = 0.3});
}

TEST_CASE("K27: a layer that the config does not name is not in the plan; none at all is an error of the guide's") {
  CHECK(accepted(one("fc")).find("conv") == nullptr);
  const std::string text =
      "amct: [config.layer] config.json: No quant enable layer in quant config file, please check "
      "the quant config file.\n";
  CHECK(findings("{}") == text);
  CHECK(findings(one("fc", "{}", "", ",\"quant_enable\":false")) == text);
}

TEST_CASE("bins mean HFMG; parameters of the other algorithm are refused") {
  CHECK(accepted(one("fc", R"({"num_of_bins": 1024})")).layers[0].activations[0].algorithm ==
        ActivationAlgorithm::hfmg);
  CHECK(support::contains(findings(one("fc", R"({"act_algo": "hfmg", "search_step": 0.1, "max_percentile": 1})")),
                          "activation_quant_params.search_step: is no parameter of act_algo hfmg"));
  CHECK(support::contains(findings(one("fc", R"({"act_algo": "ifmr", "num_of_bins": 1024})")), "num_of_bins"));
  CHECK(support::contains(findings(one("fc", R"({"act_algo": "foo"})")), "got \"foo\", expected \"ifmr\" or \"hfmg\""));
  CHECK(support::contains(findings(one("fc", "{}", R"({"wts_algo": "snq_quantize"})")),
                          "expected \"arq_quantize\" or \"ada_quantize\""));
  CHECK(support::contains(findings(one("fc", "{}", R"({"reg_param": 0.1})")), "reg_param: is not a known parameter"));
}

TEST_CASE("types are strict, except where AMCT is lax") {
  CHECK(accepted(R"({"version": true, "batch_num": true, "fc": {"activation_quant_params": {"search_step": "0.02"}}})")
            .layers[0]
            .activations[0]
            .search_step == 0.02);
  for (const char* text : {R"({"version": "1"})", R"({"version": 2})", R"({"batch_num": 1.0})", R"({"batch_num": 0})",
                           R"({"activation_offset": 1})", R"({"do_fusion": null})", R"({"skip_fusion_layers": "conv"})",
                           R"({"fakequant_precision_mode": "FAST"})", R"({"joint_quant": true})", "[]", "1"}) {
    CAPTURE(text);
    Diagnostics out;
    (void)read(text, out);
    CHECK(out.all().front().is_error);
    CHECK(out.all().front().where.line == 1);
  }
  for (const char* activation :
       {R"({"asymmetric": null})", R"({"num_bits": 8.0})", R"({"search_range": [0.7]})",
        R"({"search_range": [0.7, 1, 1.3]})", R"({"search_range": ["0.7", "1.3"]})", R"({"search_range": 0.7})",
        R"({"search_step": "fast"})", R"({"search_step": "0.1x"})", R"({"foo": 1})", "[]", "null", "[{}]"}) {
    CAPTURE(activation);
    CHECK(support::contains(findings(one("fc", activation)), "layer \"fc\" activation_quant_params"));
  }
}

TEST_CASE("messages name file, line, column, layer, field, the value and what is allowed") {
  CHECK(findings("{\"fc\": {\"activation_quant_params\": {},\n \"weight_quant_params\": {\"num_bits\": 5}}}") ==
        "amct: [config.range] config.json:2:38 layer \"fc\" weight_quant_params.num_bits: got 5, expected 4, 6, 7 or "
        "8\n");
  CHECK(support::contains(findings(one("fc", R"({"search_range": [1.3, 0.7]})")),
                          "activation_quant_params.search_range: got 0.7, expected above search_range_start"));
}

TEST_CASE("members that are no layers: parameters that do not exist, nodes that are not quantized, unknown layers") {
  CHECK(support::contains(findings(R"({"foo": 1})"), "foo: is neither a parameter nor a layer"));
  CHECK(support::contains(findings(R"({"relu": {}})"), "relu: this layer of the model cannot be quantized"));
  CHECK(
      support::contains(findings(R"({"con": {}})"), "there is no layer \"con\" in the model, did you mean \"conv\"?"));
  CHECK(support::contains(findings(R"({"fc": {"foo": 1}})"), "layer \"fc\" foo: is not a known parameter"));
  const std::string more =
      R"({"foo": 1, "fc": {"quant_enable": true, "bar": 2, "activation_quant_params": [{"baz": 3}]}})";
  const std::string lax = findings(more, Flavour::hotwheels_dynamic);
  for (const char* field : {" foo: ", "\" bar: ", ".baz: "}) CHECK(support::contains(lax, field));
  CHECK_FALSE(support::contains(lax, "\namct"));
  CHECK(lax.starts_with("warning: "));
}

TEST_CASE("a layer is refused what its kind cannot have; packed weights become 8 bits") {
  CHECK(support::contains(findings(one("pool", R"({"num_bits": 16})")), "got 16, expected 8 for layer type AvgPool2d"));
  CHECK(support::contains(findings(one("fc", "{}", R"({"channel_wise": true})")), "got true, expected false"));
  CHECK(support::contains(findings(one("fc", "{}", R"({"num_bits": 6})")), "got 6, expected 4 or 8"));
  CHECK(support::contains(findings(one("pool", "{}", R"({"wts_algo": "ada_quantize"})")), "ada_quantize"));
  CHECK(support::contains(findings(one("pool", "{}", "", R"(,"dmq_balancer_param":0.5)")), "dmq_balancer_param"));
  CHECK(support::contains(findings(one("fc", "{}", "", R"(,"dmq_balancer_param":0.9)")), "from 0.2 to 0.8"));
  CHECK(support::contains(findings(one("conv3d", R"({"asymmetric": true})")), "expected false for layer type Conv3d"));
  Diagnostics out;
  CHECK(read(one("conv", "{}", R"({"num_bits": 4})"), out).layers[0].weights.bits == 8);
  CHECK(support::text_of(out).starts_with("warning: "));
}

TEST_CASE("every layer needs activation parameters, unless it is disabled") {
  CHECK(support::contains(findings(R"({"fc": {}})"), "activation_quant_params: is missing: an object"));
  CHECK(accepted(R"({"conv": {"activation_quant_params": {}}, "fc": {"quant_enable": false}})").layers.size() == 2);
  CHECK(support::contains(findings(R"({"fc": 1})"), "layer \"fc\": got 1, expected an object"));
}

TEST_CASE("K1: hotwheels requires quant_enable and takes a list with an entry for each input") {
  const Flavour hotwheels = Flavour::hotwheels_dynamic;
  CHECK(support::contains(findings(one("fc", "[{}]"), hotwheels), "quant_enable: is missing"));
  const std::string on = ",\"quant_enable\":true";
  const QuantPlan plan = accepted(one("add", R"([{"num_bits": 12}, {"asymmetric": false}])", "", on), hotwheels);
  REQUIRE(plan.layers[0].activations.size() == 2);
  CHECK(plan.layers[0].activations[0].bits == 12);
  CHECK_FALSE(plan.layers[0].activations[1].asymmetric);
  CHECK(plan.layers[0].weights.algorithm == WeightAlgorithm::none);
  CHECK(support::contains(findings(one("add", "[{}]", "", on), hotwheels), "got 1 entries, expected 2"));
  CHECK(support::contains(findings(one("fc", "{}", "", on), hotwheels), "a list with one entry for each input"));
  CHECK(support::contains(findings(one("fc", R"([{"act_algo": "hfmg"}])", "", on), hotwheels), "expected \"ifmr\""));
  CHECK(support::contains(findings(one("fc", R"([{"num_bits": 12}])", R"({"num_bits": 4})", on), hotwheels),
                          "expected 8-bit weights with activations above 8 bits"));
  CHECK(support::contains(findings(one("fc", R"([{}, {"num_bits": 5}])", "", on), hotwheels), "got 2 entries"));
  CHECK(support::contains(findings(one("fc", R"([{"num_bits": 5}])", "", on), hotwheels),
                          "activation_quant_params[0].num_bits: got 5"));
  CHECK(accepted(one("fc", R"([{"num_bits": 12}])", R"({"wts_algo": "snq_quantize", "max_iteration": 600})", on),
                 hotwheels)
            .layers[0]
            .weights == WeightPlan{.algorithm = WeightAlgorithm::snq, .bits = 4, .max_iteration = 600});
}

TEST_CASE("a plan is the same after it was written and read, in every family") {
  QuantPlan plan{.batch_num = 4, .activation_offset = false, .do_fusion = false, .skip_fusion_layers = {"conv"}};
  plan.batch_norm_update = BatchNormUpdate{.iterations = 3, .momentum = 0.5, .dump_dir = "x"};
  for (const LayerInfo& layer : kLayers) {
    LayerPlan& entry = plan.layers.emplace_back();
    entry = {.name = layer.name, .kind = layer.kind, .op_type = layer.op_type};
    entry.activations.assign(static_cast<std::size_t>(layer.activation_inputs), {.asymmetric = false});
    if (!has_weights(layer.kind)) entry.weights = {.algorithm = WeightAlgorithm::none};
  }
  plan.layers[1].enabled = false;
  plan.layers[1].activations[0].search_step = 0.05;
  plan.layers[0].activations[0].asymmetric = true;
  for (const Flavour flavour : {Flavour::pytorch, Flavour::caffe, Flavour::hotwheels_dynamic}) {
    const std::string text = support::full_text(to_classic_json(plan, rules_of(flavour)));
    CHECK(accepted(text, flavour) == plan);
  }
}
