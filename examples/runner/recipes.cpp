// SPDX-License-Identifier: Apache-2.0
#include "recipes.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <amct/config/network_checks.hpp>
#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/nearest.hpp>

#include "flavour_option.hpp"
#include "model_file.hpp"
#include "shared_tensors.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::FlavourRules;
using amct::LayerInfo;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::config_unsupported, {.field = "--recipe"}, message);
}

/// The least width of activations that the flavour has and that is no less than the wanted one.
int activation_width(const FlavourRules& rules, int wanted) {
  for (const int bits : rules.activation_bits) {
    if (bits >= wanted) return bits;
  }
  refuse(fmt::format("flavour {} has no activations of {} bits or more", rules.name, wanted));
}

bool has_wide_activations(const FlavourRules& rules) { return rules.activation_bits.back() > 8; }

const LayeredModel& model_of(const RecipeContext& context) {
  if (context.model != nullptr) return *context.model;
  refuse(fmt::format("depends on the network for flavour {}; name one with --model", context.rules.name));
}

bool is_product(const LayerInfo& layer) { return layer.kind == amct::LayerKind::other && layer.op_type == "MatMul"; }

/// On the matrix unit: it has weights, multiplies two tensors, or is a pool.
bool is_cube(const LayerInfo& layer) {
  return amct::has_weights(layer.kind) || is_product(layer) || amct::is_on_cube(layer.op_type);
}

std::set<std::string> cube_layers(const LayeredModel& model) {
  std::set<std::string> names;
  for (const auto& layer : model.layers) {
    if (is_cube(layer)) names.insert(layer.name);
  }
  return names;
}

/// In model order.
std::vector<std::string> in_order(const LayeredModel& model, const std::set<std::string>& names, bool inside) {
  std::vector<std::string> ordered;
  for (const auto& layer : model.layers) {
    if (names.contains(layer.name) == inside) ordered.push_back(layer.name);
  }
  return ordered;
}

/// A .cfg says one width for both inputs of a product.
std::set<std::string> eight_bit_layers(const RecipeContext& context) {
  if (context.rules.config_family == amct::ConfigFamily::fx) return bound_to_second_inputs(*context.model);
  std::set<std::string> products;
  for (const auto& layer : context.model->layers) {
    if (is_product(layer)) products.insert(layer.name);
  }
  return with_siblings(*context.model, products, Products::whole);
}

/// Where a product of two tensors takes 8 bits in its second input and layers that share a tensor must agree, the rest
/// of such layers are no wider.
void narrow(RecipeSettings& settings, const RecipeContext& context) {
  if (!context.rules.network_checks || context.model == nullptr) return;
  if (settings.activation_bits == 8 && settings.wide_layers.empty()) return;
  const auto bound = eight_bit_layers(context);
  std::erase_if(settings.wide_layers, [&](const std::string& name) { return bound.contains(name); });
  for (const auto& layer : context.model->layers) {
    if (!bound.contains(layer.name)) continue;
    (is_product(layer) ? settings.narrow_products : settings.narrow_layers).push_back(layer.name);
  }
}

RecipeSettings whole(const RecipeContext& context, int activation_bits, int weight_bits) {
  const auto& widths = context.rules.weight_bits;
  if (std::find(widths.begin(), widths.end(), weight_bits) == widths.end()) {
    refuse(fmt::format("flavour {} has no weights of {} bits", context.rules.name, weight_bits));
  }
  return {.activation_bits = activation_width(context.rules, activation_bits), .weight_bits = weight_bits};
}

RecipeSettings fast(const RecipeContext& context) {
  RecipeSettings settings = whole(context, 8, 8);
  settings.search = RecipeSettings::Search{0.8, 1.2, 0.05};
  return settings;
}

/// What docs/accuracy.md measures as the best.
RecipeSettings accurate(const RecipeContext& context) {
  RecipeSettings settings = whole(context, 8, 8);
  settings.search = RecipeSettings::Search{0.7, 1.3, 0.001};
  settings.bias_aware = true;
  return settings;
}

/// Where layers that share a tensor must agree, the siblings of the matrix unit's layers are as wide as these.
RecipeSettings wide_cube(const RecipeContext& context) {
  RecipeSettings settings = whole(context, 8, 8);
  const int bits = activation_width(context.rules, 12);
  if (!context.rules.network_checks && context.model == nullptr) {
    settings.cube_bits = bits;  // all types that can have them
    return settings;
  }
  settings.wide_bits = bits;
  if (!context.rules.network_checks) {
    for (const auto& layer : context.model->layers) {
      if (amct::may_have_wide_activation(context.rules, layer.kind)) settings.wide_layers.push_back(layer.name);
    }
    return settings;
  }
  const auto& model = model_of(context);
  settings.wide_layers = in_order(model, with_siblings(model, cube_layers(model), Products::left_out), true);
  return settings;
}

