// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "record_source.hpp"

namespace runner {

// The verbs of `amct record`, each in a file of its own.
void add_record_show(CLI::App& record);
void add_record_check(CLI::App& record);
void add_record_convert(CLI::App& record);
void add_record_diff(CLI::App& record);
void add_record_stats(CLI::App& record);

/// Compares two records and prints what differs. \throws CLI::RuntimeError if anything does, amct::Error of the files
void diff_records(const RecordArguments& arguments, const std::string& other_file, std::uint64_t ulp);

}  // namespace runner
