// SPDX-License-Identifier: Apache-2.0
#include <amct/json_yaml/json.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

using amct::ConfigValue;
using amct::json_yaml::parse_json;

namespace {

amct::Error error_of(const std::string& text) {
  try {
    static_cast<void>(parse_json(text, "c.json"));
  } catch (const amct::Error& error) {
    return error;
  }
  FAIL("accepted: " << text);
  return {amct::ErrorCode::numeric, {}, ""};
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("every type is read as what it is written as") {
  const ConfigValue value = parse_json(R"({"a": 1, "b": 1.0, "c": -2e-3, "d": "x\u00e9\n", "e": true, "f": null,
                                           "g": [], "h": {}, "i": -0, "j": 9223372036854775807})",
                                       "c.json");
  REQUIRE(value.object() != nullptr);
  CHECK(value.object()->size() == 10);
  CHECK(*value.find("a")->integer() == 1);
  CHECK(value.find("b")->integer() == nullptr);
  CHECK(*value.find("b")->real() == 1.0);
  CHECK(*value.find("c")->real() == -2e-3);
  CHECK(*value.find("d")->text() == "x\xC3\xA9\n");
  CHECK(*value.find("e")->boolean());
  CHECK(value.find("f")->is_null());
  CHECK(value.find("g")->list()->empty());
  CHECK(value.find("h")->object()->empty());
  CHECK(*value.find("i")->integer() == 0);
  CHECK(*value.find("j")->integer() == INT64_MAX);
}

TEST_CASE("an integer that int64 cannot hold becomes a double") {
  CHECK(*parse_json("9223372036854775808", "").real() == 9223372036854775808.0);
  CHECK(*parse_json("-9223372036854775809", "").real() == -9223372036854775808.0);
  CHECK(*parse_json("100000000000000000000000", "").real() == 1e23);
}

TEST_CASE("members keep the order of the file") {
  const ConfigValue value = parse_json(R"({"z":1,"a":2,"m":3})", "");
  CHECK(value.object()->at(0).name == "z");
  CHECK(value.object()->at(1).name == "a");
  CHECK(value.object()->at(2).name == "m");
}

TEST_CASE("every value knows its line and column") {
  const ConfigValue value = parse_json("{\n  \"a\" : 5, \"b\": [ true,\r\n\"x\"],\n\t\"c\":{\"d\":null}\n}", "");
  CHECK(value.line == 1);
  CHECK(value.column == 1);
  CHECK(value.find("a")->line == 2);
  CHECK(value.find("a")->column == 9);
  CHECK(value.find("b")->column == 17);
  CHECK(value.find("b")->list()->at(0).column == 19);
  CHECK(value.find("b")->list()->at(1).line == 3);
  CHECK(value.find("b")->list()->at(1).column == 1);
  CHECK(value.find("c")->line == 4);
  CHECK(value.find("c")->column == 6);
  CHECK(value.find("c")->find("d")->column == 11);
}

TEST_CASE("comments and trailing commas are tolerated and move no place") {
  const ConfigValue value = parse_json(
      "\xEF\xBB\xBF# first\n{ // second \" { [\n \"a#//\": [1, 2, /* third\n , */ 3, # fourth\n ],\n /**/ \"b\": "
      "{\"c\": 1 ,},}\n# end",
      "");
  const auto& list = *value.find("a#//")->list();
  REQUIRE(list.size() == 3);
  CHECK(list[2].line == 4);
  CHECK(list[2].column == 7);
  CHECK(value.find("b")->line == 6);
  CHECK(value.find("b")->column == 12);
  CHECK(*value.find("b")->find("c")->integer() == 1);
  CHECK(parse_json("\xEF\xBB\xBF 7", "").column == 2);
}

TEST_CASE("a comma that follows no value, or two of them, stay errors") {
  for (const char* text : {"[,]", "{,}", "[1,,]", "[,1]", "{\"a\":,}", "{\"a\":1,,}", "1,", "[1],", ","}) {
    CAPTURE(text);
    CHECK(error_of(text).code() == amct::ErrorCode::config_syntax);
  }
}

