// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/record_writer.hpp>

#include <filesystem>
#include <locale>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::FloatStyle;
using amct::LayerRecord;
using amct::PruneRecord;
using amct::Record;
using amct::RecordDialect;
using amct::RecordFormat;
using amct::protobuf::record_text;

/// The error with which writing is refused.
template <class Entry>
Error refusal(const Entry& entry, RecordFormat format) {
  std::ostringstream out;
  try {
    amct::protobuf::RecordWriter(out, format).write(entry);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::record_value);
    return error;
  }
  FAIL("the entry was written: " << out.str());
  return {ErrorCode::numeric, {}, ""};
}

std::string prune_text(const PruneRecord& prune, RecordFormat format = {}) {
  std::ostringstream out;
  amct::protobuf::RecordWriter(out, format).write(prune);
  return out.str();
}

}  // namespace

TEST_CASE("a record file looks as AMCT writes it") {
  const Record record = {
      {.name = "conv1",
       .scale_d = 0.027267225F,
       .offset_d = -128,
       .scale_w = {1.0F, 0.0050297016F},
       .offset_w = {0, 0},
       .act_type = "INT8",
       .wts_type = "INT8"},
      {.name = "pool", .scale_d = 9.7405136e-05F, .offset_d = 0, .act_type = "INT16"},
  };
  CHECK(record_text(record) == R"(record {
  key: "conv1"
  value {
    scale_d: 0.027267225
    offset_d: -128
    scale_w: 1.0
    scale_w: 0.0050297016
    offset_w: 0
    offset_w: 0
    act_type: "INT8"
    wts_type: "INT8"
  }
}
record {
  key: "pool"
  value {
    scale_d: 9.7405136e-05
    offset_d: 0
    act_type: "INT16"
  }
}
)");
}

TEST_CASE("every field of the PyTorch dialect is written in the order of the numbers") {
  const LayerRecord full = {.name = "full",
                            .scale_d = 0.5F,
                            .offset_d = -3,
                            .scale_w = {0.25F, 1e-5F},
                            .offset_w = {0, 0},
                            .shift_bit = {1, 4294967295U},
                            .tensor_balance_factor = {0.1F, 3.0F},
                            .skip_fusion = true,
                            .dst_type = "INT4",
                            .act_type = "INT16",
                            .wts_type = "INT8",
                            .fakequant_precision_mode = "FORCE_FP16_QUANT",
                            .scale_h = 0.125F,
                            .offset_h = 7,
                            .scale_r = {2.0F},
                            .offset_r = {0},
                            .kv_cache = amct::KvCacheRecord{{0.5F}, {-1}}};
  CHECK(record_text({full}) == R"(record {
  key: "full"
  value {
    scale_d: 0.5
    offset_d: -3
    scale_w: 0.25
    scale_w: 1e-05
    offset_w: 0
    offset_w: 0
    shift_bit: 1
    shift_bit: 4294967295
    tensor_balance_factor: 0.1
    tensor_balance_factor: 3.0
    skip_fusion: true
    dst_type: "INT4"
    act_type: "INT16"
    wts_type: "INT8"
    fakequant_precision_mode: "FORCE_FP16_QUANT"
    scale_h: 0.125
    offset_h: 7
    scale_r: 2.0
    offset_r: 0
  }
  kv_cache_value {
    scale: 0.5
    offset: -1
  }
}
)");
}

