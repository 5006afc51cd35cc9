// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <amct/protobuf/limits.hpp>

namespace amct::protobuf::detail {

/// A position as protobuf counts: lines and columns from 0, a tab reaching to the next multiple of 8.
struct TextPosition {
  int line = 0;
  int column = 0;
  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

/// Turns positions into bytes. O(1) a byte for positions that never go back.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  /// The byte at a position that is not before the last one asked for.
  std::size_t offset_of(const TextPosition& wanted) {
    while (offset_ < text_.size() && (reached_.line < wanted.line || reached_.column < wanted.column)) {
      const char c = text_[offset_];
      if (c == '\n') {
        if (reached_.line == wanted.line) break;
        reached_ = {reached_.line + 1, 0};
      } else {
        reached_.column += c == '\t' ? 8 - reached_.column % 8 : 1;
      }
      ++offset_;
    }
    return offset_;
  }

 private:
  std::string_view text_;
  TextPosition reached_{};
  std::size_t offset_ = 0;
};

/// Walks through protobuf text without a schema, field by field. Texts that are not well-formed give some events and
/// then an end; who needs a judgement asks the parser.
class TextWalker {
 public:
  enum class Kind { field, value, open, close, list_open, list_close };

  struct Event {
    Kind kind = Kind::field;
    TextPosition start{};  ///< of the field's name, the value or the bracket
    TextPosition end{};    ///< of the value or the bracket; of a field, where the token behind its name starts
    bool is_number = false;
    std::string text{};  ///< of a value: a number with its sign, a string with its quotes, a word
  };

  explicit TextWalker(std::string_view text)
      : stream_(text.data(), static_cast<int>(text.size())), tokenizer_(&stream_, &ignored_) {
    tokenizer_.set_comment_style(google::protobuf::io::Tokenizer::SH_COMMENT_STYLE);
    tokenizer_.set_allow_f_after_float(true);
    tokenizer_.set_require_space_after_number(false);
    tokenizer_.Next();
  }

  /// The next event; false at the end, and below kMaxTextDepth levels.
  bool next(Event& event) {
    for (; token().type != Tokenizer::TYPE_END; tokenizer_.Next()) {
      if (!step(event)) continue;
      if (event.kind != Kind::field || token().text == ":") tokenizer_.Next();
      return levels_.size() <= kMaxTextDepth;
    }
    return false;
  }

  /// The name of the field that the last event belongs to.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Messages around the last event; a closing bracket counts as outside.
  [[nodiscard]] std::size_t depth() const noexcept { return levels_.size(); }
  /// The name of the field that holds the message at a depth from 0 up.
  [[nodiscard]] const std::string& name_at(std::size_t depth) const { return levels_.at(depth).name; }

 private:
  using Tokenizer = google::protobuf::io::Tokenizer;

  class Ignored final : public google::protobuf::io::ErrorCollector {
    void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
  };
  struct Level {
    std::string name;
    bool in_list;
  };

  [[nodiscard]] const Tokenizer::Token& token() { return tokenizer_.current(); }

  /// Takes one token; true if it makes an event.
  bool step(Event& event) {
    const std::string& text = token().text;
    const bool opens = text == "{" || text == "<";
    if (!expects_value_ && !in_list_) {
      if (text == ":" || (opens && !pending_.empty())) return begin_field(event);
      if (text == "}" || text == ">") return close(event);
      if (token().type == Tokenizer::TYPE_STRING) return value(event);  // goes on with the string before it
      pending_ = text;
      pending_start_ = {token().line, token().column};
      return false;
    }
    if (opens) return open(event);
    if (text == "[") {
      in_list_ = true;
      return make(event, Kind::list_open);
    }
    if (text == "]") {
      in_list_ = expects_value_ = false;
      return make(event, Kind::list_close);
    }
    if (text == "-") {
      negative_ = true;
      return false;
    }
    if (text == ",") return false;
    if (text == "}" || text == ">") return close(event);
    return value(event);
  }

  bool make(Event& event, Kind kind) {
    event = {kind, {token().line, token().column}, {token().line, token().end_column}, false, {}};
    return true;
  }
  bool begin_field(Event& event) {
    name_ = std::exchange(pending_, {});
    event = {Kind::field, pending_start_, {token().line, token().column}, false, {}};
    expects_value_ = true;
    negative_ = false;
    return true;
  }
  bool open(Event& event) {
    levels_.push_back({name_, in_list_});
    expects_value_ = in_list_ = false;
    return make(event, Kind::open);
  }
  bool close(Event& event) {
    pending_.clear();
    expects_value_ = in_list_ = false;
    if (!levels_.empty()) {
      name_ = std::move(levels_.back().name);
      in_list_ = levels_.back().in_list;
      levels_.pop_back();
    }
    return make(event, Kind::close);
  }
  bool value(Event& event) {
    make(event, Kind::value);
    event.is_number = token().type == Tokenizer::TYPE_INTEGER || token().type == Tokenizer::TYPE_FLOAT;
    event.text = (std::exchange(negative_, false) ? "-" : "") + token().text;
    expects_value_ = false;
    return true;
  }

  google::protobuf::io::ArrayInputStream stream_;
  Ignored ignored_;
  Tokenizer tokenizer_;
  std::vector<Level> levels_;
  std::string name_, pending_;
  TextPosition pending_start_{};
  bool expects_value_ = false;
  bool in_list_ = false;
  bool negative_ = false;
};

}  // namespace amct::protobuf::detail
