// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/read_file.hpp>
#include <amct/core/utf8.hpp>
#include <amct/json_yaml/config_builder.hpp>
#include <amct/json_yaml/yaml_scalar.hpp>

namespace amct::json_yaml {

/// Most bytes of a YAML file: yaml-cpp takes time that grows faster than the text for some texts.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20U;
/// Most values of a YAML file, those that aliases repeat included.
inline constexpr std::size_t kMaxYamlValues = 1'000'000;
/// Most bytes of texts that aliases may repeat.
inline constexpr std::size_t kMaxYamlAliasBytes = std::size_t{64} << 20U;

namespace detail {

/// What copies of a value cost.
struct ValueSize {
  std::size_t values = 1;
  std::size_t depth = 0;
  std::size_t bytes = 0;

  void add(const ValueSize& inner) {
    values += inner.values;
    depth = std::max(depth, inner.depth + 1);
    bytes += inner.bytes;
  }
};

[[nodiscard]] inline ValueSize size_of(const ConfigValue& value) {
  ValueSize size;
  if (const auto* text = value.text()) size.bytes = text->size();
  if (const auto* items = value.list()) {
    size.depth = 1;
    for (const auto& item : *items) size.add(size_of(item));
  }
  if (const auto* members = value.object()) {
    size.depth = 1;
    for (const auto& member : *members) {
      size.add(size_of(member.value));
      size.bytes += member.name.size();
    }
  }
  return size;
}

/// Events of yaml-cpp's parser.
class YamlEvents final : public YAML::EventHandler {
 public:
  explicit YamlEvents(const std::string& file) : file_(file), builder_(file, kMaxYamlValues) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) throw refused(place(mark), "has something after the end of its value, or a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, anchor, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_name(mark, "an alias");
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw refused(place(mark), "is an alias of a value that contains it");
    spend(found->second, place(mark));
    builder_.copy(found->second.value, found->second.size.values, found->second.size.depth, place(mark));
    after_value();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    // yaml-cpp makes a lone byte of the escapes \N (next line) and \_ (no-break space).
    if (find_invalid_utf8(text)) throw refused(place(mark), "has an escape \\N or \\_ in a text, which is not read");
    scalar(mark, anchor, typed(text, tag, place(mark)));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "seq", anchor);
    builder_.open_list(place(mark));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "map", anchor);
    builder_.open_object(place(mark));
    levels_.back().expects_name = true;
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] ConfigValue take() { return builder_.take(); }
  [[nodiscard]] Error refused(Place place, const std::string& message) const {
    return syntax_error(file_, place, message);
  }
  [[nodiscard]] static Place place(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

 private:
  struct Level {
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool expects_name = false;
  };
  struct Anchored {
    ConfigValue value;
    ValueSize size;
  };

  static constexpr std::string_view kTags = "tag:yaml.org,2002:";

  [[nodiscard]] bool expects_name() const noexcept { return !levels_.empty() && levels_.back().expects_name; }
  void refuse_as_name(const YAML::Mark& mark, const std::string& found) const {
    if (!expects_name()) return;
    throw refused(place(mark), "got " + found + " for a name, expected a text (is a bracket or a quote not closed?)");
  }
  /// In an object, names and values take turns.
  void after_value() {
    if (builder_.in_object()) levels_.back().expects_name = true;
  }
  void open(const YAML::Mark& mark, const std::string& tag, std::string_view kind, YAML::anchor_t anchor) {
    refuse_as_name(mark, kind == "seq" ? "a list" : "an object");
    if (!tag.empty() && tag != "?" && tag != "!" && tag != std::string(kTags) + std::string(kind)) {
      throw refused(place(mark), "has the tag " + tag + ", which is not known");
    }
    levels_.push_back({anchor});
  }
  void close() {
    builder_.close();
    const YAML::anchor_t anchor = levels_.back().anchor;
    levels_.pop_back();
    const ConfigValue& value = builder_.last();
    keep(anchor, value, {value.line, value.column});
    after_value();
  }
  void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, ConfigValue value) {
    keep(anchor, value, place(mark));
    if (expects_name()) return name(mark, value);
    builder_.scalar(std::move(value), place(mark));
    after_value();
  }
  void name(const YAML::Mark& mark, const ConfigValue& value) {
    if (value.text() == nullptr) refuse_as_name(mark, describe(value));
    if (*value.text() == "<<") throw refused(place(mark), "merge keys (<<) are not read: write the members out");
    builder_.key(*value.text(), place(mark));
    levels_.back().expects_name = false;
  }
  [[nodiscard]] ConfigValue typed(const std::string& text, const std::string& tag, Place at) const {
    if (tag == "!" || tag == std::string(kTags) + "str") return text;
    const auto value = core_schema_value(text);
    if (!value) throw refused(at, "got " + text + ", expected a number that a double can hold");
    if (tag.empty() || tag == "?") return *value;
    const std::string kind = tag.starts_with(kTags) ? tag.substr(kTags.size()) : "";
    if (kind == "float" && value->integer() != nullptr) return static_cast<double>(*value->integer());
    const bool fits = (kind == "int" && value->integer() != nullptr) || (kind == "float" && value->real() != nullptr) ||
                      (kind == "bool" && value->boolean() != nullptr) || (kind == "null" && value->is_null());
    if (!fits) throw refused(at, "\"" + text + "\" does not fit its tag " + tag);
    return *value;
  }

  void keep(YAML::anchor_t anchor, const ConfigValue& value, Place at) {
    if (anchor == YAML::NullAnchor) return;
    const Anchored kept{value, size_of(value)};
    spend(kept, at);
    anchored_.insert_or_assign(anchor, kept);
  }
  /// Copies are paid for, so that a small text cannot become a large value.
  void spend(const Anchored& copied, Place at) {
    copied_values_ += copied.size.values;
    copied_bytes_ += copied.size.bytes;
    if (copied_values_ > kMaxYamlValues || copied_bytes_ > kMaxYamlAliasBytes) {
      throw refused(at, "aliases repeat more than " + std::to_string(kMaxYamlValues) + " values or " +
                            std::to_string(kMaxYamlAliasBytes) + " bytes");
    }
  }

  const std::string& file_;
  ConfigBuilder builder_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t copied_values_ = 0;
  std::size_t copied_bytes_ = 0;
  int documents_ = 0;
};

