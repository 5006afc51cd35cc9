// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {

namespace detail {

/// Bytes of the UTF-8 character that begins with this byte; 1 for a byte that begins none.
inline std::size_t character_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC2U ? 1 : byte < 0xE0U ? 2 : byte < 0xF0U ? 3 : byte < 0xF5U ? 4 : 1;
}

/// Columns of a character on a terminal: 2 for the wide ones of East Asia, else 1.
inline std::size_t character_width(std::string_view character) {
  if (character.size() < 3) return 1;
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (character.size() == 3 ? 0x0FU : 0x07U);
  for (const char c : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  constexpr std::pair<std::uint32_t, std::uint32_t> kWide[] = {
      {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
      {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  for (const auto& [first, last] : kWide) {
    if (code >= first && code <= last) return 2;
  }
  return 1;
}

/// The characters of a text.
inline std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    result.push_back(text.substr(0, character_bytes(text.front())));
    text.remove_prefix(result.back().size());
  }
  return result;
}

}  // namespace detail

/// Columns that a UTF-8 text takes on a terminal.
inline std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const auto character : detail::characters(text)) width += detail::character_width(character);
  return width;
}

/// A text of at most `width` columns, with "…" in the middle if it had to be cut.
inline std::string cut_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  const auto all = detail::characters(text);
  const std::size_t front = (width - 1) - (width - 1) / 2;
  std::string head;
  std::string tail;
  std::size_t used = 0;
  for (auto c = all.begin(); c != all.end() && used + detail::character_width(*c) <= front; ++c) {
    used += detail::character_width(*c);
    head += *c;
  }
  for (auto c = all.rbegin(); c != all.rend() && used + detail::character_width(*c) < width; ++c) {
    used += detail::character_width(*c);
    tail.insert(0, *c);
  }
  return head + "…" + tail;
}

/// Control characters, which would confuse a terminal, as in C: "\n", "\x1b". Those that are two bytes in UTF-8 too.
inline std::string printable(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result;
  for (const auto character : detail::characters(text)) {
    const auto last = static_cast<unsigned char>(character.back());
    const bool two_bytes = character.size() == 2 && character.front() == '\xC2' && last < 0xA0U;
    const bool control = two_bytes || (character.size() == 1 && (last < 0x20U || last == 0x7FU));
    if (!control) {
      result += character;
    } else if (last == '\n' || last == '\t') {
      result += last == '\n' ? "\\n" : "\\t";
    } else {
      result += std::string("\\x") + kHex[last / 16] + kHex[last % 16];
    }
  }
  return result;
}

/// "1 layer", "2 layers"; `plural` if an s does not do.
inline std::string counted(std::size_t count, const std::string& noun, const std::string& plural = {}) {
  return std::to_string(count) + ' ' + (count == 1 ? noun : plural.empty() ? noun + 's' : plural);
}

/// Rows of text cells in aligned columns under a heading.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// Rows without the heading.
  [[nodiscard]] std::size_t size() const { return rows_.size() - 1; }

  /// \param width  columns of the terminal: texts of the first column are cut in the middle to fit; 0: no limit
  void print(std::ostream& out, std::size_t width = 0) const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_) {
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
    }
    fit(widths, width);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      print_row(out, rows_[r], widths);
      if (r == 0) print_row(out, rule(widths), widths);
    }
  }

 private:
  static constexpr std::size_t kGap = 2;
  static constexpr std::size_t kLeast = 8;  ///< columns that the first column keeps

  static void fit(std::vector<std::size_t>& widths, std::size_t limit) {
    std::size_t sum = 0;
    for (const auto width : widths) sum += kGap + width;
    if (limit == 0 || sum <= limit) return;
    const std::size_t others = sum - widths.front();
    widths.front() = std::min(widths.front(), std::max(kLeast, limit - std::min(limit, others)));
  }
  static std::vector<std::string> rule(const std::vector<std::size_t>& widths) {
    std::vector<std::string> cells;
    for (const auto width : widths) cells.emplace_back(width, '-');
    return cells;
  }
  static void print_row(std::ostream& out, const std::vector<std::string>& row,
                        const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string cell = c == 0 ? cut_middle(row[c], widths[c]) : row[c];
      line += std::string(kGap, ' ') + cell + std::string(widths[c] - display_width(cell), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace runner
