// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>

#include <amct/core/flavour.hpp>
#include <amct/core/float_text.hpp>
#include <amct/protobuf/limits.hpp>
#include <amct/protobuf/record_schema.hpp>
#include <amct/protobuf/record_wire_source.hpp>
#include <amct/protobuf/text_walker.hpp>
#include <amct/record/record_file.hpp>

/// \file
/// What kind of record file this is. Dialects share most fields; the fields present rule some of them out, and of the
/// rest the first in the order of kAllRecordDialects is taken.

namespace amct::protobuf {

/// Bytes at the beginning of a file that are looked at. What comes later has to fit, or is an error when it is read.
inline constexpr std::size_t kRecordDetectBytes = std::size_t{1} << 20;

/// What detect_record() found.
struct DetectedRecord {
  RecordFormat format{};
  std::string reason{};  ///< why this dialect, one sentence
};

namespace detail {

inline constexpr std::size_t kDialects = std::size(kAllRecordDialects);
/// Dialects, as bits in the order of kAllRecordDialects.
using Dialects = std::bitset<kDialects>;

/// The fields that some dialect does not have, each with the dialects that lack it, in the order of the file.
class Misfits {
 public:
  /// The dialects that lack this field.
  Dialects& operator[](const std::string& field) {
    const auto [found, is_new] = index_.try_emplace(field, fields_.size());
    if (is_new) fields_.emplace_back(field, Dialects());
    return fields_[found->second].second;
  }
  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::pair<std::string, Dialects>> fields_;
};

/// "pytorch", "pytorch and mindspore", "pytorch, mindspore and caffe".
[[nodiscard]] inline std::string list_dialects(const Dialects& dialects) {
  std::string text;
  std::size_t left = dialects.count();
  for (std::size_t i = 0; i < kDialects; ++i) {
    if (!dialects[i]) continue;
    --left;
    text += name_of(kAllRecordDialects[i]);
    text += left > 1 ? ", " : left == 1 ? " and " : "";
  }
  return text;
}

/// Takes the first dialect that has every field, else the first of those that lack the fewest.
[[nodiscard]] inline DetectedRecord choose_dialect(const Misfits& misfits) {
  std::array<std::size_t, kDialects> lacking{};
  for (const auto& [field, dialects] : misfits) {
    for (std::size_t i = 0; i < kDialects; ++i) lacking[i] += dialects[i] ? 1 : 0;
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < kDialects; ++i) {
    if (lacking[i] < lacking[best]) best = i;
  }
  DetectedRecord result;
  result.format.dialect = kAllRecordDialects[best];
  if (lacking[best] > 0) {
    result.reason =
        "no dialect has every field of the file; " + std::string(name_of(result.format.dialect)) + " lacks the fewest";
    return result;
  }
  Dialects fitting;
  for (std::size_t i = 0; i < kDialects; ++i) fitting[i] = lacking[i] == 0;
  // A field that ruled it out for every dialect that comes before, and for the others if one is left.
  Dialects unexplained = ~fitting;
  for (std::size_t i = best; fitting.count() > 1 && i < kDialects; ++i) unexplained.reset(i);
  while (unexplained.any()) {
    const auto& [field, dialects] =
        *std::max_element(misfits.begin(), misfits.end(), [&](const auto& a, const auto& b) {
          return (a.second & unexplained).count() < (b.second & unexplained).count();
        });
    unexplained &= ~dialects;
    result.reason += (result.reason.empty() ? "" : "; ") + field + " occurs only in " + list_dialects(~dialects);
  }
  if (result.reason.empty()) {
    result.reason = "of the dialects that have every field (" + list_dialects(fitting) + ") it comes first";
  }
  return result;
}

/// How often floats were written as only one of the styles writes them.
struct StyleVotes {
  std::size_t shortest = 0;
  std::size_t digits9 = 0;

  void count(const std::string& text) {
    float value = 0.0F;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return;
    const std::string short_form = shortest_text(value), long_form = digits9_text(value);
    if (short_form == long_form) return;
    shortest += text == short_form ? 1 : 0;
    digits9 += text == long_form ? 1 : 0;
  }
};

/// Follows the fields of a text through the schemas of all dialects at once.
class TextDetector {
 public:
  explicit TextDetector(std::string_view text) {
    std::array<const google::protobuf::Descriptor*, kDialects> roots;
    for (std::size_t i = 0; i < kDialects; ++i) roots[i] = &record_schema(kAllRecordDialects[i]);
    schemas_.push_back(roots);
    TextWalker walker(text);
    for (TextWalker::Event event; walker.next(event);) {
      if (event.kind == TextWalker::Kind::field) enter(walker);
      if (event.kind == TextWalker::Kind::value && is_float_ && event.is_number) votes.count(event.text);
      if (event.kind == TextWalker::Kind::close) schemas_.resize(walker.depth() + 1);
      if (event.kind == TextWalker::Kind::open && schemas_.size() <= walker.depth()) schemas_.push_back(next_);
    }
  }

  Misfits misfits{};
  StyleVotes votes{};

 private:
  void enter(const TextWalker& walker) {
    Dialects lacking;
    is_float_ = false;
    for (std::size_t i = 0; i < kDialects; ++i) {
      const auto* schema = schemas_.back()[i];
      const auto* field = schema != nullptr ? schema->FindFieldByName(walker.name()) : nullptr;
      lacking[i] = field == nullptr;  // also inside a message that the dialect does not have
      next_[i] = field != nullptr ? field->message_type() : nullptr;
      is_float_ =
          is_float_ || (field != nullptr && field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_FLOAT);
    }
    if (lacking.none()) return;
    const std::size_t depth = walker.depth();
    misfits[depth > 1 ? walker.name_at(depth - 1) + '.' + walker.name() : walker.name()] |= lacking;
  }

