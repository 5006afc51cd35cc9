// SPDX-License-Identifier: Apache-2.0
#include <amct/config/read_easy_config.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

namespace {

using namespace amct;

/// JSON stands for the .cfg here; tests/protobuf/calibration_cfg_test.cpp reads that.
EasyConfig read(const std::string& text, Diagnostics& out) {
  return easy_config(support::config(text), "folder/quant.cfg", out);
}
EasyConfig read(const std::string& text) {
  Diagnostics out;
  const EasyConfig config = read(text, out);
  CHECK(support::text_of(out).empty());
  return config;
}
std::string findings(const std::string& text) {
  Diagnostics out;
  (void)read(text, out);
  return support::text_of(out);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the empty object is the default config") {
  const EasyConfig config = read("{}");
  CHECK(config.file == "folder/quant.cfg");
  CHECK_FALSE(config.batch_num.has_value());
  CHECK((config.activation_offset && config.do_fusion && !config.force_fp16));
  CHECK(config.skip_layers.empty());
  CHECK_FALSE((config.common.weights || config.common.activation || config.common.balancer));
  CHECK((config.layer_types.empty() && config.layers.empty()));
  CHECK_FALSE((config.batch_norm_update || config.om_mapping_file));
}

TEST_CASE("what is global arrives, with places") {
  const EasyConfig config = read(R"({"batch_num": 16, "activation_offset": false, "do_fusion": false,
"skip_layers": ["a",
  "b"], "skip_layer_types": ["Linear"], "skip_fusion_layers": ["c"], "fakequant_precision_mode": "FORCE_FP16_QUANT"})");
  CHECK(config.batch_num == 16U);
  CHECK_FALSE((config.activation_offset || config.do_fusion));
  CHECK(config.force_fp16);
  CHECK(config.skip_layers == Names{"a", "b"});
  CHECK(config.skip_layer_types == Names{"Linear"});
  CHECK(config.skip_fusion_layers == Names{"c"});
  CHECK(config.at("batch_num").line == 1);
  CHECK(config.at("skip_layers", 1).line == 3);
  CHECK(config.at("skip_layers", 1).column == 3);
  CHECK(config.at("skip_layers", 1).field == "skip_layers");
  CHECK(config.at("skip_layers", 1).file == "folder/quant.cfg");
}

TEST_CASE("every parameter of every algorithm arrives") {
  const EasyConfig ifmr = read(R"({"common_config": {"arq_quantize": {"channel_wise": true, "quant_bits": 4},
    "ifmr_quantize": {"search_range_start": 0.8, "search_range_end": 1.2, "search_step": 0.02, "max_percentile": 0.9,
                      "min_percentile": 0.8, "asymmetric": false, "dst_type": "INT16"},
    "dmq_balancer": {"migration_strength": 0.3}}})");
  const auto& weights = *ifmr.common.weights;
  CHECK(weights.algorithm == WeightAlgorithm::arq);
  CHECK((weights.channel_wise == true && weights.bits == 4));
  const auto& activation = *ifmr.common.activation;
  CHECK(activation.algorithm == ActivationAlgorithm::ifmr);
  CHECK((activation.search_start == 0.8 && activation.search_end == 1.2 && activation.search_step == 0.02));
  CHECK((activation.max_percentile == 0.9 && activation.min_percentile == 0.8));
  CHECK((activation.asymmetric == false && activation.bits == 16));
  CHECK(ifmr.common.balancer->migration_strength == 0.3);

  const EasyConfig ada = read(R"({"common_config": {"ada_quantize": {"num_iteration": 5, "reg_param": 0.1,
    "beta_range_start": 9, "beta_range_end": 1.5, "warm_start": 0.3, "channel_wise": false},
    "hfmg_quantize": {"num_of_bins": 1024, "asymmetric": true, "dst_type": "INT8"}, "dmq_balancer": {}}})");
  CHECK(ada.common.weights->algorithm == WeightAlgorithm::ada);
  CHECK((ada.common.weights->num_iteration == 5U && ada.common.weights->reg_param == 0.1));
  CHECK((ada.common.weights->beta_start == 9.0 && ada.common.weights->beta_end == 1.5));
  CHECK((ada.common.weights->warm_start == 0.3 && ada.common.weights->channel_wise == false));
  CHECK(ada.common.activation->algorithm == ActivationAlgorithm::hfmg);
  CHECK((ada.common.activation->num_of_bins == 1024U && ada.common.activation->bits == 8));
  CHECK(ada.common.balancer->migration_strength == 0.5);

  const EasyConfig snq = read(R"({"common_config": {"snq_quantize": {"channel_wise": true, "max_iteration": 600,
    "min_distance": 1e-9, "init_algo": "gaussian", "num_bits": 4}, "ifmr_quantize": {"num_bits": 12}}})");
  CHECK(snq.common.weights->algorithm == WeightAlgorithm::snq);
  CHECK((snq.common.weights->max_iteration == 600U && snq.common.weights->min_distance == 1e-9));
  CHECK((snq.common.weights->init_algo == "gaussian" && snq.common.weights->bits == 4));
  CHECK(snq.common.activation->bits == 12);
}

