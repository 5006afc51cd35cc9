// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_checks.hpp>

#include <string>

#include <amct/config/fx_json.hpp>
#include <amct/config/fx_resolve.hpp>
#include <amct/quantize/builtin.hpp>

#include <doctest/doctest.h>

#include "support/config_text.hpp"
#include "support/fx_network.hpp"

namespace {

using support::contains;

const amct::FlavourRules& kRules = amct::rules_of(amct::Flavour::hotwheels);

/// Findings about a full config of one layer.
std::string findings(const std::string& layer, const std::string& fields) {
  static const amct::QuantizerRegistry kRegistry = amct::builtin_registry();
  const support::FxNetwork network;
  const amct::ConfigValue value = support::config("{\"" + layer + "\":{\"quant_enable\":true," + fields + "}}");
  amct::Diagnostics out;
  const amct::FxPlan plan = amct::from_fx_json(value, "f", network.layers, network.names, kRules, out);
  amct::check_fx_plan(plan, kRules, kRegistry, "f", out);
  return support::text_of(out);
}

std::string activation(const std::string& name, const std::string& args, const char* layer = "maxpool") {
  return findings(layer,
                  R"("activation_quant_params":[{"quantizer":")" + name + R"(","quantizer_args":)" + args + "}]");
}
std::string weights(const std::string& name, const std::string& args) {
  return findings("conv1", R"("weight_quant_params":{"quantizer":")" + name + R"(","quantizer_args":)" + args + "}");
}
std::string both(const std::string& activation, const std::string& weight) {
  return findings("conv1", R"("activation_quant_params":[)" + activation + R"(],"weight_quant_params":)" + weight);
}

}  // namespace

TEST_CASE("every algorithm of the guide is accepted with the arguments of its table") {
  CHECK(activation("UlqFakeQuantize", R"({"num_bits":16,"fixed_min":true,"observer":"IFMRObserver","batch_num":2,
      "object_layer":"x","with_offset":true,"max_percentile":1.0,"min_percentile":0.6,"search_start":0.7,
      "search_end":1.3,"search_step":0.6})")
            .empty());
  CHECK(activation("LuqActivationFakeQuantize", R"({"num_bits":9,"observer":"LuqMseObserver","max_value_eps":0.001,
      "qscheme":"affine","search_start":0.5,"search_end":1.5,"steps":10})")
            .empty());
  CHECK(activation("LuqActivationFakeQuantize", R"({"observer":"IFMRObserver","num_bits":8,"batch_num":1,
      "qscheme":"symmetric","with_offset":false})")
            .empty());
  CHECK(activation("FixedFakeQuantize", R"({"scale":0.1,"zero_point":3,"num_bits":5})").empty());
  CHECK(weights("ArqWeightFakeQuantize",
                R"({"observer":"ArqObserver","num_bits":4,"channel_wise":false,"eps":0.00000011920929})")
            .empty());
  CHECK(weights("LuqWeightFakeQuantize", R"({"observer":"LuqMseObserver","num_bits":8})").empty());
  CHECK(weights("LnqFakeQuantize", R"({"observer":"SnqObserver","cluster_freq":400,"max_iteration":1000,
      "min_distance":1e-4,"clip_max":3.0,"symmetric":false})")
            .empty());
  CHECK(weights("FixedFakeQuantize", R"({"scale":[0.1,0.2],"num_bits":8})").empty());
  CHECK(weights("torch.quantization.FakeQuantize", R"({"ch_axis":0})").empty());
}

TEST_CASE("unknown algorithms are refused, classes by their path are somebody's own") {
  CHECK(activation("my.package.Quantizer", R"({"dtype":"torch.qint8","nested":{"a":[null]}})").empty());
  const std::string typo = activation("UlqFakeQuantise", "{}");
  CHECK(contains(typo,
                 "f:1:60 layer \"maxpool\" activation_quant_params[0].quantizer: \"UlqFakeQuantise\" is no algorithm "
                 "for activations, did you mean \"UlqFakeQuantize\"? There are IFMRObserver, "));
  CHECK(contains(activation("ArqWeightFakeQuantize", "{}"),
                 "\"ArqWeightFakeQuantize\" is not an algorithm for activations"));
  CHECK(contains(weights("UlqFakeQuantize", "{}"), "\"UlqFakeQuantize\" is not an algorithm for weights"));
}

TEST_CASE("all bad arguments are reported, each with value, range and place") {
  const std::string bad =
      activation("UlqFakeQuantize", R"({"num_bits":7,"fixed_min":"no","batch_num":0,"num_bit":8,"scale":null})");
  CHECK(contains(
      bad, "f:1:120 layer \"maxpool\" activation_quant_params[0].quantizer_args.num_bits: got 7, expected 8..16"));
  CHECK(contains(bad, "quantizer_args.fixed_min: got \"no\", expected true or false"));
  CHECK(contains(bad, "quantizer_args.batch_num: got 0, expected at least 1"));
  CHECK(contains(bad, "quantizer_args.num_bit: is not an argument of UlqFakeQuantize"));
  CHECK(contains(bad, "quantizer_args.scale: got null, expected true or false, a number, a text or a list of numbers"));
  CHECK(contains(activation("FixedFakeQuantize", R"({"scale":0.5})"),
                 "quantizer_args.zero_point: is missing: required for activations"));
  CHECK(contains(weights("FixedFakeQuantize", "{}"), "quantizer_args.scale: is missing: "));
  CHECK(contains(weights("ArqWeightFakeQuantize", R"({"num_bits":6})"), "got 6, expected 4 or 8"));
  CHECK(contains(weights("ArqWeightFakeQuantize", R"({"num_bits":99999999999})"),
                 "got 99999999999, expected a whole number"));
}

