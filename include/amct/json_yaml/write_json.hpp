// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <amct/config/value.hpp>
#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>

namespace amct::json_yaml {

namespace detail {

/// Appends values in the layout of AMCT's config.json, that of Python's `json.dump(indent=4, separators=(",", ":"))`.
class JsonPrinter {
 public:
  void value(const ConfigValue& value, std::size_t depth) {
    if (const auto* members = value.object()) {
      block(*members, '{', '}', depth, [&](const ConfigValue::Member& member) {
        quoted(member.name);
        text_ += ':';
        this->value(member.value, depth + 1);
      });
    } else if (const auto* items = value.list()) {
      block(*items, '[', ']', depth, [&](const ConfigValue& item) { this->value(item, depth + 1); });
    } else {
      scalar(value);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  template <class Items, class Print>
  void block(const Items& items, char open, char close, std::size_t depth, const Print& print) {
    text_ += open;
    for (std::size_t i = 0; i < items.size(); ++i) {
      text_ += i == 0 ? "\n" : ",\n";
      text_.append(4 * (depth + 1), ' ');
      print(items[i]);
    }
    if (!items.empty()) {
      text_ += '\n';
      text_.append(4 * depth, ' ');
    }
    text_ += close;
  }
  void scalar(const ConfigValue& value) {
    if (const double* real = value.real()) {
      if (!std::isfinite(*real)) throw Error(ErrorCode::config_range, {}, "JSON has no " + shortest_text(*real));
      text_ += shortest_text(*real);
    } else if (const std::string* text = value.text()) {
      quoted(*text);
    } else {
      text_ += describe(value);  // an integer, true, false or null
    }
  }
  void quoted(const std::string& text) {
    try {
      text_ += nlohmann::json(text).dump(-1, ' ', true);
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorCode::config_syntax, {}, "a text that is not UTF-8 cannot be written as JSON");
    }
  }

  std::string text_;
};

}  // namespace detail

/// A config as AMCT writes it: four spaces a level, no space after `:`, floats as short as possible ("1.0", "1e-10"),
/// other than ASCII escaped, no newline at the end. What parse_json read of such a text is written back the same.
/// \throws Error config_range for NaN and infinities, config_syntax for a text that is not UTF-8
[[nodiscard]] inline std::string json_text(const ConfigValue& value) {
  detail::JsonPrinter printer;
  printer.value(value, 0);
  return printer.take();
}

/// Writes json_text to a file that appears whole or not at all. \throws Error io_write, and those of json_text
inline void write_json(const std::filesystem::path& path, const ConfigValue& value) {
  const std::string text = json_text(value);
  AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

}  // namespace amct::json_yaml
