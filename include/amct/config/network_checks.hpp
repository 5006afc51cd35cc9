// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <amct/config/fx_defaults.hpp>
#include <amct/config/fx_plan.hpp>
#include <amct/config/network.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// Checks of a config against the structure of its network, as AMCT's guide describes them for the hotwheels flavours.
/// The ends of the messages are those of the guide.

namespace amct {

/// How one input of a layer is quantized, as texts that are equal if and only if the quantization is.
struct InputQuantization {
  struct Parameter {
    std::string name;
    std::string value;
  };
  std::vector<Parameter> parameters{};
};

/// What a config decides for one quantizable layer. A layer that the config leaves out is not enabled.
struct LayerQuantization {
  bool enabled = false;
  std::vector<InputQuantization> inputs{};
  int line = 0;  ///< in the config; 0 = unknown
  int column = 0;
};

/// What differs between the quantization of an input of one layer and that of an input of another, in words; empty if
/// nothing does.
[[nodiscard]] inline std::string input_difference(const LayerQuantization& a, std::size_t input_a,
                                                  const LayerQuantization& b, std::size_t input_b) {
  if (a.enabled != b.enabled) return "quant_enable";
  if (!a.enabled || input_a >= a.inputs.size() || input_b >= b.inputs.size()) return "";
  const auto& left = a.inputs[input_a].parameters;
  const auto& right = b.inputs[input_b].parameters;
  const std::size_t shared = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (left[i].name != right[i].name) return left[i].name;
    if (left[i].value != right[i].value) return left[i].name + " (" + left[i].value + " and " + right[i].value + ')';
  }
  if (left.size() == right.size()) return "";
  return left.size() > shared ? left[shared].name : right[shared].name;
}

/// By layer name, all quantizable layers of a network. Layers that are not here are left out of the comparisons.
using NetworkQuantization = std::unordered_map<std::string, LayerQuantization>;

/// Whether a check compares layers that read one tensor.
enum class Siblings : std::uint8_t {
  compare,
  pass,  ///< somebody else does
};

/// Operators that move data without computing.
inline constexpr std::string_view kNoCommandOperators[] = {"Concat", "Split",   "Reshape",   "Flatten",  "Slice",
                                                           "Tile",   "Squeeze", "Unsqueeze", "Transpose"};
[[nodiscard]] inline bool is_no_command(std::string_view op_type) noexcept {
  return std::find(std::begin(kNoCommandOperators), std::end(kNoCommandOperators), op_type) !=
         std::end(kNoCommandOperators);
}

