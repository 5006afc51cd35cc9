// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct check`: what would be quantized, why other layers stay float, and the faults of the network.
void add_check(CLI::App& app);

}  // namespace runner
