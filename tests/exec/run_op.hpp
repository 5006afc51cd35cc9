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
[[nodiscard]] inline amct::Tensor run_op(const std::string& op_type, const OpInputs& inputs, Attributes attributes = {},
                                         std::int64_t opset = 13) {
  GraphBuilder builder;
  builder.opset(opset);
  std::vector<std::string> names;
  std::vector<amct::Tensor> given;
  for (const auto& input : inputs) {
    names.push_back(input ? "in" + std::to_string(names.size()) : std::string());
    if (!input) continue;
    builder.input(names.back(), input->shape());
    given.push_back(*input);
  }
  const auto graph = builder.node(op_type, "op", names, "out", std::move(attributes)).output("out").build();
  return run_graph(graph, given);
}

/// Checks that running the node is refused with this code, its name and a message that contains `part`.
inline void check_refused(amct::ErrorCode code, const std::string& part, const std::string& op_type,
                          const OpInputs& inputs, Attributes attributes = {}, std::int64_t opset = 13) {
  CAPTURE(op_type);
  CAPTURE(part);
  const auto error = error_of([&] { (void)run_op(op_type, inputs, std::move(attributes), opset); });
  REQUIRE(error);
  CHECK(error->code() == code);
  CHECK(error->where().layer == "op");
  CHECK(error->where().field == op_type);
  INFO(error->what());
  CHECK(contains(error->message(), part));
}

inline constexpr auto kShape = amct::ErrorCode::model_shape;
inline constexpr auto kUnsupported = amct::ErrorCode::model_unsupported;
inline constexpr auto kCorrupt = amct::ErrorCode::model_corrupt;

/// Shape and exact elements.
inline void check_tensor(const amct::Tensor& tensor, const amct::Shape& shape, const std::vector<float>& expected) {
  CHECK(amct::to_string(tensor.shape()) == amct::to_string(shape));
  REQUIRE(tensor.type() == amct::ElementType::float32);
  const auto actual = values(tensor);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(actual[i] == expected[i]);
  }
}

}  // namespace support
