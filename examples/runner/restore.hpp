// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds the verb that goes on with a calibration that was kept.
void add_restore(CLI::App& app);

}  // namespace runner
