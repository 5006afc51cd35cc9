// SPDX-License-Identifier: Apache-2.0
#include <amct/config/object_reader.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

/// {"flag": true, "name": "n", "share": 0.5, "count": 3, "names": ["a", "b"]}, one member a line.
ConfigValue sample() {
  ConfigValue value;
  auto add = [&, line = 1](const char* name, ConfigValue member) mutable {
    member.line = line++;
    member.column = 9;
    value.add(name, std::move(member));
  };
  add("flag", true);
  add("name", "n");
  add("share", 0.5);
  add("count", 3);
  add("names", ConfigValue::List{"a", "b"});
  return value;
}

std::string text_of(const Diagnostics& out) {
  std::string text;
  for (const auto& finding : out.all()) {
    text += finding.is_error ? "" : "warning: ";
    text += Error(finding.code, finding.where, finding.message).what();
    text += '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("Members are read into variables of their types") {
  const ConfigValue value = sample();
  Diagnostics out;
  ObjectReader reader(value, {.file = "f"}, "", out);
  bool flag = false;
  std::string name;
  double share = 0;
  double whole = 0;
  std::uint32_t count = 0;
  std::vector<std::string> names;
  CHECK(reader.read("flag", flag));
  CHECK(reader.read("name", name));
  CHECK(reader.read("share", share));
  CHECK(reader.read("count", whole));
  CHECK(reader.read("count", count));
  CHECK(reader.read("names", names));
  CHECK_FALSE(reader.read("absent", count));
  CHECK((flag && name == "n" && share == 0.5 && whole == 3.0 && count == 3));
  CHECK(names == std::vector<std::string>{"a", "b"});
  reader.refuse_others();
  CHECK(text_of(out).empty());
}

TEST_CASE("A member of another type leaves its variable and is an error with its place") {
  const ConfigValue value = sample();
  Diagnostics out;
  ObjectReader reader(value, {.file = "f", .layer = "conv1"}, "weights", out);
  std::uint32_t count = 5;
  bool flag = false;
  std::vector<std::string> names{"kept"};
  CHECK_FALSE(reader.read("share", count));
  CHECK_FALSE(reader.read("count", flag));
  CHECK_FALSE(reader.read("name", names));
  CHECK((count == 5 && !flag && names.size() == 1));
  CHECK(text_of(out) ==
        "amct: [config.range] f:3:9 layer \"conv1\" weights.share: got 0.5, expected a whole number\n"
        "amct: [config.range] f:4:9 layer \"conv1\" weights.count: got 3, expected true or false\n"
        "amct: [config.range] f:2:9 layer \"conv1\" weights.name: got \"n\", expected a list of texts\n");
}

TEST_CASE("true is a whole number, as in AMCT, and one text can stand for a list") {
  const ConfigValue value = sample();
  Diagnostics out;
  ObjectReader reader(value, {}, "", out);
  int number = 0;
  std::vector<std::string> names;
  CHECK(reader.read("flag", number));
  CHECK(number == 1);
  CHECK(reader.read("name", names, true));
  CHECK(names == std::vector<std::string>{"n"});
}

TEST_CASE("Numbers that do not fit are refused") {
  ConfigValue value;
  value.add("negative", -1);
  value.add("huge", std::int64_t{1} << 40);
  Diagnostics out;
  ObjectReader reader(value, {}, "", out);
  std::uint32_t target = 9;
  CHECK_FALSE(reader.read("negative", target));
  CHECK_FALSE(reader.read("huge", target));
  CHECK(target == 9);
  CHECK(out.all().size() == 2);
}

TEST_CASE("Members that nobody read are errors, or warnings if the caller says so") {
  const ConfigValue value = sample();
  Diagnostics out;
  ObjectReader reader(value, {.file = "f"}, "", out);
  bool flag = false;
  reader.read("flag", flag);
  for (const char* name : {"share", "count", "names"}) reader.take(name);
  reader.refuse_others();
  reader.refuse_others(false);
  CHECK(text_of(out) ==
        "amct: [config.syntax] f:2:9 name: is not a known parameter\n"
        "warning: amct: [config.syntax] f:2:9 name: is not a known parameter and is ignored\n");
}

TEST_CASE("A caller refuses a member, present or missing") {
  const ConfigValue value = sample();
  Diagnostics out;
  ObjectReader reader(value, {.file = "f"}, "", out);
  reader.refuse("count", "1 or 2");
  reader.refuse("other", "a layer must state it");
  reader.refuse_with("name", "names nothing", ErrorCode::config_layer);
  CHECK(text_of(out) ==
        "amct: [config.range] f:4:9 count: got 3, expected 1 or 2\n"
        "amct: [config.range] f other: is missing: a layer must state it\n"
        "amct: [config.layer] f:2:9 name: names nothing\n");
  CHECK(reader.where("count").line == 4);
}

TEST_CASE("What is no object is one error and reads as empty") {
  const ConfigValue value(3);
  Diagnostics out;
  ObjectReader reader(value, {.file = "f"}, "common_config", out);
  bool flag = false;
  CHECK_FALSE(reader.read("flag", flag));
  reader.refuse_others();
  CHECK(text_of(out) == "amct: [config.range] f common_config: got 3, expected an object\n");
}
