// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <amct/core/element_type.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/graph/element_types.hpp>

namespace amct::exec {

/// An attribute that names an element type by ONNX's number, or a default if it is not given.
[[nodiscard]] inline ElementType type_attribute(const OpContext& context, const char* name, ElementType otherwise) {
  const auto* number = context.node.attribute<std::int64_t>(name);
  if (number == nullptr) return otherwise;
  const auto type = graph::onnx_element_type(*number);
  if (!type) context.unsupported(std::string(name) + " names the element type " + std::to_string(*number));
  return *type;
}

}  // namespace amct::exec
