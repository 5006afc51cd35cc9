// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>
#include <amct/core/utf8.hpp>
#include <amct/json_yaml/config_builder.hpp>

namespace amct::json_yaml {

namespace detail {

/// Blanks what JSON does not know but the samples of AMCT's guides use, comments (`#`, `//`, `/* */`) and commas before
/// a closing bracket, and notes where each token with an event of its own starts. Offsets stay as they are.
class JsonCleaner {
 public:
  JsonCleaner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case ' ':
        case '\t':
        case '\r':
        case '\n': ++at_; break;
        case '#': blank_comment(text_.find('\n', at_)); break;
        case '/': slash(); break;
        case '"': token(true); break;
        case '{':
        case '[': token(false); break;
        case '}':
        case ']': closing_bracket(); break;
        case ',': comma(); break;
        case ':': punctuation(); break;
        case '\0': refuse("a byte 0 is no part of a text");
        default: token(true);
      }
    }
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<std::uint32_t>& tokens() const noexcept { return tokens_; }

  /// Start of the token that contains this byte, or the byte itself; at most the end of the text.
  [[nodiscard]] std::size_t token_start(std::size_t offset) const {
    if (offset >= text_.size()) return text_.size();
    const auto next = std::upper_bound(tokens_.begin(), tokens_.end(), offset);
    if (next == tokens_.begin()) return offset;
    const std::size_t start = *(next - 1);
    return offset < end_of_token(start) ? start : offset;
  }
  /// The token that starts here as a message shows it: one line, not too long.
  [[nodiscard]] std::string shown_token(std::size_t start) const {
    constexpr std::size_t kMostShown = 40;
    if (start >= text_.size()) return "the end of the file";
    std::size_t end = start;
    const std::size_t most = std::min({end_of_token(start), start + kMostShown, text_.size()});
    while (end < most && static_cast<unsigned char>(text_[end]) >= 0x20U) {
      const std::size_t length = amct::detail::utf8_length(std::string_view(text_).substr(end, 4));
      if (length == 0) break;
      end += length;
    }
    return text_.substr(start, end - start) + (end < end_of_token(start) ? "..." : "");
  }

 private:
  static constexpr std::string_view kEndsOfWords{" \t\r\n#/\"{}[],:\0", 15};
  static constexpr std::size_t kNone = std::string::npos;

  [[noreturn]] void refuse(const std::string& message) const {
    throw syntax_error(file_, PlaceFinder(text_).at(at_), message);
  }
  void token(bool ends_value) {
    // A name and a value each; the parser refuses files with more values than this on its own.
    if (tokens_.size() > 2 * kMaxConfigValues) refuse("has more than " + std::to_string(kMaxConfigValues) + " values");
    tokens_.push_back(static_cast<std::uint32_t>(at_));
    at_ = end_of_token(at_);
    after_value_ = ends_value;
    comma_ = kNone;
  }
  [[nodiscard]] std::size_t end_of_token(std::size_t start) const {
    std::size_t end = start + 1;
    if (text_[start] == '"') {
      while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
      ++end;
    } else if (kEndsOfWords.find(text_[start]) == std::string_view::npos) {
      end = text_.find_first_of(kEndsOfWords, end);
    }
    return std::min(end, text_.size());
  }
  void comma() {
    comma_ = after_value_ ? at_ : kNone;  // only a comma that follows a value may be one too many
    after_value_ = false;
    ++at_;
  }
  void punctuation() {
    after_value_ = false;
    comma_ = kNone;
    ++at_;
  }
  void closing_bracket() {
    if (comma_ != kNone) text_[comma_] = ' ';
    comma_ = kNone;
    after_value_ = true;
    ++at_;
  }
  void slash() {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next == '/') return blank_comment(text_.find('\n', at_));
    if (next != '*') return punctuation();  // the parser says what is wrong
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == kNone) refuse("the comment that starts here has no end");
    blank_comment(end + 2);
  }
  void blank_comment(std::size_t end) {
    if (end == kNone) end = text_.size();
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') text_[at_] = ' ';
    }
  }

  std::string text_;
  const std::string& file_;
  std::vector<std::uint32_t> tokens_;
  std::size_t at_ = 0;
  std::size_t comma_ = kNone;  ///< the last comma, if nothing but comments followed it
  bool after_value_ = false;
};

