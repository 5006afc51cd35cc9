// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds the verb that joins the checkpoints of parts of a calibration.
void add_merge_stats(CLI::App& app);

}  // namespace runner
