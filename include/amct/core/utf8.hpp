// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace amct {

namespace detail {

/// Bytes of the UTF-8 character at the start of `text`; 0 if there is none. Overlong forms, surrogates and values above
/// U+10FFFF are none (Unicode 15, table 3-7).
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned lead = byte(0);
  if (lead < 0x80U) return 1;
  if (lead < 0xC2U || lead > 0xF4U) return 0;
  if (lead < 0xE0U) return within(1, 0x80, 0xBF) ? 2 : 0;
  const unsigned low = lead == 0xE0U ? 0xA0U : lead == 0xF0U ? 0x90U : 0x80U;
  const unsigned high = lead == 0xEDU ? 0x9FU : lead == 0xF4U ? 0x8FU : 0xBFU;
  if (!within(1, low, high) || !within(2, 0x80, 0xBF)) return 0;
  if (lead < 0xF0U) return 3;
  return within(3, 0x80, 0xBF) ? 4 : 0;
}

}  // namespace detail

/// Offset of the first byte that is not UTF-8; empty if all of `text` is.
[[nodiscard]] constexpr std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = detail::utf8_length(text.substr(at, 4));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

/// `text` without a byte order mark at its start.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.substr(0, kMark.size()) == kMark ? text.substr(kMark.size()) : text;
}

}  // namespace amct
