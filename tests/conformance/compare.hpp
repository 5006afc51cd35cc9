// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>

namespace conformance {

/// As ONNX's own runner compares: |a - e| <= kAbsolute + kRelative |e|, and NaN equals NaN.
inline constexpr double kRelative = 1e-3;
inline constexpr double kAbsolute = 1e-7;

[[nodiscard]] inline bool is_float(amct::ElementType type) noexcept {
  return type == amct::ElementType::float32 || type == amct::ElementType::float64 || type == amct::ElementType::float16;
}

[[nodiscard]] inline bool close(double expected, double actual) noexcept {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  return expected == actual || std::fabs(actual - expected) <= kAbsolute + kRelative * std::fabs(expected);
}

/// What is wrong with a result, or empty. Integers and booleans must be equal.
[[nodiscard]] inline std::string difference(const amct::Tensor& expected, const amct::Tensor& actual) {
  std::ostringstream text;
  if (expected.type() != actual.type() || expected.shape() != actual.shape()) {
    text << "is " << name_of(actual.type()) << to_string(actual.shape()) << ", expected " << name_of(expected.type())
         << to_string(expected.shape());
    return text.str();
  }
  if (!is_float(expected.type()) && std::equal(expected.raw().begin(), expected.raw().end(), actual.raw().begin()))
    return {};
  const amct::Tensor wide_expected = amct::cast(expected, amct::ElementType::float64);
  const amct::Tensor wide_actual = amct::cast(actual, amct::ElementType::float64);
  const auto wanted = wide_expected.data<double>();
  const auto got = wide_actual.data<double>();
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    if (is_float(expected.type()) ? close(wanted[i], got[i]) : wanted[i] == got[i]) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return is_float(expected.type()) ? "" : "differs beyond 2^53";
  text << wrong << " of " << wanted.size() << " values differ; [" << first << "] is " << got[first] << ", expected "
       << wanted[first];
  return text.str();
}

}  // namespace conformance
