// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <amct/core/error.hpp>

namespace amct {

/// What a quantized model does when it is run, as the three switches of enable_quantization say.
enum class QuantizationMode : std::uint8_t {
  float32,                 ///< no switch: the float network
  calibration,             ///< calibration: observers see what flows in front of the quantized layers
  calibration_fake_quant,  ///< calibration and fake_quant: the same, before quantization-aware training
  fake_quant,              ///< fake_quant: the deployed network in float arithmetic on whole numbers
  real_quant,              ///< real_quant: the deployed network in integers, as the device runs it
};

/// "float", "calibration", "calibration and fake_quant", "fake_quant" or "real_quant".
[[nodiscard]] constexpr const char* name_of(QuantizationMode mode) noexcept {
  switch (mode) {
    case QuantizationMode::float32: return "float";
    case QuantizationMode::calibration: return "calibration";
    case QuantizationMode::calibration_fake_quant: return "calibration and fake_quant";
    case QuantizationMode::fake_quant: return "fake_quant";
    case QuantizationMode::real_quant: return "real_quant";
  }
  return "unknown";
}

/// The mode of three switches.
/// \throws Error data_format listing the combinations there are, for one that AMCT does not have
[[nodiscard]] inline QuantizationMode quantization_mode(bool calibration, bool fake_quant, bool real_quant) {
  if (!real_quant && calibration) {
    return fake_quant ? QuantizationMode::calibration_fake_quant : QuantizationMode::calibration;
  }
  if (!real_quant) return fake_quant ? QuantizationMode::fake_quant : QuantizationMode::float32;
  if (!calibration && !fake_quant) return QuantizationMode::real_quant;
  std::string got = "real_quant";
  if (fake_quant) got = "fake_quant and " + got;
  if (calibration) got = "calibration and " + got;
  throw Error(ErrorCode::data_format, {.field = "enable_quantization"},
              "got " + got +
                  ", expected none of the three, calibration alone, calibration and fake_quant, fake_quant alone, or "
                  "real_quant alone");
}

}  // namespace amct
