// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "network.hpp"

namespace runner {

/// A network to run, and what to keep of it.
struct RunArguments {
  NetworkArguments network{};
  std::string mode = "float";
  std::string dump{}, outputs{};      ///< folders for all layers and for the outputs; empty: none
  std::string format = "npy";         ///< name of an amct::interop::DumpFormat
  std::vector<std::string> layers{};  ///< only these; empty: all
};

/// Runs all batches, writes the dumps and prints what the outputs hold. \throws amct::Error
void run_network(const RunArguments& arguments);

/// Adds `amct run`: runs a network in a mode, shows what its outputs hold, and dumps layers.
void add_run(CLI::App& app);

}  // namespace runner
