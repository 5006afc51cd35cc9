// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// What a caller may say without a definition file. Source: create_quant_config of AMCT.
struct CreateArguments {
  std::optional<std::vector<std::string>> skip_layers{};
  std::optional<std::uint32_t> batch_num{};  ///< default 1
  std::optional<bool> activation_offset{};   ///< default true
};

/// The easy config that counts. With a definition it alone does: arguments given beside it are ignored, with a warning
/// each, as AMCT's documents prescribe.
[[nodiscard]] inline EasyConfig effective_config(const CreateArguments& arguments,
                                                 const std::optional<EasyConfig>& definition, Diagnostics& out) {
  if (definition) {
    const auto warn = [&](bool given, const char* field) {
      if (!given) return;
      out.warning(ErrorCode::config_unsupported, {.file = definition->file, .field = field},
                  "the argument is ignored, because a definition file is given; state it there");
    };
    warn(arguments.skip_layers.has_value(), "skip_layers");
    warn(arguments.batch_num.has_value(), "batch_num");
    warn(arguments.activation_offset.has_value(), "activation_offset");
    return *definition;
  }
  EasyConfig config;
  config.skip_layers = arguments.skip_layers.value_or(std::vector<std::string>{});
  config.batch_num = arguments.batch_num;
  config.activation_offset = arguments.activation_offset.value_or(true);
  return config;
}

/// The plan for a network, of effective_config().
[[nodiscard]] inline QuantPlan create_config(const CreateArguments& arguments,
                                             const std::optional<EasyConfig>& definition, const LayerTable& layers,
                                             const std::vector<std::string>& nodes, const FlavourRules& rules,
                                             Diagnostics& out) {
  return resolve(effective_config(arguments, definition, out), layers, nodes, rules, out);
}

}  // namespace amct
