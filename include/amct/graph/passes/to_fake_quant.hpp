// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/pack_int4_weights.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

namespace detail {

/// Appends standard ONNX nodes that stand for one AMCT node.
class FakeNodes {
 public:
  FakeNodes(Graph& graph, UniqueNames& names, std::vector<Node>& nodes, std::string prefix)
      : graph_(graph), names_(names), nodes_(nodes), prefix_(std::move(prefix)) {}

  ValueId constant(const std::string& what, Tensor data) {
    return append("Constant", what, {}, kNoValue, {{"value", std::move(data)}});
  }
  ValueId scalar(const std::string& what, float value) { return constant(what, Tensor::scalar(value)); }
  ValueId node(const std::string& op_type, const std::string& what, std::vector<ValueId> inputs,
               ValueId output = kNoValue) {
    return append(op_type, what, std::move(inputs), output, {});
  }

 private:
  ValueId append(const std::string& op_type, const std::string& what, std::vector<ValueId> inputs, ValueId output,
                 std::vector<std::pair<std::string, Attribute>> attributes) {
    const std::string name = names_.node(prefix_ + what);
    const bool named_by_user = std::find(graph_.outputs.begin(), graph_.outputs.end(), output) != graph_.outputs.end();
    if (output == kNoValue) output = graph_.add_value({});
    if (!named_by_user) graph_.value(output).name = names_.value(name + ".output0");
    nodes_.push_back({op_type, "", name, std::move(inputs), {output}, std::move(attributes)});
    return output;
  }

  Graph& graph_;
  UniqueNames& names_;
  std::vector<Node>& nodes_;
  std::string prefix_;
};

AMCT_EXACT_BEGIN

/// Scales that multiply an accumulator, with what shift_bit took away put back.
[[nodiscard]] inline std::vector<float> unshifted_scales(const DequantFactors& factors) {
  std::vector<float> scales = factors.scales;
  for (std::size_t c = 0; c < factors.shifts.size(); ++c) scales[c] *= std::ldexp(1.0F, factors.shifts[c]);
  return scales;
}

/// One factor instead of two.
[[nodiscard]] inline std::vector<float> merged_scales(std::vector<float> scales, float next) {
  for (float& scale : scales) scale *= next;
  return scales;
}

AMCT_EXACT_END

/// Replaces the nodes of a deployed network one after the other.
class FakeQuantWriter {
 public:
  explicit FakeQuantWriter(Graph& graph) : graph_(graph), names_(graph) {}

  /// AscendQuant -> Mul, Round, Add, Clip, Sub: the float result holds integers with the offset taken off again.
  void quant(const Node& node) {
    const QuantTarget target = quant_target(node);
    FakeNodes fake = prefixed(node.name + ".fakequant.");
    const ValueId scale = fake.scalar("scale", target.scale);
    const Rounding rounding = constants(fake, target);
    round(fake, fake.node("Mul", "mul", {node.inputs[0], scale}), rounding, node.outputs[0]);
  }

  /// AscendAntiQuant -> Mul: what it reads has no offset any more.
  void anti_quant(const Node& node) {
    FakeNodes fake = prefixed(node.name + ".fakeantiquant.");
    const ValueId scale = fake.scalar("scale", anti_quant_source(node).scale);
    fake.node("Mul", "mul", {node.inputs[0], scale}, node.outputs[0]);
  }

  /// AscendDequant -> Mul by the float scales of its parameter, shaped for the layer in front of it.
  void dequant(const Node& node, const Node& layer) {
    FakeNodes fake = prefixed(layer.name + ".fakedequant.");
    scaled(fake, node, layer, node.outputs[0]);
  }

  /// AscendReQuant -> the nodes of the AscendDequant and the AscendQuant that it stands for, or one Mul for both.
  void requant(const Node& node, const Node& layer) {
    const QuantTarget target = quant_target(node);
    const RequantRule rule = requant_rule(node);
    FakeNodes dequantizer = prefixed(node.name + ".fakedequant.");
    FakeNodes fake = prefixed(node.name + ".fakequant.");
    if (rule == RequantRule::two_products) {
      ValueId x = scaled(dequantizer, node, layer, kNoValue);
      const ValueId scale = fake.scalar("scale", target.scale);
      const Rounding rounding = constants(fake, target);
      x = fake.node("Mul", "mul", {x, scale});
      return round(fake, x, rounding, node.outputs[0]);
    }
    const Rounding rounding = constants(fake, target, rule == RequantRule::one_product_add_then_round);
    round(fake, scaled(dequantizer, node, layer, kNoValue, target.scale), rounding, node.outputs[0]);
  }

  void keep(Node node) { nodes_.push_back(std::move(node)); }
  void finish() { graph_.nodes = std::move(nodes_); }

 private:
  struct Rounding {
    ValueId offset, min, max;
    bool add_first;
  };

  [[nodiscard]] FakeNodes prefixed(std::string prefix) { return {graph_, names_, nodes_, std::move(prefix)}; }

  static Rounding constants(FakeNodes& fake, const QuantTarget& target, bool add_first = false) {
    const ValueId offset = fake.scalar("offset", static_cast<float>(target.offset));
    const ValueId min = fake.scalar("min_val", static_cast<float>(target.lowest));
    const ValueId max = fake.scalar("max_val", static_cast<float>(target.highest));
    return {offset, min, max, add_first};
  }

