// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <amct/core/flavour.hpp>

namespace runner {

/// What a recipe says, free of the format in which a flavour says it. The rest has AMCT's defaults.
struct RecipeSettings {
  struct Search {
    double start = 0.7;
    double end = 1.3;
    double step = 0.01;
  };

  int activation_bits = 8;  ///< of all layers
  int weight_bits = 8;
  std::optional<int> cube_bits{};  ///< activations of the types of the matrix unit, where they differ
  bool cube_only = false;          ///< layers of other types stay float
  std::optional<Search> search{};  ///< of IFMR
  std::optional<std::uint32_t> batch_num{};
  std::vector<std::string> float_layers{};
  std::vector<std::string> wide_layers{};  ///< have activations of `wide_bits`
  int wide_bits = 12;
  std::vector<std::string> narrow_layers{};    ///< have 8 bits and no offset
  std::vector<std::string> narrow_products{};  ///< the same, products of two tensors
  bool bias_aware = false;                     ///< the policy for degenerate scales, which no config can say
  std::vector<std::string> notes{};            ///< lines for people
};

/// The settings as an easy config of the flavour: YAML for the static graph, else .cfg.
[[nodiscard]] std::string easy_config_text(const RecipeSettings& settings, const amct::FlavourRules& rules);

}  // namespace runner
