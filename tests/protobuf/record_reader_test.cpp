// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/record_reader.hpp>

#include <cmath>
#include <filesystem>
#include <limits>
#include <locale>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <amct/protobuf/record_fields.hpp>
#include <amct/protobuf/record_schema.hpp>
#include <amct/protobuf/record_writer.hpp>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::ActivationRecord;
using amct::Error;
using amct::ErrorCode;
using amct::LayerRecord;
using amct::PruneRecord;
using amct::Record;
using amct::RecordDialect;
using amct::RecordFormat;
using amct::Where;
using amct::protobuf::RecordEntry;
using amct::protobuf::RecordReader;
using amct::protobuf::RecordReadOptions;

RecordReader reader_of(const std::string& content, RecordReadOptions options = {}) {
  return {std::make_unique<std::istringstream>(content), "record.txt", options};
}

std::vector<RecordEntry> entries_of(const std::string& content, RecordReadOptions options = {}) {
  RecordReader reader = reader_of(content, options);
  std::vector<RecordEntry> entries;
  while (auto entry = reader.next()) entries.push_back(std::move(*entry));
  return entries;
}

/// The layers of a file that has nothing else.
Record layers_of(const std::string& content, RecordReadOptions options = {}) {
  Record record;
  for (const auto& entry : entries_of(content, options)) record.push_back(std::get<LayerRecord>(entry));
  return record;
}

LayerRecord layer_with(const std::string& fields, RecordReadOptions options = {}) {
  const Record record = layers_of("record { key: 'a' value { " + fields + " } }", options);
  REQUIRE(record.size() == 1);
  return record[0];
}

Error error_of(const std::string& content, RecordReadOptions options = {}) {
  try {
    (void)entries_of(content, options);
  } catch (const Error& error) {
    CHECK(error.where().file == "record.txt");
    return error;
  }
  FAIL("the record was accepted: " << content);
  return {ErrorCode::numeric, {}, ""};
}

std::string written(const std::vector<RecordEntry>& entries, RecordFormat format) {
  std::ostringstream out;
  amct::protobuf::RecordWriter writer(out, format);
  for (const auto& entry : entries) std::visit([&](const auto& each) { writer.write(each); }, entry);
  return out.str();
}

/// One layer with every field that the dialect has, each different.
LayerRecord full_layer(RecordDialect dialect) {
  LayerRecord layer = {.name = "full"};
  const auto& schema = amct::protobuf::record_schema(dialect);
  const auto& value = *schema.FindFieldByName("record")->message_type()->FindFieldByName("value")->message_type();
  const auto has = [&](const char* name) { return value.FindFieldByName(name) != nullptr; };
  if (has("scale_d") && !has("record_d")) layer.scale_d = 0.5F, layer.offset_d = -3;
  if (has("record_d")) layer.record_d = {{.scale_d = 0.5F, .offset_d = 7, .index = 1, .num_bits_d = 12}};
  if (dialect == RecordDialect::caffe_pico)
    layer.record_d[0].channels = 3, layer.record_d[0].height = 4, layer.record_d[0].width = 5;
  if (has("scale_w")) layer.scale_w = {0.25F, 1e-5F}, layer.offset_w = {0, 0}, layer.shift_bit = {1, 4294967295U};
  if (has("tensor_balance_factor")) layer.tensor_balance_factor = {0.1F, 3.0F};
  if (has("cluster")) layer.cluster = {-1, 5};
  if (has("num_bits_w")) layer.num_bits_w = 4;
  if (has("skip_fusion")) layer.skip_fusion = true;
  if (has("dst_type")) layer.dst_type = "INT4";
  if (has("act_type")) layer.act_type = "INT16", layer.wts_type = "INT8";
  if (has("fakequant_precision_mode")) layer.fakequant_precision_mode = "FORCE_FP16_QUANT";
  if (has("prune_producer")) layer.prune_producer = {"p", "q"}, layer.prune_consumer = {"c"};
  if (has("params")) layer.params = {-85, 3}, layer.centroids = {-0.5F, 0.5F}, layer.weight_clip_max = 3.5F;
  if (has("scale_h")) layer.scale_h = 0.75F, layer.offset_h = 9, layer.scale_r = {0.125F}, layer.offset_r = {0};
  if (has("channels")) layer.channels = 3, layer.height = 224, layer.width = 225;
  if (has("object_layer")) layer.object_layer = "other";
  if (dialect == RecordDialect::pytorch) layer.kv_cache = amct::KvCacheRecord{{0.5F, 1.0F}, {0, -1}};
  return layer;
}