TEST_CASE("the fields of the other dialects have their places") {
  CHECK(record_text({{.name = "t",
                      .scale_d = 0.5F,
                      .tensor_balance_factor = {2.0F},
                      .cluster = {-1, 3},
                      .dst_type = "INT8",
                      .act_type = "INT8",
                      .prune_producer = {"a"},
                      .prune_consumer = {"b"}}},
                    {.dialect = RecordDialect::tensorflow}) ==
        "record {\n  key: \"t\"\n  value {\n    scale_d: 0.5\n    cluster: -1\n    cluster: 3\n    dst_type: \"INT8\"\n"
        "    prune_producer: \"a\"\n    prune_consumer: \"b\"\n    tensor_balance_factor: 2.0\n    act_type: \"INT8\"\n"
        "  }\n}\n");
  CHECK(record_text({{.name = "h",
                      .record_d = {{.scale_d = 0.5F, .offset_d = -128, .index = 0, .num_bits_d = 12},
                                   {.scale_d = 1.5F, .offset_d = 3, .index = 1}},
                      .scale_w = {0.25F},
                      .offset_w = {0},
                      .num_bits_w = 4,
                      .params = {-85},
                      .centroids = {-0.5F},
                      .weight_clip_max = 3.5F}},
                    {.dialect = RecordDialect::hotwheels}) ==
        "record {\n  key: \"h\"\n  value {\n"
        "    record_d {\n      scale_d: 0.5\n      offset_d: -128\n      index: 0\n      num_bits_d: 12\n    }\n"
        "    record_d {\n      scale_d: 1.5\n      offset_d: 3\n      index: 1\n    }\n"
        "    scale_w: 0.25\n    offset_w: 0\n    num_bits_w: 4\n    params: -85\n    centroids: -0.5\n"
        "    weight_clip_max: 3.5\n  }\n}\n");
  CHECK(record_text({{.name = "c", .scale_d = 0.5F, .skip_fusion = false, .channels = 3, .height = 5, .width = 7}},
                    {.dialect = RecordDialect::caffe}) ==
        "record {\n  key: \"c\"\n  value {\n    scale_d: 0.5\n    channels: 3\n    height: 5\n    width: 7\n"
        "    skip_fusion: false\n  }\n}\n");
  CHECK(record_text({{.name = "p",
                      .record_d = {{.scale_d = 0.5F, .index = 0, .channels = 3}},
                      .scale_w = {2.0F},
                      .num_bits_w = 8,
                      .object_layer = "q"}},
                    {.dialect = RecordDialect::caffe_pico}) ==
        "record {\n  key: \"p\"\n  value {\n    scale_w: 2.0\n    object_layer: \"q\"\n    num_bits_w: 8\n"
        "    record_d {\n      scale_d: 0.5\n      index: 0\n      channels: 3\n    }\n  }\n}\n");
}

TEST_CASE("the old hotwheels layout stays in text and becomes record_d in binary") {
  const LayerRecord old = {.name = "conv1", .scale_d = 0.5F, .offset_d = 1, .scale_w = {0.25F}};
  CHECK(record_text({old}, {.dialect = RecordDialect::hotwheels}) ==
        "record {\n  key: \"conv1\"\n  value {\n    scale_d: 0.5\n    offset_d: 1\n    scale_w: 0.25\n  }\n}\n");
  LayerRecord renewed = old;
  renewed.scale_d.reset();
  renewed.offset_d.reset();
  renewed.record_d = {{.scale_d = 0.5F, .offset_d = 1, .index = 0}};
  const RecordFormat binary = {.dialect = RecordDialect::hotwheels, .binary = true};
  CHECK(record_text({old}, binary) == record_text({renewed}, binary));
  renewed.scale_d = 0.5F;
  CHECK(refusal(renewed, binary).where().field == "scale_d");
}

TEST_CASE("the binary form is that of AMCT's field numbers") {
  using namespace std::string_literals;
  const RecordFormat binary = {.dialect = RecordDialect::pytorch, .binary = true};
  CHECK(record_text({{.name = "a", .scale_d = 1.0F, .offset_d = -1, .wts_type = "I"}}, binary) ==
        "\x0A\x18\x0A\x01"
        "a\x12\x13\x0D\x00\x00\x80\x3F\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x62\x01I"s);
}

TEST_CASE("prune records are written with their attributes") {
  PruneRecord prune;
  prune.producers.push_back({.name = "conv1",
                             .attributes = {{.name = "type", .type = amct::PruneAttributeType::text, .s = "Conv"},
                                            {.name = "end", .type = amct::PruneAttributeType::integer, .i = 64}}});
  prune.selective_prune = amct::PruneNode{
      .name = "fc",
      .attributes = {{.name = "x", .f = 1.0F, .floats = {0.5F}, .ints = {-4347492700192463302}, .strings = {"\xff"}}}};
  CHECK(prune_text(prune) == R"(prune_record {
  producer {
    name: "conv1"
    attr {
      name: "type"
      type: STRING
      s: "Conv"
    }
    attr {
      name: "end"
      type: INT
      i: 64
    }
  }
  selective_prune {
    name: "fc"
    attr {
      name: "x"
      f: 1.0
      floats: 0.5
      ints: -4347492700192463302
      strings: "\377"
    }
  }
}
)");
  CHECK(refusal(prune, {.dialect = RecordDialect::mindspore}).where().field == "prune_record");
}

TEST_CASE("floats follow the style of the format") {
  const Record record = {{.name = "a", .scale_d = 0.0798481479F, .scale_w = {1.0F, 1e-5F}}};
  const std::string text = record_text(record, {.float_style = FloatStyle::digits9});
  CHECK(text.find("scale_d: 0.0798481479\n    scale_w: 1\n    scale_w: 9.99999975e-06\n") != std::string::npos);
  CHECK(record_text(record).find("scale_d: 0.07984815\n    scale_w: 1.0\n    scale_w: 1e-05\n") != std::string::npos);
}

