// SPDX-License-Identifier: Apache-2.0
#include <amct/record/check.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using amct::Flavour;
using amct::LayerKind;
using amct::LayerRecord;
using amct::RecordLayer;

namespace {

/// "field: message" of each finding, a line each.
std::string findings(const LayerRecord& record, Flavour flavour = Flavour::pytorch,
                     const RecordLayer* layer = nullptr) {
  std::string text;
  for (const auto& finding : amct::check_record(record, amct::rules_of(flavour), layer)) {
    text += (text.empty() ? "" : "\n") + finding.field;
    text += (finding.index == 0 ? "" : '[' + std::to_string(finding.index) + ']') + ": " + finding.message;
  }
  return text;
}
std::string findings(const LayerRecord& record, const RecordLayer& layer, Flavour flavour = Flavour::pytorch) {
  return findings(record, flavour, &layer);
}

LayerRecord conv1() {
  return {.name = "conv1", .scale_d = 0.027F, .offset_d = -3, .scale_w = {0.1F, 0.2F}, .offset_w = {0, 0}};
}
RecordLayer layer_of(LayerKind kind, std::size_t outputs = 2, std::size_t inputs = 3) {
  return {.info = {.name = "conv1", .kind = kind}, .output_channels = outputs, .input_channels = inputs};
}
LayerRecord fc() {  // as in the hotwheels guide
  return {.name = "fc",
          .record_d = {{.scale_d = 0.016266866F, .offset_d = -128, .index = 0, .num_bits_d = 8}},
          .scale_w = {0.00089841383F},
          .offset_w = {0},
          .num_bits_w = 4,
          .params = {-85, -59, -45},
          .centroids = {-0.65F, -0.45F, -0.34F},
          .weight_clip_max = 3.6F};
}

}  // namespace

TEST_CASE("a complete layer is accepted by every flavour of its layout") {
  CHECK(findings(conv1()) == "");
  CHECK(findings(conv1(), Flavour::mindspore) == "");
  CHECK(findings(conv1(), Flavour::tensorflow) == "");
  CHECK(findings(conv1(), Flavour::caffe) == "");
  CHECK(findings(conv1(), Flavour::hotwheels) == "");
  CHECK(findings(conv1(), layer_of(LayerKind::conv2d)) == "");
  CHECK(findings(fc(), Flavour::hotwheels) == "");
}

TEST_CASE("an entry needs a name and something in it") {
  auto record = conv1();
  record.name.clear();
  CHECK(findings(record) == "key: is missing or empty, expected the name of a layer");
  CHECK(findings({.name = "a", .has_value = false}) == ": has neither value nor kv_cache_value");
}

TEST_CASE("all factors or none") {
  CHECK(findings({.name = "conv1", .act_type = "INT8", .wts_type = "INT8"}) == "");
  for (const char* field : {"scale_d", "offset_d", "scale_w", "offset_w"}) {
    auto record = conv1();
    if (std::string(field) == "scale_d") record.scale_d.reset();
    if (std::string(field) == "offset_d") record.offset_d.reset();
    if (std::string(field) == "scale_w") record.scale_w.clear();
    if (std::string(field) == "offset_w") record.offset_w.clear();
    CHECK(findings(record) ==
          std::string(field) + ": is missing: a quantized layer needs all of its factors, or none to stay float");
  }
}

TEST_CASE("K1: data factors alone: a tensor, or a flavour whose pools have no weight factors") {
  LayerRecord record{.name = "pool", .scale_d = 0.1F, .offset_d = 0};
  CHECK(findings(record) != "");
  CHECK(findings(record, Flavour::tensorflow) == "");
  CHECK(findings(record, Flavour::hotwheels) == "");
  record.name = "add:0";
  CHECK(findings(record) == "");
}

TEST_CASE("layers without weights") {
  const auto pool = layer_of(LayerKind::avg_pool2d, 1);
  LayerRecord record{.name = "pool", .scale_d = 0.1F, .offset_d = 0, .scale_w = {0.5F}, .offset_w = {0}};
  CHECK(findings(record, pool) == "");
  CHECK(findings(record, pool, Flavour::tensorflow) ==
        "scale_w: a layer of type AvgPool2d has no weights, please remove it\n"
        "offset_w: a layer of type AvgPool2d has no weights, please remove it");
  record.scale_w.push_back(0.5F);
  record.offset_w.push_back(0);
  CHECK(findings(record, pool) == "scale_w: got 2 values, expected 1: a layer of type AvgPool2d has one weight scale");
  RecordLayer add{.info = {.name = "add", .kind = LayerKind::other, .op_type = "Add"}};
  CHECK(findings(record, add).find("a layer of type Add has no weights") != std::string::npos);
}