  static void round(FakeNodes& fake, ValueId x, const Rounding& rounding, ValueId output) {
    if (rounding.add_first) x = fake.node("Add", "add", {x, rounding.offset});
    x = fake.node("Round", "round", {x});
    if (!rounding.add_first) x = fake.node("Add", "add", {x, rounding.offset});
    x = fake.node("Clip", "clip", {x, rounding.min, rounding.max});
    fake.node("Sub", "sub", {x, rounding.offset}, output);
  }

  /// The accumulator times the scales of the parameter and `next`. With shift_bit it is shifted, which rounds down, and
  /// kept within 16 bits before.
  ValueId scaled(FakeNodes& fake, const Node& node, const Node& layer, ValueId output, float next = 1.0F) {
    const DequantFactors factors = dequant_factors(node, graph_);
    const Shape shape = shape_behind(layer, factors.scales.size());
    ValueId x = node.inputs[0];
    if (!factors.shifts.empty()) {
      std::vector<float> powers;
      for (const int shift : factors.shifts) powers.push_back(std::ldexp(1.0F, -shift));
      const ValueId power = fake.constant("shift", {shape, std::span<const float>(powers)});
      const ValueId min = fake.scalar("shift_min", static_cast<float>(Int16::min));
      const ValueId max = fake.scalar("shift_max", static_cast<float>(Int16::max));
      x = fake.node("Mul", "shift_mul", {x, power});
      x = fake.node("Floor", "shift_floor", {x});
      x = fake.node("Clip", "shift_clip", {x, min, max});
    }
    const std::vector<float> scales = merged_scales(unshifted_scales(factors), next);
    const ValueId scale = fake.constant("dqscale", {shape, std::span<const float>(scales)});
    return fake.node("Mul", "mul", {x, scale}, output);
  }

  [[nodiscard]] Shape shape_behind(const Node& layer, std::size_t channels) const {
    const ValueId id = layer.input(kWeightInput);
    const bool has_weight = id != kNoValue && graph_.value(id).initializer;
    if (layer.op_type == "MatMul" && !has_weight) return {};  // of two data: one scale
    const std::size_t rank = has_weight ? graph_.value(id).initializer->shape().rank() : 0;
    return output_scale_shape(layer_kind(layer, rank).value_or(LayerKind::avg_pool2d), channels, rank);
  }

  Graph& graph_;
  UniqueNames names_;
  std::vector<Node> nodes_;
};

/// Integer weight and bias -> floats that hold the same integers.
inline void weights_to_float(Graph& graph, const Node& node) {
  for (const std::size_t port : {kWeightInput, kBiasInput}) {
    const ValueId id = node.input(port);
    if (id == kNoValue || !graph.value(id).initializer) continue;
    replace_initializer(graph, id, cast(*graph.value(id).initializer, ElementType::float32));
  }
}

[[nodiscard]] inline bool reads_accumulator(const Node& node) noexcept {
  return is_op(node, kDequantOp) || is_op(node, kReQuantOp);
}

/// The layers by the accumulators that nodes read; behind a MatMul with an int32 bias the MatMul, not the Add.
[[nodiscard]] inline std::map<ValueId, Node> layers_of_accumulators(const Graph& graph) {
  const Uses uses(graph);
  std::map<ValueId, Node> layers;
  for (const auto& node : graph.nodes) {
    if (!reads_accumulator(node)) continue;
    const Node* layer = uses.producer(node.input(0));
    if (layer == nullptr) {
      throw Error(ErrorCode::model_unsupported, {.layer = node.name}, "reads no accumulator of a layer");
    }
    const Node* matmul = uses.producer(layer->input(0));
    const bool adds_bias = matmul != nullptr && integer_bias_add(*matmul, uses) == layer;
    layers[node.inputs[0]] = adds_bias ? *matmul : *layer;
  }
  return layers;
}

}  // namespace detail

/// Turns a deploy graph into one of standard ONNX operators that computes the same in float: integer weights and biases
/// become floats that hold integers, AMCT's nodes chains of Mul, Round, Add, Clip, Sub. Codes have their offset taken
/// off on the way, so that zeros pad them rightly. 4-bit weights that are packed are unpacked.
/// The result is an exact simulation of the integer network while accumulators stay below 2^24.
/// \throws Error model_unsupported naming a node whose attributes or parameter say what AMCT's nodes cannot
inline void to_fake_quant(Graph& graph) {
  unpack_int4_weights(graph);
  const auto layers = detail::layers_of_accumulators(graph);
  detail::FakeQuantWriter writer(graph);
  for (auto& node : graph.nodes) {
    if (is_op(node, kQuantOp)) {
      writer.quant(node);
    } else if (is_op(node, kAntiQuantOp)) {
      writer.anti_quant(node);
    } else if (is_op(node, kDequantOp)) {
      writer.dequant(node, layers.at(node.inputs[0]));
    } else if (is_op(node, kReQuantOp)) {
      writer.requant(node, layers.at(node.inputs[0]));
    } else {
      const auto layer = node.outputs.empty() ? layers.end() : layers.find(node.outputs[0]);
      if (layer != layers.end()) {
        detail::weights_to_float(graph, node);
        detail::weights_to_float(graph, layer->second);
      }
      writer.keep(std::move(node));
    }
  }
  writer.finish();
  remove_unused(graph);
}

}  // namespace amct::graph
