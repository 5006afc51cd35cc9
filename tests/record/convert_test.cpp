// SPDX-License-Identifier: Apache-2.0
#include <amct/record/convert.hpp>

#include <string>

#include <doctest/doctest.h>

using amct::convert_record;
using amct::LayerRecord;
using amct::RecordDialect;

namespace {

LayerRecord conv1() {
  return {.name = "conv1",
          .scale_d = 0.5F,
          .offset_d = -3,
          .scale_w = {0.1F, 0.2F},
          .offset_w = {0, 0},
          .skip_fusion = true,
          .act_type = "INT16",
          .wts_type = "INT8"};
}
/// "field value" of each loss, joined by "; ".
template <class Entry>
std::string losses(const amct::ConvertedRecord<Entry>& converted) {
  std::string text;
  for (const auto& loss : converted.losses) text += (text.empty() ? "" : "; ") + loss.field + ' ' + loss.value;
  return text;
}

}  // namespace

TEST_CASE("pytorch to hotwheels and back is lossless: bits instead of types") {
  const auto there = convert_record(conv1(), RecordDialect::pytorch, RecordDialect::hotwheels);
  REQUIRE(there.entry.has_value());
  CHECK(losses(there) == "");
  CHECK_FALSE(there.entry->scale_d.has_value());
  REQUIRE(there.entry->record_d.size() == 1);
  CHECK(there.entry->record_d[0] ==
        amct::ActivationRecord{.scale_d = 0.5F, .offset_d = -3, .index = 0, .num_bits_d = 16});
  CHECK(there.entry->num_bits_w == 8);
  CHECK_FALSE(there.entry->act_type.has_value());
  CHECK_FALSE(there.entry->wts_type.has_value());
  const auto back = convert_record(*there.entry, RecordDialect::hotwheels, RecordDialect::pytorch);
  CHECK(losses(back) == "");
  CHECK(*back.entry == conv1());
}

TEST_CASE("in its own dialect an entry stays as it is") {
  auto record = conv1();
  record.unknown = "new_field: 1";
  CHECK(*convert_record(record, RecordDialect::hotwheels, RecordDialect::hotwheels).entry == record);
}

TEST_CASE("types that are the default are no loss for dialects without types") {
  auto record = conv1();
  record.act_type = "INT8";
  record.fakequant_precision_mode = "DEFAULT";
  const auto converted = convert_record(record, RecordDialect::pytorch, RecordDialect::mindspore);
  CHECK(losses(converted) == "");
  CHECK_FALSE(converted.entry->act_type.has_value());
  CHECK(converted.entry->scale_d == 0.5F);
  CHECK(converted.entry->skip_fusion == true);
}

TEST_CASE("other types are") {
  auto record = conv1();
  record.wts_type = "INT4";
  CHECK(losses(convert_record(record, RecordDialect::pytorch, RecordDialect::mindspore)) ==
        "act_type \"INT16\"; wts_type \"INT4\"");
  record = conv1();
  record.dst_type = "INT4";
  CHECK(losses(convert_record(record, RecordDialect::pytorch, RecordDialect::caffe)) ==
        "dst_type \"INT4\"; act_type \"INT16\"; wts_type \"INT8\"");
  const auto listed = convert_record(record, RecordDialect::pytorch, RecordDialect::hotwheels);
  CHECK(listed.entry->record_d[0].num_bits_d == 4);
  CHECK(listed.entry->num_bits_w == 4);
  CHECK(losses(listed) == "act_type \"INT16\"; wts_type \"INT8\"");
}

TEST_CASE("inputs behind the first, odd widths and non-uniform weights have no place in pytorch") {
  const LayerRecord record{.name = "fc",
                           .record_d = {{.scale_d = 0.25F, .offset_d = 1, .index = 1, .num_bits_d = 8},
                                        {.scale_d = 0.5F, .offset_d = -3, .index = 0, .num_bits_d = 12}},
                           .scale_w = {0.1F},
                           .offset_w = {0},
                           .num_bits_w = 4,
                           .params = {-85, 3},
                           .centroids = {-0.5F, 0.1F},
                           .weight_clip_max = 3.5F};
  const auto converted = convert_record(record, RecordDialect::hotwheels, RecordDialect::pytorch);
  CHECK(losses(converted) ==
        "record_d scale_d 0.25, offset_d 1, index 1, num_bits_d 8; record_d.num_bits_d 12; params -85, 3; "
        "centroids -0.5, 0.1; weight_clip_max 3.5");
  CHECK(converted.entry->scale_d == 0.5F);
  CHECK(converted.entry->offset_d == -3);
  CHECK(converted.entry->wts_type == "INT4");
  CHECK(converted.losses[0].layer == "fc");
}

