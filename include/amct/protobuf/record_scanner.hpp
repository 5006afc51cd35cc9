// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <istream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <amct/core/error.hpp>
#include <amct/protobuf/limits.hpp>

namespace amct::protobuf::detail {

/// A place in a text file.
struct TextPlace {
  int line = 1;    ///< 1-based
  int column = 1;  ///< 1-based, in bytes

  void advance(char c) noexcept {
    constexpr int kMost = std::numeric_limits<int>::max();
    if (c == '\n') {
      line += line < kMost ? 1 : 0;
      column = 1;
    } else {
      column += column < kMost ? 1 : 0;
    }
  }
};

/// One or more whole fields of the top level, usually one `record { ... }`.
struct TextEntry {
  std::string text{};
  TextPlace start{};

  /// The place of a byte in the file.
  [[nodiscard]] TextPlace place_of(std::size_t offset) const noexcept {
    TextPlace place = start;
    for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) place.advance(text[i]);
    return place;
  }
};

/// Cuts a protobuf text file into its top-level fields, so that a file of any size is read in the memory of its largest
/// entry. Knows only what that takes: strings, comments and brackets; the parser judges the rest.
class RecordScanner {
 public:
  explicit RecordScanner(std::istream& input) : input_(input) {}

  /// Gives the next entry; false at the end of the file. O(bytes).
  /// \throws Error record_syntax (without the file) for an entry above the limits of protobuf/limits.hpp; io_read
  bool next(TextEntry& entry) {
    entry.text.clear();
    if (!skip_to_entry()) return false;
    entry.start = place_;
    State state = State::plain;
    int depth = 0;
    std::size_t parts = 0;  // brackets and strings
    for (char c = 0; get(c);) {
      entry.text += c;
      const bool is_part = c == '{' || c == '<' || c == '"' || c == '\'';
      if (is_part && state == State::plain && ++parts > kMaxRecordEntryParts) refuse_parts(entry.start);
      if (entry.text.size() > kMaxRecordEntryBytes) refuse_size(entry.start);
      if (ends_entry(c, state, depth)) break;
    }
    separator_allowed_ = true;
    return true;
  }

 private:
  enum class State { plain, comment, single_quoted, double_quoted, single_escape, double_escape };

  [[noreturn]] static void refuse_size(const TextPlace& start) {
    throw Error(ErrorCode::record_syntax, {.line = start.line, .column = start.column},
                "an entry has more than " + std::to_string(kMaxRecordEntryBytes) + " bytes");
  }

  [[noreturn]] static void refuse_parts(const TextPlace& start) {
    throw Error(ErrorCode::record_syntax, {.line = start.line, .column = start.column},
                "an entry has more than " + std::to_string(kMaxRecordEntryParts) + " messages and texts");
  }

  static bool ends_entry(char c, State& state, int& depth) noexcept {
    switch (state) {
      case State::comment:
        if (c == '\n') state = State::plain;
        return false;
      case State::single_escape: state = c == '\n' ? State::plain : State::single_quoted; return false;
      case State::double_escape: state = c == '\n' ? State::plain : State::double_quoted; return false;
      case State::single_quoted:
        if (c == '\\') state = State::single_escape;
        if (c == '\'' || c == '\n') state = State::plain;  // no string of protobuf crosses lines
        return false;
      case State::double_quoted:
        if (c == '\\') state = State::double_escape;
        if (c == '"' || c == '\n') state = State::plain;
        return false;
      case State::plain: break;
    }
    switch (c) {
      case '#': state = State::comment; return false;
      case '\'': state = State::single_quoted; return false;
      case '"': state = State::double_quoted; return false;
      case '{':
      case '<':
      case '[': ++depth; return false;
      case '}':
      case '>':
      case ']': return --depth <= 0;
      default: return false;
    }
  }

  /// Passes white space, comments, one separator after an entry and a byte order mark at the beginning.
  bool skip_to_entry() {
    bool comment = false;
    for (char c = 0; peek(c); get(c)) {
      if (comment) {
        comment = c != '\n';
      } else if (c == '#') {
        comment = true;
      } else if ((c == ',' || c == ';') && separator_allowed_) {
        separator_allowed_ = false;
      } else if (std::string_view(" \t\r\n\v\f").find(c) == std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

  bool peek(char& c) {
    if (position_ == end_ && !fill()) return false;
    c = buffer_[position_];
    return true;
  }
  bool get(char& c) {
    if (!peek(c)) return false;
    ++position_;
    place_.advance(c);
    return true;
  }
  bool fill() {
    const bool first = end_ == 0;
    input_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (input_.bad()) throw Error(ErrorCode::io_read, {}, "cannot be read");
    position_ = 0;
    end_ = static_cast<std::size_t>(input_.gcount());
    if (first && std::string_view(buffer_.data(), end_).starts_with("\xEF\xBB\xBF")) position_ = 3;
    return position_ < end_;
  }

  std::istream& input_;
  std::array<char, 65536> buffer_;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
  TextPlace place_{};
  bool separator_allowed_ = false;
};

}  // namespace amct::protobuf::detail
