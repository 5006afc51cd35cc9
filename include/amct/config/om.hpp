// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <amct/config/fx_plan.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/retrain_plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>

/// \file
/// om.json mapping files: JSON dumps of a compiled model, which tell the bit widths that its operators work with. A
/// config can take them over (om_config in all config files).
///
/// An operator is `graph[].op[]` with `name`, `type`, and in the attribute `_datadump_original_op_names` (a list of
/// texts in `value.list.s`) the layers that it was fused from; without these its own name counts. Where bit widths
/// stand is not documented by AMCT. Here they are those of `input_desc[].dtype`: DT_INT4, DT_INT8, DT_UINT8, DT_INT16,
/// DT_UINT16, with or without "DT_"; inputs of every other type (floats, biases) tell nothing.

namespace amct {

/// One operator of a compiled model.
struct OmOperator {
  std::string type{};
  std::vector<std::string> layers{};             ///< the original layers
  std::vector<std::optional<int>> input_bits{};  ///< one an input
};

/// Which layers take their widths from the file: additions, which is what AMCT does, or all.
enum class OmScope : std::uint8_t { additions, all };

namespace detail {

/// The bits of a quantized data type; empty for every other one.
[[nodiscard]] inline std::optional<int> om_bits(std::string_view type) noexcept {
  if (type.starts_with("DT_")) type.remove_prefix(3);
  if (type == "INT4") return 4;
  if (type == "INT8" || type == "UINT8") return 8;
  if (type == "INT16" || type == "UINT16") return 16;
  return std::nullopt;
}

/// Nodes that quantization inserted are no layers.
[[nodiscard]] inline bool is_quantization_node(std::string_view name) noexcept {
  return name.ends_with(".quant") || name.ends_with(".dequant") || name.ends_with(".anti_quant");
}

/// The list below a name; null if there is none.
[[nodiscard]] inline const ConfigValue::List* om_list(const ConfigValue& value, std::string_view name) noexcept {
  const ConfigValue* const member = value.find(name);
  return member != nullptr ? member->list() : nullptr;
}

[[nodiscard]] inline std::string om_text(const ConfigValue& value, std::string_view name) {
  const ConfigValue* const member = value.find(name);
  return member != nullptr && member->text() != nullptr ? *member->text() : std::string();
}

/// The texts of the attribute `_datadump_original_op_names`; empty if there is none.
[[nodiscard]] inline std::vector<std::string> original_names(const ConfigValue& op) {
  std::vector<std::string> names;
  const auto* const attributes = om_list(op, "attr");
  if (attributes == nullptr) return names;
  for (const ConfigValue& attribute : *attributes) {
    if (om_text(attribute, "key") != "_datadump_original_op_names") continue;
    const ConfigValue* const value = attribute.find("value");
    const ConfigValue* const list = value != nullptr ? value->find("list") : nullptr;
    const auto* const texts = list != nullptr ? om_list(*list, "s") : nullptr;
    if (texts == nullptr) continue;
    for (const ConfigValue& text : *texts) {
      if (text.text() != nullptr) names.push_back(*text.text());
    }
  }
  return names;
}

[[nodiscard]] inline OmOperator read_om_operator(const ConfigValue& op) {
  OmOperator result{.type = om_text(op, "type"), .layers = original_names(op)};
  if (result.layers.empty()) result.layers.push_back(om_text(op, "name"));
  std::erase_if(result.layers, [](const auto& name) { return name.empty() || is_quantization_node(name); });
  if (const auto* const inputs = om_list(op, "input_desc")) {
    for (const ConfigValue& input : *inputs) result.input_bits.push_back(om_bits(om_text(input, "dtype")));
  }
  return result;
}

/// The operator of each layer that tells a width. \pre the operators outlive the result
[[nodiscard]] inline std::unordered_map<std::string_view, const OmOperator*> om_by_layer(
    const std::vector<OmOperator>& operators) {
  std::unordered_map<std::string_view, const OmOperator*> result;
  for (const OmOperator& op : operators) {
    const bool tells =
        std::any_of(op.input_bits.begin(), op.input_bits.end(), [](const auto& bits) { return bits.has_value(); });
    if (!tells) continue;
    for (const std::string& layer : op.layers) result.emplace(layer, &op);
  }
  return result;
}

/// Calls `set(input, bits)` for each of the `inputs` of each layer in scope whose width the file tells.
template <class Layer, class Input, class Set>
std::size_t apply_om_to(std::vector<Layer>& layers, std::vector<Input> Layer::*inputs,
                        const std::vector<OmOperator>& operators, OmScope scope, const Set& set) {
  const auto by_layer = om_by_layer(operators);
  std::size_t changed = 0;
  for (auto& layer : layers) {
    if (scope == OmScope::additions && layer.op_type != "Add") continue;
    const auto found = by_layer.find(layer.name);
    if (found == by_layer.end()) continue;
    const auto& bits = found->second->input_bits;
    auto& settings = layer.*inputs;
    for (std::size_t i = 0; i < std::min(bits.size(), settings.size()); ++i) {
      if (bits[i]) set(settings[i], *bits[i]);
    }
    ++changed;
  }
  return changed;
}

}  // namespace detail

/// Where a mapping file lies: its path is relative to the config file that names it.
[[nodiscard]] inline std::filesystem::path om_mapping_path(const std::filesystem::path& config_file,
                                                           const std::filesystem::path& mapping_file) {
  return mapping_file.is_absolute() ? mapping_file : (config_file.parent_path() / mapping_file).lexically_normal();
}

/// The operators of a mapping file. A file without `graph[].op` is an error; operators that lack what is looked for
/// are passed over, since the files have much else.
[[nodiscard]] inline std::vector<OmOperator> read_om(const ConfigValue& value, const std::string& file,
                                                     Diagnostics& out) {
  std::vector<OmOperator> operators;
  bool has_operators = false;
  if (const auto* const graphs = detail::om_list(value, "graph")) {
    for (const ConfigValue& graph : *graphs) {
      const auto* const list = detail::om_list(graph, "op");
      if (list == nullptr) continue;
      has_operators = true;
      for (const ConfigValue& op : *list) {
        OmOperator read = detail::read_om_operator(op);
        if (!read.layers.empty()) operators.push_back(std::move(read));
      }
    }
  }
  if (!has_operators) {
    const Where where{.file = file, .line = value.line, .column = value.column, .field = "graph"};
    out.error(ErrorCode::config_syntax, where, "has no list of operators \"op\": not an om.json mapping file");
  }
  return operators;
}

/// Sets the bits of activations to those of a mapping file, above everything that the config says. Check the plan
/// afterwards. \return number of layers that the file knows. O(layers + operators).
inline std::size_t apply_om(QuantPlan& plan, const std::vector<OmOperator>& operators,
                            OmScope scope = OmScope::additions) {
  return detail::apply_om_to(plan.layers, &LayerPlan::activations, operators, scope,
                             [](ActivationPlan& activation, int bits) { activation.bits = bits; });
}
inline std::size_t apply_om(FxPlan& plan, const std::vector<OmOperator>& operators,
                            OmScope scope = OmScope::additions) {
  return detail::apply_om_to(plan.layers, &FxLayerPlan::activations, operators, scope,
                             [](QuantizerSpec& spec, int bits) { spec.set("num_bits", bits); });
}
inline std::size_t apply_om(RetrainPlan& plan, const std::vector<OmOperator>& operators,
                            OmScope scope = OmScope::additions) {
  return detail::apply_om_to(plan.layers, &RetrainLayer::data, operators, scope,
                             [](RetrainData& data, int bits) { data.bits = bits; });
}

}  // namespace amct