TEST_CASE("caffe's shapes move between its two layouts and are lost elsewhere") {
  LayerRecord record{.name = "c", .scale_d = 0.5F, .offset_d = 0, .channels = 3, .height = 224, .width = 220};
  const auto pico = convert_record(record, RecordDialect::caffe, RecordDialect::caffe_pico);
  CHECK(losses(pico) == "");
  CHECK(pico.entry->record_d[0].height == 224U);
  CHECK(*convert_record(*pico.entry, RecordDialect::caffe_pico, RecordDialect::caffe).entry == record);
  CHECK(losses(convert_record(record, RecordDialect::caffe, RecordDialect::pytorch)) ==
        "channels 3; height 224; width 220");
  CHECK(losses(convert_record(*pico.entry, RecordDialect::caffe_pico, RecordDialect::hotwheels)) ==
        "record_d.channels 3; record_d.height 224; record_d.width 220");
}

TEST_CASE("each field that only some dialects have is listed") {
  LayerRecord record{.name = "c",
                     .tensor_balance_factor = {1.0F, 2.0F, 3.0F, 4.0F},
                     .fakequant_precision_mode = "FORCE_FP16_QUANT",
                     .scale_h = 0.5F,
                     .offset_h = 1,
                     .scale_r = {0.5F},
                     .offset_r = {0},
                     .kv_cache = amct::KvCacheRecord{{0.5F}, {3}},
                     .unknown = "x: 1"};
  CHECK(losses(convert_record(record, RecordDialect::pytorch, RecordDialect::hotwheels)) ==
        "unknown fields \"x: 1\"; tensor_balance_factor 1.0, 2.0, 3.0 ... (4 values); "
        "fakequant_precision_mode \"FORCE_FP16_QUANT\"; scale_h 0.5; offset_h 1; scale_r 0.5; offset_r 0; "
        "kv_cache_value scale 0.5, offset 3");
  record = {.name = "c", .cluster = {1}, .prune_producer = {"a"}, .prune_consumer = {"b"}};
  CHECK(losses(convert_record(record, RecordDialect::tensorflow, RecordDialect::pytorch)) ==
        "cluster 1; prune_producer \"a\"; prune_consumer \"b\"");
  record = {.name = "c", .object_layer = "o"};
  CHECK(losses(convert_record(record, RecordDialect::caffe_pico, RecordDialect::hotwheels)) == "object_layer \"o\"");
}

TEST_CASE("an entry of which nothing can be held is dropped, and listed") {
  const LayerRecord record{.name = "k", .has_value = false, .kv_cache = amct::KvCacheRecord{{0.5F}, {3}}};
  const auto converted = convert_record(record, RecordDialect::pytorch, RecordDialect::tensorflow);
  CHECK_FALSE(converted.entry.has_value());
  CHECK(converted.losses.size() == 1);
}

TEST_CASE("prune records are kept or lost as a whole") {
  const amct::PruneRecord record{.producers = {{.name = "conv1"}}, .consumers = {{.name = "bn"}, {.name = "conv2"}}};
  const auto kept = convert_record(record, RecordDialect::pytorch, RecordDialect::tensorflow);
  CHECK(*kept.entry == record);
  CHECK(kept.losses.empty());
  const auto lost = convert_record(record, RecordDialect::pytorch, RecordDialect::mindspore);
  CHECK_FALSE(lost.entry.has_value());
  CHECK(losses(lost) == "prune_record 1 producers, 2 consumers");
  CHECK(lost.losses[0].layer == "conv1");
}

TEST_CASE("what was converted holds only fields of the target") {
  LayerRecord everything = conv1();
  everything.record_d = {
      {.scale_d = 1.0F, .offset_d = 0, .index = 0, .num_bits_d = 8, .channels = 1, .height = 1, .width = 1}};
  everything.shift_bit = {1};
  everything.tensor_balance_factor = {1.0F};
  everything.cluster = {1};
  everything.num_bits_w = 8;
  everything.dst_type = "INT8";
  everything.fakequant_precision_mode = "FORCE_FP16_QUANT";
  everything.prune_producer = everything.prune_consumer = {"a"};
  everything.params = {1};
  everything.centroids = {1.0F};
  everything.weight_clip_max = everything.scale_h = 1.0F;
  everything.offset_h = 0;
  everything.scale_r = {1.0F};
  everything.offset_r = {0};
  everything.channels = everything.height = everything.width = 1;
  everything.object_layer = "o";
  for (const auto from : amct::kAllRecordDialects) {
    for (const auto to : amct::kAllRecordDialects) {
      if (from == to) continue;
      const auto converted = convert_record(everything, from, to);
      REQUIRE(converted.entry.has_value());
      amct::for_each_layer_field([&](std::string_view field, auto member) {
        CAPTURE(std::string(field));
        CAPTURE(std::string(amct::name_of(to)));
        const bool empty = (*converted.entry).*member == std::remove_cvref_t<decltype(everything.*member)>{};
        CHECK((empty || amct::holds(to, field)));
      });
      CHECK((converted.entry->record_d.empty() || amct::holds(to, "record_d")));
    }
  }
}
