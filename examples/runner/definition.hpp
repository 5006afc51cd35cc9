// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <amct/config/create.hpp>
#include <amct/config/easy_config.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>

#include "recipes.hpp"

namespace runner {

/// What a user starts from: an easy config, which is a file or a recipe; or neither.
class Definition {
 public:
  Definition() = default;
  /// \param file  a .cfg, or .yaml for the static graph; empty: none
  explicit Definition(std::string file) : file_(std::move(file)) {}
  /// \throws amct::Error as settings_of
  Definition(const Recipe& recipe, const RecipeContext& context);

  /// Whether somebody wrote a file, beside which AMCT ignores arguments.
  [[nodiscard]] bool is_file() const noexcept { return !file_.empty() && !settings_; }
  [[nodiscard]] bool is_given() const noexcept { return !file_.empty(); }
  /// For messages; empty without one.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Of a recipe; null for files.
  [[nodiscard]] const RecipeSettings* settings() const noexcept { return settings_ ? &*settings_ : nullptr; }

  /// Of the classic families; empty without a definition. What is wrong goes to `out`.
  /// \param stated  arguments beside it; a recipe takes those that it does not state itself
  /// \throws amct::Error io_read, config_syntax
  [[nodiscard]] std::optional<amct::EasyConfig> easy_config(const amct::FlavourRules& rules,
                                                            amct::CreateArguments& stated,
                                                            amct::Diagnostics& out) const;
  /// Of the static graph, with the arguments' skip_layers; an object without a definition. Arguments beside a file,
  /// batch_num beside a recipe that states it, and activation_offset, which a static graph says by its quantizers, are
  /// ignored with a warning.
  /// \throws amct::Error io_read, config_syntax
  [[nodiscard]] amct::ConfigValue yaml(const amct::CreateArguments& stated, amct::Diagnostics& out) const;

 private:
  std::string file_;
  std::string text_;
  std::optional<RecipeSettings> settings_;
};

/// Whether an easy config of the static graph states how many batches any of its observers sees.
[[nodiscard]] bool states_batch_num(const amct::ConfigValue& definition);

/// Lets all observers of a static graph that count batches see as many.
void set_batch_num(amct::FxPlan& plan, std::uint32_t batch_num);

}  // namespace runner