constexpr const char* kPrune = R"(prune_record {
  producer {
    name: "conv1"
    attr {
      name: "type"
      type: STRING
      s: "Conv"
    }
    attr {
      name: "prune_index"
      type: INTS
      ints: 1
      ints: -4347492700192463302
    }
    attr {
      name: "rest"
      f: 1.5
      floats: 0.5
      strings: "\377\000"
    }
  }
  consumer {
    name: "bn1"
  }
  selective_prune {
    name: "fc"
  }
}
)";

}  // namespace

TEST_CASE("every dialect gives back what was written, in text and binary, and writes it alike again") {
  for (const RecordDialect dialect : amct::kAllRecordDialects) {
    for (const bool binary : {false, true}) {
      const RecordFormat format = {.dialect = dialect, .binary = binary};
      CAPTURE(name_of(dialect));
      CAPTURE(binary);
      const Record record = {full_layer(dialect), {.name = "empty"}, {.name = "float", .skip_fusion = false}};
      const std::string content = amct::protobuf::record_text(record, format);
      CHECK(layers_of(content, {.dialect = dialect}) == record);
      CHECK(written(entries_of(content, {.dialect = dialect}), format) == content);
      // The full layer has what makes its dialect, except that MindSpore's fields are all PyTorch's too.
      if (dialect != RecordDialect::mindspore) CHECK(reader_of(content).format() == format);
    }
  }
}

TEST_CASE("every field of every dialect has its member") {
  using amct::protobuf::detail::kActivationFields, amct::protobuf::detail::kKvCacheFields,
      amct::protobuf::detail::kLayerFields, amct::protobuf::detail::kPruneAttributeFields,
      amct::protobuf::detail::kPruneNodeFields;
  std::vector<std::string> known = {"record",   "prune_record", "key",      "value",           "kv_cache_value",
                                    "record_d", "producer",     "consumer", "selective_prune", "attr"};
  for (const auto& field : kLayerFields) known.emplace_back(field.name);
  for (const auto& field : kActivationFields) known.emplace_back(field.name);
  for (const auto& field : kKvCacheFields) known.emplace_back(field.name);
  for (const auto& field : kPruneNodeFields) known.emplace_back(field.name);
  for (const auto& field : kPruneAttributeFields) known.emplace_back(field.name);
  int fields = 0;
  const auto visit = [&](const auto& self, const google::protobuf::Descriptor& schema) -> void {
    for (int i = 0; i < schema.field_count(); ++i, ++fields) {
      CAPTURE(schema.field(i)->full_name());
      CHECK(std::find(known.begin(), known.end(), schema.field(i)->name()) != known.end());
      if (schema.field(i)->message_type() != nullptr) self(self, *schema.field(i)->message_type());
    }
  };
  for (const RecordDialect dialect : amct::kAllRecordDialects) visit(visit, amct::protobuf::record_schema(dialect));
  CHECK(fields > 100);
}

