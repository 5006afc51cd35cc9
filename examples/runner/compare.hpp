// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct compare`: how far the layers of two runs are from each other.
void add_compare(CLI::App& app);

}  // namespace runner
