// SPDX-License-Identifier: Apache-2.0
#include "exec/run_op.hpp"

#include <cstddef>
#include <utility>

#include <doctest/doctest.h>

#include <amct/exec/interpreter.hpp>

#include "support/ops.hpp"

namespace support {

amct::Tensor run_graph(const amct::graph::Graph& graph, const std::vector<amct::Tensor>& inputs) {
  return amct::exec::Interpreter(graph, ops()).run(inputs).at(0);
}

amct::Tensor run_op(const std::string& op_type, const OpInputs& inputs, Attributes attributes, std::int64_t opset) {
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

void check_refused(amct::ErrorCode code, const std::string& part, const std::string& op_type, const OpInputs& inputs,
                   Attributes attributes, std::int64_t opset) {
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

void check_tensor(const amct::Tensor& tensor, const amct::Shape& shape, const std::vector<float>& expected) {
  CHECK(amct::to_string(tensor.shape()) == amct::to_string(shape));
  REQUIRE(tensor.type() == amct::ElementType::float32);
  const auto actual = values(tensor);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(actual[i] == expected[i]);
  }
}

void check_close(const amct::Tensor& tensor, const amct::Shape& shape, const std::vector<double>& expected) {
  CHECK(amct::to_string(tensor.shape()) == amct::to_string(shape));
  REQUIRE(tensor.size() == expected.size());
  const auto actual = values(tensor);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(static_cast<double>(actual[i]) == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

}  // namespace support
