// SPDX-License-Identifier: Apache-2.0
#include <amct/config/resolve.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace amct;

const LayerTable kLayers = {
    {.name = "conv1", .kind = LayerKind::conv2d, .op_type = "Conv", .packs_int4 = false},
    {.name = "conv2", .kind = LayerKind::conv2d, .op_type = "Conv"},
    {.name = "dw", .kind = LayerKind::conv2d, .op_type = "Conv", .packs_int4 = false, .depthwise = true},
    {.name = "conv3d", .kind = LayerKind::conv3d, .op_type = "Conv"},
    {.name = "up", .kind = LayerKind::conv_transpose2d, .op_type = "ConvTranspose"},
    {.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"},
    {.name = "rnn", .kind = LayerKind::lstm, .op_type = "LSTM"},
    {.name = "pool", .kind = LayerKind::avg_pool2d, .op_type = "AveragePool"}};
const std::vector<std::string> kNodes = {"conv1", "bn1", "conv2", "dw", "conv3d", "up", "fc", "rnn", "pool", "relu"};

struct Outcome {
  QuantPlan plan;
  Diagnostics found;

  [[nodiscard]] const LayerPlan& layer(const std::string& name) const {
    REQUIRE(plan.find(name) != nullptr);
    return *plan.find(name);
  }
  [[nodiscard]] const ActivationPlan& activation(const std::string& name) const {
    return layer(name).activations.at(0);
  }
  /// The errors or warnings of a layer, or of none.
  [[nodiscard]] std::vector<Finding> findings(bool errors, const std::string& name) const {
    std::vector<Finding> result;
    for (const auto& finding : found.all()) {
      if (finding.is_error == errors && finding.where.layer == name) result.push_back(finding);
    }
    return result;
  }
  [[nodiscard]] Finding first(bool is_error, const std::string& name) const {
    REQUIRE_FALSE(findings(is_error, name).empty());
    return findings(is_error, name).front();
  }
  [[nodiscard]] std::vector<Finding> errors() const {
    std::vector<Finding> result;
    for (const auto& finding : found.all()) {
      if (finding.is_error) result.push_back(finding);
    }
    return result;
  }
  [[nodiscard]] Finding only_error() const {
    REQUIRE(errors().size() == 1);
    return errors().front();
  }
};

Outcome resolved(EasyConfig config, Flavour flavour = Flavour::pytorch, const LayerTable& layers = kLayers) {
  Outcome outcome;
  config.file = "quant.cfg";
  outcome.plan = resolve(config, layers, kNodes, rules_of(flavour), outcome.found);
  return outcome;
}

EasyConfig common(const LayerSetting& setting) {
  EasyConfig config;
  config.common = setting;
  return config;
}
EasyConfig for_type(const std::string& type, const LayerSetting& setting) {
  EasyConfig config;
  config.layer_types = {{type, setting}};
  return config;
}
EasyConfig for_layer(const std::string& name, const LayerSetting& setting) {
  EasyConfig config;
  config.layers = {{name, setting}};
  return config;
}
LayerSetting weights(const WeightSetting& setting) { return {.weights = setting}; }
LayerSetting activation(const ActivationSetting& setting) { return {.activation = setting}; }

const LayerSetting kInt16 = activation({.bits = 16});

}  // namespace

TEST_CASE("K48: the empty config quantizes every layer with AMCT's defaults") {
  const Outcome outcome = resolved({});
  CHECK_FALSE(outcome.found.has_errors());
  CHECK(outcome.plan.batch_num == 1);
  CHECK((outcome.plan.do_fusion && outcome.plan.activation_offset && !outcome.plan.force_fp16));
  std::string names;
  for (const auto& layer : outcome.plan.layers) {
    names += layer.name + ' ';
    CHECK(layer.enabled);
    REQUIRE(layer.activations.size() == 1);
    CHECK(layer.activations[0] == ActivationPlan{.asymmetric = layer.kind != LayerKind::conv3d});
    const bool channel_wise = layer.kind != LayerKind::linear && layer.kind != LayerKind::avg_pool2d;
    CHECK(layer.weights == WeightPlan{.channel_wise = channel_wise});
    CHECK_FALSE(layer.dmq_strength.has_value());
  }
  CHECK(names == "conv1 conv2 dw conv3d up fc rnn pool ");  // the order of the model
  CHECK(outcome.layer("fc").op_type == "Gemm");
}

