// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

#include <amct/protobuf/text_walker.hpp>

namespace amct::protobuf::detail {

/// Where the fields of a message stand in a text. protobuf's own ParseInfoTree knows only the first place of a field
/// that is given twice, while the last value counts.
class ConfigPlaces {
 public:
  using Field = google::protobuf::FieldDescriptor;

  /// 1-based; 0 if unknown.
  [[nodiscard]] int line() const noexcept { return line_; }
  [[nodiscard]] int column() const noexcept { return column_; }
  /// The places of a field, one a value; null if the text has it not.
  [[nodiscard]] const std::vector<ConfigPlaces>* of(const Field& field) const {
    const auto found = fields_.find(&field);
    return found == fields_.end() ? nullptr : &found->second;
  }
  /// Notes one value of a field and returns what is known of it; a field that is not repeated has one, the last.
  ConfigPlaces& add(const Field& field, const TextPosition& position) {
    auto& values = fields_[&field];
    if (values.empty() || field.is_repeated()) values.emplace_back();
    values.back().line_ = position.line + 1;
    values.back().column_ = position.column + 1;
    return values.back();
  }

 private:
  int line_ = 0;
  int column_ = 0;
  std::map<const Field*, std::vector<ConfigPlaces>> fields_;
};

/// The places of all fields of a text that the parser accepts. O(size of the text).
[[nodiscard]] inline ConfigPlaces places_of(std::string_view text, const google::protobuf::Descriptor& descriptor) {
  struct Level {
    ConfigPlaces* places;
    const google::protobuf::Descriptor* descriptor;
    const ConfigPlaces::Field* field = nullptr;  ///< the last one named
    TextPosition position{};                     ///< of its name, or of the value within a list
    bool in_list = false;
    bool noted = false;  ///< a text may go on in several strings
  };
  using Kind = TextWalker::Kind;

  ConfigPlaces root;
  std::vector<Level> levels{{&root, &descriptor}};
  TextWalker walker(text);
  for (TextWalker::Event event; walker.next(event);) {
    Level& level = levels.back();
    if (event.kind == Kind::field) {
      level.field = level.descriptor->FindFieldByName(walker.name());
      if (level.field == nullptr) break;
      level.position = event.start;
      level.in_list = level.noted = false;
    } else if (event.kind == Kind::list_open || event.kind == Kind::list_close) {
      level.in_list = event.kind == Kind::list_open;
      level.noted = true;
    } else if (event.kind == Kind::close) {
      if (levels.size() > 1) levels.pop_back();
    } else if (level.field != nullptr && (level.in_list || !level.noted)) {
      level.noted = true;
      ConfigPlaces& value = level.places->add(*level.field, level.in_list ? event.start : level.position);
      if (event.kind == Kind::open) levels.push_back({&value, level.field->message_type()});
    }
    if (levels.back().descriptor == nullptr) break;
  }
  return root;
}

}  // namespace amct::protobuf::detail
