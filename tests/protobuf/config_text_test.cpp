// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/config_text.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

using amct::ConfigValue;
using amct::protobuf::CfgSchema;
using amct::protobuf::parse_cfg;

namespace {

const std::filesystem::path kSeeds = std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / "seeds";

ConfigValue parse(const std::string& text, CfgSchema schema = CfgSchema::calibration_pytorch) {
  return parse_cfg(text, "q.cfg", schema);
}

amct::Error error_of(const std::string& text, CfgSchema schema = CfgSchema::calibration_pytorch) {
  try {
    static_cast<void>(parse(text, schema));
  } catch (const amct::Error& error) {
    return error;
  }
  FAIL("accepted: " << text);
  return {amct::ErrorCode::numeric, {}, ""};
}

/// The value at a path of member names and, for lists, the first item.
const ConfigValue& at(const ConfigValue& value, std::initializer_list<const char*> path) {
  const ConfigValue* here = &value;
  for (const char* name : path) {
    if (here->list() != nullptr) here = &here->list()->at(0);
    const ConfigValue* next = here->find(name);
    REQUIRE_MESSAGE(next != nullptr, name);
    here = next;
  }
  return *here;
}

}  // namespace

TEST_CASE("an empty text is an object without members") {
  const ConfigValue value = parse("");
  REQUIRE(value.object() != nullptr);
  CHECK(value.object()->empty());
  CHECK(parse("# only a comment\n").object()->empty());
}

TEST_CASE("only what the text has is there, with its type") {
  const ConfigValue value = parse(
      "batch_num : 4294967295 activation_offset: false skip_layers: 'a' skip_layers: \"\\345\\261\\202\"\n"
      "fakequant_precision_mode: FORCE_FP16_QUANT\n"
      "common_config { arq_quantize : { channel_wise : true }; ifmr_quantize { search_step: 0.01 dst_type: 2 } }");
  CHECK(value.object()->size() == 5);
  CHECK(*value.find("batch_num")->integer() == 4294967295);
  CHECK_FALSE(*value.find("activation_offset")->boolean());
  REQUIRE(value.find("skip_layers")->list()->size() == 2);
  CHECK(*value.find("skip_layers")->list()->at(1).text() == "\xE5\xB1\x82");
  CHECK(*value.find("fakequant_precision_mode")->text() == "FORCE_FP16_QUANT");
  CHECK(at(value, {"common_config", "arq_quantize"}).object()->size() == 1);
  CHECK(*at(value, {"common_config", "arq_quantize", "channel_wise"}).boolean());
  CHECK(*at(value, {"common_config", "ifmr_quantize", "search_step"}).real() == 0.01);
  CHECK(*at(value, {"common_config", "ifmr_quantize", "dst_type"}).text() == "INT16");
  CHECK(at(value, {"common_config", "ifmr_quantize"}).find("asymmetric") == nullptr);
}

TEST_CASE("places are those of the names") {
  const ConfigValue value = parse(
      "batch_num: 1\n"
      "common_config: {\n"
      "  ifmr_quantize: {\n"
      "    asymmetric: true }\n"
      "}\n"
      "override_layer_configs { layer_name: \"a\" }\n"
      "override_layer_configs { layer_name: \"b\"\n"
      " calibration_config { arq_quantize {} } }\n"
      "skip_layers: [\"c\",\n  'd']");
  CHECK(value.line == 1);
  CHECK(value.find("batch_num")->line == 1);
  CHECK(value.find("batch_num")->column == 1);
  CHECK(at(value, {"common_config", "ifmr_quantize"}).line == 3);
  CHECK(at(value, {"common_config", "ifmr_quantize"}).column == 3);
  CHECK(at(value, {"common_config", "ifmr_quantize", "asymmetric"}).line == 4);
  CHECK(at(value, {"common_config", "ifmr_quantize", "asymmetric"}).column == 5);
  const auto& layers = *value.find("override_layer_configs")->list();
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].line == 6);
  CHECK(layers[1].line == 7);
  CHECK(layers[1].find("layer_name")->column == 26);
  CHECK(at(layers[1], {"calibration_config", "arq_quantize"}).line == 8);
  CHECK(at(layers[1], {"calibration_config", "arq_quantize"}).column == 23);
  const auto& skipped = *value.find("skip_layers")->list();
  CHECK(skipped[0].line == 9);
  CHECK(skipped[0].column == 15);
  CHECK(skipped[1].line == 10);
  CHECK(skipped[1].column == 3);
}

