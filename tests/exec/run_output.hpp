// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exec/run_op.hpp"

namespace support {

/// Output `index` of a node of `count` outputs; only that one is read. Inputs are tensors, or as run_op takes them.
template <class Inputs = OpInputs>
[[nodiscard]] amct::Tensor run_output(std::size_t index, std::size_t count, const std::string& op_type,
                                      const Inputs& inputs, Attributes attributes = {}, std::int64_t opset = 13) {
  GraphBuilder builder;
  builder.opset(opset);
  std::vector<std::string> names;
  std::vector<amct::Tensor> given;
  for (const auto& input : OpInputs(inputs.begin(), inputs.end())) {
    names.push_back(input ? "in" + std::to_string(names.size()) : std::string());
    if (!input) continue;
    builder.input(names.back(), input->shape());
    given.push_back(*input);
  }
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back("out" + std::to_string(i));
  builder.node(op_type, "op", names, outputs, std::move(attributes)).output(outputs[index]);
  return run_graph(builder.build(), given);
}

}  // namespace support