TEST_CASE("ranges of scales and offsets") {
  auto record = conv1();
  record.scale_d = 0.0F;
  record.offset_d = 128;
  record.scale_w[1] = std::nanf("");
  record.offset_w[1] = 5;
  CHECK(findings(record) ==
        "scale_d: got 0.0, expected a finite scale above 0\n"
        "offset_d: got 128, expected -128 to 127\n"
        "scale_w[1]: got nan, expected a finite scale above 0\n"
        "offset_w[1]: got 5, expected 0");
  record = conv1();
  record.offset_d = 1000;
  record.act_type = "INT16";
  CHECK(findings(record) == "");
  record.offset_d = 40000;
  CHECK(findings(record) == "offset_d: got 40000, expected -32768 to 32767");
  record.offset_d = 9;  // AMCT checks narrow types against INT8
  record.act_type = "INT4";
  CHECK(findings(record) == "");
}

TEST_CASE("K38: as many weight factors as the layer and the flavour allow") {
  auto record = conv1();
  record.scale_w.push_back(0.1F);
  CHECK(findings(record) == "offset_w: got 2 values, expected as many as scale_w has, 3");
  record.offset_w.push_back(0);
  CHECK(findings(record) == "");
  CHECK(findings(record, layer_of(LayerKind::conv2d)) ==
        "scale_w: got 3 values, expected 1 or 2: one, or one an output channel");
  CHECK(findings(record, layer_of(LayerKind::linear, 3)) ==
        "scale_w: got 3 values, expected 1: a layer of type Linear has one weight scale");

  const auto accepts = [](Flavour flavour, LayerKind kind) {
    return findings(conv1(), layer_of(kind), flavour).empty();
  };
  for (const auto flavour : {Flavour::pytorch, Flavour::mindspore, Flavour::tensorflow, Flavour::hotwheels}) {
    CHECK(accepts(flavour, LayerKind::conv2d));
    CHECK_FALSE(accepts(flavour, LayerKind::linear));
    CHECK(accepts(flavour, LayerKind::conv1d) == (flavour == Flavour::pytorch));
  }
  CHECK_FALSE(accepts(Flavour::mindspore, LayerKind::conv_transpose2d));
  CHECK(accepts(Flavour::tensorflow, LayerKind::conv_transpose2d));
}

TEST_CASE("K36, K37: types of data and weights that each flavour has") {
  const auto with = [](const char* dst, const char* act, const char* wts) {
    auto record = conv1();
    if (dst != nullptr) record.dst_type = dst;
    if (act != nullptr) record.act_type = act;
    if (wts != nullptr) record.wts_type = wts;
    return record;
  };
  for (const char* dst : {"INT4", "INT8"}) CHECK(findings(with(dst, nullptr, nullptr)) == "");
  for (const char* act : {"INT4", "INT8", "INT16"}) CHECK(findings(with(nullptr, act, nullptr)) == "");
  for (const char* wts : {"INT4", "INT6", "INT7", "INT8"}) CHECK(findings(with(nullptr, nullptr, wts)) == "");
  for (const char* bad : {"", "UNSET", "FP16", "int8", "INT5"}) {
    CAPTURE(bad);
    CHECK(findings(with(bad, nullptr, nullptr)) == "dst_type: got \"" + std::string(bad) + "\", expected INT4 or INT8");
    CHECK(findings(with(nullptr, bad, nullptr)) ==
          "act_type: got \"" + std::string(bad) + "\", expected INT4, INT8 or INT16");
    CHECK(findings(with(nullptr, nullptr, bad)) ==
          "wts_type: got \"" + std::string(bad) + "\", expected INT4, INT6, INT7 or INT8");
  }
  CHECK(findings(with("INT16", nullptr, nullptr)) != "");
  CHECK(findings(with(nullptr, nullptr, "INT16")) != "");
  CHECK(findings(with("INT8", "INT8", "INT8"), Flavour::tensorflow) == "");
  CHECK(findings(with(nullptr, "INT16", nullptr), Flavour::tensorflow) == "act_type: got \"INT16\", expected INT8");
}