TEST_CASE("prune records survive text and binary in both dialects that have them") {
  const auto entries = entries_of(kPrune);
  REQUIRE(entries.size() == 1);
  const auto& prune = std::get<PruneRecord>(entries[0]);
  CHECK(prune.producers[0].name == "conv1");
  CHECK(prune.producers[0].find("type")->s == "Conv");
  CHECK(prune.producers[0].find("type")->type == amct::PruneAttributeType::text);
  CHECK(prune.producers[0].find("prune_index")->ints == std::vector<std::int64_t>{1, -4347492700192463302});
  CHECK(prune.producers[0].find("rest")->strings[0] == std::string("\xff\0", 2));
  CHECK(prune.consumers[0].name == "bn1");
  CHECK(prune.selective_prune->name == "fc");
  CHECK(written(entries, {}) == kPrune);
  for (const RecordDialect dialect : {RecordDialect::pytorch, RecordDialect::tensorflow}) {
    const std::string binary = written(entries, {.dialect = dialect, .binary = true});
    CHECK(reader_of(binary).format().binary);
    CHECK(entries_of(binary, {.dialect = dialect}) == entries);
  }
  CHECK(error_of(kPrune, {.dialect = RecordDialect::mindspore}).where().field == "prune_record");
}

TEST_CASE("layers and prune records come in the order of the file") {
  const auto entries =
      entries_of("prune_record {} record { key: 'z' value {} } prune_record {} record { value {} key: 'a' }");
  REQUIRE(entries.size() == 4);
  CHECK(std::holds_alternative<PruneRecord>(entries[0]));
  CHECK(std::get<LayerRecord>(entries[1]).name == "z");
  CHECK(std::holds_alternative<PruneRecord>(entries[2]));
  CHECK(std::get<LayerRecord>(entries[3]).name == "a");
}

TEST_CASE("the spellings of protobuf text are understood") {
  CHECK(
      layers_of("\xEF\xBB\xBF# c\nrecord: [{key: 'a' value {}}, <key: 'b' value: <scale_w: [1, 2f]>>]; record { key: "
                "'c' 'd' value { offset_d: 0x10, scale_d: 1e-2 ; } }") ==
      Record{{.name = "a"}, {.name = "b", .scale_w = {1.0F, 2.0F}}, {.name = "cd", .scale_d = 0.01F, .offset_d = 16}});
  CHECK(layers_of("record: [] record { key: 'a' value {} }").size() == 1);
}

TEST_CASE("of a scalar field given twice the last value counts, messages are merged") {
  CHECK(layer_with("scale_d: 1.0 scale_d: 2.0 offset_d: 3 offset_d: -4") ==
        LayerRecord{.name = "a", .scale_d = 2.0F, .offset_d = -4});
  CHECK(layers_of("record { key: 'x' key: 'a' value { scale_d: 1 scale_w: 1 } value { scale_d: 2 scale_w: 2 } }") ==
        Record{{.name = "a", .scale_d = 2.0F, .scale_w = {1.0F, 2.0F}}});
}

TEST_CASE("skip_fusion is absent unless it is stated") {
  CHECK_FALSE(layer_with("scale_d: 1").skip_fusion.has_value());
  CHECK(layer_with("skip_fusion: false").skip_fusion == false);
}

TEST_CASE("values that are no numbers are read too, since only the form is judged") {
  const LayerRecord layer = layer_with("scale_d: nan scale_w: -inf scale_w: 1e400 scale_w: -1");
  CHECK(std::isnan(*layer.scale_d));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(layer.scale_w == std::vector<float>{-kInfinity, kInfinity, -1.0F});
}

TEST_CASE("extreme factors keep their bits") {
  Record record = {{.name = "x", .offset_d = std::numeric_limits<int>::min()}};
  for (const float scale : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(), 1e-45F, 0.1F,
                            100000.0F, 1e16F, -0.0F, 0x1p-23F}) {
    record[0].scale_w.push_back(scale);
  }
  for (const auto style : {amct::FloatStyle::shortest, amct::FloatStyle::digits9}) {
    CHECK(layers_of(amct::protobuf::record_text(record, {.float_style = style})) == record);
  }
}

