// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/tensor.hpp>

/// \file
/// The network as data: nodes in execution order, connected by values. References are indices, so a Graph copies and
/// moves like a vector. Passes rebuild the node list instead of editing links.

namespace amct::graph {

using ValueId = std::int32_t;
/// Stands for an optional input that is not given.
inline constexpr ValueId kNoValue = -1;

/// One axis of a declared shape: a size, or a name for one that is only known when the network runs.
struct Dim {
  std::int64_t size = -1;  ///< -1: not known
  std::string symbol;      ///< name of an unknown size; may be empty

  friend bool operator==(const Dim&, const Dim&) = default;
};

/// Something that flows between nodes: a graph input, a node output, or a constant.
struct Value {
  std::string name{};
  ElementType type = ElementType::float32;  ///< of graph inputs, outputs and initializers
  std::optional<std::vector<Dim>> shape{};  ///< as declared or inferred; empty if not known
  std::optional<Tensor> initializer{};      ///< constant data, such as weights
};

struct Graph;

/// The body of a control-flow operator. Its inputs are the operator's formal ones followed by the values it captures,
/// see Node::captured. Bodies are shared between copies of a graph; whoever changes one makes a new one.
using Body = std::shared_ptr<const Graph>;

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor, Body>;

/// One operation. Names are unique and not empty.
struct Node {
  std::string op_type{};
  std::string domain{};  ///< empty for standard ONNX
  std::string name{};
  std::vector<ValueId> inputs{};
  std::vector<ValueId> outputs{};
  std::vector<std::pair<std::string, Attribute>> attributes{};
  /// How many of the last inputs are no inputs in ONNX's sense but outer values that the bodies of If, Loop or Scan
  /// read. They stand here so that every pass sees the use.
  std::size_t captured = 0;

  /// The attribute if present with this type, else null.
  template <class T>
  [[nodiscard]] const T* attribute(std::string_view key) const noexcept {
    for (const auto& [name_, value] : attributes) {
      if (name_ == key) return std::get_if<T>(&value);
    }
    return nullptr;
  }
  /// The attribute, or a default if it is absent.
  template <class T>
  [[nodiscard]] T attribute_or(std::string_view key, T otherwise) const {
    const T* found = attribute<T>(key);
    return found != nullptr ? *found : std::move(otherwise);
  }
  /// Sets or replaces an attribute.
  void set_attribute(std::string_view key, Attribute value) {
    for (auto& [name_, old] : attributes) {
      if (name_ == key) {
        old = std::move(value);
        return;
      }
    }
    attributes.emplace_back(std::string(key), std::move(value));
  }
  [[nodiscard]] ValueId input(std::size_t index) const noexcept {
    return index < inputs.size() ? inputs[index] : kNoValue;
  }
};

/// A network.
struct Graph {
  std::string name;
  std::int64_t opset = 13;  ///< of the default ONNX domain
  std::int64_t ir_version = 7;
  std::map<std::string, std::int64_t> domains;  ///< other domains and their versions
  std::vector<Value> values;
  std::vector<Node> nodes;      ///< in an order in which they can be executed
  std::vector<ValueId> inputs;  ///< without initializers
  std::vector<ValueId> outputs;

  [[nodiscard]] Value& value(ValueId id) noexcept { return values[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Value& value(ValueId id) const noexcept { return values[static_cast<std::size_t>(id)]; }

  ValueId add_value(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
  }
  /// The node of this name, or null. O(nodes).
  [[nodiscard]] const Node* find_node(std::string_view node_name) const noexcept {
    for (const auto& node : nodes) {
      if (node.name == node_name) return &node;
    }
    return nullptr;
  }
  [[nodiscard]] Node* find_node(std::string_view node_name) noexcept {
    return const_cast<Node*>(std::as_const(*this).find_node(node_name));
  }
};

}  // namespace amct::graph
