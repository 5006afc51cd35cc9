// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include <amct/core/cast.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

namespace amct::graph {

/// Makes a float16 network a float32 one: constants are converted, and inputs, outputs and the operators that name the
/// type (Cast, EyeLike ...) get the other. Bodies of control flow are converted too. Casts that mean nothing any more
/// are left for remove_no_ops().
/// \return true if there was anything of float16
inline bool promote_float16(Graph& graph) {
  constexpr std::int64_t kFloat32 = 1;  // ONNX's numbers of the types
  constexpr std::int64_t kFloat16 = 10;
  bool found = false;
  const auto promote = [&](Tensor& tensor) {
    if (tensor.type() != ElementType::float16) return;
    tensor = cast(tensor, ElementType::float32);
    found = true;
  };
  for (auto& value : graph.values) {
    if (value.initializer) promote(*value.initializer);
    if (value.type != ElementType::float16) continue;
    value.type = ElementType::float32;
    found = true;
  }
  for (auto& node : graph.nodes) {
    for (auto& [name, attribute] : node.attributes) {
      if (auto* tensor = std::get_if<Tensor>(&attribute)) promote(*tensor);
      if (const auto* body = std::get_if<Body>(&attribute)) {
        Graph changed = **body;
        if (!promote_float16(changed)) continue;
        attribute = std::make_shared<const Graph>(std::move(changed));
        found = true;
      }
      const auto* number = std::get_if<std::int64_t>(&attribute);
      const bool is_type = (name == "to" && node.op_type == "Cast") || name == "dtype";
      if (number == nullptr || !is_type || *number != kFloat16) continue;
      attribute = kFloat32;
      found = true;
    }
  }
  return found;
}

}  // namespace amct::graph
