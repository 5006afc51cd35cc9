// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/record_pytorch.hpp>

#include <initializer_list>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::LayerRecord;
using amct::Record;
using amct::protobuf::record_text;

Record read(const std::string& text) {
  const support::TempDir folder;
  support::write_text(folder / "record.txt", text);
  return amct::protobuf::read_record(folder / "record.txt");
}

Error error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    CHECK(error.where().file.ends_with("record.txt"));
    return error;
  }
  FAIL("the record was accepted");
  return {ErrorCode::numeric, {}, ""};
}

LayerRecord full_layer() {
  return {.name = "full",
          .scale_d = 0.5F,
          .offset_d = -3,
          .scale_w = {0.25F, 1e-5F},
          .offset_w = {0, 0},
          .shift_bit = {1, 4294967295U},
          .tensor_balance_factor = {0.1F, 3.0F},
          .skip_fusion = true,
          .dst_type = "INT4",
          .act_type = "INT16",
          .wts_type = "INT8"};
}

Record named(const std::string& name) { return {{.name = name, .scale_d = 1.0F}}; }

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

TEST_CASE("all fields are written in the order of their numbers") {
  CHECK(record_text({full_layer()}) == R"(record {
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
  }
}
)");
}

TEST_CASE("what was written is read back, and written again it is the same text") {
  const Record record = {full_layer(), {.name = "empty"}, {.name = "pool", .scale_d = 0x1p-23F, .skip_fusion = false}};
  const std::string text = record_text(record);
  CHECK(read(text) == record);
  CHECK(record_text(read(text)) == text);
}

TEST_CASE("no layer is no text") {
  CHECK(record_text({}).empty());
  CHECK(read("").empty());
}

TEST_CASE("extreme factors keep their bits") {
  Record record = named("x");
  for (const float scale : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(), 1e-45F, 0.1F,
                            100000.0F, 1e16F, -0.0F, std::numeric_limits<float>::infinity()}) {
    record[0].scale_w.push_back(scale);
  }
  record[0].offset_d = std::numeric_limits<int>::min();
  CHECK(read(record_text(record)) == record);
}

TEST_CASE("values that are no numbers are read too, since only the form is judged") {
  const Record record = read("record { key: 'a' value { scale_d: nan scale_w: -inf } }");
  REQUIRE(record.size() == 1);
  CHECK(*record[0].scale_d != *record[0].scale_d);
  CHECK(record[0].scale_w[0] == -std::numeric_limits<float>::infinity());
}

TEST_CASE("layer names survive, whatever they contain") {
  const std::string names[] = {
      "/layer1/conv1/Conv",       "with space",          "a\"quote",   "it's",        "back\\slash", "new\nline",
      "\xE5\x8D\xB7\xE7\xA7\xAF", std::string(600, 'n'), "{ key: 1 }", "# no comment"};
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK(read(record_text(named(name))) == named(name));
  }
}

TEST_CASE("a UTF-8 name is readable in the file") {
  CHECK(record_text(named("\xE5\x8D\xB7")).find("key: \"\xE5\x8D\xB7\"\n") != std::string::npos);
}

TEST_CASE("of a scalar field given twice the last value counts") {
  const Record record = read("record { key: 'a' value { scale_d: 1.0 scale_d: 2.0 offset_d: 3 offset_d: -4 } }");
  CHECK(record == Record{{.name = "a", .scale_d = 2.0F, .offset_d = -4}});
}

TEST_CASE("floats of nine digits and of whole numbers are read") {
  const Record record = read("record { key: \"conv1\" value { scale_d: 0.0798481479 offset_d: 1 scale_w: 1 } }");
  CHECK(record == Record{{.name = "conv1", .scale_d = 0.0798481479F, .offset_d = 1, .scale_w = {1.0F}}});
}

TEST_CASE("the order of the file is kept") {
  const Record record = read("record { key: 'z' value {} } record { value {} key: 'a' }");
  REQUIRE(record.size() == 2);
  CHECK(record[0].name == "z");
  CHECK(record[1].name == "a");
}

TEST_CASE("an unknown field is refused with line and column") {
  const Error error = error_of("record {\n  key: \"a\"\n  value {\n    scale_x: 1.0\n  }\n}\n");
  CHECK(error.code() == ErrorCode::record_syntax);
  CHECK(error.where().line == 4);
  CHECK(error.where().column > 0);
  CHECK(std::string(error.what()).find("record.txt:4:") != std::string::npos);
  CHECK(error.message().find("scale_x") != std::string::npos);
}

TEST_CASE("texts that do not follow the form are refused") {
  CHECK(error_of("record { key: 'a' value { offset_d: 1.5 } }").code() == ErrorCode::record_syntax);
  CHECK(error_of("record { key: 'a' value { offset_d: 3000000000 } }").code() == ErrorCode::record_syntax);
  CHECK(error_of("record { key: 'a' value { shift_bit: -1 } }").code() == ErrorCode::record_syntax);
  CHECK(error_of("record { key: a }").code() == ErrorCode::record_syntax);
  CHECK(error_of("record {").code() == ErrorCode::record_syntax);
  CHECK(error_of("scale_d: 1.0").code() == ErrorCode::record_syntax);
}

TEST_CASE("a layer given twice is refused by name") {
  const Error error =
      error_of("record { key: 'a' value {} } record { key: 'b' value {} } record { key: 'a' value {} }");
  CHECK(error.code() == ErrorCode::record_value);
  CHECK(error.where().layer == "a");
  CHECK(error.message() == "has more than one record");
}

TEST_CASE("a record needs key and value") {
  const Error no_key = error_of("record { key: 'a' value {} } record { value { scale_d: 1.0 } }");
  CHECK(no_key.code() == ErrorCode::record_value);
  CHECK(no_key.message() == "record 2 needs key and value");
  const Error no_value = error_of("record { key: 'conv1' }");
  CHECK(no_value.code() == ErrorCode::record_value);
  CHECK(no_value.where().layer == "conv1");
  CHECK(error_of("record { }").code() == ErrorCode::record_value);
}

TEST_CASE("a missing file and a folder are io.read errors") {
  const support::TempDir folder;
  for (const auto& path : {folder / "none.txt", folder.path()}) {
    try {
      (void)amct::protobuf::read_record(path);
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io_read);
      CHECK(error.where().file == path.string());
    }
  }
}