TEST_CASE("what is global is handed on") {
  EasyConfig config;
  config.batch_num = 16;
  config.do_fusion = false;
  config.force_fp16 = true;
  config.activation_offset = false;
  config.skip_fusion_layers = {"conv2", "bn1"};
  config.batch_norm_update = BatchNormUpdate{.iterations = 5, .momentum = 0.2};
  const QuantPlan plan = resolved(config).plan;
  CHECK(plan.batch_num == 16);
  CHECK_FALSE(plan.do_fusion);
  CHECK(plan.force_fp16);
  CHECK_FALSE(plan.activation_offset);
  CHECK(plan.skip_fusion_layers == std::vector<std::string>{"conv2", "bn1"});
  CHECK(plan.batch_norm_update == BatchNormUpdate{.iterations = 5, .momentum = 0.2});
  config.batch_num = 0;
  config.batch_norm_update->iterations = 0;
  const auto errors = resolved(config).errors();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].where.field == "batch_num");
  CHECK(errors[1].where.field == "bn_update_config.bn_update_iterations");
}

TEST_CASE("a layer goes before its type, a type before common") {
  EasyConfig config = common(weights({.channel_wise = false}));
  CHECK_FALSE(resolved(config).layer("conv1").weights.channel_wise);
  config.layer_types = {{"Conv2d", weights({.channel_wise = true})}};
  CHECK(resolved(config).layer("conv1").weights.channel_wise);
  CHECK_FALSE(resolved(config).layer("up").weights.channel_wise);
  config.layers = {{"conv2", weights({.channel_wise = false})}};
  CHECK(resolved(config).layer("conv1").weights.channel_wise);
  CHECK_FALSE(resolved(config).layer("conv2").weights.channel_wise);
}

TEST_CASE("an override counts as a whole: what it leaves out has defaults, unless the flavour inherits") {
  EasyConfig config = common(activation({.search_step = 0.02}));
  config.layer_types = {{"Conv2d", weights({.channel_wise = false})}};
  config.layers = {{"conv2", activation({.search_end = 1.2})}};
  const Outcome pytorch = resolved(config);
  CHECK(pytorch.activation("fc").search_step == 0.02);
  CHECK(pytorch.activation("conv1").search_step == 0.01);
  CHECK(pytorch.activation("conv2").search_end == 1.2);
  CHECK(pytorch.activation("conv2").search_step == 0.01);
  CHECK_FALSE(pytorch.layer("conv1").weights.channel_wise);
  CHECK(pytorch.layer("conv2").weights.channel_wise);
  const Outcome hotwheels = resolved(config, Flavour::hotwheels_dynamic);
  CHECK(hotwheels.activation("conv1").search_step == 0.02);
  CHECK(hotwheels.activation("conv2").search_step == 0.01);  // a part is taken whole
  CHECK_FALSE(hotwheels.layer("conv2").weights.channel_wise);
}

TEST_CASE("of several types that fit a layer the first counts") {
  EasyConfig config;
  config.layer_types = {{"nn.DepthwiseConv2d", weights({.channel_wise = false})}, {"Conv2d", weights({.bits = 6})}};
  CHECK_FALSE(resolved(config).layer("dw").weights.channel_wise);
  CHECK(resolved(config).layer("dw").weights.bits == 8);
  CHECK(resolved(config).layer("conv2").weights.bits == 6);
}

