// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace runner {

/// Adds the verb `list-quantizers`.
void add_list_quantizers(CLI::App& app);

}  // namespace runner
