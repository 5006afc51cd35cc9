// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct evaluate`: top-1 accuracy of one or more networks on labelled data, side by side.
void add_evaluate(CLI::App& app);

}  // namespace runner
