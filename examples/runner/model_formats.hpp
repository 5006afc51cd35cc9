// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/core/flavour.hpp>
#include <amct/onnx/session.hpp>

namespace runner {

/// Which models a verb writes, as the command line says it.
struct FormatArguments {
  std::vector<std::string> formats{};  ///< empty: those of the flavour
  std::optional<std::int64_t> opset{};
  std::string qdq_activations = "int8", qdq_weights = "int8";
};

/// Adds --format, --opset and the options of the qdq model to a verb that writes quantized networks. `arguments` must
/// outlive the parsing.
void add_format_options(CLI::App& verb, FormatArguments& arguments);

/// What is written; without --format deploy, and fake_quant and float where the flavour has them.
[[nodiscard]] amct::onnx::ModelFormats formats_of(
    const FormatArguments& arguments, const amct::FlavourRules& rules = amct::rules_of(amct::Flavour::pytorch));

}  // namespace runner
