// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include <amct/config/value.hpp>
#include <amct/core/float_text.hpp>

namespace runner {

/// JSON has no infinities and no NaN: they are texts.
[[nodiscard]] inline amct::ConfigValue json_number(double number) {
  return std::isfinite(number) ? amct::ConfigValue(number) : amct::ConfigValue(amct::shortest_text(number));
}

}  // namespace runner
