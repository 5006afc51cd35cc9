// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace runner {

/// Adds --flavour to a verb. `flavour` must outlive the parsing.
void add_flavour_option(CLI::App& verb, std::string& flavour);

}  // namespace runner