TEST_CASE("IFMR searches within 0.7 to 1.3 on hotwheels") {
  CHECK(contains(activation("UlqFakeQuantize", R"({"search_start":0.69})"),
                 "search_start: got 0.69, expected 0.7 to 1.3"));
  CHECK(contains(activation("UlqFakeQuantize", R"({"search_end":1.31})"), "search_end: got 1.31, expected 0.7 to 1.3"));
  CHECK(contains(activation("IFMRObserver", R"({"max_percentile":0.5})"),
                 "max_percentile: got 0.5, expected above 0.5, at most 1"));
  CHECK(contains(activation("UlqFakeQuantize", R"({"search_step":0.7})"), "search_step: got 0.7, expected "));
  CHECK(activation("LuqMseObserver", R"({"search_start":0.5})").empty());
}

TEST_CASE("widths of activations and weights must go together") {
  const std::string wide = R"({"quantizer":"UlqFakeQuantize","quantizer_args":{"num_bits":12}})";
  const std::string four =
      R"({"quantizer":"FixedFakeQuantize","quantizer_args":{"num_bits":4,"scale":0.1,"zero_point":0}})";
  const std::string weight4 = R"({"quantizer":"ArqWeightFakeQuantize","quantizer_args":{"num_bits":4}})";
  const std::string weight8 = R"({"quantizer":"ArqWeightFakeQuantize"})";
  CHECK(both(wide, weight8).empty());
  CHECK(both(four, weight4).empty());
  CHECK(contains(
      both(wide, weight4),
      "activation_quant_params[0].quantizer_args.num_bits: got 12, expected at most 8 beside weights of 4 bits"));
  CHECK(contains(both(wide, R"({"quantizer":"LnqFakeQuantize"})"), "beside weights of 4 bits"));
  CHECK(contains(both(four, weight8), "got 4, expected 8 or more beside weights of 8 bits"));
  CHECK(both(wide, R"({"quantizer":"my.Quantizer","quantizer_args":{"num_bits":4}})").empty());
}

TEST_CASE("K11: products of two tensors are symmetric, their second input has 8 bits") {
  const auto product = [](const std::string& first, const std::string& second) {
    return findings("matmul", R"("activation_quant_params":[)" + first + ',' + second + ']');
  };
  const auto luq = [](int bits) {
    return R"({"quantizer":"LuqActivationFakeQuantize","quantizer_args":{"num_bits":)" + std::to_string(bits) + "}}";
  };
  CHECK(product(luq(12), luq(8)).empty());
  CHECK(contains(product(luq(8), luq(12)),
                 "activation_quant_params[1].quantizer_args.num_bits: got 12, expected 8 for the second"));
  CHECK(contains(product(R"({"quantizer":"UlqFakeQuantize"})", luq(8)),
                 "activation_quant_params[0]: a product of two tensors needs offset 0"));
}

TEST_CASE("layers that are not quantized are not checked") {
  const support::FxNetwork network;
  amct::Diagnostics out;
  const amct::ConfigValue value =
      support::config(R"({"conv1":{"quant_enable":false,"weight_quant_params":{"quantizer":"Nothing"}}})");
  const amct::FxPlan plan = amct::from_fx_json(value, "f", network.layers, network.names, kRules, out);
  amct::check_fx_plan(plan, kRules, amct::builtin_registry(), "f", out);
  CHECK(out.all().empty());
}

TEST_CASE("arguments reach a registry as they stand") {
  const amct::QuantizerSpec spec{.name = "x",
                                 .args = support::config(R"({"b":true,"i":3,"r":0.5,"t":"s","l":[1,2.5],"o":{}})")};
  const amct::Args args = amct::to_args(spec);
  CHECK(std::get<bool>(*args.find("b")));
  CHECK(std::get<std::int64_t>(*args.find("i")) == 3);
  CHECK(std::get<double>(*args.find("r")) == 0.5);
  CHECK(std::get<std::string>(*args.find("t")) == "s");
  CHECK(std::get<std::vector<double>>(*args.find("l")) == std::vector<double>{1.0, 2.5});
  CHECK(args.find("o") == nullptr);
}

TEST_CASE("K9, K20, K42: the guide's samples of full configs pass") {
  const support::FxNetwork network;
  const auto check = [&](const amct::ConfigValue& value) {
    amct::Diagnostics out;
    const amct::FxPlan plan = amct::from_fx_json(value, "f", network.layers, network.names, kRules, out);
    amct::check_fx_plan(plan, kRules, amct::builtin_registry(), "f", out);
    CHECK(plan.layers.size() == value.object()->size());
    return support::text_of(out);
  };
  CHECK(check(support::config_file(support::seed("fx_config.json"))).empty());
  CHECK(check(support::config_file(support::seed("fx_fixed.json"))).empty());
  CHECK(check(support::mended_custom_sample()).empty());
}

TEST_CASE("the plans of the guide's easy configs pass") {
  for (const char* file :
       {"yaml_easy.yaml", "yaml_dump.yaml", "yaml_cube_only_8bit.yaml", "yaml_cube_only_12bit.yaml"}) {
    CAPTURE(file);
    const support::FxNetwork network;
    amct::Diagnostics out;
    const amct::FxEasyConfig easy =
        amct::read_fx_easy(support::config_file(support::seed(file)), file, network.layers, network.names, kRules, out);
    const amct::FxPlan plan = amct::resolve_fx(easy, network.layers, kRules, out);
    amct::check_fx_plan(plan, kRules, amct::builtin_registry(), file, out);
    CAPTURE(support::text_of(out));
    CHECK_FALSE(out.has_errors());
  }
}
