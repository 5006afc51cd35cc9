// SPDX-License-Identifier: Apache-2.0
#include <amct/json_yaml/yaml_scalar.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using amct::json_yaml::detail::core_schema_value;

TEST_CASE("null and booleans have three spellings each") {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) CHECK(core_schema_value(text)->is_null());
  for (const char* text : {"true", "True", "TRUE"}) CHECK(*core_schema_value(text)->boolean());
  for (const char* text : {"false", "False", "FALSE"}) CHECK_FALSE(*core_schema_value(text)->boolean());
  for (const char* text : {"yes", "no", "on", "off", "y", "n", "tRue", "nULL", "None"}) {
    CHECK(*core_schema_value(text)->text() == text);
  }
}

TEST_CASE("integers are decimal, octal or hexadecimal") {
  const auto integer = [](const char* text) { return *core_schema_value(text).value().integer(); };
  CHECK(integer("0") == 0);
  CHECK(integer("-12") == -12);
  CHECK(integer("+12") == 12);
  CHECK(integer("007") == 7);
  CHECK(integer("0o17") == 15);
  CHECK(integer("0xFf") == 255);
  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  CHECK(*core_schema_value("9223372036854775808")->real() == 9223372036854775808.0);
  CHECK_FALSE(core_schema_value("0xFFFFFFFFFFFFFFFFF"));
}

TEST_CASE("floats need a digit; a point or an exponent makes a double") {
  const auto real = [](const char* text) { return *core_schema_value(text).value().real(); };
  CHECK(real("1.0") == 1.0);
  CHECK(real("1.") == 1.0);
  CHECK(real(".5") == 0.5);
  CHECK(real("-.5") == -0.5);
  CHECK(real("+1.5") == 1.5);
  CHECK(real("1e-10") == 1e-10);
  CHECK(real("1E+2") == 100.0);
  CHECK(real("0.000000119209290") == 0.000000119209290);
}

TEST_CASE("what a double cannot hold has no value") {
  for (const char* text : {".inf", "-.INF", "+.Inf", ".nan", ".NaN", "1e999", "-1e999"}) {
    CAPTURE(text);
    CHECK_FALSE(core_schema_value(text));
  }
}

TEST_CASE("everything else is a text") {
  for (const char* text : {".",  "-",  "+",   "e5",   ".e5", "1e",  "1e+", "1.2.3", "1_000", "1:30", "0b1",  "0o8",
                           "0x", "0o", "0xG", "-0x1", "--1", "+-1", "1 2", "inf",   "nan",   "12f",  "1e5.0"}) {
    CAPTURE(text);
    REQUIRE(core_schema_value(text).has_value());
    CHECK(*core_schema_value(text)->text() == text);
  }
}
