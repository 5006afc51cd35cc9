// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/import.hpp>

#include <amct/exec/interpreter.hpp>

#include <doctest/doctest.h>

#include "onnx/model_builder.hpp"
#include "onnx/model_text.hpp"
#include "support/graph_builder.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::ModelBuilder;
using support::name_of;
using support::node_names;
using support::TempDir;
using support::values;
using Attribute = ::onnx::AttributeProto;
using Names = std::vector<std::string>;

namespace {

ModelBuilder gemm_net(std::int64_t opset = 13) {
  return ModelBuilder(opset)
      .input("x", {-1, 2})
      .output("y", {-1, 1})
      .initializer("w", {2, 1}, {0.5F, -1})
      .node("MatMul", "mm", {"x", "w"}, {"m"})
      .node("Relu", "relu", {"m"}, {"y"});
}
graph::Graph import(const ModelBuilder& builder, const amct::onnx::InputShapes& shapes = {}) {
  const TempDir folder;
  builder.save(folder / "net.onnx");
  return amct::onnx::import_model(folder / "net.onnx", shapes);
}
/// The error of importing a model; its text must name the file.
Error refused(const ModelBuilder& builder, const amct::onnx::InputShapes& shapes = {}) {
  const auto error = error_of([&] { (void)import(builder, shapes); });
  REQUIRE(error);
  CHECK(contains(error->where().file, "net.onnx"));
  CHECK_FALSE(contains(error->what(), "\n"));
  return *error;
}

}  // namespace

TEST_CASE("A model becomes a graph of the same nodes, values and constants") {
  const auto graph = import(gemm_net(12));
  CHECK(graph.name == "net");
  CHECK(graph.opset == 12);
  CHECK(graph.ir_version == 7);
  CHECK(node_names(graph) == Names{"mm", "relu"});
  REQUIRE(graph.inputs.size() == 1);
  CHECK(name_of(graph, graph.inputs[0]) == "x");
  CHECK(*graph.value(graph.inputs[0]).shape == std::vector<graph::Dim>{{-1, "N"}, {2, {}}});
  CHECK(name_of(graph, graph.outputs[0]) == "y");
  CHECK(graph.nodes[0].op_type == "MatMul");
  CHECK(name_of(graph, graph.nodes[0].inputs[1]) == "w");
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
  CHECK(values(*support::find_initializer(graph, "w")) == std::vector<float>{0.5F, -1});
}

TEST_CASE("Initializers that are listed as inputs are not inputs of the graph") {
  auto builder = gemm_net().input("w", {2, 1});
  const auto graph = import(builder);
  REQUIRE(graph.inputs.size() == 1);
  CHECK(name_of(graph, graph.inputs[0]) == "x");
  CHECK(support::find_initializer(graph, "w") != nullptr);
}

TEST_CASE("Nodes without a name are called by operator and index, repeated names get a number") {
  const auto graph = import(ModelBuilder()
                                .input("x", {1})
                                .output("e", {1})
                                .node("Relu", "", {"x"}, {"a"})
                                .node("Neg", "same", {"a"}, {"b"})
                                .node("Relu", "", {"b"}, {"c"})
                                .node("Neg", "same", {"c"}, {"d"})
                                .node("Neg", "same", {"d"}, {"e"}));
  CHECK(node_names(graph) == Names{"Relu_0", "same", "Relu_2", "same_2", "same_3"});
}

TEST_CASE("A name given in the file is kept even if an unnamed node would be called the same") {
  const auto graph = import(ModelBuilder()
                                .input("x", {1})
                                .output("b", {1})
                                .node("Relu", "", {"x"}, {"a"})
                                .node("Neg", "Relu_0", {"a"}, {"b"}));
  CHECK(graph.nodes[1].name == "Relu_0");
  CHECK(graph.nodes[0].name != "Relu_0");
}

