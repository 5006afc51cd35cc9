// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct config create|check`: full configs from a model and an easy config, and the checks of full configs.
void add_config(CLI::App& app);

}  // namespace runner
