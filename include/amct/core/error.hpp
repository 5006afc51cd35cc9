// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <amct/core/float_text.hpp>
#include <amct/core/status.hpp>

namespace amct {

/// Stable classes of errors; docs/errors.md lists them with their causes. The text form is `group.kind`.
enum class ErrorCode : std::uint8_t {
  io_read,             ///< a file that cannot be opened or read
  io_write,            ///< a file or folder that cannot be written
  model_corrupt,       ///< not an ONNX file, or one that its checker refuses
  model_unsupported,   ///< a valid model that needs something amct does not do
  model_shape,         ///< shapes that do not fit each other or the model
  config_syntax,       ///< a config file that cannot be parsed
  config_range,        ///< a parameter outside its range
  config_layer,        ///< a layer or layer type that does not exist or cannot be quantized
  config_unsupported,  ///< a documented option that this version does not do
  record_syntax,       ///< a record file that cannot be parsed
  record_value,        ///< a record whose values are wrong or do not fit the model
  data_empty,          ///< no calibration data
  data_too_few,        ///< fewer batches than were asked for
  data_format,         ///< a data file of the wrong size, type or shape
  data_not_finite,     ///< NaN or Inf in data
  numeric,             ///< values that cannot be represented (scale, bias)
};

[[nodiscard]] constexpr const char* name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::io_read: return "io.read";
    case ErrorCode::io_write: return "io.write";
    case ErrorCode::model_corrupt: return "model.corrupt";
    case ErrorCode::model_unsupported: return "model.unsupported";
    case ErrorCode::model_shape: return "model.shape";
    case ErrorCode::config_syntax: return "config.syntax";
    case ErrorCode::config_range: return "config.range";
    case ErrorCode::config_layer: return "config.layer";
    case ErrorCode::config_unsupported: return "config.unsupported";
    case ErrorCode::record_syntax: return "record.syntax";
    case ErrorCode::record_value: return "record.value";
    case ErrorCode::data_empty: return "data.empty";
    case ErrorCode::data_too_few: return "data.too_few";
    case ErrorCode::data_format: return "data.format";
    case ErrorCode::data_not_finite: return "data.not_finite";
    case ErrorCode::numeric: return "numeric";
  }
  return "unknown";
}

/// Where an error was found; parts that do not apply stay empty or 0.
struct Where {
  std::string file{};
  int line = 0;    ///< 1-based; 0 = unknown
  int column = 0;  ///< 1-based; 0 = unknown
  std::string layer{};
  std::string tensor{};
  std::string field{};
};

/// Bad input from outside: one line that names the place, the value found and what was expected.
/// Example: `amct: [config.range] quant.cfg:3:5 layer "conv1" batch_num: got 0, expected at least 1`.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, Where where, const std::string& message)
      : std::runtime_error(compose(code, where, message)), code_(code), where_(std::move(where)), message_(message) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const Where& where() const noexcept { return where_; }
  /// The message without code and place.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

  /// The same error with the file filled in by a caller that knows it.
  [[nodiscard]] Error in_file(const std::string& file) const {
    Where where = where_;
    where.file = file;
    return {code_, std::move(where), message_};
  }

 private:
  static std::string compose(ErrorCode code, const Where& where, const std::string& message) {
    std::string text = std::string("amct: [") + name_of(code) + "] ";
    std::string place;
    if (!where.file.empty()) {
      place = where.file;
      if (where.line > 0) place += ':' + std::to_string(where.line);
      if (where.line > 0 && where.column > 0) place += ':' + std::to_string(where.column);
    }
    const auto add = [&place](const char* kind, const std::string& name) {
      if (name.empty()) return;
      if (!place.empty()) place += ' ';
      place += *kind == '\0' ? printable(name) : std::string(kind) + " \"" + printable(name) + '"';
    };
    add("layer", where.layer);
    add("tensor", where.tensor);
    add("", where.field);
    if (!place.empty()) text += place + ": ";
    return text + printable(message);
  }
  /// Names and values come from files: their control characters must not reach a terminal. Line breaks of messages
  /// stay.
  static std::string printable(const std::string& name) {
    constexpr char kHex[] = "0123456789abcdef";
    std::string text;
    for (const char c : name) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte >= 0x20 && byte != 0x7f) || c == '\n') {
        text += c;
      } else {
        text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      }
    }
    return text;
  }

  ErrorCode code_;
  Where where_;
  std::string message_;
};

/// Turns a failed Status of the numeric core into an Error.
inline void check(const Status& status, Where where) {
  if (status.ok()) return;
  const bool has_value = status.code == StatusCode::not_finite || status.code == StatusCode::bias_overflow ||
                         status.code == StatusCode::sum_overflow;
  std::string message = describe(status.code);
  if (has_value) message += " (" + decimal_text(status.value) + " at index " + std::to_string(status.index) + ')';
  const ErrorCode code = status.code == StatusCode::not_finite ? ErrorCode::data_not_finite
                         : status.code == StatusCode::empty    ? ErrorCode::data_empty
                                                               : ErrorCode::numeric;
  throw Error(code, std::move(where), message);
}

}  // namespace amct
