// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/op_set.hpp>

#include <doctest/doctest.h>

#include <amct/exec/interpreter.hpp>

#include "exec/run_op.hpp"

using namespace amct;
using namespace amct::exec;

TEST_CASE("All built-in operators are found, in every opset that is read") {
  for (std::int64_t opset = 11; opset <= 17; ++opset) {
    const OpSet ops = float_ops(opset);
    for (const char* name : {"Add",
                             "Sub",
                             "Mul",
                             "Div",
                             "Pow",
                             "Relu",
                             "Sigmoid",
                             "Tanh",
                             "Sqrt",
                             "Exp",
                             "Erf",
                             "Neg",
                             "Abs",
                             "Round",
                             "HardSwish",
                             "LeakyRelu",
                             "HardSigmoid",
                             "Clip",
                             "Conv",
                             "ConvTranspose",
                             "Gemm",
                             "MatMul",
                             "MaxPool",
                             "AveragePool",
                             "GlobalAveragePool",
                             "BatchNormalization",
                             "Softmax",
                             "ReduceMean",
                             "Constant",
                             "Identity",
                             "Flatten",
                             "Reshape",
                             "Squeeze",
                             "Unsqueeze",
                             "Transpose",
                             "Concat",
                             "Pad"}) {
      CAPTURE(name);
      CHECK((ops.find({.op_type = name}) != nullptr));
    }
    CHECK((ops.find({.op_type = "Loop"}) == nullptr));
    CHECK((ops.find({.op_type = "Relu", .domain = "com.example"}) == nullptr));
  }
}

TEST_CASE("Softmax has its old form before opset 13") {
  CHECK((float_ops(12).find({.op_type = "Softmax"}) == &ops::softmax_11));
  CHECK((float_ops(13).find({.op_type = "Softmax"}) == &ops::softmax));
}

TEST_CASE("Users add operators, also of other domains, and replace built-in ones") {
  const Op own = [](const OpContext& context) {
    const float doubled = 2.0F * context.floats(0).data<float>()[0];
    context.make_output({1})[0] = doubled;
  };
  OpSet ops = float_ops(13);
  ops.add("com.example:Twice", own);
  ops.add("Relu", own);
  CHECK((ops.find({.op_type = "Twice", .domain = "com.example"}) == own));
  CHECK((ops.find({.op_type = "Twice"}) == nullptr));

  auto graph = support::GraphBuilder()
                   .input("x")
                   .node("Twice", "t", {"x"}, "y")
                   .node("Relu", "r", {"y"}, "z")
                   .output("z")
                   .build();
  graph.nodes[0].domain = "com.example";
  const auto out = Interpreter(graph, ops).run({support::floats({1}, {-3})});
  CHECK(support::values(out[0]) == std::vector<float>{-12});
}

TEST_CASE("Operators outside the set are refused, each named once with the first node") {
  const auto graph = support::GraphBuilder()
                         .input("x")
                         .node("Relu", "r", {"x"}, "a")
                         .node("Loop", "l1", {"a"}, "b")
                         .node("Loop", "l2", {"b"}, "c")
                         .node("Scan", "s", {"c"}, "d")
                         .output("d")
                         .build();
  const auto error = support::error_of([&] { float_ops(13).require_all(graph); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "l1");
  CHECK(error->message() == "operators that cannot be executed: Loop, Scan");
}

TEST_CASE("A net of known operators is accepted") {
  const auto graph = support::GraphBuilder().input("x").node("Relu", "r", {"x"}, "y").output("y").build();
  CHECK_FALSE(support::error_of([&] { float_ops(13).require_all(graph); }));
}