TEST_CASE("layer names survive, whatever they contain") {
  const std::string names[] = {"/layer1/conv1/Conv",
                               "with space",
                               "a\"quote",
                               "it's",
                               "back\\slash",
                               "new\nline",
                               std::string("nul\0", 4),
                               "\xE5\x8D\xB7\xE7\xA7\xAF",
                               "\xF0\x9F\x98\x80",
                               std::string(600, 'n'),
                               std::string(65536, 'n'),
                               "{ key: 1 }",
                               "# no comment",
                               "",
                               "\x01\x7f",
                               "</a>",
                               "}"};
  for (const auto& name : names) {
    CAPTURE(name);
    for (const bool binary : {false, true}) {
      const Record record = {{.name = name, .scale_d = 1.0F}, {.name = "next"}};
      CHECK(layers_of(amct::protobuf::record_text(record, {.binary = binary})) == record);
    }
  }
}

TEST_CASE("names that are not UTF-8 or too long are refused where they stand") {
  const Error error = error_of("record {\n  key: 'a\\xff'\n  value {}\n}");
  CHECK(error.code() == ErrorCode::record_value);
  CHECK(error.where().line == 2);
  CHECK(error.where().column == 3);
  CHECK(error.where().field == "key");
  CHECK(error_of(std::string("\x0A\x05\x0A\x01\xff\x12\x00", 7)).code() == ErrorCode::record_value);
  CHECK(error_of("record { key: '" + std::string(65537, 'n') + "' value {} }").code() == ErrorCode::record_value);
}

TEST_CASE("both layouts of hotwheels are read in text and binary") {
  const LayerRecord old = {.name = "a", .scale_d = 0.5F, .offset_d = 1, .num_bits_w = 4};
  CHECK(layer_with("scale_d: 0.5 offset_d: 1 num_bits_w: 4") == old);
  const std::string wire = std::string(
      "\x0A\x0E\x0A\x01"
      "a\x12\x09\x0D\x00\x00\x00\x3F\x10\x01\x30\x04",
      16);
  CHECK(layers_of(wire, {.dialect = RecordDialect::hotwheels}) == Record{old});
  CHECK(layer_with("record_d { scale_d: 0.5 offset_d: 1 index: 0 }").record_d ==
        std::vector<ActivationRecord>{{.scale_d = 0.5F, .offset_d = 1, .index = 0}});
  // The old layout is written as the new one to a binary file, and only there.
  const std::string renewed = written({old}, {.dialect = RecordDialect::hotwheels, .binary = true});
  CHECK(layers_of(renewed)[0].record_d == std::vector<ActivationRecord>{{.scale_d = 0.5F, .offset_d = 1, .index = 0}});
}

TEST_CASE("a binary entry with both layouts of hotwheels is refused: it could not be written again") {
  const std::string wire = std::string(
      "\x0A\x0C\x0A\x01"
      "a\x12\x07\x0D\x00\x00\x00\x3F\x0A\x00",
      14);
  RecordReader reader = reader_of(wire, {.dialect = RecordDialect::hotwheels});
  try {
    (void)reader.next();
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::record_value);
    CHECK(error.where().layer == "a");
    CHECK(error.where().field == "scale_d");
  }
}

TEST_CASE("an entry needs a key, and a value or KV cache factors; the next entry can still be read") {
  RecordReader reader =
      reader_of("record { value {} }\n record {\n key: 'b' }\nrecord { key: 'k' kv_cache_value { scale: 1 } }");
  try {
    (void)reader.next();
    FAIL("no key");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::record_value);
    CHECK(error.where().line == 1);
    CHECK(error.message() == "a record needs a key, the name of its layer");
  }
  try {
    (void)reader.next();
    FAIL("no value");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::record_value);
    CHECK(error.where().layer == "b");
    CHECK(error.where().line == 2);
    CHECK(error.where().column == 2);
    CHECK(error.message() == "has a key but no value");
  }
  const auto cache = reader.next();
  REQUIRE(cache.has_value());
  CHECK_FALSE(std::get<LayerRecord>(*cache).has_value);
  CHECK(std::get<LayerRecord>(*cache).kv_cache->scale == std::vector<float>{1.0F});
  CHECK_FALSE(reader.next().has_value());
  CHECK_FALSE(reader.next().has_value());
}

