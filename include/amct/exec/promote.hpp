// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>

namespace amct::exec {

/// Lets an operator that computes in float32 take float16 and float64 as well: such inputs are converted to float32
/// and float32 results back. Float16 results are thus rounded once a node, as on a device; float64 has the precision of
/// float32.
[[nodiscard]] inline Op in_float32(Op op) {
  return [op = std::move(op)](const OpContext& context) {
    std::optional<ElementType> outer;
    for (const Tensor* input : context.inputs) {
      if (input == nullptr || outer) continue;
      if (input->type() == ElementType::float16 || input->type() == ElementType::float64) outer = input->type();
    }
    if (!outer) return op(context);
    std::vector<Tensor> converted(context.inputs.size());
    std::vector<const Tensor*> inputs(context.inputs.begin(), context.inputs.end());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr || inputs[i]->type() != *outer) continue;
      converted[i] = cast(*inputs[i], ElementType::float32);
      inputs[i] = &converted[i];
    }
    OpContext inner = context;
    inner.inputs = inputs;
    inner.dying = {};
    op(inner);
    for (Tensor& output : context.outputs) {
      if (output.type() == ElementType::float32) output = cast(output, *outer);
    }
  };
}

}  // namespace amct::exec