TEST_CASE("a text in several strings is one value with one place") {
  const ConfigValue value = parse("skip_layers: 'a' \"b\" skip_layers:\n 'c'");
  const auto& skipped = *value.find("skip_layers")->list();
  REQUIRE(skipped.size() == 2);
  CHECK(*skipped[0].text() == "ab");
  CHECK(*skipped[1].text() == "c");
  CHECK(skipped[1].line == 1);
  CHECK(skipped[1].column == 22);
}

TEST_CASE("of a field given twice the last value counts, at the last place; messages are merged") {
  const ConfigValue value = parse(
      "batch_num: 1\nbatch_num: 2\n"
      "common_config { ifmr_quantize { search_step: 0.5 } }\n"
      "common_config { ifmr_quantize { asymmetric: true\n search_step: 0.25 } }");
  CHECK(*value.find("batch_num")->integer() == 2);
  CHECK(value.find("batch_num")->line == 2);
  const ConfigValue& ifmr = at(value, {"common_config", "ifmr_quantize"});
  CHECK(ifmr.line == 4);
  CHECK(*ifmr.find("search_step")->real() == 0.25);
  CHECK(ifmr.find("search_step")->line == 5);
  CHECK(ifmr.find("asymmetric")->line == 4);
}

TEST_CASE("of a oneof the last member counts") {
  const ConfigValue value =
      parse("common_config { ifmr_quantize { search_step: 0.5 } hfmg_quantize { num_of_bins: 1024 } }");
  CHECK(value.find("common_config")->find("ifmr_quantize") == nullptr);
  CHECK(*at(value, {"common_config", "hfmg_quantize", "num_of_bins"}).integer() == 1024);
}

TEST_CASE("required fields may be missing") {
  CHECK(parse("override_layer_configs {}").find("override_layer_configs")->list()->at(0).object()->empty());
}

TEST_CASE("an unknown field is refused with its place and the names that exist") {
  const amct::Error error = error_of("batch_num: 1\ncommon_config { ifmr_quantise {} }");
  CHECK(error.code() == amct::ErrorCode::config_syntax);
  CHECK(error.where().file == "q.cfg");
  CHECK(error.where().line == 2);
  CHECK(error.where().column == 17);
  CHECK(error.where().field == "ifmr_quantise");
  CHECK(error.message() ==
        "is no field of CalibrationConfig, did you mean \"ifmr_quantize\" or \"hfmg_quantize\"? (expected one of: "
        "arq_quantize, "
        "ada_quantize, ifmr_quantize, hfmg_quantize, dmq_balancer)");
}

TEST_CASE("an unknown enum name is refused with the names that exist") {
  for (const char* value : {"INT32", "7"}) {
    const amct::Error error = error_of(std::string("common_config { ifmr_quantize { dst_type: ") + value + " } }");
    CHECK(error.code() == amct::ErrorCode::config_syntax);
    CHECK(error.where().line == 1);
    CHECK(error.where().column == 43);
    CHECK(error.where().field == "dst_type");
    CHECK(error.message() == std::string("got ") + value + ", expected one of: INT8, INT16");
  }
}

