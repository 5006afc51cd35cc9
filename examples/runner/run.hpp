// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct run`: runs a network in a mode, shows what its outputs hold, and dumps layers.
void add_run(CLI::App& app);

}  // namespace runner
