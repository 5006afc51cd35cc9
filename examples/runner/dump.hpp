// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct dump`, AMCT's enable_dump: a file of each layer's result for one forward pass.
void add_dump(CLI::App& app);

}  // namespace runner