/// Events of nlohmann's parser. They come in the order of the tokens.
class JsonEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonEvents(const JsonCleaner& cleaner, const std::string& file)
      : cleaner_(cleaner), file_(file), places_(cleaner.text()), builder_(file) {}

  bool null() override { return scalar({}); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(std::int64_t value) override { return scalar(value); }
  bool number_unsigned(std::uint64_t value) override {
    return value <= INT64_MAX ? scalar(static_cast<std::int64_t>(value)) : scalar(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return scalar(value); }
  bool string(std::string& value) override { return scalar(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // not in texts
  bool start_object(std::size_t) override { return builder_.open_object(next()), true; }
  bool start_array(std::size_t) override { return builder_.open_list(next()), true; }
  bool end_object() override { return builder_.close(), true; }
  bool end_array() override { return builder_.close(), true; }
  bool key(std::string& name) override { return builder_.key(std::move(name), next()), true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    // `position` counts the bytes read; at the end of the file it is one more than there are.
    const std::size_t start = cleaner_.token_start(position - std::min<std::size_t>(position, 1));
    throw syntax_error(file_, PlaceFinder(cleaner_.text()).at(start), words(start, error.what()));
  }

  [[nodiscard]] ConfigValue take() { return builder_.take(); }

 private:
  [[nodiscard]] Place next() { return places_.at(cleaner_.tokens()[used_++]); }
  bool scalar(ConfigValue value) { return builder_.scalar(std::move(value), next()), true; }

  /// "found X, expected Y", with what the package says after "; expected " or " - ".
  [[nodiscard]] std::string words(std::size_t start, std::string_view message) const {
    std::string text = "is no valid JSON: found " + cleaner_.shown_token(start);
    constexpr std::string_view kExpected = "; expected ";
    const std::size_t at = message.find(kExpected);
    if (at != std::string_view::npos) {
      text += ", expected ";
      text += message.substr(at + kExpected.size());
    } else if (const std::size_t detail = message.find(" - "); detail != std::string_view::npos) {
      message.remove_prefix(detail + 3);
      text += " (";
      text += message.substr(0, message.find("; last read"));
      text += ')';
    }
    return text;
  }

  const JsonCleaner& cleaner_;
  const std::string& file_;
  PlaceFinder places_;
  ConfigBuilder builder_;
  std::size_t used_ = 0;
};

}  // namespace detail

/// Reads a JSON text: strict JSON (RFC 8259) but for comments (`#`, `//`, `/* */`) and a comma before a closing
/// bracket, which the samples of AMCT's guides have, and a byte order mark. 1 is an integer, 1.0 is not; an integer
/// outside int64 becomes a double. Every value gets its line and column.
/// \param file  named in errors
/// \throws Error config_syntax with line and column: no JSON, a name given twice in an object, not UTF-8, nested
///         deeper than kMaxConfigDepth, more than kMaxConfigValues values
[[nodiscard]] inline ConfigValue parse_json(std::string_view text, const std::string& file) {
  if (text.size() > kMaxConfigBytes) {
    throw detail::syntax_error(file, {}, "has more than " + std::to_string(kMaxConfigBytes) + " bytes");
  }
  detail::JsonCleaner cleaner(without_byte_order_mark(text), file);
  cleaner.run();
  detail::JsonEvents events(cleaner, file);
  nlohmann::json::sax_parse(cleaner.text(), &events);
  return events.take();
}

/// Reads a JSON file of at most kMaxConfigBytes. \throws Error io_read, and those of parse_json
[[nodiscard]] inline ConfigValue read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path, kMaxConfigBytes), path.string());
}

}  // namespace amct::json_yaml
