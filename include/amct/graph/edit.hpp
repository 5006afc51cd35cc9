// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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
