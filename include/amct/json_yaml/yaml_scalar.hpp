// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <amct/config/value.hpp>

namespace amct::json_yaml::detail {

/// Digits at the start of `text`, taken off it.
[[nodiscard]] inline std::size_t take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

inline void take_sign(std::string_view& text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
}

/// `[-+]? [0-9]+`
[[nodiscard]] inline bool is_yaml_integer(std::string_view text) {
  take_sign(text);
  return take_digits(text) > 0 && text.empty();
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
[[nodiscard]] inline bool is_yaml_float(std::string_view text) {
  take_sign(text);
  std::size_t digits = take_digits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  return is_yaml_integer(text);
}

/// `[-+]? ( \.inf | \.Inf | \.INF )` and `\.nan | \.NaN | \.NAN`
[[nodiscard]] inline bool is_yaml_not_finite(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  take_sign(text);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

/// A number with all its characters used; empty if the type cannot hold it.
template <class Number, class... Base>
[[nodiscard]] std::optional<Number> number_of(std::string_view text, Base... base) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The value of a plain scalar by the core schema of YAML 1.2 (chapter 10.3.2): null, true and false in three
/// spellings, decimal, octal (0o) and hexadecimal (0x) integers, floats, else a text. `yes`, `no`, `on` and `off` are
/// texts. An integer outside int64 becomes a double. Empty if the number is infinite, NaN or outside double.
[[nodiscard]] inline std::optional<ConfigValue> core_schema_value(const std::string& text) {
  for (const char* name : {"", "~", "null", "Null", "NULL"}) {
    if (text == name) return ConfigValue{};
  }
  for (const char* name : {"true", "True", "TRUE"}) {
    if (text == name) return ConfigValue(true);
  }
  for (const char* name : {"false", "False", "FALSE"}) {
    if (text == name) return ConfigValue(false);
  }
  if (is_yaml_not_finite(text)) return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(std::min<std::size_t>(2, text.size()));
  const auto prefixed = [&](const char* prefix, const char* digits) {
    return text.starts_with(prefix) && !rest.empty() && rest.find_first_not_of(digits) == std::string_view::npos;
  };
  const bool octal = prefixed("0o", "01234567");
  if (octal || prefixed("0x", "0123456789abcdefABCDEF")) {
    const auto whole = number_of<std::int64_t>(rest, octal ? 8 : 16);
    return whole ? std::optional<ConfigValue>(*whole) : std::nullopt;
  }
  if (is_yaml_integer(text)) {
    if (const auto whole = number_of<std::int64_t>(text)) return ConfigValue(*whole);
  }
  if (is_yaml_float(text)) {
    const auto real = number_of<double>(text);
    return real ? std::optional<ConfigValue>(*real) : std::nullopt;
  }
  return ConfigValue(text);
}

}  // namespace amct::json_yaml::detail
