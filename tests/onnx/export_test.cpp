// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/export.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>

#include <amct/flow/deploy.hpp>
#include <amct/graph/passes/pack_int4_weights.hpp>
#include <amct/onnx/import.hpp>

#include "onnx/model_builder.hpp"
#include "onnx/model_text.hpp"
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
  amct::onnx::ExternalData data("net.onnx");
  const auto back = amct::onnx::read_graph(amct::onnx::to_model(graph), 13, data);
  const auto read = [&](std::size_t i) { return back.nodes[0].attributes[i].second; };
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

namespace {

/// `y = If(c){ Add(x, w) } else { Neg(x) }` with `w` made outside.
graph::Graph branching() {
  return support::import_message(support::model_of(R"(g (bool c, float[2] x) => (float[2] y) {
    w = Neg(x)
    y = If(c) <then_branch = t () => (z) { u = Abs(w)  z = Add(x, u) }, else_branch = e () => (z) { z = Neg(x) }> })"));
}
const graph::Body& body(const graph::Graph& graph, const char* name) {
  return *graph.nodes[1].attribute<graph::Body>(name);
}

}  // namespace

TEST_CASE("Bodies are written without what they capture, and read back the same") {
  const auto graph = branching();
  const auto model = amct::onnx::to_model(graph);
  const auto& node = model.graph().node(1);
  CHECK(node.input_size() == 1);
  CHECK(node.attribute(0).g().input_size() == 0);
  CHECK(node.attribute(0).g().node(0).input(0) == "w");
  CHECK(amct::onnx::to_model(support::import_message(model)).SerializeAsString() == model.SerializeAsString());
}

TEST_CASE("What a body captures is written under the name that it has outside by now") {
  auto graph = branching();
  graph.value(graph.nodes[0].outputs[0]).name = "renamed";
  const auto model = amct::onnx::to_model(graph);
  CHECK(model.graph().node(1).attribute(0).g().node(0).input(0) == "renamed");
  CHECK_FALSE(support::error_of([&] { (void)support::import_message(model); }));
}

TEST_CASE("A name inside a body that is taken outside by now is changed") {
  auto graph = branching();
  graph.value(graph.nodes[0].outputs[0]).name = "u";
  const auto model = amct::onnx::to_model(graph);
  const auto& inside = model.graph().node(1).attribute(0).g();
  CHECK(inside.node(0).input(0) == "u");
  CHECK(inside.node(0).output(0) == "u_2");
  CHECK(inside.node(1).input(1) == "u_2");
  CHECK_FALSE(support::error_of([&] { (void)support::import_message(model); }));
}

TEST_CASE("A body that gives a captured value back does so through an Identity") {
  auto graph = branching();
  auto changed = std::make_shared<graph::Graph>(*body(graph, "else_branch"));
  changed->outputs[0] = support::find_value(*changed, "x");
  graph.nodes[1].set_attribute("else_branch", graph::Body(changed));
  const auto model = amct::onnx::to_model(graph);
  const auto& inside = model.graph().node(1).attribute(1).g();
  CHECK(inside.output(0).name() == "x_out");
  CHECK(inside.node(1).op_type() == "Identity");
  CHECK_FALSE(support::error_of([&] { (void)support::import_message(model); }));
}

TEST_CASE("A body of a loop has its formal inputs and initializers") {
  const auto graph =
      support::import_message(support::model_of(R"(g (int64 n, bool k, float[2] x, float[2] s) => (float[2] y) {
    y = Loop(n, k, s) <body = b (int64 i, bool c, float[2] p) => (bool c, float[2] q) { q = Add(p, x) }> })"));
  auto changed = std::make_shared<graph::Graph>(**graph.nodes[0].attribute<graph::Body>("body"));
  changed->nodes[0].inputs[1] = graph::add_initializer(*changed, "w", floats({2}, {1, 2}));
  auto edited = graph;
  edited.nodes[0].set_attribute("body", graph::Body(changed));
  const auto model = amct::onnx::to_model(edited);
  const auto& inside = model.graph().node(0).attribute(0).g();
  REQUIRE(inside.input_size() == 3);
  CHECK(inside.input(0).type().tensor_type().elem_type() == ::onnx::TensorProto::INT64);
  CHECK(inside.initializer(0).name() == "w");
  CHECK(model.graph().node(0).input_size() == 3);
  CHECK_FALSE(support::error_of([&] { (void)support::import_message(model); }));
}