TEST_CASE("what is no JSON is refused with its place, what was found and what was expected") {
  const amct::Error object = error_of("{\n  \"a\": 1\n  \"b\": 2\n}");
  CHECK(object.code() == amct::ErrorCode::config_syntax);
  CHECK(object.where().file == "c.json");
  CHECK(object.where().line == 3);
  CHECK(object.where().column == 3);
  CHECK(object.message() == "is no valid JSON: found \"b\", expected '}'");

  const amct::Error unquoted = error_of("{not json");
  CHECK(unquoted.where().line == 1);
  CHECK(unquoted.where().column == 2);
  CHECK(unquoted.message() == "is no valid JSON: found not, expected string literal");

  const amct::Error open = error_of("{\"a\": [1, 2");
  CHECK(open.where().column == 12);
  CHECK(open.message() == "is no valid JSON: found the end of the file, expected ']'");

  const amct::Error empty = error_of("");
  CHECK(empty.where().line == 1);
  CHECK(empty.message().find("the end of the file") != std::string::npos);

  const amct::Error broken = error_of("[\"a\n\"]");
  CHECK(broken.where().line == 1);
  CHECK(broken.where().column == 2);
  CHECK(broken.message().find("found \"a... (invalid string: control character") != std::string::npos);

  const amct::Error endless = error_of("[1, /* 2 ]");
  CHECK(endless.where().column == 5);
  CHECK(endless.message().find("has no end") != std::string::npos);
}

TEST_CASE("literals of other languages, rubbish after the value and bytes that are no text are refused") {
  for (const std::string text :
       {"NaN",   "Infinity", "-Infinity", "nan",   "True", "None",     "'a'",         "[1] 2",     "{} {}", "01",
        "1.",    ".5",       "+1",        "1e",    "0x10", "1e999",    "\"\\ud800\"", "\"\\x41\"", "\"a",   "\"a\\",
        "[1 2]", "{1: 2}",   "/",         "[1/2]", "tru",  "\"\xC3\"", "\"\xFF\"",    "\xFF"}) {
    CAPTURE(text);
    CHECK(error_of(text).code() == amct::ErrorCode::config_syntax);
  }
  CHECK(error_of(std::string("{}\0rest", 7)).where().column == 3);
}

TEST_CASE("a name given twice is refused at every level, with both places") {
  const amct::Error top = error_of("{\"version\": 1,\n \"b\": 2,\n \"version\": 1}");
  CHECK(top.code() == amct::ErrorCode::config_syntax);
  CHECK(top.where().line == 3);
  CHECK(top.where().column == 2);
  CHECK(top.message() == "\"version\" is given twice, first at line 1, column 2");
  CHECK(error_of("{\"a\": {\"b\": [{\"c\": 1, \"c\": 2}]}}").where().column == 23);
  CHECK(error_of("{\"\\u0061\": 1, \"a\": 2}").where().column == 15);
}

TEST_CASE("depth is limited") {
  const auto nested = [](std::size_t depth) { return repeated("[", depth) + repeated("]", depth); };
  CHECK(parse_json(nested(amct::json_yaml::kMaxConfigDepth), "").list() != nullptr);
  CHECK(error_of(nested(amct::json_yaml::kMaxConfigDepth + 1)).message().find("64") != std::string::npos);
  CHECK(error_of(repeated("[", 1'000'000)).where().column == 65);
  CHECK(error_of(repeated("{\"a\":", 1'000'000)).code() == amct::ErrorCode::config_syntax);
}

TEST_CASE("the number of values is limited") {
  CHECK(error_of('[' + repeated("1,", amct::json_yaml::kMaxConfigValues) + "1]").message() ==
        "has more than 4000000 values");
}

TEST_CASE("files are read as texts are") {
  const auto path = std::filesystem::temp_directory_path() / "amct_json_test.json";
  std::ofstream(path) << "{\"a\": 1}";
  CHECK(*amct::json_yaml::read_json(path).find("a")->integer() == 1);
  std::ofstream(path) << "{\"a\": }";
  try {
    static_cast<void>(amct::json_yaml::read_json(path));
    FAIL("accepted");
  } catch (const amct::Error& error) {
    CHECK(error.where().file == path.string());
    CHECK(error.where().column == 7);
  }
  std::filesystem::remove(path);
  try {
    static_cast<void>(amct::json_yaml::read_json(path));
    FAIL("accepted");
  } catch (const amct::Error& error) {
    CHECK(error.code() == amct::ErrorCode::io_read);
  }
}
