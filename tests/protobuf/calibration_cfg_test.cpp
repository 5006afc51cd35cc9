// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/calibration_cfg.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::EasyConfig;
using amct::Error;
using amct::ErrorCode;

EasyConfig read(const std::string& text) {
  const support::TempDir folder;
  support::write_text(folder / "quant.cfg", text);
  return amct::protobuf::read_calibration_cfg(folder / "quant.cfg");
}

Error error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    CHECK(error.where().file.ends_with("quant.cfg"));
    return error;
  }
  FAIL("the config was accepted");
  return {ErrorCode::numeric, {}, ""};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the empty file is the default config") {
  const EasyConfig config = read("");
  CHECK(config.file.ends_with("quant.cfg"));
  CHECK_FALSE(config.batch_num.has_value());
  CHECK(config.activation_offset);
  CHECK(config.do_fusion);
  CHECK(config.skip_layers.empty());
  CHECK(config.skip_layer_types.empty());
  CHECK(config.skip_fusion_layers.empty());
  CHECK_FALSE(config.common.arq.has_value());
  CHECK_FALSE(config.common.ifmr.has_value());
  CHECK(config.layer_types.empty());
  CHECK(config.layers.empty());
}

TEST_CASE("every field arrives") {
  const EasyConfig config = read(R"(
batch_num: 16
activation_offset: false
do_fusion: false
skip_layers: "conv1"
skip_layers: "conv2"
skip_layer_types: "Linear"
skip_fusion_layers: "conv3"
common_config {
  arq_quantize { channel_wise: true quant_bits: 4 }
  ifmr_quantize {
    search_range_start: 0.8
    search_range_end: 1.2
    search_step: 0.02
    max_percentile: 0.9999
    min_percentile: 0.999
    asymmetric: false
    dst_type: INT16
  }
}
override_layer_types {
  layer_type: "Conv2d"
  calibration_config { arq_quantize { channel_wise: false } }
}
override_layer_configs {
  layer_name: "fc"
  calibration_config { ifmr_quantize { asymmetric: true } }
}
)");
  CHECK(config.batch_num == 16U);
  CHECK_FALSE(config.activation_offset);
  CHECK_FALSE(config.do_fusion);
  CHECK(config.skip_layers == Names{"conv1", "conv2"});
  CHECK(config.skip_layer_types == Names{"Linear"});
  CHECK(config.skip_fusion_layers == Names{"conv3"});

  REQUIRE(config.common.arq.has_value());
  CHECK(config.common.arq->channel_wise == true);
  CHECK(config.common.arq->bits == 4);
  REQUIRE(config.common.ifmr.has_value());
  CHECK(config.common.ifmr->search_start == 0.8);
  CHECK(config.common.ifmr->search_end == 1.2);
  CHECK(config.common.ifmr->search_step == 0.02);
  CHECK(config.common.ifmr->max_percentile == 0.9999);
  CHECK(config.common.ifmr->min_percentile == 0.999);
  CHECK(config.common.ifmr->asymmetric == false);
  CHECK(config.common.ifmr->bits == 16);

  REQUIRE(config.layer_types.size() == 1);
  CHECK(config.layer_types[0].first == "Conv2d");
  CHECK(config.layer_types[0].second.arq->channel_wise == false);
  CHECK_FALSE(config.layer_types[0].second.arq->bits.has_value());
  CHECK_FALSE(config.layer_types[0].second.ifmr.has_value());

  REQUIRE(config.layers.size() == 1);
  CHECK(config.layers[0].first == "fc");
  CHECK(config.layers[0].second.ifmr->asymmetric == true);
  CHECK_FALSE(config.layers[0].second.arq.has_value());
}

TEST_CASE("parts that are stated but empty have AMCT's defaults") {
  const EasyConfig config = read("common_config { arq_quantize { } ifmr_quantize { } }");
  REQUIRE(config.common.arq.has_value());
  CHECK_FALSE(config.common.arq->channel_wise.has_value());
  CHECK_FALSE(config.common.arq->bits.has_value());
  REQUIRE(config.common.ifmr.has_value());
  CHECK(config.common.ifmr->search_start == 0.7);
  CHECK(config.common.ifmr->search_end == 1.3);
  CHECK(config.common.ifmr->search_step == 0.01);
  CHECK(config.common.ifmr->max_percentile == 0.999999);
  CHECK(config.common.ifmr->min_percentile == 0.999999);
  CHECK_FALSE(config.common.ifmr->asymmetric.has_value());
  CHECK(config.common.ifmr->bits == 8);
}

