// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace amct {

/// How floats are written: as short as possible, or with nine significant digits, as AMCT's commercial releases do.
enum class FloatStyle : std::uint8_t { shortest, digits9 };

/// A number as AMCT's own files show it: the shortest decimal that reads back to the same value, always with a point
/// or an exponent ("1.0", "0.027267225", "1e-05", "100000.0"). As in Python, exponents are used below 1e-4 and from
/// 1e16 on. Independent of the locale.
template <std::floating_point T>
[[nodiscard]] std::string shortest_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < T{0} ? "-inf" : "inf";

  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string scientific(buffer, end);
  const std::size_t exponent_mark = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(exponent_mark + 1));
  if (exponent < -4 || exponent >= 16) return scientific;

  const bool negative = scientific.front() == '-';
  std::string digits;
  for (const char c : scientific.substr(0, exponent_mark)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < 0) {
    digits = "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole + 1) digits.resize(whole + 1, '0');
    digits.insert(whole, 1, '.');
  }
  return negative ? '-' + digits : digits;
}

/// A float32 with nine significant digits at most, as printf's %.9g ("0.0798481479", "1", "9.99999975e-06").
/// Independent of the locale.
[[nodiscard]] inline std::string digits9_text(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0.0F ? "-inf" : "inf";
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 9).ptr};
}

/// A float32 in the style asked for.
[[nodiscard]] inline std::string float_text(float value, FloatStyle style) {
  return style == FloatStyle::digits9 ? digits9_text(value) : shortest_text(value);
}

/// The double that the shortest decimal of a float32 denotes: 0.01F gives 0.01. AMCT's parameters travel this way
/// from protobuf floats to double arithmetic, so 0.7..1.3 step 0.01 keeps its 61 candidates.
[[nodiscard]] inline double decimal_value(float value) noexcept {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  double result = static_cast<double>(value);  // NaN and Inf stay what they are
  if (std::isfinite(value)) std::from_chars(buffer, end, result);
  return result;
}

/// A double as short as possible, for messages: "0.5", "1e-08".
[[nodiscard]] inline std::string decimal_text(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace amct