TEST_CASE("a field that the dialect lacks is refused with layer and name") {
  const Error error = refusal(LayerRecord{.name = "conv1", .scale_d = 1.0F, .cluster = {1}}, {});
  CHECK(error.where().layer == "conv1");
  CHECK(error.where().field == "cluster");
  const LayerRecord several = {.name = "a", .record_d = {{.index = 0}}};
  CHECK(refusal(several, {.dialect = RecordDialect::mindspore}).where().field == "record_d");
  const LayerRecord cache = {.name = "a", .kv_cache = amct::KvCacheRecord{{1.0F}, {0}}};
  CHECK(refusal(cache, {.dialect = RecordDialect::tensorflow}).where().field == "kv_cache_value");
}

TEST_CASE("an entry without value has only a name or KV cache factors") {
  CHECK(record_text({{.name = "k", .has_value = false, .kv_cache = amct::KvCacheRecord{{0.5F}, {1}}}}) ==
        "record {\n  key: \"k\"\n  kv_cache_value {\n    scale: 0.5\n    offset: 1\n  }\n}\n");
  CHECK(refusal(LayerRecord{.name = "k", .scale_d = 1.0F, .has_value = false}, {}).where().layer == "k");
}

TEST_CASE("names are escaped, UTF-8 stays readable and anything else is refused") {
  CHECK(record_text({{.name = "a\"b\\c\nd\xE5\x8D\xB7"}}) ==
        "record {\n  key: \"a\\\"b\\\\c\\nd\xE5\x8D\xB7\"\n  value {\n  }\n}\n");
  for (const bool binary : {false, true}) {
    CHECK(refusal(LayerRecord{.name = "a\xff"}, {.binary = binary}).where().field == "key");
    CHECK(refusal(LayerRecord{.name = "a", .act_type = "\xC0\x80"}, {.binary = binary}).where().field == "act_type");
    CHECK(refusal(LayerRecord{.name = std::string(65537, 'n')}, {.binary = binary}).message().find("65536") !=
          std::string::npos);
  }
}

TEST_CASE("kept unknown fields go to the end of their message, in the form they came in") {
  const LayerRecord text = {.name = "a", .scale_d = 0.5F, .unknown = "next: 1\n    more { x: 2 }"};
  CHECK(record_text({text}) ==
        "record {\n  key: \"a\"\n  value {\n    scale_d: 0.5\n    next: 1\n    more { x: 2 }\n  }\n}\n");
  CHECK(refusal(text, {.binary = true}).where().layer == "a");
  const LayerRecord wire = {.name = "a", .unknown = "wire:f00105"};
  CHECK(record_text({wire}, {.binary = true}) ==
        "\x0A\x08\x0A\x01"
        "a\x12\x03\xF0\x01\x05");
  CHECK(refusal(wire, {}).where().layer == "a");
  for (const char* damaged : {"wire:f0", "wire:f0010Z"}) {
    CHECK(refusal(LayerRecord{.name = "a", .unknown = damaged}, {.binary = true}).where().layer == "a");
  }
  CHECK(prune_text({.unknown = "next: 1"}) == "prune_record {\n  next: 1\n}\n");
  CHECK(prune_text({.unknown = "wire:f00105"}, {.binary = true}) == "\x12\x03\xF0\x01\x05");
}

TEST_CASE("the locale does not matter") {
  struct Grouping : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Record record = {{.name = "a", .scale_d = 0.5F, .offset_d = -32768, .shift_bit = {1000000}}};
  const std::string expected = record_text(record);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouping));
  const std::string text = record_text(record);
  std::locale::global(before);
  CHECK(text == expected);
}

TEST_CASE("no layer is no text") { CHECK(record_text({}).empty()); }

TEST_CASE("a file is written whole or not at all") {
  const support::TempDir folder;
  amct::RecordFile file;
  file.layers = {{.name = "a", .scale_d = 0.5F}};
  file.prunes = {{}};
  amct::protobuf::write_record_file(folder / "new/record.txt", file);
  CHECK(support::read_text(folder / "new/record.txt") ==
        "record {\n  key: \"a\"\n  value {\n    scale_d: 0.5\n  }\n}\nprune_record {\n}\n");
  file.layers[0].cluster = {1};
  CHECK_THROWS_AS(amct::protobuf::write_record_file(folder / "other.txt", file), Error);
  CHECK_FALSE(std::filesystem::exists(folder / "other.txt"));
}
