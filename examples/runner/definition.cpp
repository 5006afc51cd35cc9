// SPDX-License-Identifier: Apache-2.0
#include "definition.hpp"

#include <algorithm>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/json_yaml/yaml.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

namespace runner {

Definition::Definition(const Recipe& recipe, const RecipeContext& context)
    : file_(recipe_file(recipe.name, context.rules)), settings_(settings_of(recipe, context)) {
  text_ = easy_config_text(*settings_, context.rules);
}

std::optional<amct::EasyConfig> Definition::easy_config(const amct::FlavourRules& rules, amct::CreateArguments& stated,
                                                        amct::Diagnostics& out) const {
  if (!is_given()) return std::nullopt;
  if (is_file()) return amct::protobuf::read_calibration_cfg(file_, rules, out);
  amct::EasyConfig config = amct::protobuf::parse_calibration_cfg(text_, file_, rules, out);
  config.batch_num = settings_->batch_num;  // not every flavour's file can say it
  if (!config.batch_num) config.batch_num = std::exchange(stated.batch_num, std::nullopt);
  if (const auto offset = std::exchange(stated.activation_offset, std::nullopt)) config.activation_offset = *offset;
  if (const auto skipped = std::exchange(stated.skip_layers, std::nullopt)) {
    config.skip_layers.insert(config.skip_layers.end(), skipped->begin(), skipped->end());
  }
  return config;
}

amct::ConfigValue Definition::yaml(const amct::CreateArguments& stated, amct::Diagnostics& out) const {
  const auto warn = [&](bool given, const char* field, const std::string& why) {
    if (given) out.warning(amct::ErrorCode::config_unsupported, {.file = file_, .field = field}, why);
  };
  if (is_file()) {
    const std::string why = "the argument is ignored, because a definition file is given; state it there";
    warn(stated.skip_layers.has_value(), "skip_layers", why);
    warn(stated.batch_num.has_value(), "batch_num", why);
    warn(stated.activation_offset.has_value(), "activation_offset", why);
    return amct::json_yaml::read_yaml(file_);
  }
  warn(stated.activation_offset.has_value(), "activation_offset",
       "the argument is ignored: quantizers of a static graph say it, with_offset of LuqActivationFakeQuantize");
  warn(stated.batch_num && settings_ && settings_->batch_num, "batch_num",
       "the argument is ignored, because the recipe states its own");
  amct::ConfigValue value =
      is_given() ? amct::json_yaml::parse_yaml(text_, file_) : amct::ConfigValue(amct::ConfigValue::Object{});
  if (!stated.skip_layers) return value;
  amct::ConfigValue::List names;
  if (const auto* skipped = value.find("skip_layers")) names = *skipped->list();
  for (const auto& name : *stated.skip_layers) names.emplace_back(name);
  std::erase_if(*value.object(), [](const auto& member) { return member.name == "skip_layers"; });
  value.add("skip_layers", std::move(names));
  return value;
}

bool states_batch_num(const amct::ConfigValue& definition) {
  if (const auto* list = definition.list()) return std::any_of(list->begin(), list->end(), states_batch_num);
  if (definition.object() == nullptr) return false;
  return std::any_of(definition.object()->begin(), definition.object()->end(),
                     [](const auto& member) { return member.name == "batch_num" || states_batch_num(member.value); });
}

void set_batch_num(amct::FxPlan& plan, std::uint32_t batch_num) {
  for (auto& layer : plan.layers) {
    for (auto& activation : layer.activations) {
      if (activation.arg("batch_num") != nullptr) activation.set("batch_num", static_cast<std::int64_t>(batch_num));
    }
  }
}

}  // namespace runner
