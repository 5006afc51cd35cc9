// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/onnx/session.hpp>

namespace runner {

/// Which models a verb writes, as the command line says it.
struct FormatArguments {
  std::vector<std::string> formats{"deploy", "fake_quant"};
  std::string qdq_activations = "int8", qdq_weights = "int8";
};

/// Adds --format and the options of the qdq model to a verb that writes quantized networks. `arguments` must outlive
/// the parsing.
void add_format_options(CLI::App& verb, FormatArguments& arguments);

[[nodiscard]] amct::onnx::ModelFormats formats_of(const FormatArguments& arguments);

}  // namespace runner
