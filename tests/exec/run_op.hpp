// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

#include "support/graph_builder.hpp"

namespace support {

using OpInputs = std::vector<std::optional<amct::Tensor>>;

/// The first output of a net. The interpreter, with all its operators, is compiled once, in run_op.cpp.
[[nodiscard]] amct::Tensor run_graph(const amct::graph::Graph& graph, const std::vector<amct::Tensor>& inputs);

/// Runs a net of one node named "op"; std::nullopt stands for an input that is not given.
[[nodiscard]] amct::Tensor run_op(const std::string& op_type, const OpInputs& inputs, Attributes attributes = {},
                                  std::int64_t opset = 13);

/// Checks that running the node is refused with this code, its name and a message that contains `part`.
void check_refused(amct::ErrorCode code, const std::string& part, const std::string& op_type, const OpInputs& inputs,
                   Attributes attributes = {}, std::int64_t opset = 13);

inline constexpr auto kShape = amct::ErrorCode::model_shape;
inline constexpr auto kUnsupported = amct::ErrorCode::model_unsupported;
inline constexpr auto kCorrupt = amct::ErrorCode::model_corrupt;

/// Shape and exact elements.
void check_tensor(const amct::Tensor& tensor, const amct::Shape& shape, const std::vector<float>& expected);

/// Shape, and elements up to a millionth.
void check_close(const amct::Tensor& tensor, const amct::Shape& shape, const std::vector<double>& expected);

}  // namespace support