/// Operators of the matrix unit, which cannot run in float.
inline constexpr std::string_view kCubeOperators[] = {"Conv",        "Gemm",          "ConvTranspose",    "MaxPool",
                                                      "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};

[[nodiscard]] inline bool is_on_cube(std::string_view op_type) noexcept {
  return std::find(std::begin(kCubeOperators), std::end(kCubeOperators), op_type) != std::end(kCubeOperators);
}

namespace detail {

/// A text that is equal for equal values only.
[[nodiscard]] inline std::string comparable_text(const ConfigValue& value) {
  if (value.list() == nullptr && value.object() == nullptr) return describe(value);
  std::string text;
  if (value.list() != nullptr) {
    for (const ConfigValue& item : *value.list()) text += comparable_text(item) + ", ";
    return '[' + text + ']';
  }
  for (const auto& [name, item] : *value.object()) text += '"' + name + "\": " + comparable_text(item) + ", ";
  return '{' + text + '}';
}

/// Compares layers that share tensors.
class NetworkCheck {
 public:
  NetworkCheck(const Network& network, const NetworkQuantization& quantization, const FlavourRules& rules,
               const std::string& file, Diagnostics& out)
      : network_(network), quantization_(quantization), rules_(rules), file_(file), out_(out) {
    for (const NetworkNode& node : network) {
      for (const std::string& tensor : node.outputs) producers_.emplace(tensor, &node);
      const LayerQuantization* const layer = find(node);
      if (layer == nullptr) continue;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) uses_[node.inputs[i]].push_back({&node, layer, i});
    }
  }

  void run(Siblings siblings) {
    for (const NetworkNode& node : network_) {
      check_cube(node);
      check_no_command(node);
    }
    if (siblings == Siblings::pass) return;
    for (const NetworkNode& node : network_) {
      for (const std::string& tensor : node.inputs) check_siblings(tensor);
    }
  }

 private:
  struct Use {
    const NetworkNode* node;
    const LayerQuantization* layer;
    std::size_t input;
  };

  [[nodiscard]] const LayerQuantization* find(const NetworkNode& node) const {
    const auto found = quantization_.find(node.name);
    return found == quantization_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] static std::string difference(const Use& a, const Use& b) {
    return input_difference(*a.layer, a.input, *b.layer, b.input);
  }

  /// Where the flavour lets quantized and float layers share a tensor, this is a warning.
  void report(const Use& use, const Use& other, const std::string& message) {
    const Where where{.file = file_, .line = use.layer->line, .column = use.layer->column, .layer = use.node->name};
    const bool mixed = use.layer->enabled != other.layer->enabled;
    if (mixed && !rules_.mixed_siblings_refused) out_.warning(ErrorCode::config_layer, where, message);
    else out_.error(ErrorCode::config_layer, where, message);
  }

  [[nodiscard]] static std::string named(const NetworkNode& node) {
    return node.name + "(onnx name: " + node.onnx_name + ')';
  }

  /// All layers that read one tensor must quantize it alike. Each is compared with the first. Forgets the tensor, so
  /// that it is checked once.
  void check_siblings(const std::string& tensor) {
    const auto node = uses_.extract(tensor);
    if (node.empty()) return;
    const std::vector<Use>& uses = node.mapped();
    const auto producer = producers_.find(tensor);
    const std::string from = producer != producers_.end() ? named(*producer->second) : tensor;
    for (std::size_t i = 1; i < uses.size(); ++i) {
      const std::string what = difference(uses[0], uses[i]);
      if (what.empty()) continue;
      report(uses[i], uses[0],
             "Outputs " + named(*uses[0].node) + " and " + named(*uses[i].node) + " of layer " + from +
                 " should have consistent " + what);
    }
  }

  /// A layer that only moves data must take it as the layer behind it does. Nothing is asked of one at the end.
  void check_no_command(const NetworkNode& node) {
    if (!is_no_command(node.op_type)) return;
    const LayerQuantization* const layer = find(node);
    if (layer == nullptr) return;
    for (const std::string& tensor : node.outputs) {
      const auto uses = uses_.find(tensor);
      if (uses == uses_.end()) continue;
      const Use& next = uses->second.front();  // the others are its siblings
      for (std::size_t i = 0; i < std::max<std::size_t>(layer->inputs.size(), 1); ++i) {
        const Use own{&node, layer, i};
        const std::string what = difference(own, next);
        if (what.empty()) continue;
        report(own, next,
               "Layer " + next.node->name + " should have consistent " + what + " with no command layer " + node.name);
        break;
      }
    }
  }

  /// A convolution of constants is computed beforehand and has nothing to quantize.
  void check_cube(const NetworkNode& node) {
    if (!is_on_cube(node.op_type) || node.inputs.empty()) return;
    const LayerQuantization* const layer = find(node);
    if (layer != nullptr && layer->enabled) return;
    Where where{.file = file_, .layer = node.name};
    if (layer != nullptr) {
      where.line = layer->line;
      where.column = layer->column;
    }
    out_.error(ErrorCode::config_layer, where,
               "Layer " + node.name + " must be quantized as it is an operation calculated on CUBE");
  }

  const Network& network_;
  const NetworkQuantization& quantization_;
  const FlavourRules& rules_;
  const std::string& file_;
  Diagnostics& out_;
  std::unordered_map<std::string_view, const NetworkNode*> producers_;
  std::unordered_map<std::string, std::vector<Use>> uses_;  // of each tensor, by quantizable layers
};

}  // namespace detail