TEST_CASE("fields have their places in the file") {
  RecordReader reader = reader_of(
      "record { key: 'first' value {} } record {\n  key: 'a'\n  value {\n\tscale_d: 1\n    record_d { index: 0 }\n"
      "    record_d {\n      index: 1 num_bits_d: 9 }\n    scale_w: [1,\n  2]\n  }\n}\n");
  REQUIRE(reader.next().has_value());
  CHECK(reader.where().line == 1);
  CHECK(reader.where().column == 1);
  CHECK(reader.where("scale_d").column == 23);  // absent: where it would be
  REQUIRE(reader.next().has_value());
  const auto at = [&](const char* field, std::size_t index, int line, int column, const char* name) {
    CAPTURE(field);
    const Where where = reader.where(field, index);
    CHECK(where.file == "record.txt");
    CHECK(where.layer == "a");
    CHECK(where.field == name);
    CHECK(where.line == line);
    CHECK(where.column == column);
  };
  at("", 0, 1, 34, "");
  at("key", 0, 2, 3, "key");
  at("scale_d", 0, 4, 2, "scale_d");
  at("offset_d", 0, 3, 3, "offset_d");
  at("record_d", 1, 6, 5, "record_d[1]");
  at("record_d[1].num_bits_d", 0, 7, 16, "record_d[1].num_bits_d");
  at("record_d[0].index", 0, 5, 16, "record_d[0].index");
  at("scale_w", 0, 8, 5, "scale_w");
  at("scale_w", 1, 8, 5, "scale_w[1]");  // of a list in brackets only the start is known
  at("no_such.thing[", 0, 3, 3, "no_such.thing[");

  RecordReader cache = reader_of("record { key: 'k'\nkv_cache_value {\n scale: 1\n offset: 2 } }");
  REQUIRE(cache.next().has_value());
  CHECK(cache.where("kv_cache.scale").line == 3);
  CHECK(cache.where("kv_cache_value.offset").line == 4);
  CHECK(cache.where("kv_cache_value").line == 2);

  RecordReader prune = reader_of(kPrune);
  REQUIRE(prune.next().has_value());
  CHECK(prune.where("producer[0].attr[1].ints", 1).line == 13);
  CHECK(prune.where("consumer").line == 22);
}

TEST_CASE("texts that do not follow the form are refused with line and column") {
  const Error type = error_of("record {\n  key: 'a'\n  value {\n\t offset_d: 1.5\n } }");
  CHECK(type.code() == ErrorCode::record_syntax);
  CHECK(type.where().line == 4);
  CHECK(type.where().column == 13);
  CHECK(type.where().layer == "a");
  const Error later = error_of("record { key: 'a' value {} }\nrecord { key: 'b' value { shift_bit: -1 } }");
  CHECK(later.where().line == 2);
  CHECK(later.where().column == 38);
  CHECK(later.where().layer == "b");
  for (const char* text :
       {"record { key: 'a' value { offset_d: 3000000000 } }", "record { key: a }", "record {", "scale_d: 1.0", "hello",
        "}", "record { key: 'a' value { } ", "record { key: 'a' value { skip_fusion: 2 } }", "\x01\x02\x03",
        "prune_record { producer { attr { type: NONE } } }", "record: [", "record { [a.b]: 1 }"}) {
    CAPTURE(text);
    const Error error = error_of(text);
    CHECK(error.code() == ErrorCode::record_syntax);
    CHECK(error.where().line > 0);
  }
}

TEST_CASE("a line break inside quotes is explained") {
  const Error error = error_of("record {\nkey: \"\nconv1\n\"\nvalue {} }");
  CHECK(error.where().line == 2);
  CHECK(error.message().find("a line break in it is written \\n") != std::string::npos);
}