TEST_CASE("A body with fewer inputs than it captures is refused") {
  auto graph = branching();
  auto changed = std::make_shared<graph::Graph>(*body(graph, "else_branch"));
  changed->inputs.clear();
  graph.nodes[1].set_attribute("else_branch", graph::Body(changed));
  const auto error = support::error_of([&] { (void)amct::onnx::to_model(graph); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_corrupt);
}

TEST_CASE("A model that would pass the limit of protobuf is refused with its size, and no file is left") {
  const TempDir folder;
  const std::size_t bytes = amct::onnx::to_model(small()).ByteSizeLong();
  const auto write = [&](std::size_t limit) {
    AtomicFile file(folder / "m.onnx");
    amct::onnx::write_model(small(), file, limit);
    file.commit();
  };
  const auto error = support::error_of([&] { write(bytes - 1); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io_write);
  CHECK(support::contains(error->message(), "would have " + std::to_string(bytes) + " bytes, an ONNX file can have " +
                                                std::to_string(bytes - 1)));
  CHECK_FALSE(std::filesystem::exists(folder / "m.onnx"));
  write(bytes);
  CHECK(std::filesystem::file_size(folder / "m.onnx") == bytes);
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

namespace {

/// A deployed network with all of AMCT's nodes, each with all of its attributes, and 4-bit weights.
struct Deployed {
  Record record;
  graph::Graph graph;
};
Deployed deployed() {
  const auto net = GraphBuilder()
                       .input("x", {1, 2, 6})
                       .initializer("w", floats({2, 2, 3}, {1, -2, 3, 4, -5, 6, 7, -8, 9, 1, 2, 3}))
                       .initializer("v", floats({4, 2}, {1, -2, 3, 4, -5, 6, 7, -8}))
                       .initializer("u", floats({2, 3}, {1, 2, 3, 4, 5, 6}))
                       .node("Conv", "conv", {"x", "w"}, "c")
                       .node("Relu", "relu", {"c"}, "r")
                       .node("MatMul", "mm", {"r", "v"}, "m")
                       .node("MatMul", "last", {"m", "u"}, "l")
                       .node("Add", "add", {"l", "l"}, "y")
                       .output("y")
                       .build();
  const auto layer = [](const std::string& name, int bits, std::vector<float> scale_w) {
    LayerRecord entry{.name = name, .scale_w = std::move(scale_w)};
    entry.record_d.push_back({.scale_d = 0.5F, .offset_d = -3, .index = 0, .num_bits_d = bits});
    return entry;
  };
  Record record{layer("conv", 12, {0.1F, 0.2F}), layer("mm", 8, {1.0F}), layer("last", 8, {1.0F}), layer("add", 8, {})};
  record[0].num_bits_w = 4;
  record[0].params = {-85, -20, 0, 33, 90};
  record[0].shift_bit = {2};
  record[1].num_bits_w = 4;
  record[2].num_bits_w = 4;
  record[3].record_d.push_back({.scale_d = 0.25F, .offset_d = 7, .index = 1, .num_bits_d = 8});
  return {record, flow::deploy(net, record, {.merge_requant = true})};
}

}  // namespace

TEST_CASE("A deployed network comes back from its file with all of AMCT's nodes, attributes and shapes") {
  const auto [record, graph] = deployed();
  CHECK(node_names(graph) == Names{"conv.quant", "conv", "conv.requant", "mm", "mm.requant", "last", "last.requant",
                                   "last.requant_2", "add.anti_quant", "add.anti_quant.1", "add"});
  const TempDir folder;
  amct::onnx::export_model(folder / "deploy.onnx", graph::pack_int4_weights(graph, record));
  auto read = amct::onnx::import_model(folder / "deploy.onnx");
  const auto written = amct::onnx::to_model(graph);
  const auto again = amct::onnx::to_model(read);
  REQUIRE(again.graph().node_size() == written.graph().node_size());
  for (int i = 0; i < written.graph().node_size(); ++i) {
    CHECK(again.graph().node(i).SerializeAsString() == written.graph().node(i).SerializeAsString());
  }
  CHECK(support::find_initializer(read, "v")->shape() == Shape{2, 2});
  const auto accumulator = read.value(read.find_node("mm")->outputs[0]).shape;
  REQUIRE(accumulator);
  CHECK(*accumulator == std::vector<graph::Dim>{{1, {}}, {2, {}}, {2, {}}});
  graph::unpack_int4_weights(read);
  for (const char* weight : {"w", "v", "u"}) {
    CHECK(values<std::int8_t>(*support::find_initializer(read, weight)) ==
          values<std::int8_t>(*support::find_initializer(graph, weight)));
  }
}
