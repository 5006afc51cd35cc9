// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/quantize/registry.hpp>

namespace runner {

/// The quantizers that a verb's configs may name beside those of the library.
struct PluginArguments {
  std::vector<std::string> plugins{};  ///< shared libraries

  /// Adds `--plugin` to a verb.
  void add_options(CLI::App& verb);
};

/// The quantizers of the library and of the plugins, which stay loaded. docs/static-graph.md tells how to write one.
/// \throws amct::Error io_read naming the file, for one that cannot be loaded; config_unsupported, for one that is no
///         plugin, was compiled with another amct, or registers nothing, a name without dots or one that is there
[[nodiscard]] amct::QuantizerRegistry quantizers(const PluginArguments& arguments);

}  // namespace runner