TEST_CASE("an unknown field is refused by name, with those that are known and the dialects that have it") {
  const Error error = error_of("record {\n  key: \"conv1\"\n  value {\n    scale_x : 1.0\n  }\n}\n");
  CHECK(error.code() == ErrorCode::record_syntax);
  CHECK(error.where().line == 4);
  CHECK(error.where().column == 5);
  CHECK(error.where().field == "scale_x");
  CHECK(error.where().layer == "conv1");
  CHECK(error.message().find("it has scale_d, offset_d, scale_w") != std::string::npos);
  const Error other = error_of("record { key: 'a' value { cluster: 1 } }", {.dialect = RecordDialect::pytorch});
  CHECK(other.message().find("tensorflow knows cluster") != std::string::npos);
}

TEST_CASE("unknown fields of a value and of a prune record are kept in text, in their places") {
  const RecordReadOptions keep = {.dialect = RecordDialect::pytorch, .keep_unknown = true};
  const std::string text =
      "record {\n  key: \"a\"\n  value {\n    scale_d: 0.5\n    next: \"x}\" 'y'\n    more {\n      x: [1, -2]\n    }\n"
      "    list: [{a: 1}, {b: 2}]\n  }\n}\nrecord {\n  key: \"b\"\n  value {\n    other: -inf\n  }\n}\n"
      "prune_record {\n  future: 1\n}\n";
  const auto entries = entries_of(text, keep);
  REQUIRE(entries.size() == 3);
  CHECK(std::get<LayerRecord>(entries[0]).unknown ==
        "next: \"x}\" 'y'\n    more {\n      x: [1, -2]\n    }\n    list: [{a: 1}, {b: 2}]");
  CHECK(std::get<LayerRecord>(entries[1]).unknown == "other: -inf");
  CHECK(std::get<PruneRecord>(entries[2]).unknown == "future: 1");
  CHECK(written(entries, {}) == text);
  // In lists of entries each keeps its own, also with unknown fields before known ones.
  const Record listed =
      layers_of("record: [{key: 'a' value {x: 1 scale_d: 1}}, {key: 'b' value {}}, {key: 'c' value {y: 2}}]", keep);
  CHECK(listed[0].unknown == "x: 1");
  CHECK(listed[0].scale_d == 1.0F);
  CHECK(listed[1].unknown.empty());
  CHECK(listed[2].unknown == "y: 2");
}

TEST_CASE("unknown fields elsewhere cannot be kept and are refused, not dropped") {
  const RecordReadOptions keep = {.keep_unknown = true};
  for (const char* text : {"record { key: 'a' value {} x: 1 }", "version: 1 record { key: 'a' value {} }",
                           "record { key: 'a' value { record_d { scale_d: 1 index: 0 x: 1 } } }",
                           "record { key: 'a' kv_cache_value { x: 1 } }",
                           "prune_record { producer { name: 'a' x: 1 } }", "x { } record { key: 'a' value {} }"}) {
    CAPTURE(text);
    const Error error = error_of(text, keep);
    CHECK(error.code() == ErrorCode::record_syntax);
    CHECK(error.message().find("cannot be kept") != std::string::npos);
    CHECK(error.where().line == 1);
  }
}

TEST_CASE("unknown fields of a binary file are refused, or kept as bytes") {
  const std::string wire = std::string(
      "\x0A\x0D\x0A\x01"
      "a\x12\x08\x0D\x00\x00\x00\x3F\xF0\x01\x05",
      15);
  const Error error = error_of(wire);
  CHECK(error.code() == ErrorCode::record_syntax);
  CHECK(error.where().layer == "a");
  CHECK(error.message().find("number 30 in SingleLayerRecord") != std::string::npos);
  const RecordReadOptions keep = {.keep_unknown = true};
  const auto entries = entries_of(wire, keep);
  CHECK(std::get<LayerRecord>(entries[0]).unknown == "wire:f00105");
  CHECK(written(entries, {.binary = true}) == wire);
  // In the entry itself there is no place for them.
  CHECK(error_of(std::string("\x0A\x08\x0A\x01"
                             "a\x12\x00\xF0\x01\x05",
                             10),
                 keep)
            .code() == ErrorCode::record_syntax);
}

