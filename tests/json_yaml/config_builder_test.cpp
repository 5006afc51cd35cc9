// SPDX-License-Identifier: Apache-2.0
#include <amct/json_yaml/config_builder.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

using amct::ConfigValue;
using amct::json_yaml::kMaxConfigDepth;
using amct::json_yaml::detail::ConfigBuilder;

namespace {

template <class Function>
std::string message_of(Function&& function) {
  try {
    std::forward<Function>(function)();
  } catch (const amct::Error& error) {
    CHECK(error.code() == amct::ErrorCode::config_syntax);
    return error.message();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("events become a value with places") {
  ConfigBuilder builder("f");
  builder.open_object({1, 1});
  builder.key("a", {1, 2});
  builder.open_list({1, 5});
  builder.scalar(7, {2, 1});
  CHECK(builder.depth() == 2);
  CHECK_FALSE(builder.in_object());
  CHECK(*builder.last().integer() == 7);
  builder.close();
  CHECK(builder.in_object());
  CHECK(builder.last().list()->size() == 1);
  builder.close();
  const ConfigValue value = builder.take();
  CHECK(value.find("a")->column == 5);
  CHECK(value.find("a")->list()->at(0).line == 2);
}

TEST_CASE("a name given twice is found however far apart, the earliest pair by name") {
  ConfigBuilder builder("f");
  builder.open_object({1, 1});
  for (int i = 0; i < 100; ++i) {
    builder.key("n" + std::to_string(i % 99), {i + 1, 3});
    builder.scalar(i, {i + 1, 9});
  }
  CHECK(message_of([&] { builder.close(); }) == "\"n0\" is given twice, first at line 1, column 3");
}

TEST_CASE("values, copies and levels are limited") {
  ConfigBuilder few("f", 2);
  few.open_list({1, 1});
  few.scalar(1, {1, 2});
  CHECK(message_of([&] { few.scalar(1, {1, 4}); }) == "has more than 2 values");

  ConfigBuilder copies("f", 10);
  copies.open_list({1, 1});
  copies.copy(ConfigValue(1), 9, 0, {1, 2});
  CHECK(message_of([&] { copies.copy(ConfigValue(1), 1, 0, {1, 4}); }) == "has more than 10 values");

  ConfigBuilder deep("f");
  for (std::size_t i = 0; i < kMaxConfigDepth; ++i) deep.open_list({1, 1});
  CHECK(message_of([&] { deep.open_object({1, 1}); }).find("more than 64 deep") != std::string::npos);
  CHECK(message_of([&] {
          deep.copy(ConfigValue::List{}, 1, 1, {1, 1});
        }).find("more than 64 deep") != std::string::npos);
}
