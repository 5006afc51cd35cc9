// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/inline_functions.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "onnx/model_text.hpp"
#include "support/graph_builder.hpp"

using namespace amct;
using support::error_of;
using support::model_of;
using Names = std::vector<std::string>;

namespace {

const std::string kLocal = R"(<opset_import: ["": 13, "local": 1], domain: "local"> )";

/// Each node as `name: outputs = op(inputs)`.
Names lines(const ::onnx::GraphProto& graph) {
  Names all;
  for (const auto& node : graph.node()) {
    std::string line = node.name() + ":";
    for (const auto& output : node.output()) line += ' ' + output;
    line += " = " + node.op_type() + '(';
    for (const auto& input : node.input()) line += (line.back() == '(' ? "" : " ") + (input.empty() ? "-" : input);
    all.push_back(line + ')');
  }
  return all;
}
::onnx::ModelProto inlined(const std::string& text) {
  auto model = model_of(text);
  amct::onnx::inline_functions(model);
  CHECK(model.functions_size() == 0);
  return model;
}
void check_refused(const std::string& text, ErrorCode code, const std::string& message) {
  auto model = model_of(text);
  const auto error = error_of([&] { amct::onnx::inline_functions(model); });
  REQUIRE(error);
  INFO(error->what());
  CHECK(error->code() == code);
  CHECK(support::contains(error->message(), message));
}

}  // namespace

TEST_CASE("A call becomes the nodes of its function, named after it") {
  auto model = model_of("g (float[2] x) => (float[2] y) { a = local.twice(x)  y = local.twice(a) }" + kLocal +
                        "twice (v) => (w) { t = Neg(v)  w = Abs(t) }");
  model.mutable_graph()->mutable_node(1)->set_name("second");
  amct::onnx::inline_functions(model);
  CHECK(lines(model.graph()) == Names{"twice_0/Neg_0: twice_0/t = Neg(x)", "twice_0/Abs_1: a = Abs(twice_0/t)",
                                      "second/Neg_0: second/t = Neg(a)", "second/Abs_1: y = Abs(second/t)"});
}

TEST_CASE("Calls inside functions and inside bodies are replaced too") {
  const auto model = inlined(R"(g (bool c, float[2] x) => (float[2] y) {
      y = If(c) <then_branch = t () => (z) { z = local.outer(x) }, else_branch = e () => (z) { z = Neg(x) }>
    })" + kLocal + "outer (v) => (w) { t = local.inner(v)  w = Neg(t) } " +
                             kLocal + "inner (v) => (w) { w = Abs(v) }");
  CHECK(lines(model.graph().node(0).attribute(0).g()) ==
        Names{"outer_0/inner_0/Abs_0: outer_0/t = Abs(x)", "outer_0/Neg_1: z = Neg(outer_0/t)"});
}

TEST_CASE("The domain of functions is no longer imported, unless other nodes are in it") {
  const std::string function = kLocal + "f (v) => (w) { w = Neg(v) }";
  CHECK(inlined("g (float[2] x) => (float[2] y) { y = local.f(x) }" + function).opset_import_size() == 1);
  CHECK(
      inlined("g (float[2] x) => (float[2] y) { a = local.f(x)  y = local.other(a) }" + function).opset_import_size() ==
      2);
}

TEST_CASE("Attributes come from the call, those not given are left out") {
  const auto model = inlined("g (float[2] x) => (float[2] y) { y = local.f<slope = 0.5>(x) }" + kLocal +
                             "f <slope, missing> (v) => (w) { t = LeakyRelu<alpha : float = @slope>(v)  "
                             "w = Elu<alpha : float = @missing>(t) }");
  REQUIRE(model.graph().node(0).attribute_size() == 1);
  CHECK(model.graph().node(0).attribute(0).name() == "alpha");
  CHECK(model.graph().node(0).attribute(0).f() == 0.5F);
  CHECK(model.graph().node(0).attribute(0).ref_attr_name().empty());
  CHECK(model.graph().node(1).attribute_size() == 0);
}

TEST_CASE("Defaults of attributes, which newer files have, are used") {
  auto model = model_of("g (float[2] x) => (float[2] y) { a = local.f(x)  y = local.f<slope = 0.5>(a) }" + kLocal +
                        "f (v) => (w) { w = LeakyRelu<alpha : float = @slope>(v) }");
  ::onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(::onnx::AttributeProto::FLOAT);
  slope.set_f(0.25F);
  model.mutable_functions(0)->mutable_unknown_fields()->AddLengthDelimited(11, slope.SerializeAsString());
  amct::onnx::inline_functions(model);
  CHECK(model.graph().node(0).attribute(0).f() == 0.25F);
  CHECK(model.graph().node(1).attribute(0).f() == 0.5F);
}