TEST_CASE("damaged binary files are refused") {
  const std::string good = amct::protobuf::record_text({full_layer(RecordDialect::pytorch)}, {.binary = true});
  const Error cut = error_of(good.substr(0, good.size() - 1));
  CHECK(cut.code() == ErrorCode::record_syntax);
  CHECK(cut.message() == "entry 1 of the binary record is cut off: the file ends inside it");
  CHECK(error_of(good + "\x0A").message() == "entry 2 of the binary record has no length");
  CHECK(error_of(good + std::string(1, '\0')).message() == "entry 2 of the binary record does not start with a field");
  CHECK(error_of(good + "\x1A\x01x").message().find("number 3") != std::string::npos);
  CHECK(error_of(good + "\x08\x01").code() == ErrorCode::record_syntax);
  CHECK(error_of(good + "\x0A\xFF\xFF\xFF\x7F").message().find("at most 67108864 are read") != std::string::npos);
  CHECK(error_of(good + "\x0A\x03\x0A\x05x").message().find("damaged") != std::string::npos);
}

TEST_CASE("nesting is limited") {
  std::string text = "record { key: 'a' value { ";
  for (int i = 0; i < 100000; ++i) text += "x { ";
  CHECK(error_of(text).code() == ErrorCode::record_syntax);
  CHECK(error_of(text, {.keep_unknown = true}).code() == ErrorCode::record_syntax);
}

TEST_CASE("an entry of very many empty messages or texts is refused before it takes the memory") {
  const auto repeated = [](const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i <= amct::protobuf::kMaxRecordEntryParts; ++i) result += text;
    return result;
  };
  for (const std::string& text :
       {"prune_record { producer { " + repeated("attr{}") + " } }", "record: [" + repeated("<>") + "]",
        "record { value { prune_producer: [" + repeated("'',") + " '' ] } }"}) {
    CHECK(error_of(text).message() == "an entry has more than 200000 messages and texts");
  }
  // A prune record with a producer whose attributes are empty: 0x12 0x00 each.
  const std::string attributes = repeated(std::string("\x12\x00", 2));  // 400002 bytes
  const std::string wire = "\x12\x86\xB5\x18\x0A\x82\xB5\x18" + attributes;
  CHECK(error_of(wire).message() == "entry 1 of the binary record has more than 200000 messages and texts");
}

TEST_CASE("a file without entries is refused") {
  for (const char* text : {"", "\n", "# nothing\n", "record: []"}) {
    CHECK(error_of(text).message() == "has no entry, so it is no record file");
  }
}

TEST_CASE("the locale does not matter") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const LayerRecord layer = layer_with("scale_d: 0.0798481479");
  const auto style = reader_of("record { value { scale_d: 0.0798481479 } }").format().float_style;
  std::locale::global(before);
  CHECK(layer.scale_d == 0.0798481479F);
  CHECK(style == amct::FloatStyle::digits9);
}

TEST_CASE("files are opened by path; a missing file and a folder are io.read errors") {
  const support::TempDir folder;
  support::write_text(folder / "record.txt", "record { key: 'a' value {} }");
  RecordReader reader(folder / "record.txt");
  CHECK(std::get<LayerRecord>(*reader.next()).name == "a");
  CHECK(reader.where().file == (folder / "record.txt").string());
  for (const auto& path : {folder / "none.txt", folder.path(), std::filesystem::path()}) {
    try {
      const RecordReader refused(path);
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io_read);
      CHECK(error.where().file == path.string());
    }
  }
}