TEST_CASE("a stated asymmetric goes before activation_offset") {
  EasyConfig config = common(activation({}));
  config.activation_offset = false;
  config.layers = {{"conv1", activation({.asymmetric = true})}};
  CHECK_FALSE(resolved(config).activation("conv2").asymmetric);
  CHECK(resolved(config).activation("conv1").asymmetric);
  config.activation_offset = true;
  config.common.activation->asymmetric = false;
  CHECK_FALSE(resolved(config).activation("conv2").asymmetric);
}

TEST_CASE("every parameter of an algorithm arrives") {
  EasyConfig config;
  config.layers = {{"conv1", activation({.algorithm = ActivationAlgorithm::hfmg, .num_of_bins = 1024})},
                   {"conv2",
                    {.weights = WeightSetting{.algorithm = WeightAlgorithm::ada,
                                              .channel_wise = false,
                                              .num_iteration = 0,
                                              .reg_param = 0.5,
                                              .beta_start = 10.0,
                                              .beta_end = 1.0,
                                              .warm_start = 0.1},
                     .balancer = BalancerSetting{.migration_strength = 0.2}}}};
  const Outcome outcome = resolved(config);
  CHECK_FALSE(outcome.found.has_errors());
  CHECK(outcome.activation("conv1") == ActivationPlan{.algorithm = ActivationAlgorithm::hfmg, .num_of_bins = 1024});
  CHECK(outcome.layer("conv2").weights == WeightPlan{.algorithm = WeightAlgorithm::ada,
                                                     .num_iteration = 0,
                                                     .reg_param = 0.5,
                                                     .beta_start = 10.0,
                                                     .beta_end = 1.0,
                                                     .warm_start = 0.1});
  CHECK(outcome.layer("conv2").dmq_strength == 0.2);
  CHECK_FALSE(outcome.layer("conv1").dmq_strength.has_value());
}

TEST_CASE("SNQ has 4 bits unless stated, and its ranges") {
  const auto snq = [](WeightSetting setting) {
    setting.algorithm = WeightAlgorithm::snq;
    return resolved(common(weights(setting)), Flavour::hotwheels_dynamic);
  };
  CHECK(snq({}).layer("conv1").weights.bits == 4);
  CHECK(snq({.max_iteration = 499}).only_error().where.field == "max_iteration");
  CHECK(snq({.min_distance = 1e-11}).only_error().where.field == "min_distance");
  CHECK(snq({.init_algo = "kmeans"}).only_error().message ==
        "got \"kmeans\", expected \"uniform\", \"gaussian\" or \"d2sampling\"");
}

TEST_CASE("a bad value is reported once, at its place, however many layers use it") {
  ActivationSetting setting{.max_percentile = 0.5, .search_step = 0.0};
  setting.places = {.block = {.file = "quant.cfg", .line = 3, .column = 1, .field = "common_config.ifmr_quantize"},
                    .fields = {{"max_percentile", {4, 7}}, {"search_step", {5, 7}}}};
  const auto errors = resolved(common(activation(setting))).errors();
  REQUIRE(errors.size() == 2);
  CHECK(std::string(Error(errors[0].code, errors[0].where, errors[0].message).what()) ==
        "amct: [config.range] quant.cfg:4:7 common_config.ifmr_quantize.max_percentile: got 0.5, expected above 0.5, "
        "at most 1");
  CHECK(errors[1].where.line == 5);
}

TEST_CASE("a setting that no layer uses is not checked") {
  EasyConfig config = common(activation({.max_percentile = 2.0}));
  config.layer_types = {{"Conv1d", activation({.max_percentile = 3.0})}};
  for (const auto& layer : kLayers) config.layers.emplace_back(layer.name, LayerSetting{});
  CHECK_FALSE(resolved(config).found.has_errors());
}