RecipeSettings cube_only(const RecipeContext& context, int bits) {
  RecipeSettings settings = whole(context, bits, 8);
  settings.cube_only = true;
  // Flavours of the matrix unit alone have no other layers.
  if (context.rules.config_family != amct::ConfigFamily::classic_list) return settings;
  const auto& model = model_of(context);
  settings.float_layers = in_order(model, with_siblings(model, cube_layers(model), Products::whole), false);
  settings.notes.emplace_back("Layers that share a tensor with one of the matrix unit are quantized too.");
  return settings;
}

// The guide's tuning order: more data, then the sensitive layers, then wider activations.

constexpr std::uint32_t kMostSamples = 32;
constexpr std::uint32_t kLeastSamples = 16;

/// Batches that make 32 samples, or 16 if there are not as many; all if there are fewer still.
std::uint32_t tuning_batches(const RecipeContext& context) {
  const auto batches_of = [&](std::uint32_t samples) {
    return (samples + context.batch_size - 1) / context.batch_size;
  };
  const std::uint32_t there_are = context.batches.value_or(batches_of(kMostSamples));
  for (const std::uint32_t samples : {kMostSamples, kLeastSamples}) {
    if (batches_of(samples) <= there_are) return batches_of(samples);
  }
  return std::max<std::uint32_t>(there_are, 1);
}

/// The layers that lose most when they are quantized, as the guide has it: the first and the last one with weights,
/// depthwise convolutions, and those with few weights.
std::set<std::string> sensitive_layers(const LayeredModel& model) {
  constexpr std::size_t kFewWeights = 1024;
  constexpr std::size_t kSmallPart = 100;  // of all weights
  std::vector<const LayerInfo*> weighted;
  std::size_t all = 0;
  for (const auto& layer : model.layers) {
    if (!amct::has_weights(layer.kind)) continue;
    weighted.push_back(&layer);
    if (const auto found = model.weights.find(layer.name); found != model.weights.end()) all += found->second;
  }
  std::set<std::string> names;
  if (weighted.empty()) return names;
  names.insert(weighted.front()->name);
  names.insert(weighted.back()->name);
  for (const auto* layer : weighted) {
    const auto found = model.weights.find(layer->name);
    const bool small = found != model.weights.end() && found->second < kFewWeights && found->second < all / kSmallPart;
    if (layer->depthwise || small) names.insert(layer->name);
  }
  return names.size() < weighted.size() ? names : std::set<std::string>{};
}

RecipeSettings tuning(const RecipeContext& context, int step) {
  RecipeSettings settings = whole(context, 8, 8);
  settings.batch_num = tuning_batches(context);
  settings.notes.push_back(
      fmt::format("{} batches of {}: the guide advises 16 or 32 samples.", *settings.batch_num, context.batch_size));
  if (step == 1) return settings;
  const auto& model = model_of(context);
  const auto sensitive = sensitive_layers(model);
  const bool last = step == 3;
  const bool wide = has_wide_activations(context.rules);
  if (last && wide) settings.activation_bits = activation_width(context.rules, 12);
  if (context.rules.network_checks) {
    // Layers of the matrix unit cannot be float there: more bits instead.
    settings.wide_bits = activation_width(context.rules, last ? 16 : 12);
    settings.wide_layers = in_order(model, with_siblings(model, sensitive, Products::left_out), true);
    settings.notes.push_back(
        fmt::format("First, last, depthwise and small layers, and what shares a tensor with them: "
                    "{} bits, since the matrix unit (CUBE) has no float.",
                    settings.wide_bits));
  } else {
    settings.float_layers = in_order(model, sensitive, true);
    settings.notes.emplace_back("First, last, depthwise and small layers stay float.");
  }
  if (last) {
    settings.notes.push_back(wide ? fmt::format("Activations of {} bits. Convolutions have a weight scale a channel "
                                                "(channel_wise), the default.",
                                                settings.activation_bits)
                                  : std::string("This flavour has activations of 8 bits only; convolutions have a "
                                                "weight scale a channel (channel_wise), the default."));
  }
  return settings;
}

