// SPDX-License-Identifier: Apache-2.0
#include "plan_edits.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include <amct/config/classic_json.hpp>
#include <amct/config/fx_align.hpp>
#include <amct/config/fx_checks.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/read_classic_json.hpp>
#include <amct/config/wildcard.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/quantizable.hpp>

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::LayerTable;

/// The layers that a user means by a name or a pattern.
std::vector<std::string> layers_of(const std::string& option, const std::string& name, const LayeredModel& model) {
  std::vector<std::string> found;
  for (const auto& layer : model.layers) {
    if (amct::has_wildcards(name) && amct::matches_wildcard(name, layer.name)) found.push_back(layer.name);
  }
  if (!found.empty()) return found;
  const std::string layer = model.names.key(model.names.resolve(name));
  if (amct::find_layer(model.layers, layer) != nullptr) return {layer};
  throw Error(ErrorCode::config_layer, {.layer = name, .field = option}, "is no layer that this flavour quantizes");
}

std::map<std::string, int> widths_of(const std::string& option, const std::vector<std::string>& texts,
                                     const LayeredModel& model) {
  std::map<std::string, int> widths;
  for (const auto& text : texts) {
    const auto equals = text.rfind('=');
    int bits = 0;
    const char* const end = text.data() + text.size();
    const bool has_name = equals != std::string::npos && equals > 0;
    const auto parsed = has_name ? std::from_chars(text.data() + equals + 1, end, bits) : std::from_chars_result{};
    if (!has_name || parsed.ec != std::errc() || parsed.ptr != end) {
      throw Error(ErrorCode::config_range, {.field = option}, "got \"" + text + "\", expected LAYER=BITS");
    }
    for (auto& layer : layers_of(option, text.substr(0, equals), model)) widths[std::move(layer)] = bits;
  }
  return widths;
}

bool is_cube(const std::string& op_type, amct::LayerKind kind) {
  return amct::has_weights(kind) || op_type == "MatMul" || amct::is_on_cube(op_type);
}

/// Whether the edits leave a layer float. Layers of the matrix unit must not be, where a flavour checks that.
bool is_skipped(const PlanEdits& edits, const std::string& name, const std::string& op_type, amct::LayerKind kind,
                const amct::FlavourRules& rules) {
  const bool cube = is_cube(op_type, kind);
  const bool named = edits.skip.contains(name);
  if (named && cube && rules.network_checks) {
    throw Error(ErrorCode::config_layer, {.layer = name, .field = "--skip"},
                "Layer " + name + " must be quantized as it is an operation calculated on CUBE; give it more bits " +
                    "instead: --bits " + name + "=12");
  }
  return named || (edits.cube_only && !cube);
}

/// Refuses edits without effect, after layers were skipped. Skipping what is float already is none.
void require_effect(const PlanEdits& edits, const auto& plan, auto enabled) {
  if (std::none_of(plan.layers.begin(), plan.layers.end(), enabled)) {
    throw Error(ErrorCode::config_layer, {.field = "--skip"}, "every layer is skipped, nothing is left to quantize");
  }
  const auto quantized = [&](const std::string& name, const char* option) -> const auto& {
    const auto* const layer = plan.find(name);
    if (layer != nullptr && enabled(*layer)) return *layer;
    throw Error(ErrorCode::config_layer, {.layer = name, .field = option},
                "this layer stays float, so it has no bits to change");
  };
  for (const auto& [name, bits] : edits.bits) (void)quantized(name, "--bits");
  for (const auto& [name, bits] : edits.weight_bits) {
    const auto& layer = quantized(name, "--weight_bits");
    if (amct::has_weights(layer.kind)) continue;
    throw Error(ErrorCode::config_layer, {.layer = name, .field = "--weight_bits"}, "this layer has no weights");
  }
}

const std::string kReason = "skipped on the command line";

}  // namespace

