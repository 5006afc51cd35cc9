// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace amct {

/// What can be wrong with data handed to the numeric parts of the library, which never throw.
enum class StatusCode : std::uint8_t {
  ok,
  not_finite,      ///< a NaN or an infinity in the data
  empty,           ///< no element at all
  size_mismatch,   ///< two sizes that must agree do not
  bias_overflow,   ///< a quantized bias outside int32
  unusable_scale,  ///< a scale that is not finite and positive, or whose reciprocal is not
  already_ready,   ///< an observer was fed after its last batch
};

/// Result of a numeric operation: what went wrong, at which element, and the value found there.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::ok;
  std::size_t index = 0;
  double value = 0.0;

  [[nodiscard]] constexpr bool ok() const noexcept { return code == StatusCode::ok; }
  constexpr explicit operator bool() const noexcept { return ok(); }
};

/// A sentence for people; completed with tensor and layer by whoever knows them.
[[nodiscard]] constexpr const char* describe(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::ok: return "ok";
    case StatusCode::not_finite: return "the data contain NaN or Inf";
    case StatusCode::empty: return "the data are empty";
    case StatusCode::size_mismatch: return "sizes do not agree";
    case StatusCode::bias_overflow: return "the quantized bias does not fit int32";
    case StatusCode::unusable_scale: return "the scale or its reciprocal is not finite and positive";
    case StatusCode::already_ready: return "the observer has seen all its batches";
  }
  return "unknown status";
}

}  // namespace amct
