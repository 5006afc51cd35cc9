// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/text.hpp>

#include <string>

#include <amct/proto/calibration_config_pytorch.pb.h>
#include <amct/proto/scale_offset_record_pytorch.pb.h>

#include <google/protobuf/struct.pb.h>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
namespace pytorch = amct::proto::pytorch;

/// Parses `text` into a message that may hold something already.
template <class Message>
Message parsed(const std::string& text, Message message = {}) {
  const support::TempDir folder;
  support::write_text(folder / "x.txt", text);
  amct::protobuf::read_text(folder / "x.txt", ErrorCode::config_syntax, message);
  return message;
}

Error error_of(const std::string& text) {
  try {
    (void)parsed<pytorch::AMCTConfig>(text);
  } catch (const Error& error) {
    CHECK(error.where().file.ends_with("x.txt"));
    return error;
  }
  FAIL("the text was accepted");
  return {ErrorCode::numeric, {}, ""};
}

}  // namespace

TEST_CASE("an empty text is an empty message and replaces what the message held") {
  pytorch::AMCTConfig full;
  full.set_batch_num(7);
  full.add_skip_layers("a");
  CHECK(parsed("", full).ByteSizeLong() == 0);
  CHECK(parsed(" \n# only a comment\n", full).ByteSizeLong() == 0);
}

TEST_CASE("of a field given twice the last value counts") {
  CHECK(parsed<pytorch::AMCTConfig>("batch_num: 1\nbatch_num: 2\n").batch_num() == 2);
}

TEST_CASE("missing required fields are left to the caller") {
  CHECK(parsed<pytorch::AMCTConfig>("override_layer_types { }").override_layer_types_size() == 1);
}

TEST_CASE("a syntax error has file, line and column") {
  const Error unknown = error_of("batch_num: 1\n  nonsense: 2\n");
  CHECK(unknown.code() == ErrorCode::config_syntax);
  CHECK(unknown.where().line == 2);
  CHECK(std::string(unknown.what()).find("x.txt:2:") != std::string::npos);
  CHECK(unknown.message().find("nonsense") != std::string::npos);

  const Error number = error_of("batch_num: 1.5");
  CHECK(number.where().line == 1);
  CHECK(number.where().column == 12);
  CHECK(error_of("batch_num: \"1\"").where().column == 12);
}

TEST_CASE("of several errors the first is reported") {
  const Error error = error_of("batch_num: 1a\nnonsense: 1\n");  // two messages come from the parser
  CHECK(error.where().line == 1);
  CHECK(error.where().column == 13);
}

TEST_CASE("unfinished and garbled texts are refused") {
  CHECK(error_of("common_config {").code() == ErrorCode::config_syntax);
  CHECK(error_of("skip_layers: \"conv1").code() == ErrorCode::config_syntax);
  CHECK(error_of("}").code() == ErrorCode::config_syntax);
  CHECK_FALSE(error_of(std::string("\0\1\2", 3)).message().empty());
}

TEST_CASE("nesting is limited") {
  // A recursive message; each level of it nests three messages.
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "fields { key: 'a' value { struct_value { ";
    for (int i = 0; i < levels; ++i) text += "} } } ";
    return text;
  };
  CHECK(parsed<google::protobuf::Struct>(nested(10)).fields_size() == 1);
  CHECK_THROWS_AS(parsed<google::protobuf::Struct>(nested(11)), Error);
  CHECK_THROWS_AS(parsed<google::protobuf::Struct>(nested(1000)), Error);
}

TEST_CASE("the spellings of protobuf text are understood") {
  const auto message = parsed<pytorch::AMCTConfig>(
      "# a comment\nbatch_num : 0x2; activation_offset : 0, skip_layers : ['a', \"b\"]\n"
      "common_config < ifmr_quantize < search_step : 0.02 > >");
  CHECK(message.batch_num() == 2);
  CHECK_FALSE(message.activation_offset());
  CHECK(message.skip_layers_size() == 2);
  CHECK(message.skip_layers(1) == "b");
  CHECK(message.common_config().ifmr_quantize().search_step() == 0.02F);
}

TEST_CASE("messages are written with two spaces a level and the shortest floats") {
  pytorch::AMCTConfig message;
  message.set_batch_num(3);
  message.mutable_common_config()->mutable_ifmr_quantize()->set_search_step(1.0F);
  message.mutable_common_config()->mutable_ifmr_quantize()->set_search_range_start(0.7F);
  message.mutable_common_config()->mutable_ifmr_quantize()->set_dst_type(pytorch::INT16);
  CHECK(amct::protobuf::to_text(message) ==
        "batch_num: 3\n"
        "common_config {\n"
        "  ifmr_quantize {\n"
        "    search_range_start: 0.7\n"
        "    search_step: 1.0\n"
        "    dst_type: INT16\n"
        "  }\n"
        "}\n");
  CHECK(amct::protobuf::to_text(pytorch::AMCTConfig()).empty());
}

TEST_CASE("UTF-8 is written as it is, quotes and backslashes are escaped") {
  pytorch::AMCTConfig message;
  message.add_skip_layers("\xE5\x8D\xB7\xE7\xA7\xAF");
  message.add_skip_layers("a\"b\\c\n");
  CHECK(amct::protobuf::to_text(message) ==
        "skip_layers: \"\xE5\x8D\xB7\xE7\xA7\xAF\"\n"
        "skip_layers: \"a\\\"b\\\\c\\n\"\n");
}
