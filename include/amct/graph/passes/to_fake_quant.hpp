// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
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

[[nodiscard]] inline CodeRange range_of_type(const Node& quant) {
  const auto type = quant.attribute_or<std::string>("dst_type", "INT8");
  if (type == "INT8") return Int8::range;
  if (type == "INT16") return Int16::range;
  throw Error(ErrorCode::model_unsupported, {.layer = quant.name, .field = "dst_type"},
              "got \"" + type + "\", expected INT8 or INT16");
}

/// AscendQuant -> Mul, Round, Add, Clip, Sub: the float result holds integers with the offset taken off again.
inline void replace_quant(Graph& graph, UniqueNames& names, std::vector<Node>& nodes, const Node& quant) {
  const CodeRange range = range_of_type(quant);
  FakeNodes fake(graph, names, nodes, quant.name + ".fakequant.");
  const auto scalar = [&](const char* what, float value) { return fake.constant(what, Tensor::scalar(value)); };
  const ValueId scale = scalar("scale", quant.attribute_or<float>("scale", 1.0F));
  const ValueId offset = scalar("offset", quant.attribute_or<float>("offset", 0.0F));
  const ValueId min = scalar("min_val", static_cast<float>(range.min()));
  const ValueId max = scalar("max_val", static_cast<float>(range.max()));
  ValueId x = fake.node("Mul", "mul", {quant.inputs[0], scale});
  x = fake.node("Round", "round", {x});
  x = fake.node("Add", "add", {x, offset});
  x = fake.node("Clip", "clip", {x, min, max});
  fake.node("Sub", "sub", {x, offset}, quant.outputs[0]);
}

/// AscendDequant -> Mul by the float scales of its parameter, shaped for the layer in front of it.
inline void replace_dequant(Graph& graph, UniqueNames& names, std::vector<Node>& nodes, const Node& dequant,
                            const Node& layer) {
  const auto parameter = graph.value(dequant.inputs[1]).initializer->data<std::uint64_t>();
  const auto weight_rank = [&]() -> std::size_t {
    const ValueId weight = layer.input(kWeightInput);
    return weight == kNoValue ? 0 : graph.value(weight).initializer->shape().rank();
  }();
  const LayerKind kind = layer_kind(layer, weight_rank).value_or(LayerKind::avg_pool2d);
  Tensor scales(ElementType::float32, output_scale_shape(kind, parameter.size(), weight_rank));
  std::transform(parameter.begin(), parameter.end(), scales.data<float>().begin(),
                 [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); });
  FakeNodes fake(graph, names, nodes, layer.name + ".fakedequant.");
  const ValueId scale = fake.constant("dqscale", std::move(scales));
  fake.node("Mul", "mul", {dequant.inputs[0], scale}, dequant.outputs[0]);
}

/// Integer weight and bias -> floats that hold the same integers.
inline void weights_to_float(Graph& graph, const Node& node) {
  for (const std::size_t port : {kWeightInput, kBiasInput}) {
    const ValueId id = node.input(port);
    if (id == kNoValue || !graph.value(id).initializer) continue;
    replace_initializer(graph, id, cast(*graph.value(id).initializer, ElementType::float32));
  }
}

}  // namespace detail

/// Turns a deploy graph into one of standard ONNX operators that computes the same in float: integer weights and biases
/// become floats that hold integers, AscendQuant and AscendDequant become chains of Mul, Round, Add, Clip, Sub.
/// The result is an exact simulation of the integer network while accumulators stay below 2^24.
inline void to_fake_quant(Graph& graph) {
  UniqueNames names(graph);
  std::set<ValueId> accumulators;
  for (const auto& node : graph.nodes) {
    if (node.op_type == "AscendDequant") accumulators.insert(node.inputs[0]);
  }
  const Uses uses(graph);
  std::map<ValueId, Node> layers;  // by the accumulator they make
  for (const auto& node : graph.nodes) {
    const Node* add = integer_bias_add(node, uses);
    if (add != nullptr && accumulators.contains(add->outputs[0])) layers[add->outputs[0]] = node;
  }
  std::vector<Node> nodes;
  for (auto& node : graph.nodes) {
    if (node.op_type == "AscendQuant") {
      detail::replace_quant(graph, names, nodes, node);
    } else if (node.op_type == "AscendDequant") {
      detail::replace_dequant(graph, names, nodes, node, layers.at(node.inputs[0]));
    } else {
      if (accumulators.contains(node.outputs[0])) {
        detail::weights_to_float(graph, node);
        if (const auto matmul = layers.try_emplace(node.outputs[0], node); !matmul.second) {
          detail::weights_to_float(graph, matmul.first->second);
        }
      }
      nodes.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(nodes);
  remove_unused(graph);
}

}  // namespace amct::graph
