// SPDX-License-Identifier: Apache-2.0
#include "recipe_settings.hpp"

#include <string_view>

#include <fmt/format.h>

#include <amct/core/float_text.hpp>
#include <amct/core/layer_table.hpp>

namespace runner {

namespace {

using amct::FlavourRules;
using amct::RecordDialect;

/// A name in quotes, as protobuf text and YAML both read it.
std::string in_quotes(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) {
      text += fmt::format("\\x{:02x}", byte);
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return '"' + text + '"';
}

std::string notes_of(const RecipeSettings& settings) {
  std::string text;
  for (const auto& line : settings.notes) text += "# " + line + '\n';
  return text;
}

/// Protobuf text of the classic families.
class CfgWriter {
 public:
  CfgWriter(const RecipeSettings& settings, const FlavourRules& rules) : settings_(settings), rules_(rules) {}

  [[nodiscard]] std::string write() const {
    std::string text = notes_of(settings_);
    if (settings_.batch_num && rules_.record_dialect != RecordDialect::mindspore) {
      text += fmt::format("batch_num : {}\n", *settings_.batch_num);
    }
    for (const auto& layer : settings_.float_layers) text += "skip_layers : " + in_quotes(layer) + '\n';
    text += "common_config : {" + blocks(settings_.activation_bits) + "\n}\n";
    if (settings_.cube_bits && *settings_.cube_bits != settings_.activation_bits) {
      for (const amct::LayerKind kind : rules_.wide_activation_kinds) {
        text += fmt::format("override_layer_types : {{\n  layer_type : \"{}\"\n  calibration_config : {{{}\n  }}\n}}\n",
                            amct::type_name(kind), override_blocks(*settings_.cube_bits));
      }
    }
    for (const auto& layer : settings_.wide_layers) text += layer_entry(layer, settings_.wide_bits);
    for (const auto& layer : settings_.narrow_layers) text += layer_entry(layer, 8);
    for (const auto& layer : settings_.narrow_products) text += layer_entry(layer, 8);
    return text;
  }

 private:
  [[nodiscard]] std::string layer_entry(const std::string& layer, int bits) const {
    return fmt::format("override_layer_configs : {{\n  layer_name : {}\n  calibration_config : {{{}\n  }}\n}}\n",
                       in_quotes(layer), override_blocks(bits));
  }
  /// What is inside a calibration config.
  [[nodiscard]] std::string blocks(int activation_bits) const {
    return "\n    arq_quantize : {" + weight_width() + " }" + activation_block(activation_bits);
  }
  [[nodiscard]] std::string activation_block(int bits) const {
    return "\n    ifmr_quantize : {" + search() + activation_width(bits) + " }";
  }
  /// Of an override: where it inherits nothing it counts as a whole.
  [[nodiscard]] std::string override_blocks(int bits) const {
    return rules_.overrides_inherit ? activation_block(bits) : blocks(bits);
  }
  [[nodiscard]] std::string search() const {
    if (!settings_.search) return {};
    return fmt::format(" search_range_start : {} search_range_end : {} search_step : {}",
                       amct::decimal_text(settings_.search->start), amct::decimal_text(settings_.search->end),
                       amct::decimal_text(settings_.search->step));
  }
  [[nodiscard]] std::string activation_width(int bits) const {
    switch (rules_.record_dialect) {
      case RecordDialect::pytorch: return bits == 8 ? " dst_type : INT8" : " dst_type : INT16";
      case RecordDialect::hotwheels: return fmt::format(" num_bits : {}", bits);
      default: return {};  // these flavours have 8 bits only
    }
  }
  [[nodiscard]] std::string weight_width() const {
    switch (rules_.record_dialect) {
      case RecordDialect::pytorch: return fmt::format(" quant_bits : {}", settings_.weight_bits);
      case RecordDialect::hotwheels: return fmt::format(" num_bits : {}", settings_.weight_bits);
      default: return {};
    }
  }

  const RecipeSettings& settings_;
  const FlavourRules& rules_;
};

/// YAML of the static graph.
class YamlWriter {
 public:
  explicit YamlWriter(const RecipeSettings& settings) : settings_(settings) {}

  [[nodiscard]] std::string write() const {
    std::string text = notes_of(settings_);
    if (!settings_.float_layers.empty()) text += "skip_layers:\n" + listed(settings_.float_layers);
    text += fmt::format("common_config:\n  quant_enable: {}\n", settings_.cube_only ? "false" : "true");
    text += weights() + activations(settings_.activation_bits);
    if (settings_.cube_only) text += cube_types();
    const std::string layers = layer_entries();
    return layers.empty() ? text : text + "override_layer_configs:\n" + layers;
  }

 private:
  [[nodiscard]] static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += "  - " + in_quotes(name) + '\n';
    return text;
  }
  [[nodiscard]] std::string weights() const {
    return "  weight_quant_params:\n    quantizer: ArqWeightFakeQuantize\n" +
           fmt::format("    quantizer_args: {{observer: ArqObserver, num_bits: {}}}\n", settings_.weight_bits);
  }
  [[nodiscard]] std::string calibrated(int bits) const {
    std::string text = fmt::format("observer: IFMRObserver, num_bits: {}", bits);
    if (settings_.batch_num) text += fmt::format(", batch_num: {}", *settings_.batch_num);
    if (!settings_.search) return text;
    return text + fmt::format(", search_start: {}, search_end: {}, search_step: {}",
                              amct::decimal_text(settings_.search->start), amct::decimal_text(settings_.search->end),
                              amct::decimal_text(settings_.search->step));
  }
  [[nodiscard]] std::string activations(int bits) const {
    return "  activation_quant_params:\n    quantizer: UlqFakeQuantize\n    quantizer_args: {" + calibrated(bits) +
           "}\n";
  }
  [[nodiscard]] std::string symmetric(int bits) const {
    return "quantizer: LuqActivationFakeQuantize\n    quantizer_args: {" + calibrated(bits) +
           ", qscheme: symmetric, with_offset: false}\n";
  }
  /// Both inputs of a product of two tensors, which have no offsets; the second has 8 bits.
  [[nodiscard]] std::string product(int first_bits) const {
    return "  activation_quant_params:\n  - " + symmetric(first_bits) + "  - " + symmetric(8);
  }
  [[nodiscard]] std::string layer_entries() const {
    std::string text;
    if (!settings_.wide_layers.empty()) {
      text += "- layer_name:\n" + listed(settings_.wide_layers) + activations(settings_.wide_bits);
    }
    if (!settings_.narrow_layers.empty()) {
      text += "- layer_name:\n" + listed(settings_.narrow_layers) + "  activation_quant_params:\n    " + symmetric(8);
    }
    if (!settings_.narrow_products.empty()) {
      text += "- layer_name:\n" + listed(settings_.narrow_products) + product(8);
    }
    return text;
  }
  /// The layers of the matrix unit.
  [[nodiscard]] std::string cube_types() const {
    const int bits = settings_.cube_bits.value_or(settings_.activation_bits);
    return "override_layer_types:\n"
           "- layer_type: [Conv2d, ConvTranspose2d, Linear]\n" +
           weights() + activations(bits) + "- layer_type: [MaxPool, GlobalMaxPool, AveragePool, GlobalAveragePool]\n" +
           activations(bits) + "- layer_type: [matmul]\n" + product(bits);
  }

  const RecipeSettings& settings_;
};

}  // namespace

std::string easy_config_text(const RecipeSettings& settings, const FlavourRules& rules) {
  if (rules.config_family == amct::ConfigFamily::fx) return YamlWriter(settings).write();
  return CfgWriter(settings, rules).write();
}

}  // namespace runner
