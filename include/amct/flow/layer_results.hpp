// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <amct/core/cast.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/channels_last.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/layers.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/permute.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// How the results of layers are reported under the names that they have in the float network, in every mode.

namespace amct::flow {

/// What a layer made; valid during the call that reports it.
struct LayerResult {
  std::string_view layer;    ///< its name, which is the same in all modes
  std::string_view op_type;  ///< "Conv", "Relu" ...
  const Tensor& value;       ///< its result in real values, axes in ONNX's order
  const Tensor* codes;       ///< what a quantized layer reads, int8 or int16, axes in ONNX's order; null for others
};

namespace detail {

/// A layer as it is reported.
struct NamedLayer {
  std::string name, op_type;
};

/// Which values of a float or deployed network are the results of layers. A MatMul and the Add of its bias are one
/// layer; quant nodes, constants, and what moves codes, are none.
class LayerNames {
 public:
  explicit LayerNames(const graph::Graph& network) {
    const graph::Uses uses(network);
    const exec::integer::detail::CodeValues codes(network);
    for (const auto& node : network.nodes) {
      const bool makes_nothing = node.outputs.empty() || node.outputs[0] == graph::kNoValue;
      if (makes_nothing || is_silent(node) || codes.find(node.outputs[0]) != nullptr) continue;
      by_value_[node.outputs[0]] = {node.name, node.op_type};
    }
    for (const auto& node : network.nodes) {
      const graph::Node* add = graph::bias_add(node, uses);
      if (add == nullptr) add = graph::integer_bias_add(node, uses);
      if (add == nullptr) continue;
      by_value_[add->outputs[0]] = {node.name, node.op_type};
      by_value_.erase(node.outputs[0]);
    }
    for (const auto& node : network.nodes) add_quantized(node);
    for (const auto& [accumulator, layer] : by_accumulator_) by_value_.erase(accumulator);
  }

  /// The layer whose result a value is; null for other values.
  [[nodiscard]] const NamedLayer* of_result(graph::ValueId id) const noexcept { return find(by_value_, id); }
  /// The quantized layer whose accumulators a value is; null for other values.
  [[nodiscard]] const NamedLayer* of_accumulator(graph::ValueId id) const noexcept { return find(by_accumulator_, id); }
  /// The quantized layer of a name; null for other layers.
  [[nodiscard]] const NamedLayer* quantized(const std::string& name) const noexcept { return find(quantized_, name); }

 private:
  template <class Map, class Key>
  [[nodiscard]] static const NamedLayer* find(const Map& map, const Key& key) noexcept {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }
  [[nodiscard]] static bool is_silent(const graph::Node& node) noexcept {
    constexpr std::string_view kSilent[] = {graph::kQuantOp, graph::kAntiQuantOp, graph::kDequantOp, graph::kReQuantOp,
                                            "Constant"};
    return node.domain.empty() && is_one_of(kSilent, node.op_type);
  }

  void add_quantized(const graph::Node& node) {
    const bool dequantizes = graph::is_op(node, graph::kDequantOp);
    if (!dequantizes && !graph::is_op(node, graph::kReQuantOp)) return;
    const NamedLayer* layer = of_result(node.input(0));
    if (layer == nullptr) return;
    by_accumulator_[node.input(0)] = *layer;
    quantized_[layer->name] = *layer;
    if (dequantizes) by_value_[node.outputs[0]] = NamedLayer(*layer);
  }

  std::map<graph::ValueId, NamedLayer> by_value_, by_accumulator_;
  std::map<std::string, NamedLayer> quantized_;
};

/// What the fake-quant model holds in front of a layer, code minus offset in float32, as codes.
[[nodiscard]] inline Tensor codes_of(const Tensor& centred, const graph::QuantTarget& target) {
  Tensor wide(ElementType::int32, centred.shape());
  const auto from = centred.data<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    wide.data<std::int32_t>()[i] = static_cast<std::int32_t>(from[i]) + target.offset;
  }
  return cast(wide, graph::code_type(target.range));
}

/// Reports the layers of a float network.
template <class Sink>
class FloatReporter {
 public:
  FloatReporter(const LayerNames& layers, Sink& sink) : layers_(layers), sink_(sink) {}

  void before(const graph::Node&, std::span<const Tensor* const>) const noexcept {}
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    const NamedLayer* layer = layers_.of_result(node.outputs[0]);
    if (layer != nullptr) sink_(LayerResult{layer->name, layer->op_type, outputs[0], nullptr});
  }

