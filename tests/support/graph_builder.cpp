// SPDX-License-Identifier: Apache-2.0
#include "support/graph_builder.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include <amct/graph/edit.hpp>

namespace support {

amct::Tensor floats(amct::Shape shape, const std::vector<float>& values) {
  return {std::move(shape), std::span<const float>(values)};
}

amct::Tensor int64s(const Ints& values) {
  return {amct::Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
}

amct::Tensor whole_numbers(amct::Shape shape, std::uint32_t seed) {
  amct::Tensor tensor(amct::ElementType::float32, std::move(shape));
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (float& value : tensor.data<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>((state >> 16U) % 9U) - 4);
  }
  return tensor;
}

GraphBuilder::GraphBuilder() = default;
GraphBuilder::GraphBuilder(const GraphBuilder& other) = default;
GraphBuilder::GraphBuilder(GraphBuilder&& other) noexcept = default;
GraphBuilder& GraphBuilder::operator=(const GraphBuilder& other) = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&& other) noexcept = default;
GraphBuilder::~GraphBuilder() = default;

GraphBuilder& GraphBuilder::opset(std::int64_t version) {
  graph_.opset = version;
  return *this;
}

GraphBuilder& GraphBuilder::input(const std::string& name, const amct::Shape& shape) {
  const auto id = value(name);
  graph_.value(id).shape.emplace();
  for (const auto size : shape) graph_.value(id).shape->push_back({size, {}});
  graph_.inputs.push_back(id);
  return *this;
}

GraphBuilder& GraphBuilder::initializer(const std::string& name, amct::Tensor data) {
  amct::graph::replace_initializer(graph_, value(name), std::move(data));
  return *this;
}

GraphBuilder& GraphBuilder::node(const std::string& op_type, const std::string& name,
                                 const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                                 Attributes attributes) {
  amct::graph::Node node{.op_type = op_type, .name = name, .attributes = std::move(attributes)};
  for (const auto& input : inputs) node.inputs.push_back(value(input));
  for (const auto& output : outputs) node.outputs.push_back(value(output));
  graph_.nodes.push_back(std::move(node));
  return *this;
}

GraphBuilder& GraphBuilder::node(const std::string& op_type, const std::string& name,
                                 const std::vector<std::string>& inputs, const std::string& output,
                                 Attributes attributes) {
  return node(op_type, name, inputs, std::vector<std::string>{output}, std::move(attributes));
}

GraphBuilder& GraphBuilder::constant(const std::string& name, amct::Tensor data) {
  return node("Constant", "make_" + name, {}, name, {{"value", std::move(data)}});
}

GraphBuilder& GraphBuilder::output(const std::string& name) {
  graph_.outputs.push_back(value(name));
  return *this;
}

amct::graph::Graph GraphBuilder::build() const { return graph_; }

amct::graph::ValueId GraphBuilder::value(const std::string& name) {
  if (name.empty()) return amct::graph::kNoValue;
  for (std::size_t i = 0; i < graph_.values.size(); ++i) {
    if (graph_.values[i].name == name) return static_cast<amct::graph::ValueId>(i);
  }
  return graph_.add_value({.name = name});
}

amct::graph::ValueId find_value(const amct::graph::Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == name) return static_cast<amct::graph::ValueId>(i);
  }
  return amct::graph::kNoValue;
}

std::string name_of(const amct::graph::Graph& graph, amct::graph::ValueId id) {
  return id == amct::graph::kNoValue ? std::string() : graph.value(id).name;
}

std::vector<std::string> node_names(const amct::graph::Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes) names.push_back(node.name);
  return names;
}

const amct::Tensor* find_initializer(const amct::graph::Graph& graph, const std::string& name) {
  const auto id = find_value(graph, name);
  return id == amct::graph::kNoValue || !graph.value(id).initializer ? nullptr : &*graph.value(id).initializer;
}

}  // namespace support
