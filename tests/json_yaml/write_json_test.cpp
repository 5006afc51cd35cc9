// SPDX-License-Identifier: Apache-2.0
#include <amct/json_yaml/write_json.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <string>

#include <amct/core/read_file.hpp>
#include <amct/json_yaml/json.hpp>

using amct::ConfigValue;
using amct::json_yaml::json_text;

TEST_CASE("the layout is that of Python's json.dump with an indent of 4") {
  ConfigValue value;
  value.add("version", 1);
  value.add("list", ConfigValue::List{0.7, 1.3});
  value.add("empty", ConfigValue::List{});
  value.add("object", ConfigValue{}).add("inner", ConfigValue::Object{});
  value.add("flag", true);
  value.add("nothing", ConfigValue{});
  CHECK(
      json_text(value) ==
      "{\n    \"version\":1,\n    \"list\":[\n        0.7,\n        1.3\n    ],\n    \"empty\":[],\n    \"object\":{\n"
      "        \"inner\":{}\n    },\n    \"flag\":true,\n    \"nothing\":null\n}");
}

TEST_CASE("floats are those of Python's repr") {
  const auto text = [](double value) { return json_text(ConfigValue(value)); };
  CHECK(text(1.0) == "1.0");
  CHECK(text(-0.0) == "-0.0");
  CHECK(text(0.999999) == "0.999999");
  CHECK(text(1e-10) == "1e-10");
  CHECK(text(0.0001) == "0.0001");
  CHECK(text(0.00001) == "1e-05");
  CHECK(text(1e16) == "1e+16");
  CHECK(text(123456789012345.0) == "123456789012345.0");
  CHECK(text(1.1920928955078125e-7) == "1.1920928955078125e-07");
}

TEST_CASE("texts are escaped as Python's ensure_ascii does") {
  CHECK(json_text(ConfigValue("a\"\\/\n\t\x01\x7F\xC3\xA9\xE5\xB1\x82\xF0\x9F\x98\x80")) ==
        R"("a\"\\/\n\t\u0001\u007f\u00e9\u5c42\ud83d\ude00")");
  ConfigValue named;
  named.add("\xE5\xB1\x82", 1);
  CHECK(json_text(named) == "{\n    \"\\u5c42\":1\n}");
}

TEST_CASE("what JSON cannot say is refused") {
  CHECK_THROWS_AS(static_cast<void>(json_text(ConfigValue(std::numeric_limits<double>::quiet_NaN()))), amct::Error);
  CHECK_THROWS_AS(static_cast<void>(json_text(ConfigValue(std::numeric_limits<double>::infinity()))), amct::Error);
  CHECK_THROWS_AS(static_cast<void>(json_text(ConfigValue("\xFF"))), amct::Error);
}

TEST_CASE("AMCT's own config files are written back byte for byte") {
  const std::filesystem::path golden = std::filesystem::path(__FILE__).parent_path().parent_path() / "golden" / "e2e";
  int files = 0;
  for (const auto& folder : std::filesystem::directory_iterator(golden)) {
    const auto path = folder.path() / "config.json";
    if (!std::filesystem::exists(path)) continue;
    CAPTURE(path.string());
    const std::string text = amct::read_file(path, amct::json_yaml::kMaxConfigBytes);
    CHECK(json_text(amct::json_yaml::parse_json(text, path.string())) == text);
    ++files;
  }
  CHECK(files >= 4);
}

TEST_CASE("a file is written whole") {
  const auto path = std::filesystem::temp_directory_path() / "amct_write_json_test.json";
  amct::json_yaml::write_json(path, ConfigValue::List{1, "x"});
  CHECK(amct::read_file(path, 100) == "[\n    1,\n    \"x\"\n]");
  std::filesystem::remove(path);
}
