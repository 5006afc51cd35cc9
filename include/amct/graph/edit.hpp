// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/graph/ir.hpp>

namespace amct::graph {

/// Adds a constant as an initializer.
inline ValueId add_initializer(Graph& graph, std::string name, Tensor data) {
  std::vector<Dim> shape;
  for (const auto size : data.shape()) shape.push_back({size, {}});
  const ElementType type = data.type();
  return graph.add_value({std::move(name), type, std::move(shape), std::move(data)});
}

/// Replaces the data of a constant, keeping its name. The value must be an initializer.
inline void replace_initializer(Graph& graph, ValueId id, Tensor data) {
  auto& value = graph.value(id);
  value.type = data.type();
  value.shape.emplace();
  for (const auto size : data.shape()) value.shape->push_back({size, {}});
  value.initializer = std::move(data);
}

/// The number of axes of a value, if it is known.
[[nodiscard]] inline std::optional<std::size_t> known_rank(const Value& value) {
  if (value.initializer) return value.initializer->shape().rank();
  if (value.shape) return value.shape->size();
  return {};
}

/// The size of an axis, counted from the end if negative; -1 if it is not known.
[[nodiscard]] inline std::int64_t known_size(const Value& value, std::int64_t axis) {
  const auto rank = known_rank(value);
  if (!rank) return -1;
  if (axis < 0) axis += static_cast<std::int64_t>(*rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(*rank)) return -1;
  const auto index = static_cast<std::size_t>(axis);
  return value.initializer ? value.initializer->shape()[index] : (*value.shape)[index].size;
}

/// The sizes that a Shape node gives for its input, -1 where unknown; empty if not even their number is known.
[[nodiscard]] inline std::vector<std::int64_t> shape_sizes(const Node& shape, const Value& input) {
  const auto rank = known_rank(input);
  if (!rank) return {};
  const auto count = static_cast<std::int64_t>(*rank);
  const auto bound = [count](std::int64_t value) {
    return value < 0 ? std::max<std::int64_t>(value + count, 0) : std::min(value, count);
  };
  std::vector<std::int64_t> sizes;
  const std::int64_t end = bound(shape.attribute_or<std::int64_t>("end", count));
  for (std::int64_t axis = bound(shape.attribute_or<std::int64_t>("start", 0)); axis < end; ++axis) {
    sizes.push_back(known_size(input, axis));
  }
  return sizes;
}

/// Those of `sizes` that Gather chooses; empty if an index lies outside.
[[nodiscard]] inline std::vector<std::int64_t> gather_sizes(const std::vector<std::int64_t>& sizes,
                                                            const std::vector<std::int64_t>& indices) {
  std::vector<std::int64_t> chosen;
  const auto count = static_cast<std::int64_t>(sizes.size());
  for (std::int64_t index : indices) {
    if (index < 0) index += count;
    if (index < 0 || index >= count) return {};
    chosen.push_back(sizes[static_cast<std::size_t>(index)]);
  }
  return chosen;
}

/// The transpose of a float32 matrix.
[[nodiscard]] inline Tensor transposed(const Tensor& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.shape()[0]);
  const auto columns = static_cast<std::size_t>(matrix.shape()[1]);
  Tensor result(ElementType::float32, Shape{matrix.shape()[1], matrix.shape()[0]});
  const auto from = matrix.data<float>();
  const auto to = result.data<float>();
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  }
  return result;
}

/// Lets values stand for others. Collects pairs; apply() makes everyone read and make the value that stays.
class ValueMerge {
 public:
  explicit ValueMerge(const Graph& graph) : target_(graph.values.size()) {
    for (std::size_t i = 0; i < target_.size(); ++i) target_[i] = static_cast<ValueId>(i);
  }

  /// The value that stands for `id` after what was merged so far.
  [[nodiscard]] ValueId find(ValueId id) const noexcept {
    while (id != kNoValue && target_[static_cast<std::size_t>(id)] != id) id = target_[static_cast<std::size_t>(id)];
    return id;
  }
  /// From now on `into` stands for `from`.
  void merge(ValueId from, ValueId into) { target_[static_cast<std::size_t>(find(from))] = find(into); }

  void apply(Graph& graph) const {
    for (auto& node : graph.nodes) {
      for (ValueId& id : node.inputs) id = find(id);
      for (ValueId& id : node.outputs) id = find(id);
    }
  }

 private:
  std::vector<ValueId> target_;
};

/// Removes nodes of which no output is needed, and the data of initializers that nothing reads any more.
inline void remove_unused(Graph& graph) {
  std::vector<char> needed(graph.values.size(), 0);
  for (const ValueId id : graph.outputs) needed[static_cast<std::size_t>(id)] = 1;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
      return id != kNoValue && needed[static_cast<std::size_t>(id)] != 0;
    });
    if (!used) continue;
    for (const ValueId id : node->inputs) {
      if (id != kNoValue) needed[static_cast<std::size_t>(id)] = 1;
    }
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (needed[i] == 0) graph.values[i].initializer.reset();
  }
}

}  // namespace amct::graph