TEST_CASE("float parameters arrive as the decimals that were written") {
  const EasyConfig config = read("common_config { ifmr_quantize { search_step: 0.01 search_range_end: 1.1 } }");
  CHECK(config.common.ifmr->search_step == 0.01);  // not 0.009999999776482582
  CHECK(config.common.ifmr->search_end == 1.1);
}

TEST_CASE("of batch_num given twice the last counts, 0 is kept for the range check") {
  CHECK(read("batch_num: 1 batch_num: 2").batch_num == 2U);
  CHECK(read("batch_num: 0").batch_num == 0U);
  CHECK(read("batch_num: 4294967295").batch_num == 4294967295U);
}

TEST_CASE("repeated overrides are kept in their order for the name check") {
  const EasyConfig config = read(
      "override_layer_configs { layer_name: 'b' } override_layer_configs { layer_name: 'a' } "
      "override_layer_configs { layer_name: 'b' }");
  REQUIRE(config.layers.size() == 3);
  CHECK(config.layers[0].first + config.layers[1].first + config.layers[2].first == "bab");
}

TEST_CASE("an override without its name has an empty one") {
  const EasyConfig config = read("override_layer_types { calibration_config { } }");
  REQUIRE(config.layer_types.size() == 1);
  CHECK(config.layer_types[0].first.empty());
}

TEST_CASE("unknown fields and values of the wrong kind are refused with line and column") {
  const Error unknown = error_of("batch_num: 1\nnonsense: 1\n");
  CHECK(unknown.code() == ErrorCode::config_syntax);
  CHECK(unknown.where().line == 2);
  CHECK(unknown.where().column > 0);
  CHECK(std::string(unknown.what()).find("quant.cfg:2:") != std::string::npos);

  for (const char* text :
       {"batch_num: 1.5", "batch_num: -1", "batch_num: 4294967296", "batch_num: \"1\"", "activation_offset: TRUE",
        "activation_offset: 2", "skip_layers: conv1", "common_config { ifmr_quantize { dst_type: INT4 } }",
        "common_config { ifmr_quantize { search_step: fast } }", "common_config {"}) {
    CAPTURE(text);
    CHECK(error_of(text).code() == ErrorCode::config_syntax);
  }
}

TEST_CASE("algorithms of later versions are refused by name, at every level") {
  for (const char* algorithm : {"ada_quantize", "hfmg_quantize", "dmq_balancer"}) {
    const std::string body = std::string("{ ") + algorithm + " { } }";
    for (const std::string& text :
         {"common_config " + body, "override_layer_types { layer_type: 'Conv2d' calibration_config " + body + " }",
          "override_layer_configs { layer_name: 'a' calibration_config " + body + " }"}) {
      CAPTURE(text);
      const Error error = error_of(text);
      CHECK(error.code() == ErrorCode::config_unsupported);
      CHECK(error.where().field == algorithm);
    }
  }
  const Error half = error_of("fakequant_precision_mode: FORCE_FP16_QUANT");
  CHECK(half.code() == ErrorCode::config_unsupported);
  CHECK(half.where().field == "fakequant_precision_mode");
}

TEST_CASE("of two algorithms for the same part the last counts") {
  CHECK_NOTHROW(read("common_config { ada_quantize { } arq_quantize { } }"));
  CHECK(error_of("common_config { ifmr_quantize { } hfmg_quantize { } }").where().field == "hfmg_quantize");
}

TEST_CASE("a missing file and a folder are io.read errors") {
  const support::TempDir folder;
  for (const auto& path : {folder / "none.cfg", folder.path()}) {
    try {
      (void)amct::protobuf::read_calibration_cfg(path);
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io_read);
      CHECK(error.where().file == path.string());
    }
  }
}
