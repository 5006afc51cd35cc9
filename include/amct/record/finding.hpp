// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>

namespace amct {

/// What a check of a record found. At most one a field: the first bad element, with the number of the others.
struct RecordFinding {
  bool is_error = true;  ///< false: a warning
  ErrorCode code = ErrorCode::record_value;
  std::string field{};    ///< path below the entry: "scale_w", "record_d[1].offset_d"; empty: the entry
  std::size_t index = 0;  ///< which value of a repeated field, from 0
  std::string message{};  ///< the value found and what is allowed
};

namespace detail {

/// "1", "1 or 8", "4, 8 or 16".
[[nodiscard]] inline std::string alternatives(const std::vector<std::string>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  }
  return text;
}

[[nodiscard]] inline std::vector<std::string> texts(std::span<const int> numbers, const std::string& before = {}) {
  std::vector<std::string> result;
  for (const int number : numbers) result.push_back(before + std::to_string(number));
  return result;
}

[[nodiscard]] inline std::string counted(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " value" : " values");
}

/// Collects findings; the functions report what is not as it should be.
class FindingList {
 public:
  void error(std::string field, std::string message, std::size_t index = 0, ErrorCode code = ErrorCode::record_value) {
    findings_.push_back({true, code, std::move(field), index, std::move(message)});
  }
  void missing(const std::string& field) {
    error(field, "is missing: a quantized layer needs all of its factors, or none to stay float");
  }

  /// Reports the first element that is not fine.
  template <class T, class Fine, class Text>
  void all(const std::string& field, const std::vector<T>& values, const std::string& expected, Fine fine, Text text) {
    const auto bad = [&](const T& value) { return !fine(value); };
    const auto first = std::find_if(values.begin(), values.end(), bad);
    if (first == values.end()) return;
    const auto others = std::count_if(first + 1, values.end(), bad);
    std::string message = "got " + text(*first) + ", expected " + expected;
    if (others > 0) message += " (and " + std::to_string(others) + " more like it)";
    error(field, std::move(message), static_cast<std::size_t>(first - values.begin()));
  }
  void scales(const std::string& field, const std::vector<float>& values) {
    const auto fine = [](float value) { return value > 0.0F && std::isfinite(value) && std::isfinite(1.0F / value); };
    const bool tiny = std::any_of(values.begin(), values.end(),
                                  [&](float value) { return value > 0.0F && std::isfinite(value) && !fine(value); });
    all(field, values, tiny ? "a scale whose reciprocal is finite" : "a finite scale above 0", fine,
        [](float value) { return shortest_text(value); });
  }
  void integers(const std::string& field, const std::vector<std::int32_t>& values, std::int64_t low,
                std::int64_t high) {
    const std::string expected =
        low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
    all(
        field, values, expected, [&](std::int32_t value) { return value >= low && value <= high; },
        [](std::int32_t value) { return std::to_string(value); });
  }
  void codes(const std::string& field, const std::vector<std::int32_t>& values, int bits) {
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    integers(field, values, -half, half - 1);
  }
  /// A number that must be among those of the flavour.
  void number_of_bits(const std::string& field, std::int32_t value, std::span<const int> allowed,
                      std::size_t index = 0) {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    error(field, "got " + std::to_string(value) + ", expected " + alternatives(texts(allowed)), index);
  }
  void warning(std::string field, std::string message) {
    findings_.push_back({false, ErrorCode::record_value, std::move(field), 0, std::move(message)});
  }

  [[nodiscard]] bool empty() const noexcept { return findings_.empty(); }
  [[nodiscard]] std::vector<RecordFinding> take() { return std::move(findings_); }

 private:
  std::vector<RecordFinding> findings_;
};

}  // namespace detail

}  // namespace amct
