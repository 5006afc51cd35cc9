// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// The verb `convert`: AMCT's convert_qat_model.
void add_convert(CLI::App& app);

}  // namespace runner
