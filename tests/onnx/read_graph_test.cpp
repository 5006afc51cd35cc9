// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/read_graph.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "onnx/model_text.hpp"
#include "support/graph_builder.hpp"

using namespace amct;
using support::error_of;
using support::model_of;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

namespace {

graph::Graph read(const ::onnx::ModelProto& model) {
  amct::onnx::ExternalData data("net.onnx");
  return amct::onnx::read_graph(model, 13, data);
}
graph::Graph read(const std::string& text) { return read(model_of(text)); }

Names names(const graph::Graph& graph, const std::vector<graph::ValueId>& ids) {
  Names all;
  for (const auto id : ids) all.push_back(name_of(graph, id));
  return all;
}
const graph::Graph& body(const graph::Node& node, const char* name) {
  const auto* found = node.attribute<graph::Body>(name);
  REQUIRE(found != nullptr);
  return **found;
}

}  // namespace

TEST_CASE("Bodies are graphs whose captured values follow the formal inputs, the same for all bodies of a node") {
  const auto graph = read(R"(g (bool c, float[2] x, float[2] v) => (float[2] y) {
    w = Neg(v)
    y = If(c) <then_branch = t () => (z) { z = Add(x, w) }, else_branch = e () => (z) { u = Abs(x)  z = Neg(u) }> })");
  const auto& node = graph.nodes[1];
  CHECK(node.captured == 2);
  CHECK(names(graph, node.inputs) == Names{"c", "x", "w"});
  const auto& then_branch = body(node, "then_branch");
  CHECK(then_branch.name == "t");
  CHECK(then_branch.opset == 13);
  CHECK(then_branch.domains == graph.domains);
  CHECK(names(then_branch, then_branch.inputs) == Names{"x", "w"});
  CHECK(then_branch.nodes[0].inputs == then_branch.inputs);
  CHECK(names(then_branch, then_branch.outputs) == Names{"z"});
  const auto& else_branch = body(node, "else_branch");
  CHECK(names(else_branch, else_branch.inputs) == Names{"x", "w"});
  CHECK(else_branch.nodes[0].inputs[0] == else_branch.inputs[0]);
  CHECK(node_names(else_branch) == Names{"Abs_0", "Neg_1"});
}

TEST_CASE("Bodies with formal inputs, and bodies in bodies, capture through all levels") {
  const auto graph = read(R"(g (int64 n, bool k, float[2] x, float[2] s) => (float[2] y) {
    y = Loop(n, k, s) <body = b (int64 i, bool c, float[2] p) => (bool d, float[2] q) {
      d = Identity(c)
      q = If(c) <then_branch = t () => (z) { z = Add(p, x) }, else_branch = e () => (z) { z = Neg(p) }> }> })");
  const auto& loop = graph.nodes[0];
  CHECK(loop.captured == 1);
  CHECK(names(graph, loop.inputs) == Names{"n", "k", "s", "x"});
  const auto& inside = body(loop, "body");
  CHECK(names(inside, inside.inputs) == Names{"i", "c", "p", "x"});
  CHECK(inside.value(inside.inputs[3]).type == ElementType::float32);
  REQUIRE(inside.value(inside.inputs[3]).shape);
  const auto& branch = inside.nodes[1];
  CHECK(names(inside, branch.inputs) == Names{"c", "p", "x"});
  CHECK(branch.captured == 2);
  const auto& innermost = body(branch, "then_branch");
  CHECK(names(innermost, innermost.inputs) == Names{"p", "x"});
}

TEST_CASE("A name made inside a body hides the same name outside") {
  const auto graph = read(R"(g (bool c, float[2] x) => (float[2] y) {
    t = Neg(x)
    y = If(c) <then_branch = a () => (z) { t = Abs(x)  z = Neg(t) }, else_branch = b () => (z) { z = Neg(t) }> })");
  const auto& node = graph.nodes[1];
  CHECK(names(graph, node.inputs) == Names{"c", "x", "t"});
  const auto& hiding = body(node, "then_branch");
  CHECK(hiding.nodes[1].inputs == hiding.nodes[0].outputs);
  CHECK(hiding.nodes[1].inputs[0] != hiding.inputs[1]);
}

TEST_CASE("A body may give a captured value back, and needs no types") {
  const auto graph = read(R"(g (bool c, float[2] x) => (float[2] y) {
    y = If(c) <then_branch = a () => (x) { }, else_branch = b () => (z) { z = Neg(x) }> })");
  const auto& direct = body(graph.nodes[0], "then_branch");
  CHECK(direct.outputs == direct.inputs);
}

