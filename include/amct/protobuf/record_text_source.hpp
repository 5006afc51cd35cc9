// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/limits.hpp>
#include <amct/protobuf/record_messages.hpp>
#include <amct/protobuf/record_scanner.hpp>
#include <amct/protobuf/record_schema.hpp>
#include <amct/protobuf/record_source.hpp>
#include <amct/protobuf/text_walker.hpp>

namespace amct::protobuf::detail {

/// A name that a message does not have, found by the parser.
struct UnknownName {
  std::string message{};  ///< full name of the message's type
  std::string name{};     ///< of the field

  /// Takes protobuf's own message apart; empty names if it says something else.
  [[nodiscard]] static UnknownName in(const std::string& text) {
    constexpr std::string_view kBefore = "Message type \"", kBetween = "\" has no field named \"", kAfter = "\".";
    const std::size_t between = text.find(kBetween);
    if (!text.starts_with(kBefore) || between == std::string::npos || !text.ends_with(kAfter)) return {};
    const std::size_t name = between + kBetween.size();
    return {text.substr(kBefore.size(), between - kBefore.size()),
            text.substr(name, text.size() - name - kAfter.size())};
  }
};

/// Keeps the first error, and every name that is unknown but allowed.
class TextFindings final : public google::protobuf::io::ErrorCollector {
 public:
  struct Finding {
    TextPosition position{};  ///< for an unknown name: of the token behind it
    std::string message{};
  };

  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (error.message.empty()) error = {{line, column}, message};
  }
  void AddWarning(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    warnings.push_back({{line, column}, message});
  }

  Finding error{};
  std::vector<Finding> warnings{};
};

/// What a message about an unknown field says: the names that are known there, and the dialects that know this one.
[[nodiscard]] inline std::string explain_unknown(const UnknownName& unknown, RecordDialect dialect) {
  const auto& file = *record_schema(dialect).file();
  std::string text = "is not known in a record of dialect " + std::string(name_of(dialect)) + "; here it has";
  if (const auto* schema = file.pool()->FindMessageTypeByName(unknown.message)) {
    for (int i = 0; i < schema->field_count(); ++i) text += (i == 0 ? " " : ", ") + schema->field(i)->name();
  }
  for (const RecordDialect other : kAllRecordDialects) {
    const auto& types = *record_schema(other).file();
    for (int i = 0; i < types.message_type_count(); ++i) {
      if (types.message_type(i)->FindFieldByName(unknown.name) == nullptr) continue;
      text += "; " + std::string(name_of(other)) + " knows " + unknown.name;
      break;
    }
  }
  return text;
}

/// Entries of a text file.
class RecordTextSource final : public RecordSource {
 public:
  RecordTextSource(std::istream& input, std::string file, RecordDialect dialect, bool keep_unknown)
      : scanner_(input), file_(std::move(file)), dialect_(dialect), keep_unknown_(keep_unknown) {}

  bool next(Message& root) override {
    tree_.reset();
    unknown_.clear();
    try {
      if (!scanner_.next(entry_)) return false;
    } catch (const Error& error) {
      throw error.in_file(file_);
    }
    TextFindings findings;
    if (!parse(root, findings, nullptr)) refuse(root, findings.error);
    if (!findings.warnings.empty()) keep(findings.warnings);
    return true;
  }

  [[nodiscard]] std::string unknown(std::string_view list, int index) const override {
    const auto found = unknown_.find({std::string(list), index});
    return found != unknown_.end() ? found->second : std::string();
  }

  [[nodiscard]] Where where(std::string_view list, int entry, std::string_view path, int index) const override {
    const auto& schema = record_schema(dialect_);
    if (tree_ == nullptr) {
      const std::unique_ptr<Message> root(record_prototype(dialect_).New());
      TextFindings ignored;
      tree_ = std::make_unique<Tree>();
      parse(*root, ignored, tree_.get());
    }
    const FieldDescriptor* field = schema.FindFieldByName(std::string(list));
    TextPosition found = position_of(*tree_, *field, entry);
    const Tree* tree = tree_->GetTreeForNested(field, entry);
    while (!path.empty() && tree != nullptr && field->message_type() != nullptr) {
      const Step step = take_step(path);
      field = field->message_type()->FindFieldByName(step.name);
      if (field == nullptr) break;
      const int number = field->is_repeated() ? (path.empty() && step.index < 0 ? index : std::max(step.index, 0)) : -1;
      const TextPosition position = position_of(*tree, *field, number);
      if (position.line < 0) break;  // absent: the message that lacks it is the place
      found = position;
      tree = field->message_type() != nullptr ? tree->GetTreeForNested(field, number) : nullptr;
    }
    return place(offset_of(found));
  }

 private:
  using Tree = google::protobuf::TextFormat::ParseInfoTree;

  struct Step {
    std::string name{};
    int index = -1;
  };

