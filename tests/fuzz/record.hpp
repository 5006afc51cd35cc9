// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/record_reader.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/check.hpp>
#include <amct/record/check_prune.hpp>
#include <amct/record/convert.hpp>
#include <amct/record/dialect.hpp>
#include <amct/record/diff.hpp>
#include <amct/record/stats.hpp>

#include "fuzz/fuzz.hpp"

namespace fuzz {

/// All entries of a record, and how it is written; nothing if the reader refuses one.
struct ReadRecord {
  amct::RecordFormat format{};
  std::vector<amct::protobuf::RecordEntry> entries{};
};

[[nodiscard]] inline std::optional<ReadRecord> read_record(const std::string& content,
                                                           amct::protobuf::RecordReadOptions options) {
  ReadRecord read;
  bool complete = true;
  const bool to_the_end = accepts([&] {
    amct::protobuf::RecordReader reader(std::make_unique<std::istringstream>(content), "fuzzed", options);
    read.format = reader.format();
    for (bool more = true; more;) {
      try {
        auto entry = reader.next();
        more = entry.has_value();
        if (!more) break;
        static_cast<void>(reader.where());
        static_cast<void>(reader.where("scale_w", 1));
        read.entries.push_back(std::move(*entry));
      } catch (const amct::Error& error) {
        if (error.code() != amct::ErrorCode::record_value) throw;
        complete = false;
      }
    }
  });
  if (!to_the_end || !complete) return std::nullopt;
  return read;
}

[[nodiscard]] inline std::string write_record(const ReadRecord& record) {
  std::ostringstream out;
  amct::protobuf::RecordWriter writer(out, record.format);
  for (const auto& entry : record.entries) {
    std::visit([&](const auto& item) { writer.write(item); }, entry);
  }
  return std::move(out).str();
}

/// Checks, statistics, comparison and conversion may find anything, but must come back.
inline void use_record(const ReadRecord& record) {
  const auto& rules = amct::rules_of(amct::flavour_of(record.format.dialect));
  static std::map<amct::RecordDialect, amct::RecordStats> all_stats;  // for all inputs: each takes 16 MB
  amct::RecordStats& stats = all_stats.try_emplace(record.format.dialect, rules).first->second;
  amct::RecordDiff diff(1, [](const amct::RecordDifference&) {});
  for (const auto& entry : record.entries) {
    std::visit(
        [&](const auto& item) {
          static_cast<void>(amct::check_record(item, rules));
          stats.add(item);
          diff.add_left(item);
          for (const amct::RecordDialect to : amct::kAllRecordDialects) {
            auto converted = amct::convert_record(item, record.format.dialect, to);
            if (!converted.entry) continue;
            std::ostringstream out;
            amct::protobuf::RecordWriter writer(out, {.dialect = to});
            accepts([&] { writer.write(*converted.entry); });
          }
          diff.add_right(item);
        },
        entry);
  }
  diff.finish();
}

/// What is read is written and read again the same.
inline void run_record(const std::string& content, amct::protobuf::RecordReadOptions options) {
  const auto first = read_record(content, options);
  if (!first) return;
  const std::string written = write_record(*first);
  const auto second = read_record(written, {.dialect = first->format.dialect, .keep_unknown = options.keep_unknown});
  require(second.has_value(), "what was written is accepted");
  require(second->format.binary == first->format.binary, "text stays text, binary stays binary");
  require(write_record({first->format, second->entries}) == written, "a second writing equals the first");
  use_record(*first);
}

/// The dialect found from the content, with and without unknown fields, and one that the size chooses.
inline void run_record(const std::string& content) {
  run_record(content, {});
  run_record(content, {.dialect = {}, .keep_unknown = true});
  const auto dialect = amct::kAllRecordDialects[content.size() % std::size(amct::kAllRecordDialects)];
  run_record(content, {.dialect = dialect, .keep_unknown = true});
}

}  // namespace fuzz
