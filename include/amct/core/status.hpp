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
  not_ready,       ///< nothing was calibrated yet
  not_offered,     ///< the object has no such operation
  unknown_name,    ///< no algorithm of this name
  bad_option,      ///< an option out of its range; Status::name and Status::allowed tell which
  sum_overflow,    ///< sums of products may leave int32 where nothing wider can follow; value: the largest sum possible
};

/// Result of a numeric operation: what went wrong, at which element, and the value found there. For an option its name
/// and what is allowed, as text that lives as long as the program.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::ok;
  std::size_t index = 0;
  double value = 0.0;
  const char* name = "";
  const char* allowed = "";

  [[nodiscard]] constexpr bool ok() const noexcept { return code == StatusCode::ok; }
  constexpr explicit operator bool() const noexcept { return ok(); }
};

/// Refuses an option unless `fine`; NaN must not be fine.
[[nodiscard]] constexpr Status check_option(bool fine, const char* name, double value, const char* allowed) noexcept {
  if (fine) return {};
  return {StatusCode::bad_option, 0, value, name, allowed};
}

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
    case StatusCode::not_ready: return "nothing was calibrated yet";
    case StatusCode::not_offered: return "the operation is not offered here";
    case StatusCode::unknown_name: return "there is no algorithm of this name";
    case StatusCode::bad_option: return "an option is out of its range";
    case StatusCode::sum_overflow: return "the sums of products may not fit int32";
  }
  return "unknown status";
}

}  // namespace amct
