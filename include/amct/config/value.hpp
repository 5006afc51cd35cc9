// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/float_text.hpp>

namespace amct {

/// One value of a configuration file, whatever its format (JSON, YAML, protobuf text), with the place where it stands.
/// An object keeps the order of its members, whose names are unique.
class ConfigValue {
 public:
  struct Member;
  using List = std::vector<ConfigValue>;
  using Object = std::vector<Member>;
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object>;

  // Defined below, where Member is complete.
  ConfigValue();  ///< null
  ConfigValue(bool value);
  ConfigValue(int value);
  ConfigValue(std::int64_t value);
  ConfigValue(double value);
  ConfigValue(const char* value);
  ConfigValue(std::string value);
  ConfigValue(List value);
  ConfigValue(Object value);

  [[nodiscard]] bool is_null() const noexcept { return std::holds_alternative<std::monostate>(data_); }
  /// Null pointers if the value is of another type.
  [[nodiscard]] const bool* boolean() const noexcept { return std::get_if<bool>(&data_); }
  [[nodiscard]] const std::int64_t* integer() const noexcept { return std::get_if<std::int64_t>(&data_); }
  [[nodiscard]] const double* real() const noexcept { return std::get_if<double>(&data_); }
  [[nodiscard]] const std::string* text() const noexcept { return std::get_if<std::string>(&data_); }
  [[nodiscard]] const List* list() const noexcept { return std::get_if<List>(&data_); }
  [[nodiscard]] List* list() noexcept { return std::get_if<List>(&data_); }
  [[nodiscard]] const Object* object() const noexcept { return std::get_if<Object>(&data_); }
  [[nodiscard]] Object* object() noexcept { return std::get_if<Object>(&data_); }

  [[nodiscard]] const Data& data() const noexcept { return data_; }

  /// The member of an object; null if there is none or this is no object. O(members).
  [[nodiscard]] const ConfigValue* find(std::string_view name) const noexcept;
  /// Adds a member to an object (null becomes an empty object); the caller sees to it that the name is new.
  ConfigValue& add(std::string name, ConfigValue value);

  int line = 0;    ///< 1-based; 0 = not from a file
  int column = 0;  ///< 1-based

 private:
  Data data_;
};

struct ConfigValue::Member {
  std::string name;
  ConfigValue value;
};

inline ConfigValue::ConfigValue() = default;
inline ConfigValue::ConfigValue(bool value) : data_(value) {}
inline ConfigValue::ConfigValue(int value) : data_(std::int64_t{value}) {}
inline ConfigValue::ConfigValue(std::int64_t value) : data_(value) {}
inline ConfigValue::ConfigValue(double value) : data_(value) {}
inline ConfigValue::ConfigValue(const char* value) : data_(std::string(value)) {}
inline ConfigValue::ConfigValue(std::string value) : data_(std::move(value)) {}
inline ConfigValue::ConfigValue(List value) : data_(std::move(value)) {}
inline ConfigValue::ConfigValue(Object value) : data_(std::move(value)) {}

inline const ConfigValue* ConfigValue::find(std::string_view name) const noexcept {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

inline ConfigValue& ConfigValue::add(std::string name, ConfigValue value) {
  if (is_null()) data_ = Object{};
  Object& members = std::get<Object>(data_);
  members.push_back({std::move(name), std::move(value)});
  return members.back().value;
}

/// What a message calls a value: 7, 0.5, "text", true, null, a list, an object.
[[nodiscard]] inline std::string describe(const ConfigValue& value) {
  if (const bool* flag = value.boolean()) return *flag ? "true" : "false";
  if (const auto* whole = value.integer()) return std::to_string(*whole);
  if (const double* real = value.real()) return decimal_text(*real);
  if (const std::string* text = value.text()) return '"' + *text + '"';
  if (value.is_null()) return "null";
  return value.list() != nullptr ? "a list" : "an object";
}

}  // namespace amct
