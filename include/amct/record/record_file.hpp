// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/float_text.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

namespace amct {

/// How a record file is written. A file that was read is written back in its own format.
struct RecordFormat {
  RecordDialect dialect = RecordDialect::pytorch;
  bool binary = false;  ///< protobuf's wire format instead of its text format
  FloatStyle float_style = FloatStyle::shortest;

  friend bool operator==(const RecordFormat&, const RecordFormat&) = default;
};

/// The content of a record file.
struct RecordFile {
  RecordFormat format{};
  Record layers{};
  std::vector<PruneRecord> prunes{};

  friend bool operator==(const RecordFile&, const RecordFile&) = default;
};

}  // namespace amct
