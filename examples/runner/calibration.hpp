// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds AMCT's own command: `amct calibration`, a trained network in, a quantized network and its record out.
void add_calibration(CLI::App& app);

}  // namespace runner