TEST_CASE("wide activations: common ones become 8 bits where there are none, named ones are refused") {
  const Outcome outcome = resolved(common(kInt16));
  CHECK_FALSE(outcome.found.has_errors());
  for (const char* name : {"conv1", "dw", "up", "fc", "rnn"}) CHECK(outcome.activation(name).bits == 16);
  for (const char* name : {"pool", "conv3d"}) {
    CHECK(outcome.activation(name).bits == 8);
    CHECK(outcome.first(false, name).where.field == "num_bits");
    CHECK(resolved(for_layer(name, kInt16)).only_error().where.layer == name);
  }
  CHECK(resolved(for_type("AvgPool2d", kInt16)).only_error().message == "got 16, expected 8 for layer type AvgPool2d");
}

TEST_CASE("weights of 6 and 7 bits are for Conv2d; weights of 4 bits must be packable") {
  for (const int bits : {6, 7}) {
    const Outcome outcome = resolved(common(weights({.channel_wise = false, .bits = bits})));
    CHECK_FALSE(outcome.found.has_errors());
    for (const char* name : {"conv1", "dw"}) CHECK(outcome.layer(name).weights.bits == bits);
    for (const char* name : {"fc", "up", "rnn", "pool"}) CHECK(outcome.layer(name).weights.bits == 8);
    CHECK(outcome.findings(false, "fc").size() == 1);
    CHECK(resolved(for_layer("fc", weights({.bits = bits}))).only_error().where.layer == "fc");
    CHECK(resolved(for_type("Linear", weights({.bits = bits}))).found.has_errors());
  }
  for (const bool named : {false, true}) {
    const LayerSetting four = weights({.channel_wise = false, .bits = 4});
    const Outcome outcome = resolved(named ? for_type("Conv2d", four) : common(four));
    CHECK_FALSE(outcome.found.has_errors());
    CHECK(outcome.layer("conv1").weights.bits == 8);  // an odd number of input channels
    CHECK(outcome.layer("dw").weights.bits == 8);
    CHECK(outcome.layer("conv2").weights.bits == 4);
    CHECK(outcome.findings(false, "conv1").size() == 1);
  }
  CHECK(resolved(common(weights({.channel_wise = false, .bits = 5}))).only_error().message ==
        "got 5, expected 4, 6, 7 or 8");
}

TEST_CASE("K1, K38: one scale a channel elsewhere than on convolutions is refused or ignored, as the flavour says") {
  const LayerSetting setting = weights({.channel_wise = true});
  const Outcome pytorch = resolved(common(setting));
  CHECK(pytorch.errors().size() == 2);
  CHECK(pytorch.first(true, "fc").message == "got true, expected false for layer type Linear");
  CHECK(pytorch.findings(true, "pool").size() == 1);
  CHECK(resolved(for_layer("fc", setting)).only_error().where.field == "channel_wise");
  CHECK(resolved(for_type("AvgPool2d", setting)).only_error().where.layer == "pool");
  for (const Flavour flavour : {Flavour::mindspore, Flavour::hotwheels_dynamic}) {
    const Outcome other = resolved(common(setting), flavour);
    CHECK_FALSE(other.found.has_errors());
    CHECK(other.layer("conv1").weights.channel_wise);
    CHECK_FALSE(other.layer("fc").weights.channel_wise);
    CHECK(other.findings(false, "fc").size() == 1);
  }
  const Outcome hotwheels = resolved(for_type("AvgPool2d", setting), Flavour::hotwheels_dynamic);
  CHECK(hotwheels.layer("pool").weights.algorithm == WeightAlgorithm::none);
  CHECK(hotwheels.first(false, "pool").message == "is ignored, because the layer has no weights");
}

TEST_CASE("AdaRound: a pool has no weights then, other layers get ARQ, named ones are refused") {
  const LayerSetting setting = weights({.algorithm = WeightAlgorithm::ada});
  const Outcome outcome = resolved(common(setting));
  CHECK_FALSE(outcome.found.has_errors());
  CHECK(outcome.layer("conv1").weights == WeightPlan{.algorithm = WeightAlgorithm::ada, .channel_wise = true});
  CHECK(outcome.layer("fc").weights.algorithm == WeightAlgorithm::ada);
  CHECK(outcome.layer("pool").weights.algorithm == WeightAlgorithm::none);
  CHECK(outcome.layer("rnn").weights == WeightPlan{.channel_wise = true});
  CHECK(outcome.findings(false, "rnn").size() == 1);
  CHECK(resolved(for_layer("pool", setting)).only_error().where.layer == "pool");
  CHECK(resolved(for_type("LSTM", setting)).only_error().where.layer == "rnn");
}

