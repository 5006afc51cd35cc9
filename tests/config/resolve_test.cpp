// SPDX-License-Identifier: Apache-2.0
#include <amct/config/resolve.hpp>

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ArqSetting;
using amct::EasyConfig;
using amct::Error;
using amct::ErrorCode;
using amct::IfmrSetting;
using amct::LayerKind;
using amct::LayerPlan;
using amct::LayerTable;
using amct::QuantPlan;
using amct::Symmetry;

const LayerTable kLayers = {{"conv1", LayerKind::conv2d},
                            {"conv2", LayerKind::conv2d},
                            {"up", LayerKind::conv_transpose2d},
                            {"fc", LayerKind::linear},
                            {"pool", LayerKind::avg_pool2d}};
const std::vector<std::string> kNodes = {"conv1", "bn1", "conv2", "up", "fc", "pool", "relu"};

QuantPlan resolved(const EasyConfig& config) { return amct::resolve(config, kLayers, kNodes); }

LayerPlan plan_of(const EasyConfig& config, const std::string& layer) {
  const QuantPlan plan = resolved(config);
  REQUIRE(plan.find(layer) != nullptr);
  return *plan.find(layer);
}

Error error_of(EasyConfig config, const LayerTable& layers = kLayers) {
  config.file = "quant.cfg";
  try {
    (void)amct::resolve(config, layers, kNodes);
  } catch (const Error& error) {
    CHECK(error.where().file == "quant.cfg");
    return error;
  }
  FAIL("the config was accepted");
  return {ErrorCode::numeric, {}, ""};
}

EasyConfig with_ifmr(const IfmrSetting& ifmr) {
  EasyConfig config;
  config.common.ifmr = ifmr;
  return config;
}

