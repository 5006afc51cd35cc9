// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "record_verbs.hpp"

namespace runner {

void add_record(CLI::App& app) {
  CLI::App* record = app.add_subcommand(
      "record", "Record files, which hold the quantization factors of a network: show, check, convert, compare them");
  record->require_subcommand(1);
  add_record_show(*record);
  add_record_check(*record);
  add_record_convert(*record);
  add_record_diff(*record);
  add_record_stats(*record);
}

}  // namespace runner