TEST_CASE("Missing inputs stay missing, outputs that nobody wants get names of their own") {
  const auto model = inlined("g (float[2] x) => (float[2] y) { y = local.f(x) }" + kLocal +
                             "f (v, low, high) => (w, other) { w = Clip(v, low, high)  other = Neg(v) }");
  CHECK(lines(model.graph()) == Names{"f_0/Clip_0: y = Clip(x - -)", "f_0/Neg_1: f_0/other = Neg(x)"});
}

TEST_CASE("An output that is an input, or is listed twice, is copied") {
  const auto model = inlined("g (float[2] x) => (float[2] y, float[2] z, float[2] u) { y, z, u = local.f(x) }" +
                             kLocal + "f (v) => (v, w, w) { w = Neg(v) }");
  CHECK(lines(model.graph()) == Names{"f_0/Neg_0: z = Neg(x)", "y: y = Identity(x)", "u: u = Identity(z)"});
}

TEST_CASE("Names that the model has already are not taken again") {
  const auto model = inlined("g (float[2] x) => (float[2] y) { y = local.f(x) }" + kLocal +
                             "f (v) => (w) { x = Neg(v)  y = Abs(x)  w = Relu(y) }");
  CHECK(lines(model.graph()) ==
        Names{"f_0/Neg_0: f_0/x = Neg(x)", "f_0/Abs_1: f_0/y = Abs(f_0/x)", "f_0/Relu_2: y = Relu(f_0/y)"});
}

TEST_CASE("Bodies inside functions see its values, and their own names hide those outside") {
  const auto model = inlined("g (bool c, float[2] x) => (float[2] y) { y = local.f(c, x) }" + kLocal + R"(
    f (k, v) => (w) {
      t = Neg(v)
      w = If(k) <then_branch = a () => (r) { v = Abs(t)  r = Neg(v) }, else_branch = b () => (r) { r = Add(v, t) }>
    })");
  const auto& branch = model.graph().node(1);
  CHECK(lines(branch.attribute(0).g()) == Names{": f_0/v = Abs(f_0/t)", ": f_0/r = Neg(f_0/v)"});
  CHECK(branch.attribute(0).g().output(0).name() == "f_0/r");
  CHECK(lines(branch.attribute(1).g()) == Names{": f_0/r_2 = Add(x f_0/t)"});
}

TEST_CASE("Functions that call themselves, wrong calls and too many nodes are refused") {
  const std::string graph = "g (float[2] x) => (float[2] y) { y = local.f(x) }" + kLocal;
  check_refused(graph + "f (v) => (w) { w = local.h(v) }" + kLocal + "h (v) => (w) { w = local.f(v) }",
                ErrorCode::model_corrupt, "the function calls itself");
  check_refused(graph + "f () => (w) { w = Constant<value_float = 1.0>() }", ErrorCode::model_corrupt,
                "is called with 1 inputs and 1 outputs, expected at most 0 and 1");
  std::string doubling = graph + "f (v) => (w) { w = local.f0(v) }";
  for (int i = 0; i < 30; ++i) {
    const auto next = "local.f" + std::to_string(i + 1);
    doubling += kLocal + "f" + std::to_string(i) + " (v) => (w) { t = " + next + "(v)  w = " + next + "(t) }";
  }
  check_refused(doubling + kLocal + "f30 (v) => (w) { w = Neg(v) }", ErrorCode::model_corrupt,
                "makes the model too large");
  std::string chain = graph + "f (v) => (w) { w = local.f0(v) }";
  for (int i = 0; i < 100; ++i) {
    chain += kLocal + "f" + std::to_string(i) + " (v) => (w) { w = local.f" + std::to_string(i + 1) + "(v) }";
  }
  check_refused(chain + kLocal + "f100 (v) => (w) { w = Neg(v) }", ErrorCode::model_corrupt, "too deep");
}

TEST_CASE("A function of another opset is inlined if its operators are the same there, else refused") {
  const std::string graph = "g (float[2] x) => (float[2] y) { y = local.f(x) }";
  const std::string older = R"(<opset_import: ["": 11, "extra": 3], domain: "local"> )";
  const auto model = inlined(graph + older + "f (v) => (w) { w = Elu(v) }");
  REQUIRE(model.opset_import_size() == 2);
  CHECK(model.opset_import(1).domain() == "extra");
  CHECK(model.opset_import(1).version() == 3);
  check_refused(graph + older + "f (v) => (w) { w = Softmax(v) }", ErrorCode::model_unsupported,
                "has Softmax of opset 11, the model has opset 13");
}