TEST_CASE("a field's place has the path and the file's spelling") {
  const EasyConfig config = read(R"({"override_layer_configs": [{"layer_name": "fc", "calibration_config":
 {"arq_quantize": {"quant_bits": 6}}}], "override_layer_types": [{"layer_type": "Conv2d", "calibration_config":
 {"ifmr_quantize": {"dst_type": "INT16"}}}]})");
  const Where bits = config.layers.at(0).second.weights->places.at("num_bits");
  CHECK(bits.layer == "fc");
  CHECK(bits.field == "override_layer_configs.arq_quantize.quant_bits");
  CHECK(bits.line == 2);
  const Where type = config.layer_types.at(0).second.activation->places.at("num_bits");
  CHECK(type.field == "override_layer_types[Conv2d].ifmr_quantize.dst_type");
  CHECK(type.line == 3);
  CHECK(config.layers.at(0).second.weights->places.at("channel_wise").line == 2);  // absent: that of the block
}

TEST_CASE("an update of BatchNormalization counts if update_bn says so; Caffe's fraction is that of the old values") {
  const EasyConfig torch =
      read(R"({"update_bn": true, "bn_update_config": {"bn_update_iterations": 9, "bn_momentum": 0.2}})");
  CHECK(torch.batch_norm_update == BatchNormUpdate{.iterations = 9, .momentum = 0.2});
  CHECK(read(R"({"update_bn": true})").batch_norm_update == BatchNormUpdate{});
  CHECK_FALSE(read(R"({"update_bn": false, "bn_update_config": {}})").batch_norm_update.has_value());
  const EasyConfig caffe = read(R"({"update_bn": true, "bn_update_config": {"bn_update_iterations": 30,
    "bn_moving_average_fraction": 0.75, "bn_dump_dir": "bn"}})");
  CHECK(caffe.batch_norm_update == BatchNormUpdate{.iterations = 30, .momentum = 0.25, .dump_dir = "bn"});
}

TEST_CASE("K41: the mapping file is relative to the folder of the config") {
  CHECK(read(R"({"om_config": {"mapping_file": "conf/net.om.json"}})").om_mapping_file == "folder/conf/net.om.json");
  CHECK(read(R"({"om_config": {"mapping_file": "/abs.om.json"}})").om_mapping_file == "/abs.om.json");
  CHECK(support::contains(findings(R"({"om_config": {}})"), "om_config.mapping_file: is missing"));
}

TEST_CASE("deprecated blocks count only if neither common_config nor override_layer_types is given") {
  const std::string old = R"("conv_calibration_config": {"arq_quantize": {"channel_wise": false}},
                             "fc_calibration_config": {"ifmr_quantize": {"asymmetric": false}})";
  const EasyConfig config = read('{' + old + '}');
  REQUIRE(config.layer_types.size() == 3);
  CHECK(config.layer_types[0].first == "Convolution");
  CHECK(config.layer_types[0].second.weights->channel_wise == false);
  CHECK(config.layer_types[2].first == "InnerProduct");
  CHECK(config.layer_types[2].second.activation->asymmetric == false);
  for (const char* newer : {R"("common_config": {},)", R"("override_layer_types": [],)"}) {
    Diagnostics out;
    CHECK(read('{' + std::string(newer) + old + '}', out).layer_types.empty());
    CHECK_FALSE(out.has_errors());
    CHECK(out.all().size() == 2);
  }
}

TEST_CASE("an override needs a name, not a setting") {
  CHECK(read(R"({"override_layer_configs": [{"layer_name": "a"}]})").layers.size() == 1);
  Diagnostics out;
  CHECK(read(R"({"override_layer_types": [{"calibration_config": {}}]})", out).layer_types.empty());
  CHECK(support::contains(support::text_of(out), "override_layer_types.layer_type: is missing"));
}

TEST_CASE("what amct does not do is refused by name, false switches pass") {
  CHECK(read(R"({"joint_quant": false, "weight_offset": false})").layers.empty());
  for (const char* text :
       {R"({"joint_quant": true})", R"({"weight_offset": true})", R"({"tensor_quantize": []})", R"({"nuq_config": {}})",
        R"({"skip_approximation_layers": []})", R"({"common_config": {"nuq_quantize": {}}})"}) {
    CAPTURE(text);
    CHECK(support::contains(findings(text), "[config.unsupported]"));
  }
}

TEST_CASE("unknown fields and values of another kind are errors, all of them") {
  const std::string all = findings(R"({"batch_num": 1.5, "skip_layers": "a", "foo": 1, "common_config": {"bar": 1,
    "ifmr_quantize": {"dst_type": "INT4", "baz": 1}}, "override_layer_types": 1,
    "fakequant_precision_mode": "DEFAULT"})");
  for (const char* part : {"batch_num: got 1.5", "skip_layers: got \"a\"", "foo: is not", "common_config.bar: is not",
                           "dst_type: got \"INT4\", expected INT8 or INT16", "baz: is not",
                           "override_layer_types: got 1", "fakequant_precision_mode: got \"DEFAULT\""}) {
    CAPTURE(part);
    CHECK(support::contains(all, part));
  }
}
