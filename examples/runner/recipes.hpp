// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <amct/core/flavour.hpp>

#include "layered_model.hpp"
#include "recipe_settings.hpp"

namespace runner {

/// What a recipe may depend on.
struct RecipeContext {
  const amct::FlavourRules& rules;
  const LayeredModel* model = nullptr;     ///< null: not known
  std::uint32_t batch_size = 16;           ///< samples a batch
  std::optional<std::uint32_t> batches{};  ///< how many there are
};

/// An easy config with a name.
struct Recipe {
  std::string name;
  std::string summary;
  std::function<RecipeSettings(const RecipeContext&)> make;
};

/// All recipes, in the order in which they are listed.
[[nodiscard]] const std::vector<Recipe>& recipes();

/// \throws amct::Error config_unsupported with the names that there are
[[nodiscard]] const Recipe& find_recipe(const std::string& name);

/// What a recipe says for a flavour and a network.
/// \throws amct::Error config_unsupported if the flavour cannot say it, or if it depends on the network and there is
/// none
[[nodiscard]] RecipeSettings settings_of(const Recipe& recipe, const RecipeContext& context);

/// The file name that messages about a recipe's config have: "recipe:int8.cfg".
[[nodiscard]] std::string recipe_file(const std::string& name, const amct::FlavourRules& rules);

/// Adds `amct recipes`: lists the recipes, or prints one.
void add_recipes(CLI::App& app);

}  // namespace runner