TEST_CASE("Initializers of bodies, listed as inputs or not, are no inputs") {
  auto model = model_of(R"(g (bool c, float[1] x) => (float[1] y) {
    y = If(c) <then_branch = a () => (z) { z = Add(x, w) }, else_branch = b () => (z) { z = Neg(x) }> })");
  auto& inside = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto& tensor = *inside.add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_dims(1);
  tensor.add_float_data(5);
  inside.add_input()->set_name("w");
  const auto graph = read(model);
  CHECK(graph.nodes[0].captured == 1);
  const auto& branch = body(graph.nodes[0], "then_branch");
  CHECK(names(branch, branch.inputs) == Names{"x"});
  CHECK(support::values(*support::find_initializer(branch, "w")) == std::vector<float>{5});
}

TEST_CASE("Intermediate values of types that amct lacks are left to the operators that make them") {
  auto model = model_of("g (float[1] x) => (float[1] y) { a = Cast<to = 16>(x)  y = Cast<to = 1>(a) }");
  auto& info = *model.mutable_graph()->add_value_info();
  info.set_name("a");
  info.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::BFLOAT16);
  CHECK(read(model).nodes.size() == 2);
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      ::onnx::TensorProto::BFLOAT16);
  const auto error = error_of([&] { (void)read(model); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().tensor == "y");
  CHECK(support::contains(error->message(), "BFLOAT16"));
}

TEST_CASE("A graph output that is an input, and one that is listed twice, are kept") {
  const auto graph = read("g (float[1] x) => (float[1] x, float[1] y, float[1] y) { y = Abs(x) }");
  CHECK(names(graph, graph.outputs) == Names{"x", "y", "y"});
  CHECK(graph.outputs[0] == graph.inputs[0]);
}

TEST_CASE("Outputs that nothing makes are refused, in bodies too") {
  const auto check_refused = [](const std::string& text, const std::string& tensor, const std::string& message) {
    const auto error = error_of([&] { (void)read(text); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_corrupt);
    CHECK(error->where().tensor == tensor);
    CHECK(error->message() == message);
  };
  check_refused("g (float[1] x) => (float[1] ghost) { y = Abs(x) }", "ghost",
                "is an output of the graph, but nothing makes it before");
  const std::string branch = R"(g (bool c, float[1] x) => (float[1] y) {
    y = If(c) <then_branch = a () => (later) { }, else_branch = b () => (z) { z = Neg(x) }> )";
  check_refused(branch + "}", "later", "is read in a body, but nothing makes it before");
  check_refused(branch + "later = Abs(x) }", "later", "is read in a body, but nothing makes it before");
}

TEST_CASE("Inputs, outputs and initializers without a name are refused, noted types without one passed over") {
  const auto sound = model_of("g (float[2] x) => (float[2] y) { y = Neg(x) }");
  for (const int part : {0, 1, 2}) {
    auto model = sound;
    auto& graph = *model.mutable_graph();
    if (part == 0) graph.mutable_input(0)->clear_name();
    if (part == 1) graph.mutable_output(0)->clear_name();
    if (part == 2) {
      auto& tensor = *graph.add_initializer();
      tensor.set_data_type(::onnx::TensorProto::FLOAT);
      tensor.add_dims(1);
      tensor.add_float_data(1.0F);
    }
    CAPTURE(part);
    const auto error = error_of([&] { (void)read(model); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_corrupt);
    CHECK(error->message() == "an input, an output or an initializer of a graph has no name");
  }
  auto noted = sound;
  *noted.mutable_graph()->add_value_info() = sound.graph().input(0);
  noted.mutable_graph()->mutable_value_info(0)->clear_name();
  CHECK(read(noted).nodes.size() == 1);
}

TEST_CASE("Types that a body notes for values that it does not have are passed over") {
  auto model = model_of(R"(g (bool c, float[1] x) => (float[1] y) {
    y = If(c) <then_branch = a () => (z) { z = Abs(x) }, else_branch = b () => (z) { z = Neg(x) }> })");
  auto& info = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->add_value_info();
  info = model.graph().input(1);
  info.set_name("ghost");
  CHECK(read(model).nodes[0].captured == 1);
}

TEST_CASE("Empty outputs at the end are dropped") {
  auto model = model_of("g (float[1] x) => (float[1] y) { y = Own(x) }");
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.add_output("");
  node.add_output("");
  CHECK(read(model).nodes[0].outputs.size() == 1);
  node.set_output(2, "third");
  const auto graph = read(model);
  REQUIRE(graph.nodes[0].outputs.size() == 3);
  CHECK(graph.nodes[0].outputs[1] == graph::kNoValue);
}

TEST_CASE("Attributes of kinds that amct lacks are refused with their node") {
  auto model = model_of("g (float[1] x) => (float[1] y) { y = Own(x) }");
  auto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("kind");
  attribute.set_type(::onnx::AttributeProto::TYPE_PROTO);
  const auto error = error_of([&] { (void)read(model); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "Own_0");
  CHECK(error->where().field == "kind");
  CHECK(support::contains(error->message(), "TYPE_PROTO"));
}
