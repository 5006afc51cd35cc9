// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// The verb `simplify`: takes out of a network what quantization stumbles over.
void add_simplify(CLI::App& app);

}  // namespace runner