TEST_CASE("K37: types that a layer cannot have") {
  auto record = conv1();
  record.wts_type = "INT4";
  auto layer = layer_of(LayerKind::conv2d);
  CHECK(findings(record, layer) == "");
  layer.info.packs_int4 = false;
  CHECK(findings(record, layer).starts_with("wts_type: got INT4, expected INT8"));
  record = conv1();
  record.act_type = "INT16";
  CHECK(findings(record, layer_of(LayerKind::conv2d)) == "");
  CHECK(findings(record, layer_of(LayerKind::conv3d)) ==
        "act_type: got 16 bits, expected at most 8 for a layer of type Conv3d");
}

TEST_CASE("K1: shift_bit is refused, or within 1 to 16") {
  auto record = conv1();
  record.shift_bit = {1};
  CHECK(findings(record) == "shift_bit: flavour pytorch has no shift_bit, please remove it");
  CHECK(findings(record, Flavour::hotwheels) == "");
  record.shift_bit = {0, 0};
  CHECK(findings(record, Flavour::hotwheels) == "");
  record.shift_bit = {16, 0};
  CHECK(findings(record, Flavour::hotwheels) == "shift_bit[1]: got 0, expected 1 to 16, or 0 everywhere");
  record.shift_bit = {1, 17};
  CHECK(findings(record, Flavour::hotwheels) == "shift_bit[1]: got 17, expected 1 to 16, or 0 everywhere");
  record.shift_bit = {1, 1, 1};
  CHECK(findings(record, Flavour::hotwheels) == "shift_bit: got 3 values, expected 1 or 2");
}

TEST_CASE("balance factors") {
  auto record = conv1();
  record.tensor_balance_factor = {1.1920929e-7F, 1.0F, 8388608.0F};
  CHECK(findings(record) == "");
  CHECK(findings(record, layer_of(LayerKind::conv2d)) == "");
  record.tensor_balance_factor.pop_back();
  CHECK(findings(record, layer_of(LayerKind::conv2d)) ==
        "tensor_balance_factor: got 2 values, expected 3, one an input channel");
  for (const float bad : {0.0F, -1.0F, 1e8F, 1e-8F, std::nanf("")}) {
    record.tensor_balance_factor[1] = bad;
    CHECK(findings(record).find("expected 1.1920929e-07 to 8388608") != std::string::npos);
  }
}

TEST_CASE("precision mode") {
  auto record = conv1();
  record.fakequant_precision_mode = "FORCE_FP16_QUANT";
  CHECK(findings(record) == "");
  record.fakequant_precision_mode = "ABC";
  CHECK(findings(record) == "fakequant_precision_mode: got \"ABC\", expected DEFAULT or FORCE_FP16_QUANT");
}

TEST_CASE("several inputs") {
  auto record = fc();
  record.record_d.push_back({.scale_d = 0.5F, .offset_d = 0, .index = 1});
  CHECK(findings(record, Flavour::hotwheels) == "");
  record.record_d[1].index = 0;
  CHECK(findings(record, Flavour::hotwheels) == "record_d[1].index: got 0 a second time");
  record.record_d[1].index = 2;
  CHECK(findings(record, Flavour::hotwheels) == "record_d[1].index: got 2, expected every number from 0 to 1 once");
  record.record_d[1] = {.scale_d = 0.5F, .index = 1};
  CHECK(findings(record, Flavour::hotwheels).starts_with("record_d[1].offset_d: is missing"));
  record = fc();
  record.scale_d = 0.5F;
  CHECK(findings(record, Flavour::hotwheels) == "scale_d: got one beside record_d, expected one of the two layouts");
  record = fc();
  record.record_d.push_back({.scale_d = 0.5F, .offset_d = 0, .index = 1});
  CHECK(findings(record, layer_of(LayerKind::linear), Flavour::hotwheels) ==
        "record_d[1]: got 2 values, expected at most 1: so many inputs of the layer carry data");
}

