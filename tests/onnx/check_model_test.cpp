// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/check_model.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/model_text.hpp"
#include "support/graph_builder.hpp"

using namespace amct;
using support::error_of;
using support::model_of;
using support::model_of_opset;
using Ints = std::vector<std::int64_t>;

namespace {

void check(const ::onnx::ModelProto& model) { amct::onnx::check_model(model, "net.onnx"); }

Error checker_error(const ::onnx::ModelProto& model) {
  const auto error = error_of([&] { check(model); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_corrupt);
  CHECK_FALSE(support::contains(error->what(), "\n"));
  return *error;
}

/// The inferred sizes of a value, -1 for unknown ones; {-2} if nothing is known.
Ints inferred(::onnx::ModelProto model, const std::string& value) {
  amct::onnx::infer_shapes(model);
  for (const auto* infos : {&model.graph().value_info(), &model.graph().output()}) {
    for (const auto& info : *infos) {
      if (info.name() != value || !info.type().tensor_type().has_shape()) continue;
      Ints sizes;
      for (const auto& dim : info.type().tensor_type().shape().dim()) {
        sizes.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
      }
      return sizes;
    }
  }
  return {-2};
}

}  // namespace

TEST_CASE("A sound model passes, with functions of newer formats and operators that nobody knows") {
  auto model = model_of("g (float[2] x) => (float[2] y) { a = Nonsense<own = 1>(x)  b = Upsample(a, a)  y = Abs(b) }");
  check(model);
  model.set_ir_version(10);
  check(model);
}

TEST_CASE("Inputs and outputs need no shape") {
  auto model = model_of("g (float[2] x) => (float[2] y) { y = Abs(x) }");
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  model.mutable_graph()->mutable_output(0)->clear_type();
  check(model);
}

TEST_CASE("What the checker finds is an error of one line, and not a long one") {
  checker_error(model_of("g (float[2] x) => (float[2] y) { y = Add(x, ghost) }"));
  checker_error(model_of("g (float[2] x) => (float[2] y) { a = Abs(y)  y = Neg(x) }"));
  checker_error(model_of("g (float[2] x) => (float[2] y) { y = Abs(x)  y = Neg(x) }"));
  checker_error(model_of("g (float[2] x) => (float[2] y) { y = Abs<slope = 1.0>(x) }"));
  checker_error(model_of("g (float[2] x) => (float[2] y) { y = nowhere.Abs(x) }"));
  const auto error =
      checker_error(model_of("g (float[2] x) => (float[2] y) { y = Add(x, " + std::string(5000, 'a') + ") }"));
  CHECK(error.message().size() < 1100);
}

TEST_CASE("Inferred shapes are written down, inside bodies too") {
  CHECK(inferred(model_of("g (float[2, 3] x) => (float[2, 3] y) { a = Abs(x)  y = Neg(a) }"), "a") == Ints{2, 3});
  CHECK(inferred(model_of("g (float[2, 3] x, float[N, 2] z) => (float[N, 3] y) { b = MatMul(z, x)  y = Neg(b) }"),
                 "b") == Ints{-1, 3});
  auto model = model_of(R"(g (bool c, float[2] x) => (float[2] y) {
    y = If(c) <then_branch = t () => (z) { u = Neg(x)  z = Abs(u) }, else_branch = e () => (z) { z = Neg(x) }> })");
  amct::onnx::infer_shapes(model);
  CHECK(model.graph().node(0).attribute(0).g().value_info(0).name() == "u");
}

TEST_CASE("Shapes are computed through operators on shapes") {
  CHECK(inferred(model_of_opset(14, R"(g (float[2, 6] x) => (y) {
          s = Shape(x)  zero = Constant<value = int64[1] {0}>()  three = Constant<value = int64[1] {3}>()
          n = Gather(s, zero)  two = Constant<value = int64[1] {2}>()  r = Concat<axis = 0>(n, three, two)
          y = Reshape(x, r) })"),
                 "y") == Ints{2, 3, 2});
}

TEST_CASE("Operators that contradict each other are refused") {
  auto model = model_of("g (float[2, 3] x) => (float[2, 2] y) { y = MatMul(x, x) }");
  const auto error = error_of([&] { amct::onnx::infer_shapes(model); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_shape);
  CHECK_FALSE(support::contains(error->what(), "\n"));
}

TEST_CASE("Shapes that the file gives to results may be out of date") {
  CHECK(inferred(model_of("g (float[2, 3] x) => (float[7] y) { y = Abs(x) }"), "y") == Ints{2, 3});
  auto model = model_of("g (float[2, 3] x) => (float[2, 3] y) { a = Neg(x)  y = Abs(a) }");
  auto& info = *model.mutable_graph()->add_value_info();
  info = model.graph().input(0);
  info.set_name("a");
  info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(9);
  CHECK(inferred(model, "a") == Ints{2, 3});
}

TEST_CASE("What follows an operator that nobody knows has no shape, and that is no error") {
  CHECK(inferred(model_of("g (float[2] x) => (float[2] y) { a = Nonsense(x)  b = Softmax(a)  y = Add(b, b) }"), "b") ==
        Ints{-2});
}

TEST_CASE("Models made to crash shape inference do not") {
  const auto survives = [](::onnx::ModelProto model) { (void)error_of([&] { amct::onnx::infer_shapes(model); }); };
  for (const char* weight : {"float", "float[4]", "float[4, 2]", "float[4, 2, 3, 3, 3]"}) {
    for (const char* op : {"ConvTranspose", "Conv", "ConvInteger"}) {
      survives(model_of("g (float[1, 4, 3, 3] x, " + std::string(weight) + " w) => (y) { y = " + op + "(x, w) }"));
    }
  }
  const std::string image = "g (float[1, 1, 4611686018427387904, 4] x) => (y) { y = ";
  survives(model_of(image + R"(MaxPool<kernel_shape = [2, 2], strides = [2, 2], auto_pad = "SAME_UPPER">(x) })"));
  survives(model_of(image + "AveragePool<kernel_shape = [2, 2], strides = [0, 1]>(x) }"));
  survives(model_of(image + "MaxPool<kernel_shape = [2, 2], strides = [-1, -1]>(x) }"));
}

TEST_CASE("Models made to fill the memory by doubling shapes do not") {
  std::string nodes = "s0 = Shape(x) ";
  for (int i = 0; i < 60; ++i) {
    const std::string from = 's' + std::to_string(i);
    nodes += 's' + std::to_string(i + 1) + " = Concat<axis = 0>(" + from + ", " + from + ") ";
  }
  auto model = model_of("g (float[2, 3] x) => (y) { " + nodes + "y = Reshape(x, s60) }");
  (void)error_of([&] { amct::onnx::infer_shapes(model); });
  auto wide = model_of("g (float[1] x, int64[33] s) => (y) { y = Expand(x, s) }");
  const auto error = error_of([&] { amct::onnx::infer_shapes(wide); });
  REQUIRE(error);
  CHECK(support::contains(error->message(), "more than 32 axes"));
}
