// SPDX-License-Identifier: Apache-2.0
#include <amct/config/easy_levels.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace amct;

const LayerTable kLayers = {{.name = "layer1.conv1", .kind = LayerKind::conv2d, .op_type = "Conv"},
                            {.name = "layer1.conv2", .kind = LayerKind::conv2d, .op_type = "Conv"},
                            {.name = "a*b", .kind = LayerKind::linear, .op_type = "Gemm"},
                            {.name = "pool", .kind = LayerKind::avg_pool2d, .op_type = "AveragePool"}};
const std::vector<std::string> kNodes = {"layer1.conv1", "layer1.conv2", "a*b", "pool", "relu", "bn"};

Diagnostics findings(const EasyConfig& config, Flavour flavour = Flavour::pytorch) {
  Diagnostics out;
  (void)EasyLevels(config, kLayers, kNodes, rules_of(flavour), out);
  return out;
}

/// What is wrong, as "field: message" of the only finding.
std::string only(const Diagnostics& found, bool is_error = true) {
  REQUIRE(found.all().size() == 1);
  const Finding& finding = found.all().front();
  CHECK(finding.is_error == is_error);
  CHECK(finding.code == ErrorCode::config_layer);
  return finding.where.field + ": " + finding.message;
}

std::vector<bool> skipped(const EasyConfig& config) {
  Diagnostics out;
  const EasyLevels levels(config, kLayers, kNodes, rules_of(Flavour::pytorch), out);
  std::vector<bool> result;
  for (const auto& layer : kLayers) result.push_back(levels.skips(layer));
  return result;
}

using Bools = std::vector<bool>;

}  // namespace

TEST_CASE("layers are skipped by name, by type in any vocabulary, and by shell wildcards") {
  CHECK(skipped({}) == Bools{false, false, false, false});
  CHECK(skipped({.skip_layers = {"layer1.conv2"}}) == Bools{false, true, false, false});
  CHECK(skipped({.skip_layers = {"layer1.*"}}) == Bools{true, true, false, false});
  CHECK(skipped({.skip_layers = {"*conv[!2]"}}) == Bools{true, false, false, false});
  for (const char* type : {"Linear", "Gemm", "torch.nn.Linear", "InnerProduct"}) {
    CAPTURE(type);
    CHECK(skipped({.skip_layer_types = {type}}) == Bools{false, false, true, false});
  }
}

TEST_CASE("a node's own name is no pattern") {
  CHECK(skipped({.skip_layers = {"a*b"}}) == Bools{false, false, true, false});
  CHECK(findings({.skip_layers = {"a*b"}}).all().empty());
}

TEST_CASE("a pattern that matches no quantizable layer is an error") {
  CHECK(only(findings({.skip_layers = {"layer2.*"}})) ==
        "skip_layers: no layer that is quantized matches \"layer2.*\"");
  CHECK(findings({.skip_layers = {"rel?"}}).has_errors());
}

TEST_CASE("a name that is no node is an error with suggestions; one that is not quantized changes nothing") {
  CHECK(only(findings({.skip_layers = {"layer1.conv3"}})) ==
        "skip_layers: there is no layer \"layer1.conv3\" in the model, did you mean \"layer1.conv1\" or "
        "\"layer1.conv2\"?");
  CHECK(only(findings({.skip_layers = {"relu"}}), false) ==
        "skip_layers: \"relu\" is no layer that is quantized; it changes nothing");
  CHECK(only(findings({.layers = {{"x", {}}}})).starts_with("override_layer_configs: there is no layer"));
  CHECK(only(findings({.layers = {{"bn", {}}}}), false).starts_with("override_layer_configs: \"bn\" is no layer"));
  CHECK(only(findings({.skip_fusion_layers = {"x"}})).starts_with("skip_fusion_layers: there is no layer"));
}

TEST_CASE("types must be known, and quantized by the flavour; the model need not have them") {
  CHECK(only(findings({.skip_layer_types = {"Conv2e"}})).starts_with("skip_layer_types: layer type \"Conv2e\""));
  CHECK(only(findings({.layer_types = {{"Foo", {}}}})) ==
        "override_layer_types: layer type \"Foo\" is not known; expected Conv1d, Conv2d, Conv3d, ConvTranspose1d, "
        "ConvTranspose2d, Linear, LSTM, GRU or AveragePool");
  CHECK(only(findings({.skip_layer_types = {"ConvTranspose2d"}}), false) ==
        "skip_layer_types: the model has no layer of type \"ConvTranspose2d\"");
  CHECK(only(findings({.skip_layer_types = {"MaxPool2d"}})) ==
        "skip_layer_types: layers of type \"MaxPool2d\" are not quantized by flavour pytorch, expected Conv1d, Conv2d, "
        "Conv3d, ConvTranspose1d, ConvTranspose2d, Linear, LSTM, GRU or AveragePool");
  CHECK_FALSE(findings({.skip_layer_types = {"MaxPool2d"}}, Flavour::hotwheels_dynamic).has_errors());
}

TEST_CASE("a name given twice is an error in every list") {
  CHECK(only(findings({.skip_layers = {"pool", "pool"}})) == "skip_layers: \"pool\" is given more than once");
  CHECK(only(findings({.skip_layer_types = {"Linear", "Linear"}})).starts_with("skip_layer_types"));
  CHECK(only(findings({.skip_fusion_layers = {"bn", "bn"}})).starts_with("skip_fusion_layers"));
  CHECK(only(findings({.layer_types = {{"Linear", {}}, {"Linear", {}}}})).starts_with("override_layer_types"));
  CHECK(only(findings({.layers = {{"pool", {}}, {"pool", {}}}})).starts_with("override_layer_configs"));
}

TEST_CASE("everything wrong is found, with its place") {
  EasyConfig config{.file = "quant.cfg", .skip_layers = {"x", "pool", "y"}};
  config.places.fields = {{"skip_layers[0]", {1, 15}}, {"skip_layers[2]", {3, 15}}};
  const auto found = findings(config).all();
  REQUIRE(found.size() == 2);
  CHECK(found[0].where.file == "quant.cfg");
  CHECK(found[0].where.line == 1);
  CHECK(found[1].where.line == 3);
  CHECK(found[1].where.column == 15);
  CHECK(found[1].where.field == "skip_layers");
}

TEST_CASE("long lists of wrong names and of patterns take no quadratic time") {
  const auto start = std::chrono::steady_clock::now();
  EasyConfig config;
  for (int i = 0; i < 20000; ++i) {
    config.skip_layers.push_back("x" + std::to_string(i));
    config.skip_layers.push_back("x*" + std::to_string(i));
    config.skip_layer_types.push_back("Conv" + std::to_string(i));
    config.layers.emplace_back("y" + std::to_string(i), LayerSetting{});
  }
  CHECK(findings(config).has_errors());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}