TEST_CASE("K1: widths of several inputs and of the weights beside them") {
  auto record = fc();
  record.record_d[0] = {.scale_d = 0.5F, .offset_d = 7, .index = 0, .num_bits_d = 4};
  CHECK(findings(record, Flavour::hotwheels) == "");
  record.record_d[0].offset_d = 8;
  CHECK(findings(record, Flavour::hotwheels) == "record_d[0].offset_d: got 8, expected -8 to 7");
  record.record_d[0].offset_d = 0;
  record.num_bits_w = 8;
  CHECK(findings(record, Flavour::hotwheels) ==
        "record_d[0].num_bits_d: got 4 bits, expected at least 8 beside weights of 8 bits");
  record.record_d[0].num_bits_d = 12;
  CHECK(findings(record, Flavour::hotwheels) == "");
  record.num_bits_w = 4;
  CHECK(findings(record, Flavour::hotwheels) ==
        "record_d[0].num_bits_d: got 12 bits, expected at most 8 beside weights of 4 bits");
  record.num_bits_w = 6;
  CHECK(findings(record, Flavour::hotwheels).starts_with("num_bits_w: got 6, expected 4 or 8"));
  record = fc();
  record.record_d[0].num_bits_d = 7;
  CHECK(findings(record, Flavour::hotwheels).starts_with("record_d[0].num_bits_d: got 7, expected 4, 8, 9,"));
}

TEST_CASE("non-uniform weights") {
  auto record = fc();
  record.params.push_back(128);
  CHECK(findings(record, Flavour::hotwheels) ==
        "params[3]: got 128, expected -128 to 127\n"
        "centroids: got 3 values, expected as many as params has, 4");
  record = fc();
  record.centroids[2] = std::nanf("");
  record.weight_clip_max = 0.0F;
  CHECK(findings(record, Flavour::hotwheels) ==
        "centroids[2]: got nan, expected a finite number\n"
        "weight_clip_max: got 0.0, expected a finite number above 0");
  record = conv1();
  record.cluster.assign(16, -128);
  CHECK(findings(record, Flavour::tensorflow) == "");
  record.cluster.assign(15, 0);
  CHECK(findings(record, Flavour::tensorflow) == "cluster: got 15 values, expected 16 or 32");
}

TEST_CASE("recurrent layers need factors of their hidden state") {
  auto record = conv1();
  const auto rnn = layer_of(LayerKind::lstm);
  CHECK(findings(record, rnn).starts_with("scale_h: is missing"));
  record.scale_h = 0.1F;
  record.offset_h = 0;
  record.scale_r = {0.1F, 0.2F};
  record.offset_r = {0, 0};
  CHECK(findings(record, rnn) == "");
  CHECK(findings(record) == "");
  CHECK(findings(record, layer_of(LayerKind::conv2d)).starts_with("scale_h: a layer of type Conv2d has no hidden"));
  record.offset_h = 200;
  record.offset_r = {0};
  CHECK(findings(record) ==
        "offset_h: got 200, expected -128 to 127\n"
        "offset_r: got 1 value, expected as many as scale_r has, 2");
}

TEST_CASE("KV cache factors") {
  LayerRecord record{.name = "k", .has_value = false, .kv_cache = amct::KvCacheRecord{{0.1F, 0.2F}, {0, -128}}};
  CHECK(findings(record) == "");
  CHECK(findings(record, layer_of(LayerKind::linear)).starts_with("value: is missing"));
  record.kv_cache->scale[1] = -1.0F;
  record.kv_cache->offset = {0, 200, 0};
  CHECK(findings(record) ==
        "kv_cache_value.offset: got 3 values, expected as many as scale has, 2\n"
        "kv_cache_value.scale[1]: got -1.0, expected a finite scale above 0\n"
        "kv_cache_value.offset[1]: got 200, expected -128 to 127");
  record.kv_cache = amct::KvCacheRecord{};
  CHECK(findings(record) == "kv_cache_value.scale: is missing");
}

TEST_CASE("a bias must fit int32 at the scale of the accumulator") {
  auto layer = layer_of(LayerKind::conv2d);
  layer.bias = {0.0F, 2.0F};
  CHECK(findings(conv1(), layer) == "");
  auto record = conv1();
  record.scale_d = 1e-9F;
  const auto found = amct::check_record(record, amct::rules_of(Flavour::pytorch), &layer);
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == amct::ErrorCode::numeric);
  CHECK(found[0].message == "got 1e-09 with scale_w 0.2: the bias 2 of channel 1 divided by both does not fit int32");
  record = conv1();
  record.scale_d = 3e38F;
  record.scale_w = {1.0F, 10.0F};
  CHECK(findings(record) == "scale_d: got 3e+38, whose product with scale_w 10.0 float32 cannot hold");
}

TEST_CASE("shapes of inputs") {
  auto record = conv1();
  record.channels = 3;
  record.height = 0;
  CHECK(findings(record, Flavour::caffe) == "height: got 0, expected at least 1");
}