 private:
  const LayerNames& layers_;
  Sink& sink_;
};

/// Accumulators that become codes without being real values between.
struct RequantizedLayer {
  NamedLayer layer{};
  graph::DequantFactors factors{};
};

/// The real values of accumulators, whole numbers in float32, with channels on an axis.
[[nodiscard]] inline Tensor real_values(const Tensor& accumulators, const graph::DequantFactors& factors,
                                        std::size_t axis) {
  Tensor reals = accumulators;
  const auto values = reals.data<float>();
  const std::size_t inner = static_cast<std::size_t>(reals.shape().count(axis + 1, reals.shape().rank()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = factors.scales.size() == 1 ? 0 : i / inner % factors.scales.size();
    const int shift = factors.shifts.empty() ? 0 : factors.shifts[c];
    values[i] = dequantize_shifted(static_cast<std::int64_t>(values[i]), factors.scales[c], shift);
  }
  return reals;
}

/// What the reports of a fake-quant network need of the deployed one.
struct FakeLayers {
  std::map<std::string, graph::QuantTarget> codes{};         ///< by quantized layer: what makes its input 0
  std::map<graph::ValueId, RequantizedLayer> requantized{};  ///< by accumulator
};

/// Reports the layers of a fake-quant network.
template <class Sink>
class FakeReporter {
 public:
  FakeReporter(const LayerNames& layers, const FakeLayers& fake, Sink& sink)
      : layers_(layers), fake_(fake), sink_(sink) {}

  void before(const graph::Node& node, std::span<const Tensor* const> inputs) {
    const auto found = fake_.codes.find(node.name);
    if (found != fake_.codes.end()) read_[node.name] = codes_of(*inputs[0], found->second);
  }
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    if (const NamedLayer* layer = layers_.of_result(node.outputs[0])) return report(*layer, outputs[0]);
    const auto found = fake_.requantized.find(node.outputs[0]);
    if (found == fake_.requantized.end()) return;
    const bool is_product = found->second.layer.op_type == "MatMul" || found->second.layer.op_type == "Gemm";
    const std::size_t last = outputs[0].shape().rank() - 1;
    report(found->second.layer, real_values(outputs[0], found->second.factors, is_product ? last : 1));
  }

 private:
  void report(const NamedLayer& layer, const Tensor& value) {
    const auto codes = read_.find(layer.name);
    sink_(LayerResult{layer.name, layer.op_type, value, codes == read_.end() ? nullptr : &codes->second});
  }

  const LayerNames& layers_;
  const FakeLayers& fake_;
  Sink& sink_;
  std::map<std::string, Tensor> read_;  ///< by layer
};

/// Reports the layers of a network in integers.
template <class Sink>
class IntegerReporter {
 public:
  IntegerReporter(const LayerNames& layers, const exec::integer::ChannelsLastValues& last, Sink& sink)
      : layers_(layers), last_(last), sink_(sink) {}

  void before(const graph::Node& node, std::span<const Tensor* const> inputs) {
    if (exec::integer::is_integer_layer(node)) codes_ = in_onnx_order(node.inputs[0], *inputs[0]);
  }
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    const graph::ValueId id = node.outputs[0];
    if (id == graph::kNoValue) return;
    const auto last = last_.find(id);
    const bool quantized = exec::integer::is_integer_layer(node);
    const NamedLayer* layer =
        quantized ? layers_.quantized(node.name) : layers_.of_result(last == last_.end() ? id : last->second);
    if (layer == nullptr || !reported_.insert(layer->name).second) return;  // a reordered result is the same once more
    const Tensor value = in_onnx_order(id, outputs[0]);
    sink_(LayerResult{layer->name, layer->op_type, value, quantized ? &codes_ : nullptr});
  }

 private:
  [[nodiscard]] Tensor in_onnx_order(graph::ValueId id, const Tensor& tensor) const {
    if (!last_.contains(id)) return tensor;
    return graph::permuted(tensor, exec::integer::from_channels_last(tensor.shape().rank()));
  }

  const LayerNames& layers_;
  const exec::integer::ChannelsLastValues& last_;
  Sink& sink_;
  Tensor codes_;  ///< of the integer layer that runs
  std::set<std::string_view> reported_;
};

}  // namespace detail

}  // namespace amct::flow