TEST_CASE("DMQ balances what has weights, recurrent layers excepted") {
  const LayerSetting setting{.balancer = BalancerSetting{}};
  const Outcome outcome = resolved(common(setting));
  CHECK_FALSE(outcome.found.has_errors());
  for (const char* name : {"conv1", "conv3d", "up", "fc"}) CHECK(outcome.layer(name).dmq_strength == 0.5);
  for (const char* name : {"pool", "rnn"}) {
    CHECK_FALSE(outcome.layer(name).dmq_strength.has_value());
    CHECK(resolved(for_layer(name, setting)).only_error().where.layer == name);
  }
  CHECK(resolved(for_type("AvgPool2d", setting)).found.has_errors());
  for (const double strength : {0.1, 0.81}) {
    CHECK(resolved(common({.balancer = BalancerSetting{.migration_strength = strength}})).only_error().where.field ==
          "migration_strength");
  }
}

TEST_CASE("Conv3d has symmetric activations only") {
  const LayerSetting asymmetric = activation({.asymmetric = true});
  const Outcome outcome = resolved(common(asymmetric));
  CHECK_FALSE(outcome.activation("conv3d").asymmetric);
  CHECK(outcome.findings(false, "conv3d").size() == 1);
  CHECK(resolved({}).found.all().empty());
  CHECK(resolved(for_layer("conv3d", asymmetric)).only_error().where.field == "asymmetric");
  CHECK_FALSE(resolved(for_layer("conv3d", activation({}))).found.has_errors());
}

TEST_CASE("K1: hotwheels pairs wide activations with 8-bit weights, 4-bit activations with 4-bit weights") {
  const auto errors = [](int act, const WeightSetting& weight) {
    const LayerTable layers = {kLayers[1]};
    return resolved(common({.weights = weight, .activation = ActivationSetting{.bits = act}}),
                    Flavour::hotwheels_dynamic, layers)
        .errors()
        .size();
  };
  CHECK(errors(12, {.bits = 8}) == 0);
  CHECK(errors(12, {.bits = 4}) == 1);
  CHECK(errors(12, {.algorithm = WeightAlgorithm::snq}) == 0);  // the guide's sample: codes look up INT8 weights
  CHECK(errors(4, {.bits = 4}) == 0);
  CHECK(errors(4, {.bits = 8}) == 1);
  CHECK(errors(5, {.bits = 8}) == 1);
  CHECK(errors(8, {.bits = 4}) == 0);
}

TEST_CASE("layers with several inputs have a plan for each; layers without weights have none for weights") {
  const LayerTable layers = {{.name = "add", .kind = LayerKind::other, .op_type = "Add", .activation_inputs = 2}};
  const Outcome outcome = resolved(common(activation({.bits = 12})), Flavour::hotwheels_dynamic, layers);
  REQUIRE(outcome.layer("add").activations.size() == 2);
  CHECK(outcome.activation("add").bits == 12);
  CHECK(outcome.layer("add").activations[1] == outcome.activation("add"));
  CHECK(outcome.layer("add").weights == WeightPlan{.algorithm = WeightAlgorithm::none});
}

TEST_CASE("a config that leaves nothing to quantize is refused") {
  EasyConfig config;
  config.skip_layers = {"*"};
  CHECK(resolved(config).only_error().message ==
        "every layer is skipped by skip_layers or skip_layer_types, nothing is left to quantize");
  CHECK(resolved({}, Flavour::pytorch, {}).only_error().message == "the model has no layer that can be quantized");
}