/// Checks a config against its network.
///
/// 1. Something must be quantized (every flavour).
/// 2. Layers that read one tensor must have equal quantization of it.
/// 3. A layer that only moves data (kNoCommandOperators) must have the quantization of the layer behind it.
/// 4. Layers of the matrix unit (kCubeOperators) must be quantized, unless all their inputs are constants.
///
/// 2 to 4 hold where the flavour has `network_checks`. If it has not `mixed_siblings_refused`, a float layer beside a
/// quantized one (2, 3) is a warning. O(nodes + tensors).
/// \param file  of the config, for messages
inline void check_network(const Network& network, const NetworkQuantization& quantization, const FlavourRules& rules,
                          const std::string& file, Diagnostics& out, Siblings siblings = Siblings::compare) {
  const bool any =
      std::any_of(quantization.begin(), quantization.end(), [](const auto& layer) { return layer.second.enabled; });
  if (!any) {
    out.error(ErrorCode::config_layer, {.file = file},
              "No quant enable layer in quant config file, please check the quant config file.");
  }
  if (rules.network_checks) detail::NetworkCheck(network, quantization, rules, file, out).run(siblings);
}

/// What a plan of the static graph means for check_network. Defaults count as if stated; the name of the layer among a
/// quantizer's arguments does not count.
[[nodiscard]] inline NetworkQuantization network_quantization(const FxPlan& plan, const LayerTable& layers,
                                                              const FlavourRules& rules) {
  NetworkQuantization result;
  for (const LayerInfo& layer : layers) result.try_emplace(layer.name);
  for (const FxLayerPlan& layer : plan.layers) {
    LayerQuantization& own = result[layer.name];
    own = {.enabled = layer.quant_enable, .line = layer.line, .column = layer.column};
    for (QuantizerSpec spec : layer.activations) {
      complete_args(spec, {.name = layer.name, .kind = layer.kind}, rules);
      InputQuantization input{.parameters = {{"quantizer", spec.name}}};
      auto args = *spec.args.object();
      std::sort(args.begin(), args.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
      for (const auto& [name, value] : args) {
        if (name != "object_layer") input.parameters.push_back({name, detail::comparable_text(value)});
      }
      own.inputs.push_back(std::move(input));
    }
  }
  return result;
}

/// What a plan of the classic family means for check_network.
[[nodiscard]] inline NetworkQuantization network_quantization(const QuantPlan& plan, const LayerTable& layers) {
  NetworkQuantization result;
  for (const LayerInfo& layer : layers) result.try_emplace(layer.name);
  for (const LayerPlan& layer : plan.layers) {
    LayerQuantization& own = result[layer.name];
    own.enabled = layer.enabled;
    for (const ActivationPlan& activation : layer.activations) {
      const bool ifmr = activation.algorithm == ActivationAlgorithm::ifmr;
      InputQuantization input{.parameters = {{"act_algo", ifmr ? "ifmr" : "hfmg"},
                                             {"num_bits", std::to_string(activation.bits)},
                                             {"asymmetric", activation.asymmetric ? "true" : "false"}}};
      const auto add = [&input](const char* name, std::string value) {
        input.parameters.push_back({name, std::move(value)});
      };
      if (ifmr) {
        add("max_percentile", decimal_text(activation.max_percentile));
        add("min_percentile", decimal_text(activation.min_percentile));
        add("search_range", decimal_text(activation.search_start) + ".." + decimal_text(activation.search_end));
        add("search_step", decimal_text(activation.search_step));
      } else {
        add("num_of_bins", std::to_string(activation.num_of_bins));
      }
      own.inputs.push_back(std::move(input));
    }
  }
  return result;
}

}  // namespace amct
