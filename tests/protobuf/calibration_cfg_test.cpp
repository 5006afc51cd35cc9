// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/calibration_cfg.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using namespace amct;

EasyConfig read(const std::string& text, Flavour flavour = Flavour::pytorch) {
  Diagnostics out;
  const EasyConfig config = protobuf::parse_calibration_cfg(text, "quant.cfg", rules_of(flavour), out);
  CHECK(support::text_of(out).empty());
  return config;
}

Error error_of(const std::string& text, Flavour flavour = Flavour::pytorch) {
  try {
    (void)read(text, flavour);
  } catch (const Error& error) {
    CHECK(error.where().file == "quant.cfg");
    return error;
  }
  FAIL("the config was accepted");
  return {ErrorCode::numeric, {}, ""};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("every field arrives, with line and column") {
  const EasyConfig config = read(R"(batch_num: 16
activation_offset: false
do_fusion: false
fakequant_precision_mode: FORCE_FP16_QUANT
skip_layers: "conv1"
skip_layers: "conv2"
skip_layer_types: "Linear"
skip_fusion_layers: "conv3"
common_config {
  arq_quantize { channel_wise: true quant_bits: 4 }
  ifmr_quantize {
    search_step: 0.02
    asymmetric: false
    dst_type: INT16
  }
  dmq_balancer { migration_strength: 0.3 }
}
override_layer_types {
  layer_type: "Conv2d"
  calibration_config { hfmg_quantize { num_of_bins: 1024 } }
}
override_layer_configs {
  layer_name: "fc"
  calibration_config { ada_quantize { warm_start: 0.1 } }
})");
  CHECK(config.file == "quant.cfg");
  CHECK(config.batch_num == 16U);
  CHECK_FALSE((config.activation_offset || config.do_fusion));
  CHECK(config.at("activation_offset").line == 2);
  CHECK(config.force_fp16);
  CHECK(config.skip_layers == Names{"conv1", "conv2"});
  CHECK(config.skip_layer_types == Names{"Linear"});
  CHECK(config.skip_fusion_layers == Names{"conv3"});
  CHECK(config.common.weights->bits == 4);
  CHECK(config.common.activation->bits == 16);
  CHECK(config.common.activation->search_step == 0.02);
  CHECK_FALSE(config.common.activation->search_end.has_value());
  CHECK(config.common.balancer->migration_strength == 0.3);
  REQUIRE(config.layer_types.size() == 1);
  CHECK(config.layer_types[0].first == "Conv2d");
  CHECK(config.layer_types[0].second.activation->num_of_bins == 1024U);
  REQUIRE(config.layers.size() == 1);
  CHECK(config.layers[0].first == "fc");
  CHECK(config.layers[0].second.weights->warm_start == 0.1);

  CHECK(config.at("batch_num").line == 1);
  CHECK(config.at("skip_layers", 1).line == 6);
  const Where step = config.common.activation->places.at("search_step");
  CHECK((step.line == 12 && step.column == 5 && step.field == "common_config.ifmr_quantize.search_step"));
  CHECK(config.common.activation->places.at("num_bits").field == "common_config.ifmr_quantize.dst_type");
  CHECK(config.layers[0].second.weights->places.at("warm_start").layer == "fc");
}

TEST_CASE("each flavour has its fields") {
  CHECK(read("update_bn: true common_config { snq_quantize { num_bits: 4 } }", Flavour::hotwheels_dynamic)
            .batch_norm_update.has_value());
  CHECK(read("update_bn: true conv_calibration_config { hfmg_quantize { } }", Flavour::caffe).layer_types.size() == 2);
  CHECK(read("skip_layer_types: 'nn.Conv2d'", Flavour::mindspore).skip_layer_types == Names{"nn.Conv2d"});
  CHECK(error_of("batch_num: 1", Flavour::mindspore).code() == ErrorCode::config_syntax);
  CHECK(error_of("update_bn: true").code() == ErrorCode::config_syntax);
  CHECK(error_of("common_config { dmq_balancer { } }", Flavour::hotwheels_dynamic).code() == ErrorCode::config_syntax);
}

TEST_CASE("float parameters arrive as the decimals that were written") {
  const EasyConfig config = read("common_config { ifmr_quantize { search_step: 0.01 search_range_end: 1.1 } }");
  CHECK(config.common.activation->search_step == 0.01);  // not 0.009999999776482582
  CHECK(config.common.activation->search_end == 1.1);
}

TEST_CASE("of a field given twice the last counts, as of two algorithms for the same part") {
  CHECK(read("batch_num: 1 batch_num: 2").batch_num == 2U);
  CHECK(read("batch_num: 0").batch_num == 0U);  // for the range check
  CHECK(read("common_config { ada_quantize { } arq_quantize { } }").common.weights->algorithm == WeightAlgorithm::arq);
  CHECK(read("common_config { ifmr_quantize { } hfmg_quantize { } }").common.activation->algorithm ==
        ActivationAlgorithm::hfmg);
}

TEST_CASE("unknown fields and values of the wrong kind are refused with line and column") {
  const Error unknown = error_of("batch_num: 1\nnonsense: 1\n");
  CHECK(unknown.code() == ErrorCode::config_syntax);
  CHECK((unknown.where().line == 2 && unknown.where().column > 0));
  for (const char* text :
       {"batch_num: 1.5", "batch_num: -1", "batch_num: 4294967296", "batch_num: \"1\"", "activation_offset: TRUE",
        "activation_offset: 2", "skip_layers: conv1", "common_config { ifmr_quantize { dst_type: INT4 } }",
        "common_config { ifmr_quantize { search_step: fast } }", "common_config {"}) {
    CAPTURE(text);
    CHECK(error_of(text).code() == ErrorCode::config_syntax);
  }
}

TEST_CASE("files: a good one is read; a missing one and a folder are io.read errors") {
  const support::TempDir folder;
  support::write_text(folder / "quant.cfg", "om_config { mapping_file: 'net.om.json' }");
  Diagnostics out;
  const auto& rules = rules_of(Flavour::hotwheels_dynamic);
  const EasyConfig config = protobuf::read_calibration_cfg(folder / "quant.cfg", rules, out);
  CHECK(config.om_mapping_file == (folder / "net.om.json").string());
  for (const auto& path : {folder / "none.cfg", folder.path()}) {
    try {
      (void)protobuf::read_calibration_cfg(path, rules, out);
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io_read);
      CHECK(error.where().file == path.string());
    }
  }
}
