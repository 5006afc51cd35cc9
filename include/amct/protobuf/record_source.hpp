// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <google/protobuf/message.h>

#include <amct/core/error.hpp>

namespace amct::protobuf::detail {

/// Gives the content of a record file piece by piece.
class RecordSource {
 public:
  RecordSource() = default;
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;
  virtual ~RecordSource() = default;

  /// Puts the next entries, usually one, into `root`, a record file of the dialect; false at the end of the file.
  /// \throws Error record_syntax, io_read
  virtual bool next(google::protobuf::Message& root) = 0;

  /// Kept fields that the dialect does not know, of an entry of the last `root`: see LayerRecord::unknown.
  [[nodiscard]] virtual std::string unknown(std::string_view list, int index) const = 0;

  /// Where a field of an entry of the last `root` stands; file only, if that is not known.
  /// \param path   names from the entry on, with indexes in brackets: "value.record_d[1].scale_d"
  /// \param index  of the last name
  [[nodiscard]] virtual Where where(std::string_view list, int entry, std::string_view path, int index) const = 0;
};

}  // namespace amct::protobuf::detail