  std::vector<std::array<const google::protobuf::Descriptor*, kDialects>> schemas_;
  std::array<const google::protobuf::Descriptor*, kDialects> next_{};
  bool is_float_ = false;
};

/// Compares the fields of a binary message with the schema of one dialect.
class WireDetector {
 public:
  explicit WireDetector(const google::protobuf::UnknownFieldSet& file) {
    for (std::size_t i = 0; i < kDialects; ++i) {
      dialect_ = i;
      compare(file, record_schema(kAllRecordDialects[i]), "");
    }
  }

  Misfits misfits{};

 private:
  using Field = google::protobuf::UnknownField;
  using Schema = google::protobuf::FieldDescriptor;

  static const char* wire_name(const Field& field) {
    switch (field.type()) {
      case Field::TYPE_VARINT: return "an integer";
      case Field::TYPE_FIXED32: return "a float";
      case Field::TYPE_LENGTH_DELIMITED: return "a text, message or packed list";
      default: return "of a type that no dialect has";
    }
  }

  /// Whether a field may look like this. A field that is not repeated occurs once: AMCT writes no duplicates.
  static bool fits(const Field& field, const Schema* schema, bool again) {
    if (schema == nullptr || (again && !schema->is_repeated())) return false;
    const bool is_text = schema->cpp_type() == Schema::CPPTYPE_STRING || schema->cpp_type() == Schema::CPPTYPE_MESSAGE;
    if (field.type() == Field::TYPE_LENGTH_DELIMITED) return is_text || schema->is_repeated();
    return field.type() == (schema->cpp_type() == Schema::CPPTYPE_FLOAT ? Field::TYPE_FIXED32 : Field::TYPE_VARINT) &&
           !is_text;
  }

  void compare(const google::protobuf::UnknownFieldSet& fields, const google::protobuf::Descriptor& schema,
               const std::string& path) {
    std::set<int> seen;
    for (int i = 0; i < fields.field_count(); ++i) {
      const Field& field = fields.field(i);
      const Schema* known = schema.FindFieldByNumber(field.number());
      const bool again = !seen.insert(field.number()).second;
      if (!again && is_old_layout(schema, field)) continue;
      if (!fits(field, known, again)) {
        misfits["number " + std::to_string(field.number()) + (path.empty() ? "" : " of " + path) + " as " +
                wire_name(field)]
            .set(dialect_);
      } else if (known->message_type() != nullptr) {
        google::protobuf::UnknownFieldSet nested;
        if (nested.ParseFromString(field.length_delimited())) {
          compare(nested, *known->message_type(), known->name());
        } else {
          misfits[known->name() + " as a message"].set(dialect_);
        }
      }
    }
  }

  static bool is_old_layout(const google::protobuf::Descriptor& schema, const Field& field) {
    return &schema == proto::hotwheels::SingleLayerRecord::descriptor() &&
           (is_old_scale_d(field) || is_old_offset_d(field));
  }

  std::size_t dialect_ = 0;
};

/// The whole entries at the beginning of a binary file, as fields without a schema.
inline void read_first_entries(std::string_view beginning, google::protobuf::UnknownFieldSet& fields) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(beginning.data()),
                                               static_cast<int>(beginning.size()));
  using google::protobuf::internal::WireFormatLite;
  for (std::uint32_t tag = 0, size = 0; (tag = input.ReadTag()) != 0;) {
    std::string bytes;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
        !input.ReadVarint32(&size) || size > beginning.size() || !input.ReadString(&bytes, static_cast<int>(size))) {
      break;
    }
    fields.AddLengthDelimited(WireFormatLite::GetTagFieldNumber(tag), bytes);
  }
}

/// Whether a file that begins so is binary: its first entry has the outline of a message, with a key, value or
/// producer as first field. A text may begin with the same byte, a line feed, but hardly goes on like that.
[[nodiscard]] inline bool is_wire_record(std::string_view beginning) {
  if (beginning.empty() || (beginning[0] != 0x0A && beginning[0] != 0x12)) return false;
  if (beginning.size() > 1 && (static_cast<unsigned char>(beginning[1]) & 0x80U) != 0)
    return true;  // 128 bytes or more
  google::protobuf::UnknownFieldSet entries, first;
  read_first_entries(beginning, entries);
  if (entries.empty() || !first.ParseFromString(entries.field(0).length_delimited())) {
    return beginning[0] == 0x12;  // no text begins with this byte
  }
  for (int i = 0; i < first.field_count(); ++i) {
    const auto& field = first.field(i);
    if (field.number() > 3 || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) return false;
  }
  return true;
}

}  // namespace detail

/// Tells binary from text, the dialect and the style of floats, from the first kRecordDetectBytes of a file (or fewer).
/// \param given  the dialect, if it is known; then only the rest is found
[[nodiscard]] inline DetectedRecord detect_record(std::string_view beginning, std::optional<RecordDialect> given = {}) {
  DetectedRecord result;
  if (detail::is_wire_record(beginning)) {
    google::protobuf::UnknownFieldSet entries;
    detail::read_first_entries(beginning, entries);
    result = detail::choose_dialect(detail::WireDetector(entries).misfits);
    result.format.binary = true;
  } else {
    // A name or number that the bound cuts must not count.
    if (beginning.size() >= kRecordDetectBytes) beginning = beginning.substr(0, beginning.find_last_of(" \t\r\n") + 1);
    const detail::TextDetector detector(beginning);
    result = detail::choose_dialect(detector.misfits);
    if (detector.votes.digits9 > detector.votes.shortest) result.format.float_style = FloatStyle::digits9;
  }
  if (given) {
    result.format.dialect = *given;
    result.reason = "the dialect was given";
  }
  return result;
}

}  // namespace amct::protobuf