void EditArguments::add_options(CLI::App& verb) {
  verb.add_option("--skip", skip, "layer, or pattern such as 'head.*', that stays float; may be repeated")
      ->group("Mixed precision")
      ->allow_extra_args(false);
  verb.add_option("--bits", bits, "LAYER=BITS: bits of a layer's activations, such as conv1=16; may be repeated")
      ->group("Mixed precision")
      ->allow_extra_args(false);
  verb.add_option("--weight_bits", weight_bits, "LAYER=BITS: bits of a layer's weights, such as fc=4; may be repeated")
      ->group("Mixed precision")
      ->allow_extra_args(false);
  verb.add_flag("--cube_only", cube_only, "quantize layers of the matrix unit (Conv, Linear, MatMul, pools) alone")
      ->group("Mixed precision");
}

PlanEdits resolve_edits(const EditArguments& arguments, const LayeredModel& model) {
  PlanEdits edits{.cube_only = arguments.cube_only};
  for (const auto& name : arguments.skip) {
    for (auto& layer : layers_of("--skip", name, model)) edits.skip.insert(std::move(layer));
  }
  edits.bits = widths_of("--bits", arguments.bits, model);
  edits.weight_bits = widths_of("--weight_bits", arguments.weight_bits, model);
  return edits;
}

void apply_edits(const PlanEdits& edits, amct::flow::Prepared& prepared) {
  const auto& rules = amct::rules_of(prepared.flavour);
  for (auto& layer : prepared.plan.layers) {
    if (layer.enabled && is_skipped(edits, layer.name, layer.op_type, layer.kind, rules)) {
      layer.enabled = false;
      prepared.left_float.push_back({layer.name, layer.op_type, kReason});
    }
    if (const auto found = edits.bits.find(layer.name); found != edits.bits.end()) {
      for (auto& activation : layer.activations) activation.bits = found->second;
    }
    if (const auto found = edits.weight_bits.find(layer.name); found != edits.weight_bits.end()) {
      layer.weights.bits = found->second;
    }
  }
  require_effect(edits, prepared.plan, [](const auto& layer) { return layer.enabled; });
  // Whatever a config may not say is refused as if it said it.
  LayerTable layers = amct::graph::find_quantizable(prepared.graph, rules).layers;
  std::erase_if(layers, [&](const auto& layer) { return prepared.plan.find(layer.name) == nullptr; });
  std::vector<std::string> nodes;
  for (const auto& node : prepared.graph.nodes) nodes.push_back(node.name);
  amct::Diagnostics out;
  (void)amct::from_classic_json(amct::to_classic_json(prepared.plan, rules), layers, nodes, rules, "command line", out);
  out.throw_if_errors();
}

void apply_edits(const PlanEdits& edits, amct::flow::PreparedFx& prepared, const amct::QuantizerRegistry& registry) {
  const auto& rules = amct::rules_of(prepared.flavour);
  for (auto& layer : prepared.plan.layers) {
    if (layer.quant_enable && is_skipped(edits, layer.name, layer.op_type, layer.kind, rules)) {
      layer.quant_enable = false;
      prepared.left_float.push_back({layer.name, layer.op_type, kReason});
    }
    if (const auto found = edits.bits.find(layer.name); found != edits.bits.end()) {
      // The second input of a product can have 8 bits only.
      const std::size_t count = amct::is_tensor_product(layer) ? 1 : layer.activations.size();
      for (std::size_t i = 0; i < count; ++i) {
        layer.activations[i].set("num_bits", static_cast<std::int64_t>(found->second));
      }
      layer.named = true;
    }
    if (const auto found = edits.weight_bits.find(layer.name); found != edits.weight_bits.end() && layer.weights) {
      layer.weights->set("num_bits", static_cast<std::int64_t>(found->second));
    }
  }
  require_effect(edits, prepared.plan, [](const auto& layer) { return layer.quant_enable; });
  amct::align_no_command_layers(prepared.plan, prepared.network);
  amct::Diagnostics out;
  amct::check_fx_plan(prepared.plan, rules, registry, "command line", out);
  out.throw_if_errors();
}

}  // namespace runner
