// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/export.hpp>

#include <doctest/doctest.h>

#include <amct/onnx/import.hpp>

#include "onnx/model_builder.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_dir.hpp"

using namespace amct;
using support::floats;
using support::GraphBuilder;
using support::ModelBuilder;
using support::name_of;
using support::node_names;
using support::TempDir;
using support::values;
using Names = std::vector<std::string>;

namespace {

graph::Graph small() {
  auto graph = GraphBuilder()
                   .opset(15)
                   .input("x", {1, 2})
                   .initializer("w", floats({2, 1}, {1, 2}))
                   .initializer("low", Tensor::scalar(-1.0F))
                   .initializer("unread", floats({1}, {1}))
                   .node("MatMul", "mm", {"x", "w"}, "m")
                   .node("Clip", "clip", {"m", "low"}, "y")
                   .output("y")
                   .build();
  graph.name = "small";
  graph.value(graph.outputs[0]).shape = std::vector<graph::Dim>{{1, {}}, {-1, "M"}};
  return graph;
}

}  // namespace

TEST_CASE("A model message has producer, versions, inputs, outputs and nodes of the graph") {
  const auto model = amct::onnx::to_model(small());
  CHECK(model.producer_name() == "amct");
  CHECK(model.producer_version() == kVersion);
  CHECK(model.ir_version() == 7);
  REQUIRE(model.opset_import_size() == 1);
  CHECK(model.opset_import(0).domain().empty());
  CHECK(model.opset_import(0).version() == 15);
  CHECK(model.graph().name() == "small");
  REQUIRE(model.graph().input_size() == 1);
  CHECK(model.graph().input(0).name() == "x");
  CHECK(model.graph().input(0).type().tensor_type().elem_type() == ::onnx::TensorProto::FLOAT);
  CHECK(model.graph().input(0).type().tensor_type().shape().dim(1).dim_value() == 2);
  CHECK(model.graph().output(0).type().tensor_type().shape().dim(1).dim_param() == "M");
  REQUIRE(model.graph().node_size() == 2);
  CHECK(model.graph().node(0).name() == "mm");
  CHECK(model.graph().node(1).op_type() == "Clip");
  CHECK(model.graph().node(1).input(1) == "low");
}

TEST_CASE("Initializers that nothing reads are left out") {
  const auto model = amct::onnx::to_model(small());
  Names names;
  for (const auto& tensor : model.graph().initializer()) names.push_back(tensor.name());
  CHECK(names == Names{"w", "low"});
}

TEST_CASE("A graph without a name gets one, since ONNX wants it") {
  auto graph = small();
  graph.name.clear();
  CHECK(amct::onnx::to_model(graph).graph().name() == "amct");
}

TEST_CASE("A written model is read back as the same graph") {
  const TempDir folder;
  const auto graph = small();
  amct::onnx::export_model(folder / "m.onnx", graph);
  const auto back = amct::onnx::import_model(folder / "m.onnx");
  CHECK(back.name == graph.name);
  CHECK(back.opset == graph.opset);
  CHECK(back.ir_version == graph.ir_version);
  CHECK(node_names(back) == node_names(graph));
  CHECK(name_of(back, back.inputs[0]) == "x");
  CHECK(*back.value(back.inputs[0]).shape == *graph.value(graph.inputs[0]).shape);
  CHECK(*back.value(back.outputs[0]).shape == *graph.value(graph.outputs[0]).shape);
  CHECK(values(*support::find_initializer(back, "w")) == std::vector<float>{1, 2});
  CHECK(support::find_initializer(back, "low")->shape() == Shape{});
  CHECK(amct::onnx::to_model(back).SerializeAsString() == amct::onnx::to_model(graph).SerializeAsString());
}

TEST_CASE("Attributes of all types and missing inputs survive writing and reading") {
  auto graph = GraphBuilder()
                   .input("x", {1})
                   .node("Own", "own", {"", "x"}, "y",
                         {{"i", std::int64_t{-3}},
                          {"f", 0.1F},
                          {"s", std::string("a\nb")},
                          {"is", std::vector<std::int64_t>{1, -2}},
                          {"fs", std::vector<float>{0.5F}},
                          {"ss", Names{"p", "q"}},
                          {"t", support::int64s({7, 8})}})
                   .output("y")
                   .build();
  const auto message = amct::onnx::to_model(graph).graph().node(0);
  CHECK(message.input(0).empty());
  CHECK(message.input(1) == "x");
  REQUIRE(message.attribute_size() == 7);
  const auto read = [&](int i) { return amct::onnx::detail::from_onnx(message.attribute(i), "own"); };
  CHECK(std::get<std::int64_t>(read(0)) == -3);
  CHECK(std::get<float>(read(1)) == 0.1F);
  CHECK(std::get<std::string>(read(2)) == "a\nb");
  CHECK(std::get<std::vector<std::int64_t>>(read(3)) == std::vector<std::int64_t>{1, -2});
  CHECK(std::get<std::vector<float>>(read(4)) == std::vector<float>{0.5F});
  CHECK(std::get<Names>(read(5)) == Names{"p", "q"});
  CHECK(values<std::int64_t>(std::get<Tensor>(read(6))) == std::vector<std::int64_t>{7, 8});
}

TEST_CASE("Every domain that nodes use is declared") {
  auto graph = GraphBuilder().input("x", {1}).node("Own", "own", {"x"}, "y").output("y").build();
  graph.nodes[0].domain = "com.example";
  graph.value(graph.outputs[0]).shape = std::vector<graph::Dim>{{1, {}}};
  const auto model = amct::onnx::to_model(graph);
  Names domains;
  for (const auto& entry : model.opset_import()) domains.push_back(entry.domain());
  CHECK(domains == Names{"", "com.example"});
}

TEST_CASE("A model of an old file format is written so that it can be read again") {
  // Up to IR version 3 every initializer must also be an input.
  const TempDir folder;
  ModelBuilder(11, 3)
      .input("x", {1, 2})
      .input("w", {2, 1})
      .output("y", {1, 1})
      .initializer("w", {2, 1}, {1, 2})
      .node("MatMul", "mm", {"x", "w"}, {"y"})
      .save(folder / "old.onnx");
  const auto graph = amct::onnx::import_model(folder / "old.onnx");
  amct::onnx::export_model(folder / "new.onnx", graph);
  const auto error = support::error_of([&] { (void)amct::onnx::import_model(folder / "new.onnx"); });
  INFO((error ? std::string(error->what()) : std::string()));
  CHECK_FALSE(error);
}

TEST_CASE("A file that cannot be written is refused and leaves nothing behind") {
  const TempDir folder;
  std::filesystem::create_directories(folder / "m.onnx/inside");
  const auto error = support::error_of([&] { amct::onnx::export_model(folder / "m.onnx", small()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io_write);
  CHECK(error->where().file == (folder / "m.onnx").string());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}
