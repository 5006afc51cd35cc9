// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds `amct quantize`: post-training quantization with all that this runner can do, in any flavour.
void add_quantize(CLI::App& app);

}  // namespace runner
