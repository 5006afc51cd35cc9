// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>

namespace amct::exec {

/// The attribute of nodes that in_float16() runs as a float16 device would.
inline constexpr const char* kFloat16 = "amct_float16";

/// float32 values rounded to float16, still in float32. Halves to even, infinite from 65520 on.
[[nodiscard]] inline Tensor rounded_to_float16(const Tensor& tensor) {
  return cast(cast(tensor, ElementType::float16), ElementType::float32);
}

/// The operators of a set, which round their float32 inputs and results to float16 where a node has the attribute
/// kFloat16. What they compute between is float32, since devices keep their sums in it.
[[nodiscard]] inline OpSet in_float16(const OpSet& ops) {
  return ops.wrapped([](Op op) -> Op {
    return [op = std::move(op)](const OpContext& context) {
      if (context.node.attribute_or<std::int64_t>(kFloat16, 0) == 0) return op(context);
      std::vector<Tensor> rounded(context.inputs.size());
      std::vector<const Tensor*> inputs(context.inputs.begin(), context.inputs.end());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] == nullptr || inputs[i]->type() != ElementType::float32) continue;
        rounded[i] = rounded_to_float16(*inputs[i]);
        inputs[i] = &rounded[i];
      }
      OpContext inner = context;
      inner.inputs = inputs;
      inner.dying = {};
      op(inner);
      for (Tensor& output : context.outputs) {
        if (output.type() == ElementType::float32 && output.size() != 0) output = rounded_to_float16(output);
      }
    };
  });
}

}  // namespace amct::exec
