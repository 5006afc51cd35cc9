// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct sample`, the counterpart of the script <net>_calibration.py of AMCT's PTQ sample: the same options, and
/// the same files in the same folders.
void add_sample(CLI::App& app);

}  // namespace runner