std::vector<Recipe> make_recipes() {
  return {
      {"int8", "8-bit activations and weights: AMCT's defaults, spelled out",
       [](const RecipeContext& c) { return whole(c, 8, 8); }},
      {"int8-fast", "int8 with a coarser search of the clip range, a seventh of the candidates", fast},
      {"accurate", "int8 with a finer search, and scales that keep biases within 32 bits (bias_aware)", accurate},
      {"best", "the best settings known to us, see docs/accuracy.md: today those of accurate", accurate},
      {"int12-cube", "12-bit activations (16 where the flavour has no 12) on the matrix unit, else 8", wide_cube},
      {"a16w8", "16-bit activations, 8-bit weights", [](const RecipeContext& c) { return whole(c, 16, 8); }},
      {"w4a8", "4-bit weights, 8-bit activations", [](const RecipeContext& c) { return whole(c, 8, 4); }},
      {"cube_only_8bit", "the matrix unit alone (Conv, Linear, MatMul, pools), 8 bits; the rest stays float",
       [](const RecipeContext& c) { return cube_only(c, 8); }},
      {"cube_only_12bit", "the same with 12-bit activations (16 where the flavour has no 12)",
       [](const RecipeContext& c) { return cube_only(c, 12); }},
      {"tuning-1", "the guide's tuning, first step: 16 or 32 samples",
       [](const RecipeContext& c) { return tuning(c, 1); }},
      {"tuning-2", "second step: also first, last, depthwise and small layers float; on hotwheels 12 bits",
       [](const RecipeContext& c) { return tuning(c, 2); }},
      {"tuning", "all steps: also 12-bit activations (16 where the flavour has no 12), channel-wise weights",
       [](const RecipeContext& c) { return tuning(c, 3); }},
  };
}

struct Arguments {
  std::string name, model;
  std::string flavour = "pytorch";
  std::uint32_t batch_size = 16;
};

void list_recipes() {
  Table table({"recipe", "what it does"});
  for (const auto& recipe : recipes()) table.add({recipe.name, recipe.summary});
  table.print(std::cout);
  std::cout << "\namct recipes NAME prints the config; amct quantize --recipe NAME uses it.\n";
}

void print_recipe(const Arguments& arguments) {
  const Recipe& recipe = find_recipe(arguments.name);
  const FlavourRules& rules = amct::rules_of(*amct::flavour_named(arguments.flavour));
  RecipeContext context{.rules = rules, .batch_size = arguments.batch_size};
  std::optional<LayeredModel> model;
  if (!arguments.model.empty()) context.model = &model.emplace(read_model(arguments.model), rules);
  const RecipeSettings settings = settings_of(recipe, context);
  std::cout << "# " << recipe.name << ", flavour " << rules.name << ": " << recipe.summary << '\n';
  if (settings.bias_aware) std::cout << "# Use it with --degenerate bias_aware.\n";
  std::cout << easy_config_text(settings, rules);
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = make_recipes();
  return all;
}

const Recipe& find_recipe(const std::string& name) {
  std::set<std::string> names;
  for (const auto& recipe : recipes()) {
    if (recipe.name == name) return recipe;
    names.insert(recipe.name);
  }
  refuse("there is no recipe \"" + name + '"' + amct::did_you_mean(amct::nearest_names(name, names)) +
         "; amct recipes lists them");
}

RecipeSettings settings_of(const Recipe& recipe, const RecipeContext& context) {
  try {
    RecipeSettings settings = recipe.make(context);
    if (!settings.cube_only) narrow(settings, context);
    return settings;
  } catch (const Error& error) {
    throw Error(error.code(), error.where(), "recipe " + recipe.name + ": " + error.message());
  }
}

std::string recipe_file(const std::string& name, const FlavourRules& rules) {
  return "recipe:" + name + (rules.config_family == amct::ConfigFamily::fx ? ".yaml" : ".cfg");
}

void add_recipes(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "recipes", "Ready-made configs: list them, or print one as a config file (.cfg, or .yaml for flavour hotwheels)");
  verb->add_option("name", arguments->name, "the recipe to print; none: list them");
  add_flavour_option(*verb, arguments->flavour);
  verb->add_option("--model", arguments->model, "ONNX model, for recipes that depend on the network");
  verb->add_option("--batch_size", arguments->batch_size, "samples a batch, for the recipes that count them")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  verb->callback([arguments] {
    if (arguments->name.empty()) list_recipes();
    else print_recipe(*arguments);
  });
}

}  // namespace runner
