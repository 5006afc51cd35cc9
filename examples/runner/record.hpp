// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct record show|check|convert|diff|stats`: what one wants to do with record files.
void add_record(CLI::App& app);

}  // namespace runner
