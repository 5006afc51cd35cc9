// SPDX-License-Identifier: Apache-2.0
#include <amct/config/value.hpp>

#include <cstdint>

#include <doctest/doctest.h>

using amct::ConfigValue;
using amct::describe;

TEST_CASE("A value is of one type") {
  CHECK(ConfigValue().is_null());
  CHECK(*ConfigValue(true).boolean());
  CHECK(ConfigValue(true).integer() == nullptr);
  CHECK(*ConfigValue(7).integer() == 7);
  CHECK(*ConfigValue(std::int64_t{1} << 40).integer() == std::int64_t{1} << 40);
  CHECK(*ConfigValue(0.5).real() == 0.5);
  CHECK(*ConfigValue("text").text() == "text");
  CHECK(ConfigValue(ConfigValue::List{1, 2}).list()->size() == 2);
  CHECK(ConfigValue(ConfigValue::Object{}).object()->empty());
  CHECK(ConfigValue(1).object() == nullptr);
}

TEST_CASE("An object keeps the order of its members and is copied deeply") {
  ConfigValue value;
  value.add("b", 1).line = 4;
  value.add("a", "x");
  ConfigValue copy = value;
  copy.object()->front().value = 2;
  REQUIRE(value.object()->size() == 2);
  CHECK(value.object()->front().name == "b");
  CHECK(*value.find("b")->integer() == 1);
  CHECK(value.find("b")->line == 4);
  CHECK(*copy.find("b")->integer() == 2);
  CHECK(value.find("c") == nullptr);
  CHECK(ConfigValue(1).find("a") == nullptr);
}

TEST_CASE("Messages describe values as the file shows them") {
  CHECK(describe(7) == "7");
  CHECK(describe(0.01) == "0.01");
  CHECK(describe("a") == "\"a\"");
  CHECK(describe(true) == "true");
  CHECK(describe({}) == "null");
  CHECK(describe(ConfigValue::List{}) == "a list");
  CHECK(describe(ConfigValue::Object{}) == "an object");
}
