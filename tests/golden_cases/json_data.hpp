// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace golden {

using Json = nlohmann::json;

[[nodiscard]] inline Json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

/// A number, or one of the strings "nan", "inf", "-inf".
[[nodiscard]] inline double number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "-inf" ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

[[nodiscard]] inline std::vector<float> floats(const Json& values) {
  std::vector<float> result;
  for (const auto& value : values) result.push_back(static_cast<float>(number(value)));
  return result;
}

/// Distance in representable floats; NaN is far from everything but NaN.
[[nodiscard]] inline std::int64_t ulps(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::int64_t>::max();
  const auto ordered = [](float value) {
    std::int32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::min()) - bits : std::int64_t{bits};
  };
  return std::abs(ordered(a) - ordered(b));
}

}  // namespace golden
