// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/strutil.h>
#include <google/protobuf/text_format.h>

#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>

namespace amct::protobuf {

namespace detail {

/// Keeps the first parse error with its position.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (!message_.empty()) return;
    line_ = line + 1;
    column_ = column + 1;
    message_ = message;
  }
  [[nodiscard]] Error error(ErrorCode code, const std::string& file) const {
    return {code, {.file = file, .line = line_, .column = column_}, message_};
  }

 private:
  int line_ = 0;
  int column_ = 0;
  std::string message_;
};

/// Prints floats as AMCT's own files do, UTF-8 as it is and bytes that need not be UTF-8 escaped.
class AmctPrinter final : public google::protobuf::TextFormat::FastFieldValuePrinter {
 public:
  explicit AmctPrinter(FloatStyle style) : style_(style) {}
  void PrintFloat(float value, google::protobuf::TextFormat::BaseTextGenerator* generator) const override {
    generator->PrintString(float_text(value, style_));
  }
  void PrintString(const std::string& value,
                   google::protobuf::TextFormat::BaseTextGenerator* generator) const override {
    print_quoted(google::protobuf::strings::Utf8SafeCEscape(value), generator);
  }
  void PrintBytes(const std::string& value, google::protobuf::TextFormat::BaseTextGenerator* generator) const override {
    print_quoted(google::protobuf::CEscape(value), generator);
  }

 private:
  static void print_quoted(const std::string& escaped, google::protobuf::TextFormat::BaseTextGenerator* generator) {
    generator->PrintLiteral("\"");
    generator->PrintString(escaped);
    generator->PrintLiteral("\"");
  }

  FloatStyle style_;
};

}  // namespace detail

/// The text form of a message: floats as AMCT writes them, UTF-8 unescaped, fields in the order of their declaration.
/// \param depth  levels of two spaces before every line
[[nodiscard]] inline std::string to_text(const google::protobuf::Message& message,
                                         FloatStyle style = FloatStyle::shortest, int depth = 0) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetDefaultFieldValuePrinter(new detail::AmctPrinter(style));  // owned by the printer
  printer.SetPrintMessageFieldsInIndexOrder(true);
  printer.SetInitialIndentLevel(depth);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

}  // namespace amct::protobuf
