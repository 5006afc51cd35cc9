// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/convert.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/exec/interpreter.hpp>
#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::floats;
using support::GraphBuilder;

namespace {

const FlavourRules& kRules = rules_of(Flavour::pytorch);

Tensor zero() { return {Shape{}, std::span<const std::int8_t>(std::vector<std::int8_t>{0})}; }

/// Two layers between pairs: Gemm with a transposed weight, and MatMul of `second` with a quantized weight.
GraphBuilder qat_net(const std::string& second) {
  GraphBuilder builder;
  builder.input("x", {2, 3})
      .input("dynamic", {2, 2})
      .initializer("zero", zero())
      .initializer("sx", floats({}, {0.5F}))
      .initializer("sw", floats({}, {0.25F}))
      .initializer("w1", floats({2, 3}, {0.25F, -0.5F, 1, 0.75F, 0.3F, -2}))
      .initializer("b1", floats({2}, {0.5F, -1}))
      .initializer("w2", floats({2, 2}, {1, -0.25F, 0.5F, 2}))
      .node("QuantizeLinear", "q1", {"x", "sx", "zero"}, "xc")
      .node("DequantizeLinear", "d1", {"xc", "sx", "zero"}, "xf")
      .node("QuantizeLinear", "q2", {"w1", "sw", "zero"}, "wc")
      .node("DequantizeLinear", "d2", {"wc", "sw", "zero"}, "wf")
      .node("Gemm", "fc", {"xf", "wf", "b1"}, "h", {{"transB", std::int64_t{1}}})
      .node("QuantizeLinear", "q3", {"h", "sx", "zero"}, "hc")
      .node("DequantizeLinear", "d3", {"hc", "sx", "zero"}, "hf")
      .node("QuantizeLinear", "q4", {second, "sw", "zero"}, "sc")
      .node("DequantizeLinear", "d4", {"sc", "sw", "zero"}, "sf")
      .node("MatMul", "mm", {"hf", "sf"}, "y")
      .output("y");
  return builder;
}

}  // namespace

TEST_CASE("The converted model computes what the model with pairs computes") {
  const auto graph = qat_net("w2").build();
  const auto converted = flow::convert_qat(graph, kRules);
  CHECK(converted.left_float.empty());
  REQUIRE(converted.record.size() == 2);
  const std::vector<Tensor> inputs{floats({2, 3}, {1.3F, -0.26F, 100, -7, 0.25F, 0.74F}), floats({2, 2}, {0, 0, 0, 0})};
  const auto fake = flow::fake_quant(flow::deploy(converted.graph, converted.record));
  const auto expected = support::values(exec::Interpreter(graph, support::ops()).run(inputs)[0]);
  const auto actual = support::values(exec::Interpreter(fake, support::ops()).run(inputs)[0]);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE("A layer that the flavour does not quantize stays float with its reason") {
  const auto converted = flow::convert_qat(qat_net("dynamic").build(), kRules);
  REQUIRE(converted.record.size() == 1);
  CHECK(converted.record[0].name == "fc");
  REQUIRE(converted.left_float.size() == 1);
  CHECK(converted.left_float[0].name == "mm");
  CHECK(converted.left_float[0].op_type == "MatMul");
  CHECK(converted.left_float[0].reason == "its input is quantized and its weight is not");
}

TEST_CASE("A model without quantized layers is refused") {
  const auto error = support::error_of([] {
    (void)flow::convert_qat(GraphBuilder().input("x").node("Relu", "r", {"x"}, "y").output("y").build(), kRules);
  });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(support::contains(error->message(), "expected layers between QuantizeLinear and DequantizeLinear"));
}
