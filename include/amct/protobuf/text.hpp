// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/strutil.h>
#include <google/protobuf/text_format.h>

#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/protobuf/limits.hpp>

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

/// Prints floats as AMCT's own files do.
class ShortestFloats final : public google::protobuf::TextFormat::FastFieldValuePrinter {
 public:
  void PrintFloat(float value, google::protobuf::TextFormat::BaseTextGenerator* generator) const override {
    generator->PrintString(shortest_text(value));
  }
  void PrintString(const std::string& value,
                   google::protobuf::TextFormat::BaseTextGenerator* generator) const override {
    generator->PrintLiteral("\"");
    generator->PrintString(google::protobuf::strings::Utf8SafeCEscape(value));
    generator->PrintLiteral("\"");
  }
};

}  // namespace detail

/// Parses a protobuf text file. Of an optional field given twice the last value counts, as in AMCT; missing required
/// fields are left to the caller. \throws Error `code` with file, line and column; io_read
inline void read_text(const std::filesystem::path& path, ErrorCode code, google::protobuf::Message& message) {
  const std::string content = read_limited(path, kMaxTextBytes);
  detail::FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(kMaxTextDepth);
  message.Clear();
  // Merge, not Parse: Parse refuses repeated optional fields.
  if (!parser.MergeFromString(content, &message)) throw errors.error(code, path.string());
}

/// The text form of a message, with floats as AMCT writes them and UTF-8 unescaped.
[[nodiscard]] inline std::string to_text(const google::protobuf::Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetDefaultFieldValuePrinter(new detail::ShortestFloats);  // owned by the printer
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

}  // namespace amct::protobuf