bool accepted(const IfmrSetting& ifmr) {
  try {
    (void)resolved(with_ifmr(ifmr));
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// The field that is refused as out of range.
std::string refused_field(const IfmrSetting& ifmr) {
  const Error error = error_of(with_ifmr(ifmr));
  CHECK(error.code() == ErrorCode::config_range);
  CHECK(error.where().layer == "conv1");
  return error.where().field;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the empty config quantizes every layer with the defaults") {
  const QuantPlan plan = resolved({});
  CHECK(plan.batch_num == 1);
  CHECK(plan.do_fusion);
  REQUIRE(plan.layers.size() == 5);
  std::string names;
  for (const auto& layer : plan.layers) {
    names += layer.name + ' ';
    CAPTURE(layer.name);
    CHECK(layer.enabled);
    CHECK(layer.activation.symmetry == Symmetry::asymmetric);
    CHECK(layer.activation.batch_num == 1);
    CHECK(layer.activation.max_percentile == 0.999999);
    CHECK(layer.activation.min_percentile == 0.999999);
    CHECK(layer.activation.search_start == 0.7);
    CHECK(layer.activation.search_end == 1.3);
    CHECK(layer.activation.search_step == 0.01);
  }
  CHECK(names == "conv1 conv2 up fc pool ");  // the order of the model
  CHECK(plan.find("conv1")->channel_wise);
  CHECK(plan.find("up")->channel_wise);
  CHECK_FALSE(plan.find("fc")->channel_wise);
  CHECK_FALSE(plan.find("pool")->channel_wise);
  CHECK(plan.find("bn1") == nullptr);
}

TEST_CASE("batch_num reaches every layer") {
  EasyConfig config;
  config.batch_num = 16;
  const QuantPlan plan = resolved(config);
  CHECK(plan.batch_num == 16);
  for (const auto& layer : plan.layers) CHECK(layer.activation.batch_num == 16);
  config.batch_num = 0;
  CHECK(error_of(config).code() == ErrorCode::config_range);
  CHECK(error_of(config).where().field == "batch_num");
}

TEST_CASE("the weight part is that of the layer, then the type, then common") {
  EasyConfig config;
  config.common.arq = ArqSetting{.channel_wise = false, .bits = {}};
  CHECK_FALSE(plan_of(config, "conv1").channel_wise);
  config.layer_types = {{"Conv2d", {.arq = ArqSetting{.channel_wise = true, .bits = {}}, .ifmr = {}}}};
  CHECK(plan_of(config, "conv1").channel_wise);
  CHECK_FALSE(plan_of(config, "up").channel_wise);
  config.layers = {{"conv2", {.arq = ArqSetting{.channel_wise = false, .bits = {}}, .ifmr = {}}}};
  CHECK(plan_of(config, "conv1").channel_wise);
  CHECK_FALSE(plan_of(config, "conv2").channel_wise);
}

TEST_CASE("the activation part is that of the layer, then the type, then common") {
  EasyConfig config = with_ifmr({.search_step = 0.02, .asymmetric = {}});
  CHECK(plan_of(config, "fc").activation.search_step == 0.02);
  config.layer_types = {{"Conv2d", {.arq = {}, .ifmr = IfmrSetting{.search_step = 0.03, .asymmetric = {}}}}};
  CHECK(plan_of(config, "conv1").activation.search_step == 0.03);
  CHECK(plan_of(config, "fc").activation.search_step == 0.02);
  config.layers = {{"conv1", {.arq = {}, .ifmr = IfmrSetting{.search_step = 0.04, .asymmetric = {}}}}};
  CHECK(plan_of(config, "conv1").activation.search_step == 0.04);
  CHECK(plan_of(config, "conv2").activation.search_step == 0.03);
}

TEST_CASE("a level that states only one part leaves the other to the level above") {
  EasyConfig config = with_ifmr({.search_step = 0.02, .asymmetric = {}});
  config.layer_types = {{"Conv2d", {.arq = {}, .ifmr = IfmrSetting{.search_end = 1.2, .asymmetric = {}}}}};
  config.layers = {{"conv1", {.arq = ArqSetting{.channel_wise = false, .bits = {}}, .ifmr = {}}}};
  const LayerPlan plan = plan_of(config, "conv1");
  CHECK_FALSE(plan.channel_wise);
  CHECK(plan.activation.search_end == 1.2);
  CHECK(plan.activation.search_step == 0.01);  // a part is taken whole, not field by field
}

TEST_CASE("a stated asymmetric goes before activation_offset") {
  EasyConfig config;
  config.activation_offset = false;
  CHECK(plan_of(config, "conv1").activation.symmetry == Symmetry::symmetric);
  config.common.ifmr = IfmrSetting{.asymmetric = {}};
  CHECK(plan_of(config, "conv1").activation.symmetry == Symmetry::symmetric);
  config.layers = {{"conv1", {.arq = {}, .ifmr = IfmrSetting{.asymmetric = true}}}};
  CHECK(plan_of(config, "conv1").activation.symmetry == Symmetry::asymmetric);
  CHECK(plan_of(config, "conv2").activation.symmetry == Symmetry::symmetric);
  config.activation_offset = true;
  config.common.ifmr->asymmetric = false;
  CHECK(plan_of(config, "conv2").activation.symmetry == Symmetry::symmetric);
}

TEST_CASE("skipped layers and types stay in the plan, not enabled") {
  EasyConfig config;
  config.skip_layers = {"conv1"};
  config.skip_layer_types = {"Linear", "Conv3d"};
  const QuantPlan plan = resolved(config);
  CHECK(plan.layers.size() == 5);
  CHECK_FALSE(plan.find("conv1")->enabled);
  CHECK(plan.find("conv2")->enabled);
  CHECK_FALSE(plan.find("fc")->enabled);
}

TEST_CASE("fusion settings are handed on") {
  EasyConfig config;
  config.do_fusion = false;
  config.skip_fusion_layers = {"conv2"};
  CHECK_FALSE(resolved(config).do_fusion);
  CHECK(resolved(config).skip_fusion_layers == std::vector<std::string>{"conv2"});
}

TEST_CASE("fusion can be skipped for Conv1d, Conv2d and Conv3d only") {
  for (const char* name : {"fc", "pool", "up"}) {
    EasyConfig config;
    config.skip_fusion_layers = {name};
    const Error error = error_of(config);
    CHECK(error.code() == ErrorCode::config_layer);
    CHECK(error.where().field == "skip_fusion_layers");
  }
}

TEST_CASE("percentiles lie above 0.5 and reach 1") {
  CHECK(refused_field({.max_percentile = 0.5, .asymmetric = {}}) == "max_percentile");
  CHECK(accepted({.max_percentile = 0.500001, .asymmetric = {}}));
  CHECK(accepted({.max_percentile = 1.0, .asymmetric = {}}));
  CHECK(refused_field({.max_percentile = 1.000001, .asymmetric = {}}) == "max_percentile");
  CHECK(refused_field({.max_percentile = kNan, .asymmetric = {}}) == "max_percentile");
  CHECK(refused_field({.min_percentile = 0.5, .asymmetric = {}}) == "min_percentile");
  CHECK(accepted({.min_percentile = 0.500001, .asymmetric = {}}));
  CHECK(accepted({.min_percentile = 1.0, .asymmetric = {}}));
  CHECK(refused_field({.min_percentile = 1.1, .asymmetric = {}}) == "min_percentile");
  CHECK(refused_field({.min_percentile = kNan, .asymmetric = {}}) == "min_percentile");
}

TEST_CASE("the search range starts above 0 and ends above its start") {
  CHECK(refused_field({.search_start = 0.0, .asymmetric = {}}) == "search_range_start");
  CHECK(refused_field({.search_start = -0.1, .asymmetric = {}}) == "search_range_start");
  CHECK(refused_field({.search_start = kNan, .asymmetric = {}}) == "search_range_start");
  CHECK(accepted({.search_start = 0.001, .search_end = 5.0, .asymmetric = {}}));
  CHECK(refused_field({.search_start = 1.0, .search_end = 1.0, .asymmetric = {}}) == "search_range_end");
  CHECK(refused_field({.search_start = 1.0, .search_end = 0.9, .asymmetric = {}}) == "search_range_end");
  CHECK(accepted({.search_start = 1.0, .search_end = 1.01, .asymmetric = {}}));
  CHECK(refused_field({.search_end = kNan, .asymmetric = {}}) == "search_range_end");
}

TEST_CASE("the search step lies above 0 and reaches the width of the range in decimal arithmetic") {
  CHECK(refused_field({.search_step = 0.0, .asymmetric = {}}) == "search_step");
  CHECK(refused_field({.search_step = -0.1, .asymmetric = {}}) == "search_step");
  CHECK(refused_field({.search_step = kNan, .asymmetric = {}}) == "search_step");
  CHECK(accepted({.search_step = 0.6, .asymmetric = {}}));
  static_assert(1.0 - 0.9 < 0.1, "the width in double arithmetic is too small");
  CHECK(accepted({.search_start = 0.9, .search_end = 1.0, .search_step = 0.1, .asymmetric = {}}));
  CHECK(refused_field({.search_step = 0.61, .asymmetric = {}}) == "search_step");
  CHECK(refused_field({.search_step = 0.600001, .asymmetric = {}}) == "search_step");
  CHECK(refused_field({.search_step = kInf, .asymmetric = {}}) == "search_step");
}

TEST_CASE("a search of more than 100000 candidates is refused") {
  CHECK(accepted({.search_start = 1.0, .search_end = 2.0, .search_step = 0x1p-16, .asymmetric = {}}));
  CHECK(accepted({.search_start = 1.0, .search_end = 2.0, .search_step = 1e-5, .asymmetric = {}}));
  CHECK(refused_field({.search_start = 1.0, .search_end = 2.0, .search_step = 0.99e-5, .asymmetric = {}}) ==
        "search_step");
  CHECK(refused_field({.search_end = kInf, .asymmetric = {}}) == "search_step");
}

TEST_CASE("a range error says what was found and what was expected") {
  EasyConfig config;
  config.layers = {{"fc", {.arq = {}, .ifmr = IfmrSetting{.max_percentile = 0.5, .asymmetric = {}}}}};
  CHECK(std::string(error_of(config).what()) ==
        "amct: [config.range] quant.cfg layer \"fc\" max_percentile: got 0.5, expected above 0.5, at most 1");
}

TEST_CASE("activations other than INT8 are not supported") {
  const Error error = error_of(with_ifmr({.asymmetric = {}, .bits = 16}));
  CHECK(error.code() == ErrorCode::config_unsupported);
  CHECK(error.where().field == "dst_type");
}

TEST_CASE("weight bits that AMCT knows are unsupported, others out of range") {
  for (const int bits : {0, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {
    EasyConfig config;
    config.common.arq = ArqSetting{.channel_wise = false, .bits = bits};
    CAPTURE(bits);
    if (bits == 8) {
      CHECK_NOTHROW(resolved(config));
      continue;
    }
    const bool known = bits == 4 || bits == 6 || bits == 7;
    CHECK(error_of(config).code() == (known ? ErrorCode::config_unsupported : ErrorCode::config_range));
    CHECK(error_of(config).where().field == "quant_bits");
  }
}

TEST_CASE("one scale a channel is refused for Linear and AvgPool2d, whichever level asks for it") {
  EasyConfig by_layer;
  by_layer.layers = {{"fc", {.arq = ArqSetting{.channel_wise = true, .bits = {}}, .ifmr = {}}}};
  EasyConfig by_type;
  by_type.layer_types = {{"AvgPool2d", {.arq = ArqSetting{.channel_wise = true, .bits = {}}, .ifmr = {}}}};
  EasyConfig common;
  common.common.arq = ArqSetting{.channel_wise = true, .bits = {}};
  CHECK(error_of(by_layer).code() == ErrorCode::config_range);
  CHECK(error_of(by_layer).where().layer == "fc");
  CHECK(error_of(by_type).where().layer == "pool");
  CHECK(error_of(common).where().field == "channel_wise");
  CHECK_NOTHROW((void)amct::resolve(common, {{"conv1", LayerKind::conv2d}}, kNodes));
}

TEST_CASE("layers named in the config must exist in the model, though they need not be quantizable") {
  EasyConfig good;
  good.skip_layers = {"bn1"};
  good.layers = {{"relu", {.arq = ArqSetting{.channel_wise = false, .bits = {}}, .ifmr = {}}}};
  CHECK_NOTHROW(resolved(good));

  EasyConfig skip;
  skip.skip_layers = {"conv2", "nothere"};
  CHECK(std::string(error_of(skip).what()) ==
        "amct: [config.layer] quant.cfg skip_layers: there is no layer \"nothere\" in the model");
  EasyConfig fusion;
  fusion.skip_fusion_layers = {"nothere"};
  CHECK(error_of(fusion).where().field == "skip_fusion_layers");
  EasyConfig layer;
  layer.layers = {{"Conv1", {}}};
  CHECK(error_of(layer).code() == ErrorCode::config_layer);
  CHECK(error_of(layer).where().field == "override_layer_configs");
}

TEST_CASE("layer types must be quantizable, though the model need not have them") {
  EasyConfig good;
  good.skip_layer_types = {"ConvTranspose1d"};
  good.layer_types = {{"Conv3d", {.arq = ArqSetting{.channel_wise = true, .bits = {}}, .ifmr = {}}}};
  CHECK_NOTHROW(resolved(good));

  EasyConfig skip;
  skip.skip_layer_types = {"Foo"};
  CHECK(error_of(skip).code() == ErrorCode::config_layer);
  CHECK(error_of(skip).message() ==
        "layer type \"Foo\" cannot be quantized, expected one of Conv1d, Conv2d, Conv3d, ConvTranspose1d, "
        "ConvTranspose2d, Linear, AvgPool2d");
  EasyConfig override_type;
  override_type.layer_types = {{"conv2d", {}}};
  CHECK(error_of(override_type).where().field == "override_layer_types");
}

TEST_CASE("a name given twice is refused in every list") {
  EasyConfig config;
  config.skip_layers = {"conv1", "conv1"};
  CHECK(error_of(config).message() == "\"conv1\" is given more than once");
  config = {};
  config.skip_fusion_layers = {"conv1", "conv2", "conv1"};
  CHECK(error_of(config).where().field == "skip_fusion_layers");
  config = {};
  config.skip_layer_types = {"Linear", "Linear"};
  CHECK(error_of(config).where().field == "skip_layer_types");
  config = {};
  config.layers = {{"conv1", {}}, {"conv1", {}}};
  CHECK(error_of(config).where().field == "override_layer_configs");
  config = {};
  config.layer_types = {{"Linear", {}}, {"Linear", {}}};
  CHECK(error_of(config).where().field == "override_layer_types");
}

TEST_CASE("a config that leaves nothing to quantize is refused") {
  EasyConfig config;
  config.skip_layer_types = {"Conv2d", "ConvTranspose2d", "Linear", "AvgPool2d"};
  CHECK(error_of(config).code() == ErrorCode::config_layer);
  CHECK(error_of({}, {}).message() == "the model has no layer that can be quantized");
}
