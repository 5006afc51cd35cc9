// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

// The verbs of `amct record`, each in a file of its own.
void add_record_show(CLI::App& record);
void add_record_check(CLI::App& record);
void add_record_convert(CLI::App& record);
void add_record_diff(CLI::App& record);
void add_record_stats(CLI::App& record);

}  // namespace runner