TEST_CASE("Optional inputs that are left empty are kNoValue") {
  const auto graph = import(ModelBuilder()
                                .input("x", {1})
                                .output("y", {1})
                                .initializer("high", {}, {1})
                                .node("Clip", "clip", {"x", "", "high"}, {"y"}));
  REQUIRE(graph.nodes[0].inputs.size() == 3);
  CHECK(graph.nodes[0].inputs[1] == graph::kNoValue);
  CHECK(name_of(graph, graph.nodes[0].inputs[2]) == "high");
}

TEST_CASE("Attributes of all supported types are read") {
  auto builder = ModelBuilder().input("x", {1}).output("y", {1}).node("Own", "own", {"x"}, {"y"});
  builder.graph().mutable_node(0)->set_domain("com.example");
  auto& domain = *builder.model().add_opset_import();
  domain.set_domain("com.example");
  domain.set_version(1);
  builder.attribute("i", Attribute::INT).set_i(-3);
  builder.attribute("f", Attribute::FLOAT).set_f(0.25F);
  builder.attribute("s", Attribute::STRING).set_s("text");
  auto& ints = builder.attribute("is", Attribute::INTS);
  ints.add_ints(1);
  ints.add_ints(2);
  builder.attribute("fs", Attribute::FLOATS).add_floats(0.5F);
  builder.attribute("ss", Attribute::STRINGS).add_strings("a");
  auto& tensor = *builder.attribute("t", Attribute::TENSOR).mutable_t();
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_dims(1);
  tensor.add_int64_data(9);

  const auto graph = import(builder);
  const auto& node = graph.nodes[0];
  CHECK(node.domain == "com.example");
  CHECK(node.attribute_or<std::int64_t>("i", 0) == -3);
  CHECK(node.attribute_or<float>("f", 0) == 0.25F);
  CHECK(node.attribute_or<std::string>("s", "") == "text");
  CHECK(node.attribute_or<std::vector<std::int64_t>>("is", {}) == std::vector<std::int64_t>{1, 2});
  CHECK(node.attribute_or<std::vector<float>>("fs", {}) == std::vector<float>{0.5F});
  CHECK(node.attribute_or<std::vector<std::string>>("ss", {}) == Names{"a"});
  REQUIRE(node.attribute<Tensor>("t") != nullptr);
  CHECK(values<std::int64_t>(*node.attribute<Tensor>("t")) == std::vector<std::int64_t>{9});
}

TEST_CASE("The domain ai.onnx is the default domain") {
  auto builder = gemm_net();
  builder.model().mutable_opset_import(0)->set_domain("ai.onnx");
  for (auto& node : *builder.graph().mutable_node()) node.set_domain("ai.onnx");
  const auto graph = import(builder);
  CHECK(graph.opset == 13);
  CHECK(graph.nodes[0].domain.empty());
}

TEST_CASE("Opsets from 7 to 17 are read, others refused; those below 11 become 13") {
  for (const std::int64_t opset : {11, 12, 13, 17}) CHECK(import(gemm_net(opset)).opset == opset);
  for (const std::int64_t opset : {7, 9, 10}) CHECK(import(gemm_net(opset)).opset == 13);
  for (const std::int64_t opset : {0, 6, 18}) {
    const Error error = refused(gemm_net(opset));
    CHECK(error.code() == ErrorCode::model_unsupported);
    CHECK(error.where().field == "opset_import");
    CHECK(contains(error.message(), "opset " + std::to_string(opset) + ", expected 7 to 17"));
  }
  auto none = gemm_net();
  none.model().clear_opset_import();
  CHECK(refused(none).code() == ErrorCode::model_unsupported);
}

TEST_CASE("Old opsets stay as they are on request, from the first one on") {
  using amct::onnx::OldOpset;
  for (const std::int64_t opset : {1, 6, 7, 10, 17}) {
    CHECK(support::import_message(gemm_net(opset).model(), OldOpset::keep).opset == opset);
  }
  auto first = gemm_net();
  first.model().set_ir_version(2);
  first.model().clear_opset_import();
  first.input("w", {2, 1});
  CHECK(support::import_message(first.model(), OldOpset::keep).opset == 1);
  const auto error = error_of([&] { (void)support::import_message(gemm_net(18).model(), OldOpset::keep); });
  REQUIRE(error);
  CHECK(contains(error->message(), "opset 18, expected 1 to 17"));
}