  /// The first name of a path, which loses it.
  static Step take_step(std::string_view& path) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    std::string_view part = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    Step step;
    const std::size_t bracket = std::min(part.find('['), part.size());
    step.name = part.substr(0, bracket);
    if (bracket < part.size()) std::from_chars(part.data() + bracket + 1, part.data() + part.size(), step.index);
    return step;
  }

  /// Protobuf knows the places of single values, but of a list in brackets only where it starts.
  static TextPosition position_of(const Tree& tree, const FieldDescriptor& field, int index) {
    auto location = tree.GetLocation(&field, index);
    if (location.line < 0 && index > 0) location = tree.GetLocation(&field, 0);
    return {location.line, location.column};
  }

  [[nodiscard]] std::size_t offset_of(const TextPosition& position) const {
    return TextCursor(entry_.text).offset_of(position);
  }
  [[nodiscard]] Where place(std::size_t offset) const {
    const TextPlace place = entry_.place_of(offset);
    return {.file = file_, .line = place.line, .column = place.column};
  }

  bool parse(Message& root, TextFindings& findings, Tree* tree) const {
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&findings);
    parser.AllowPartialMessage(true);
    parser.AllowUnknownField(keep_unknown_);
    parser.SetRecursionLimit(kMaxTextDepth);
    parser.WriteLocationsTo(tree);
    // Merge, not Parse: Parse refuses repeated optional fields.
    return parser.MergeFromString(entry_.text, &root);
  }

  [[noreturn]] void refuse(const Message& root, const TextFindings::Finding& finding) const {
    std::size_t offset = offset_of(finding.position);
    const UnknownName unknown = UnknownName::in(finding.message);
    std::string message = finding.message.starts_with("String literals cannot cross")
                              ? "the text in quotes does not end on its line; a line break in it is written \\n"
                              : finding.message;
    if (!unknown.name.empty()) {
      offset = std::min(offset, entry_.text.rfind(unknown.name, offset - std::min(offset, unknown.name.size())));
      message = explain_unknown(unknown, dialect_);
    }
    Where where = place(offset);
    where.field = unknown.name;
    if (const auto layers = find_messages(root, "record"); !layers.empty()) {
      std::optional<std::string> key;
      FieldReader(*layers.back(), where).take("key", key);
      where.layer = key.value_or("");
    }
    throw Error(ErrorCode::record_syntax, std::move(where), message);
  }

  /// Finds the text of the fields that the parser passed over.
  void keep(const std::vector<TextFindings::Finding>& findings) {
    TextWalker walker(entry_.text);
    TextWalker::Event event;
    TextCursor cursor(entry_.text);
    std::map<std::string, int, std::less<>> counts;  // entries so far of each list
    auto finding = findings.begin();
    bool more = walker.next(event);
    while (more && finding != findings.end()) {
      if (event.kind == TextWalker::Kind::open && walker.depth() == 1) ++counts[walker.name()];
      if (event.kind != TextWalker::Kind::field || event.end != finding->position) {
        more = walker.next(event);
        continue;
      }
      const std::size_t begin = cursor.offset_of(event.start);
      std::size_t end = cursor.offset_of(event.end);
      const std::string list = walker.depth() > 0 ? walker.name_at(0) : std::string();
      const bool in_layer = list == "record" && walker.depth() == 2 && walker.name_at(1) == "value";
      const bool in_prune = list == "prune_record" && walker.depth() == 1;
      if (!in_layer && !in_prune) refuse_keeping(begin, walker.name());
      const std::size_t depth = walker.depth();
      while ((more = walker.next(event))) {
        const bool is_next = event.kind == TextWalker::Kind::field && walker.depth() == depth;
        if (is_next || walker.depth() < depth) break;
        end = cursor.offset_of(event.end);
      }
      std::string& kept = unknown_[{list, counts[list] - 1}];
      if (!kept.empty()) kept += '\n' + std::string(in_layer ? 4 : 2, ' ');
      kept += entry_.text.substr(begin, end - begin);
      ++finding;
    }
    if (finding != findings.end()) {
      refuse_keeping(offset_of(finding->position), UnknownName::in(finding->message).name);
    }
  }

  [[noreturn]] void refuse_keeping(std::size_t offset, const std::string& name) const {
    Where where = place(offset);
    where.field = name;
    throw Error(
        ErrorCode::record_syntax, std::move(where),
        "is not known and cannot be kept: unknown fields are kept in the value of a layer and in a prune_record");
  }

  RecordScanner scanner_;
  std::string file_;
  RecordDialect dialect_;
  bool keep_unknown_;
  TextEntry entry_;
  mutable std::unique_ptr<Tree> tree_;  ///< places in entry_, made when first asked for
  std::map<std::pair<std::string, int>, std::string> unknown_;
};

}  // namespace amct::protobuf::detail
