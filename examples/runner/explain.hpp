// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct explain`: everything that is known of one layer.
void add_explain(CLI::App& app);

}  // namespace runner