/// yaml-cpp takes such bytes for other things (the end of the text, other encodings).
inline void refuse_bytes_outside_yaml(std::string_view text, const std::string& file) {
  std::size_t bad = find_invalid_utf8(text).value_or(text.size());
  for (std::size_t i = 0; i < bad; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20U && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7FU) bad = i;
  }
  if (bad == text.size()) return;
  throw syntax_error(file, PlaceFinder(text).at(bad), "is no text in UTF-8, or has a control character");
}

}  // namespace detail

/// Reads a YAML text of one document. Plain scalars are typed by the core schema of YAML 1.2 (`1e-10` is a number,
/// `yes` a text), quoted ones are texts; the tags !!str, !!int, !!float, !!bool and !!null are heeded, others refused.
/// Aliases are copied. An empty text is null. Every value gets its line and column.
/// \param file  named in errors
/// \throws Error config_syntax with line and column: no YAML, several documents, a name that is no text or is given
///         twice, NaN and infinities, not UTF-8, nested deeper than kMaxConfigDepth, more than kMaxYamlValues values
[[nodiscard]] inline ConfigValue parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    throw detail::syntax_error(file, {}, "has more than " + std::to_string(kMaxYamlBytes) + " bytes");
  }
  text = without_byte_order_mark(text);
  detail::refuse_bytes_outside_yaml(text, file);
  detail::YamlEvents events(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) continue;
  } catch (const YAML::Exception& error) {
    throw events.refused(detail::YamlEvents::place(error.mark), "is no valid YAML: " + error.msg);
  }
  return events.take();
}

/// Reads a .yml or .yaml file of at most kMaxYamlBytes.
/// \throws Error config_syntax for another file name, io_read, and those of parse_yaml
[[nodiscard]] inline ConfigValue read_yaml(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension != ".yml" && extension != ".yaml") {
    throw Error(ErrorCode::config_syntax, {.file = path.string()},
                "has the extension \"" + extension + "\", expected \".yml\" or \".yaml\"");
  }
  return parse_yaml(read_file(path, kMaxYamlBytes), path.string());
}

}  // namespace amct::json_yaml
