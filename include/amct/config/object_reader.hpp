// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>

namespace amct {

/// Reads the members of one object of a config into variables and reports what does not fit. An absent member leaves
/// its variable as it is; so does a bad one, which becomes an error with file, line, column, layer and field.
///
///     ObjectReader reader(value, {.file = file, .layer = "conv1"}, "activation_quant_params", out);
///     reader.read("num_bits", bits);
///     reader.refuse_others();
class ObjectReader {
 public:
  /// \param path  what stands before a member's name in messages; empty at the top
  /// A value that is no object is an error, and reads as an empty one.
  ObjectReader(const ConfigValue& value, Where where, std::string path, Diagnostics& out)
      : value_(value), where_(std::move(where)), path_(std::move(path)), out_(out) {
    if (value.object() == nullptr) {
      refuse_at(value, "", "got " + describe(value) + ", expected an object");
      return;
    }
    used_.resize(value.object()->size(), false);
  }

  /// The member of this name, now counted as read; null if absent.
  const ConfigValue* take(std::string_view name) {
    const auto* members = value_.object();
    if (members == nullptr) return nullptr;
    for (std::size_t i = 0; i < members->size(); ++i) {
      if ((*members)[i].name != name) continue;
      used_[i] = true;
      return &(*members)[i].value;
    }
    return nullptr;
  }
  [[nodiscard]] bool has(std::string_view name) const noexcept { return value_.find(name) != nullptr; }

  /// Each read() gives true if the member is there and fits.
  bool read(std::string_view name, bool& target) {
    const ConfigValue* member = take(name);
    if (member == nullptr) return false;
    if (const bool* flag = member->boolean()) return target = *flag, true;
    return refuse_type(*member, name, "true or false");
  }
  bool read(std::string_view name, std::string& target) {
    const ConfigValue* member = take(name);
    if (member == nullptr) return false;
    if (const std::string* text = member->text()) return target = *text, true;
    return refuse_type(*member, name, "a text");
  }
  /// A whole number counts as a number.
  bool read(std::string_view name, double& target) {
    const ConfigValue* member = take(name);
    if (member == nullptr) return false;
    if (const double* real = member->real()) return target = *real, true;
    if (const auto* whole = member->integer()) return target = static_cast<double>(*whole), true;
    return refuse_type(*member, name, "a number");
  }
  /// true and false count as 1 and 0, as in AMCT.
  template <std::integral T>
  requires(!std::same_as<T, bool>) bool read(std::string_view name, T& target) {
    const ConfigValue* member = take(name);
    if (member == nullptr) return false;
    std::int64_t number = 0;
    if (const auto* whole = member->integer()) {
      number = *whole;
    } else if (const bool* flag = member->boolean()) {
      number = *flag ? 1 : 0;
    } else {
      return refuse_type(*member, name, "a whole number");
    }
    constexpr std::int64_t kMost = 2'000'000'000;
    if (number < (std::signed_integral<T> ? -kMost : 0) || number > kMost) {
      return refuse_type(*member, name, std::signed_integral<T> ? "a smaller number" : "a number from 0 to 2000000000");
    }
    target = static_cast<T>(number);
    return true;
  }
  /// A list of texts; a single text counts as a list of one if `single_too`.
  bool read(std::string_view name, std::vector<std::string>& target, bool single_too = false) {
    const ConfigValue* member = take(name);
    if (member == nullptr) return false;
    if (single_too && member->text() != nullptr) return target = {*member->text()}, true;
    if (member->list() == nullptr) return refuse_type(*member, name, "a list of texts");
    target.clear();
    for (const ConfigValue& item : *member->list()) {
      if (item.text() == nullptr) return refuse_type(item, name, "a list of texts");
      target.push_back(*item.text());
    }
    return true;
  }

  /// Reports a member, read or not, as out of its range: "got 7, expected 4 or 8..16".
  void refuse(std::string_view name, const std::string& expected, ErrorCode code = ErrorCode::config_range) {
    const ConfigValue* member = value_.find(name);
    refuse_at(member != nullptr ? *member : value_, name,
              member != nullptr ? "got " + describe(*member) + ", expected " + expected : "is missing: " + expected,
              code);
  }
  /// Reports with a message of the caller's.
  void refuse_with(std::string_view name, const std::string& message, ErrorCode code = ErrorCode::config_range) {
    const ConfigValue* member = value_.find(name);
    refuse_at(member != nullptr ? *member : value_, name, message, code);
  }

  /// Every member that nobody read is unknown: an error, or a warning that it is ignored.
  void refuse_others(bool as_error = true) {
    const auto* members = value_.object();
    if (members == nullptr) return;
    for (std::size_t i = 0; i < members->size(); ++i) {
      if (used_[i]) continue;
      const auto& [name, member] = (*members)[i];
      if (as_error) {
        refuse_at(member, name, "is not a known parameter", ErrorCode::config_syntax);
      } else {
        out_.warning(ErrorCode::config_syntax, place(member, name), "is not a known parameter and is ignored");
      }
    }
  }

  /// Where a member stands; the object itself if it is absent.
  [[nodiscard]] Where where(std::string_view name) const {
    const ConfigValue* member = value_.find(name);
    return place(member != nullptr ? *member : value_, name);
  }
  [[nodiscard]] Diagnostics& diagnostics() noexcept { return out_; }

 private:
  [[nodiscard]] Where place(const ConfigValue& value, std::string_view name) const {
    Where where = where_;
    where.line = value.line;
    where.column = value.column;
    where.field = path_.empty() || name.empty() ? path_ + std::string(name) : path_ + '.' + std::string(name);
    return where;
  }
  void refuse_at(const ConfigValue& value, std::string_view name, const std::string& message,
                 ErrorCode code = ErrorCode::config_range) {
    out_.error(code, place(value, name), message);
  }
  bool refuse_type(const ConfigValue& member, std::string_view name, const std::string& expected) {
    refuse_at(member, name, "got " + describe(member) + ", expected " + expected);
    return false;
  }

  const ConfigValue& value_;
  Where where_;
  std::string path_;
  Diagnostics& out_;
  std::vector<bool> used_;
};

}  // namespace amct
