// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct diff`: in what do two models, or two records, differ?
void add_diff(CLI::App& app);

}  // namespace runner