TEST_CASE("what is no protobuf text is refused with its place") {
  for (const std::string text : {"batch_num",
                                 "batch_num: ",
                                 "batch_num: 1.5",
                                 "batch_num: -1",
                                 "batch_num: 4294967296",
                                 "batch_num: 'a'",
                                 "activation_offset: 2",
                                 "common_config {",
                                 "common_config }",
                                 "skip_layers: 'a",
                                 "{",
                                 "}",
                                 "\x01",
                                 "a: /*",
                                 "common_config: 1",
                                 "skip_layers: ['a' 'b',]",
                                 "common_config { ifmr_quantize { search_step: nan } }",
                                 "common_config { ifmr_quantize { search_step: -inf } }",
                                 "common_config { ifmr_quantize { search_step: 1e99 } }",
                                 "skip_layers: '\\377'",
                                 "skip_layers: '\xFF'",
                                 "batch_num: 1 \xC3"}) {
    CAPTURE(text);
    const amct::Error error = error_of(text);
    CHECK(error.code() == amct::ErrorCode::config_syntax);
    CHECK(error.where().line == 1);
    CHECK(error.where().column >= 1);
  }
}

TEST_CASE("hostile texts are refused, not followed") {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "common_config {";
  CHECK(error_of(deep).code() == amct::ErrorCode::config_syntax);
  CHECK(error_of(std::string(amct::protobuf::kMaxCfgBytes + 1, ' ')).message().find("16777216") != std::string::npos);
}

TEST_CASE("each schema reads its own fields") {
  const auto refuses = [](const char* text, CfgSchema schema) {
    return error_of(text, schema).message().find("is no field") != std::string::npos;
  };
  CHECK(refuses("batch_num: 1", CfgSchema::calibration_mindspore));
  CHECK(refuses("common_config { ifmr_quantize { num_bits: 8 } }", CfgSchema::calibration_pytorch));
  CHECK(refuses("update_bn: true", CfgSchema::calibration_pytorch));
  CHECK(refuses("prune_config {}", CfgSchema::retrain_hotwheels));

  const ConfigValue caffe = parse(
      "update_bn: true bn_update_config { bn_update_iterations: 30 bn_moving_average_fraction: 0.5 bn_dump_dir: 'd' }\n"
      "conv_calibration_config { arq_quantize { num_bits: 4 } } fc_calibration_config { }\n"
      "tensor_quantize { layer_name: 'a' input_index: 1 hfmg_quantize { } } joint_quant: false weight_offset: true\n"
      "nuq_config { mapping_file: 'm' nuq_quantize { num_steps: 16 num_of_iteration: 1 } } skip_approximation_layers: "
      "'x'",
      CfgSchema::calibration_caffe);
  CHECK(*at(caffe, {"bn_update_config", "bn_moving_average_fraction"}).real() == 0.5);
  CHECK(*at(caffe, {"tensor_quantize", "input_index"}).integer() == 1);

  const ConfigValue retrain = parse(
      "prune_config { filter_pruner { balanced_l2_norm_filter_prune { prune_ratio: 0.3 } } }\n"
      "retrain_data_quant_config { ulq_quantize { clip_max_min { clip_max: 3 clip_min: -3 } dst_type: INT4 } }\n"
      "retrain_weight_quant_config { ulq_retrain { channel_wise: true } } regular_prune_skip_types: 'Linear'\n"
      "override_layer_types { layer_type: 'Linear' prune_config { n_out_of_m_pruner { l1_selective_prune {\n"
      "  n_out_of_m_type: M4N2 update_freq: 0 } } } }",
      CfgSchema::retrain_pytorch);
  CHECK(*at(retrain, {"prune_config", "filter_pruner", "balanced_l2_norm_filter_prune", "prune_ratio"}).real() == 0.3);
  CHECK(*at(retrain, {"retrain_data_quant_config", "ulq_quantize", "dst_type"}).text() == "INT4");

  const ConfigValue distill = parse(
      "batch_num: 2 group_size: 3 data_dump: true distill_group { start_layer_name: 'a' end_layer_name: 'b' }\n"
      "distill_weight_quant_config { arq_distill { dst_type: INT8 } } quant_skip_layer_types: 'Linear'\n"
      "distill_override_layers { layer_name: 'c' distill_data_quant_config { ulq_quantize { fixed_min: true } } }",
      CfgSchema::distill);
  CHECK(*at(distill, {"distill_group", "end_layer_name"}).text() == "b");

  const ConfigValue kv = parse(
      "kv_cache_quant_config { quant_layers: 'k' calibration_config { ifmr_quantize { quant_granularity: per_channel } "
      "} }\n"
      "override_layers_configs { layer_name: 'v' kv_data_quant_config { hfmg_quantize { num_of_bins: 4096 } } }",
      CfgSchema::kv_cache);
  CHECK(*at(kv, {"kv_cache_quant_config", "calibration_config", "ifmr_quantize", "quant_granularity"}).text() ==
        "per_channel");

  const ConfigValue prune = parse("compress_ratio: 1.5 test_iteration: 2", CfgSchema::auto_prune);
  CHECK(*prune.find("compress_ratio")->real() == 1.5);
  CHECK(*prune.find("test_iteration")->integer() == 2);
}