TEST_CASE("Functions are inlined, and their constants become weights") {
  const auto graph =
      support::import_message(support::model_of(R"(g (float[1, 2] x) => (float[1, 2] y) { y = local.layer(x) }
    <opset_import: ["": 13], domain: "local"> layer (v) => (r) {
      w = Constant<value = float[2, 2] {1.0, 2.0, 3.0, 4.0}>()  m = MatMul(v, w)  r = Relu(m)
    })"));
  CHECK(node_names(graph) == Names{"layer_0/MatMul_1", "layer_0/Relu_2"});
  CHECK(values(*support::find_initializer(graph, "layer_0/w")) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("Bodies are executed with what they capture") {
  const auto graph = support::import_message(support::model_of(R"(g (bool c, float[2] x) => (float[2] y) {
    w = Neg(x)
    y = If(c) <then_branch = t () => (z) { z = Add(x, w) }, else_branch = e () => (z) { z = Sub(x, w) }> })"));
  const amct::exec::Interpreter interpreter(graph, support::ops());
  const Tensor x = support::floats({2}, {1, 2});
  CHECK(values(interpreter.run({Tensor::scalar(true), x})[0]) == std::vector<float>{0, 0});
  CHECK(values(interpreter.run({Tensor::scalar(false), x})[0]) == std::vector<float>{2, 4});
}

TEST_CASE("Constants are read from files next to the model") {
  const TempDir folder;
  auto builder = gemm_net();
  auto& tensor = builder.tensor(0);
  tensor.clear_float_data();
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto& location = *tensor.add_external_data();
  location.set_key("location");
  location.set_value("w.bin");
  builder.save(folder / "net.onnx");
  const auto load = [&] { return amct::onnx::import_model(folder / "net.onnx"); };
  const auto missing = error_of([&] { (void)load(); });
  REQUIRE(missing);
  CHECK(missing->code() == ErrorCode::io_read);
  CHECK(missing->where().tensor == "w");
  CHECK(contains(missing->message(), "w.bin"));
  const float data[] = {3, 4};
  support::write_text(folder / "w.bin", std::string(reinterpret_cast<const char*>(data), sizeof(data)));
  CHECK(values(*support::find_initializer(load(), "w")) == std::vector<float>{3, 4});
}

TEST_CASE("Shapes of intermediate values are inferred, those of outputs stay as declared") {
  const auto graph = import(gemm_net());
  CHECK(*graph.value(graph.nodes[0].outputs[0]).shape == std::vector<graph::Dim>{{-1, "N"}, {1, {}}});
  auto vague = gemm_net();
  vague.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK_FALSE(import(vague).value(import(vague).outputs[0]).shape);
}

TEST_CASE("An input without a shape takes any") {
  auto builder = ModelBuilder().input("x", {}).output("y", {}).node("Relu", "relu", {"x"}, {"y"});
  builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK_FALSE(import(builder).value(import(builder).inputs[0]).shape);
  CHECK_FALSE(error_of([&] { (void)import(builder, {{"x", Shape{4, 2}}}); }));
}

TEST_CASE("Operators that nobody knows are read, and refused when they should run") {
  const auto graph = import(ModelBuilder().input("x", {1}).output("y", {1}).node("Nonsense", "n", {"x"}, {"y"}));
  CHECK(graph.nodes[0].op_type == "Nonsense");
  const auto error = error_of([&] { (void)amct::exec::Interpreter(graph, support::ops()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "n");
}

TEST_CASE("A model that is cut short anywhere is refused") {
  const TempDir folder;
  gemm_net().save(folder / "net.onnx");
  const std::string whole = support::read_text(folder / "net.onnx");
  REQUIRE(whole.size() > 100);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    support::write_text(folder / "short.onnx", whole.substr(0, length));
    CAPTURE(length);
    CHECK(error_of([&] { (void)amct::onnx::import_model(folder / "short.onnx"); }));
  }
}

TEST_CASE("What the ONNX checker finds is reported in one line") {
  SUBCASE("a value that nothing makes") {
    CHECK(refused(ModelBuilder().input("x", {1}).output("y", {1}).node("Add", "n", {"x", "ghost"}, {"y"})).code() ==
          ErrorCode::model_corrupt);
  }
  SUBCASE("a value made twice") {
    CHECK(refused(ModelBuilder()
                      .input("x", {1})
                      .output("y", {1})
                      .node("Relu", "a", {"x"}, {"y"})
                      .node("Neg", "b", {"x"}, {"y"}))
              .code() == ErrorCode::model_corrupt);
  }
  SUBCASE("nodes out of order") {
    CHECK(refused(ModelBuilder()
                      .input("x", {1})
                      .output("y", {1})
                      .node("Relu", "b", {"a"}, {"y"})
                      .node("Neg", "a", {"x"}, {"a"}))
              .code() == ErrorCode::model_corrupt);
  }
  SUBCASE("an initializer without a name") {
    CHECK(refused(gemm_net().initializer("", {1}, {1})).code() == ErrorCode::model_corrupt);
  }
}

TEST_CASE("Constants with a wrong amount of data are refused with their name") {
  auto builder = gemm_net();
  builder.tensor(0).clear_float_data();
  builder.tensor(0).add_float_data(1);
  const Error error = refused(builder);
  CHECK(error.code() == ErrorCode::model_corrupt);
  CHECK(contains(error.what(), "w"));
  auto raw = gemm_net();
  raw.tensor(0).clear_float_data();
  raw.tensor(0).set_raw_data("12345");
  CHECK(refused(raw).code() == ErrorCode::model_corrupt);
}

TEST_CASE("Element types that amct does not have are refused with the tensor") {
  const Error input = refused(ModelBuilder()
                                  .input("x", {1}, ::onnx::TensorProto::BFLOAT16)
                                  .output("y", {1}, ::onnx::TensorProto::BFLOAT16)
                                  .node("Relu", "r", {"x"}, {"y"}));
  CHECK(input.code() == ErrorCode::model_unsupported);
  CHECK(input.where().tensor == "x");
  CHECK(contains(input.message(), "BFLOAT16"));

  auto builder = gemm_net();
  builder.tensor(0).set_data_type(::onnx::TensorProto::BFLOAT16);
  builder.tensor(0).clear_float_data();
  builder.tensor(0).add_int32_data(0);
  builder.tensor(0).add_int32_data(0);
  const Error constant = refused(builder);
  CHECK(constant.code() == ErrorCode::model_unsupported);
  CHECK(constant.where().tensor == "w");

  ModelBuilder sequence;
  auto& info = *sequence.graph().add_input();
  info.set_name("s");
  info.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(
      ::onnx::TensorProto::FLOAT);
  sequence.output("y", {}, ::onnx::TensorProto::INT64).node("SequenceLength", "n", {"s"}, {"y"});
  const Error kind = refused(sequence);
  CHECK(kind.code() == ErrorCode::model_unsupported);
  CHECK(kind.where().tensor == "s");
  CHECK(contains(kind.message(), "is not a tensor"));
}

TEST_CASE("Input shapes that fit the model are accepted and leave the declared ones as they are") {
  const auto graph = import(gemm_net(), {{"x", Shape{4, 2}}});
  CHECK(*graph.value(graph.inputs[0]).shape == std::vector<graph::Dim>{{-1, "N"}, {2, {}}});
}

TEST_CASE("Input shapes that contradict the model are refused with both shapes") {
  for (const Shape& shape : {Shape{4, 3}, Shape{2}, Shape{1, 4, 2}}) {
    const Error error = refused(gemm_net(), {{"x", shape}});
    CHECK(error.code() == ErrorCode::model_shape);
    CHECK(error.where().tensor == "x");
    CHECK(error.where().field == "input_shape");
    CHECK(error.message() == "got " + to_string(shape) + ", expected [N,2]");
  }
  const Error unknown = refused(gemm_net(), {{"z", Shape{1}}});
  CHECK(unknown.code() == ErrorCode::model_shape);
  CHECK(unknown.where().tensor == "z");
  CHECK(contains(unknown.message(), "expected one of: x"));
}

TEST_CASE("Shapes that cannot work together are found before anything runs") {
  const Error declared = refused(ModelBuilder()
                                     .input("x", {1, 3})
                                     .output("y", {1, 1})
                                     .initializer("w", {2, 1}, {1, 1})
                                     .node("MatMul", "mm", {"x", "w"}, {"y"}));
  CHECK(declared.code() == ErrorCode::model_shape);

  const auto dynamic = ModelBuilder()
                           .input("x", {-1, -1})
                           .output("y", {-1, 1})
                           .initializer("w", {2, 1}, {1, 1})
                           .node("MatMul", "mm", {"x", "w"}, {"y"});
  CHECK_FALSE(error_of([&] { (void)import(dynamic, {{"x", Shape{5, 2}}}); }));
  const Error bound = refused(dynamic, {{"x", Shape{5, 3}}});
  CHECK(bound.code() == ErrorCode::model_shape);
}

TEST_CASE("A ConvTranspose whose weight lacks the axes of its window is refused, and crashes nothing") {
  const std::vector<std::pair<std::vector<std::int64_t>, std::size_t>> weights{{{}, 1}, {{4}, 4}, {{4, 2}, 8}};
  for (const auto& [dims, size] : weights) {
    const Error error = refused(ModelBuilder()
                                    .input("x", {1, 4, 3, 3})
                                    .initializer("w", dims, std::vector<float>(size, 1.0F))
                                    .node("ConvTranspose", "up", {"x", "w"}, {"y"})
                                    .output("y", {-1, -1, -1, -1}));
    CHECK(error.code() == ErrorCode::model_shape);
    CHECK(contains(error.message(), "node name: up"));
    CHECK(contains(error.message(), "the weight has " + std::to_string(dims.size()) + " axes, the data 4"));
  }
}

TEST_CASE("Quant nodes without an input, a parameter or a result are refused by name") {
  const auto net = [](const std::string& op_type, const Names& inputs, const Names& outputs) {
    return ModelBuilder()
        .input("x", {1})
        .output("y", {1})
        .initializer("p", {1}, {1})
        .node(op_type, "codes", inputs, outputs)
        .node("Relu", "relu", {"x"}, {"y"});
  };
  struct Case {
    const char* op_type;
    Names whole;
    std::vector<Names> broken;
  };
  const std::vector<Names> no_parameter{{}, {""}, {"x"}, {"x", ""}, {"", "p"}};
  for (const Case& node :
       {Case{"AscendQuant", {"x"}, {{}, {""}}}, Case{"AscendAntiQuant", {"x"}, {{}, {""}}},
        Case{"AscendDequant", {"x", "p"}, no_parameter}, Case{"AscendReQuant", {"x", "p"}, no_parameter}}) {
    CAPTURE(std::string(node.op_type));
    CHECK(import(net(node.op_type, node.whole, {"z"})).nodes.size() == 2);
    const auto check_refused = [&](const Names& inputs, const Names& outputs) {
      CAPTURE(inputs.size());
      const Error error = refused(net(node.op_type, inputs, outputs));
      CHECK(error.code() == ErrorCode::model_corrupt);
      CHECK(error.where().layer == "codes");
      CHECK(error.where().field == node.op_type);
    };
    for (const Names& inputs : node.broken) check_refused(inputs, {"z"});
    check_refused(node.whole, {""});
    check_refused(node.whole, {"z", "more"});
  }
}
