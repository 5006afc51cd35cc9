// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

/// \file
/// Shell wildcards for layer names in skip lists: an extension, AMCT takes exact names only.

namespace amct {

[[nodiscard]] constexpr bool has_wildcards(std::string_view name) noexcept {
  return name.find_first_of("*?[") != std::string_view::npos;
}

namespace detail {

/// Where the class that opens at `open` closes; npos if it does not, and then '[' stands for itself.
[[nodiscard]] constexpr std::size_t end_of_class(std::string_view pattern, std::size_t open) noexcept {
  std::size_t first = open + 1;
  if (first < pattern.size() && (pattern[first] == '!' || pattern[first] == '^')) ++first;
  return pattern.find(']', first + 1);  // a ']' in the first place is a member
}

/// Whether the class between `open` and `close` has the character.
[[nodiscard]] constexpr bool in_class(std::string_view pattern, std::size_t open, std::size_t close, char c) noexcept {
  const auto code = [](char letter) { return static_cast<unsigned char>(letter); };
  std::size_t i = open + 1;
  const bool negated = pattern[i] == '!' || pattern[i] == '^';
  if (negated) ++i;
  bool found = false;
  while (i < close) {
    const bool is_range = i + 2 < close && pattern[i + 1] == '-';
    const char last = is_range ? pattern[i + 2] : pattern[i];
    found = found || (code(pattern[i]) <= code(c) && code(c) <= code(last));
    i += is_range ? 3 : 1;
  }
  return found != negated;
}

/// Matches one character with the pattern's element at `at`; gives the index behind the element, or npos.
[[nodiscard]] constexpr std::size_t match_one(std::string_view pattern, std::size_t at, char c) noexcept {
  if (at == pattern.size()) return std::string_view::npos;
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] == '[') {
    const std::size_t close = end_of_class(pattern, at);
    if (close != std::string_view::npos) {
      return in_class(pattern, at, close, c) ? close + 1 : std::string_view::npos;
    }
  }
  return pattern[at] == c ? at + 1 : std::string_view::npos;
}

}  // namespace detail

/// Whether a pattern matches the whole name, as POSIX fnmatch without flags: `*` any characters (dots and slashes too),
/// `?` one character, `[a-c]` one of a class, `[!a-c]` or `[^a-c]` one not of it. There is no escape: `[*]` is a star.
/// Bytes count, not code points. O(|pattern| |name|).
[[nodiscard]] constexpr bool matches_wildcard(std::string_view pattern, std::string_view name) noexcept {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = kNone;  // the last star, to which a mismatch goes back
  std::size_t resumed = 0;   // the first character that it does not cover
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = n;
    } else if (const std::size_t next = detail::match_one(pattern, p, name[n]); next != kNone) {
      p = next;
      ++n;
    } else if (star != kNone) {
      p = star + 1;
      n = ++resumed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace amct