TEST_CASE("the samples of the documents parse") {
  const ConfigValue mindspore =
      amct::protobuf::read_cfg(kSeeds / "calibration_mindspore.cfg", CfgSchema::calibration_mindspore);
  CHECK(*at(mindspore, {"common_config", "ifmr_quantize", "max_percentile"}).real() == 0.999999);
  CHECK(*mindspore.find("skip_layer_types")->list()->at(0).text() == "nn.Conv2d");

  const ConfigValue hotwheels =
      amct::protobuf::read_cfg(kSeeds / "calibration_hotwheels.cfg", CfgSchema::calibration_hotwheels);
  CHECK(*at(hotwheels, {"bn_update_config", "bn_momentum"}).real() == 0.1);
  CHECK(*at(hotwheels, {"om_config", "mapping_file"}).text() == "./retrain_conf/inst.om.json");
  CHECK(*at(hotwheels, {"common_config", "snq_quantize", "min_distance"}).real() == 1e-10);
  CHECK(*at(hotwheels, {"common_config", "snq_quantize", "init_algo"}).text() == "uniform");
  CHECK(*at(hotwheels, {"override_layer_configs", "calibration_config", "arq_quantize", "num_bits"}).integer() == 8);

  const ConfigValue retrain = amct::protobuf::read_cfg(kSeeds / "retrain_hotwheels.cfg", CfgSchema::retrain_hotwheels);
  CHECK(*at(retrain, {"retrain_data_quant_config", "luq_retrain", "num_bits"}).integer() == 8);
  CHECK(
      *at(retrain, {"override_layer_types", "retrain_weight_quant_config", "lnq_retrain", "cluster_freq"}).integer() ==
      1200);
  CHECK(
      *at(retrain, {"override_layer_configs", "retrain_data_quant_config", "ulq_quantize", "clip_max_min", "clip_min"})
           .real() == -3.0);
}

TEST_CASE("files are read as texts are") {
  const auto path = std::filesystem::temp_directory_path() / "amct_config_text_test.cfg";
  std::ofstream(path) << "\xEF\xBB\xBFnonsense: 1";
  try {
    static_cast<void>(amct::protobuf::read_cfg(path, CfgSchema::calibration_pytorch));
    FAIL("accepted");
  } catch (const amct::Error& error) {
    CHECK(error.where().file == path.string());
    CHECK(error.where().column == 1);
  }
  std::filesystem::remove(path);
  try {
    static_cast<void>(amct::protobuf::read_cfg(path, CfgSchema::calibration_pytorch));
    FAIL("accepted");
  } catch (const amct::Error& error) {
    CHECK(error.code() == amct::ErrorCode::io_read);
  }
}
