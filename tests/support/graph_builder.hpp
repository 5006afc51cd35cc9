// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>

namespace support {

using Ints = std::vector<std::int64_t>;
using Attributes = std::vector<std::pair<std::string, amct::graph::Attribute>>;

/// A float32 tensor.
[[nodiscard]] inline amct::Tensor floats(amct::Shape shape, const std::vector<float>& values) {
  return {std::move(shape), std::span<const float>(values)};
}
/// An int64 vector, as Reshape, Pad and Squeeze read it.
[[nodiscard]] inline amct::Tensor int64s(const Ints& values) {
  return {amct::Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
}
/// The elements of a tensor.
template <class T = float>
[[nodiscard]] std::vector<T> values(const amct::Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

/// A float32 tensor of whole numbers from -4 to 4, different for each seed. Sums of their products are exact in
/// float32.
[[nodiscard]] inline amct::Tensor whole_numbers(amct::Shape shape, std::uint32_t seed) {
  amct::Tensor tensor(amct::ElementType::float32, std::move(shape));
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (float& value : tensor.data<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>((state >> 16U) % 9U) - 4);
  }
  return tensor;
}

/// Makes graphs by the names of their values; the empty name stands for an input that is not given.
class GraphBuilder {
 public:
  GraphBuilder& opset(std::int64_t version) {
    graph_.opset = version;
    return *this;
  }
  GraphBuilder& input(const std::string& name, const amct::Shape& shape = {}) {
    const auto id = value(name);
    graph_.value(id).shape.emplace();
    for (const auto size : shape) graph_.value(id).shape->push_back({size, {}});
    graph_.inputs.push_back(id);
    return *this;
  }
  GraphBuilder& initializer(const std::string& name, amct::Tensor data) {
    amct::graph::replace_initializer(graph_, value(name), std::move(data));
    return *this;
  }
  GraphBuilder& node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, Attributes attributes = {}) {
    amct::graph::Node node{.op_type = op_type, .name = name, .attributes = std::move(attributes)};
    for (const auto& input : inputs) node.inputs.push_back(value(input));
    for (const auto& output : outputs) node.outputs.push_back(value(output));
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  GraphBuilder& node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
                     const std::string& output, Attributes attributes = {}) {
    return node(op_type, name, inputs, std::vector<std::string>{output}, std::move(attributes));
  }
  GraphBuilder& constant(const std::string& name, amct::Tensor data) {
    return node("Constant", "make_" + name, {}, name, {{"value", std::move(data)}});
  }
  GraphBuilder& output(const std::string& name) {
    graph_.outputs.push_back(value(name));
    return *this;
  }
  [[nodiscard]] amct::graph::Graph build() const { return graph_; }

 private:
  amct::graph::ValueId value(const std::string& name) {
    if (name.empty()) return amct::graph::kNoValue;
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].name == name) return static_cast<amct::graph::ValueId>(i);
    }
    return graph_.add_value({.name = name});
  }

  amct::graph::Graph graph_;
};

/// The value of this name, or kNoValue.
[[nodiscard]] inline amct::graph::ValueId find_value(const amct::graph::Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == name) return static_cast<amct::graph::ValueId>(i);
  }
  return amct::graph::kNoValue;
}
/// The name of a value; empty for kNoValue.
[[nodiscard]] inline std::string name_of(const amct::graph::Graph& graph, amct::graph::ValueId id) {
  return id == amct::graph::kNoValue ? std::string() : graph.value(id).name;
}
/// Names of the nodes in order.
[[nodiscard]] inline std::vector<std::string> node_names(const amct::graph::Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes) names.push_back(node.name);
  return names;
}
/// The constant of this name, or null.
[[nodiscard]] inline const amct::Tensor* find_initializer(const amct::graph::Graph& graph, const std::string& name) {
  const auto id = find_value(graph, name);
  return id == amct::graph::kNoValue || !graph.value(id).initializer ? nullptr : &*graph.value(id).initializer;
}

/// The Error that a call throws; empty if it throws none.
template <class Call>
[[nodiscard]] std::optional<amct::Error> error_of(Call&& call) {
  try {
    call();
  } catch (const amct::Error& error) {
    return error;
  }
  return std::nullopt;
}
[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace support
