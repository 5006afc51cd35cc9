// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/session.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include <amct/flow/prepare.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

using namespace amct;
using amct::onnx::OutputFiles;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::TempDir;
using Names = std::vector<std::string>;

namespace {

flow::Prepared prepared(float bias = 1) {
  auto graph = GraphBuilder()
                   .input("x", {1, 2})
                   .initializer("w", floats({2, 1}, {1, -1}))
                   .initializer("b", floats({1}, {bias}))
                   .node("Gemm", "fc", {"x", "w", "b"}, "y")
                   .output("y")
                   .build();
  graph.value(graph.outputs[0]).shape = std::vector<graph::Dim>{{1, {}}, {1, {}}};
  return flow::prepare(std::move(graph), {}, support::ops());
}
const Record kRecord{{.name = "fc",
                      .scale_d = 0.5F,
                      .offset_d = 3,
                      .scale_w = {0.25F},
                      .offset_w = {0},
                      .act_type = "INT8",
                      .wts_type = "INT8"}};

std::set<std::string> files_in(const TempDir& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.is_regular_file()) names.insert(entry.path().filename().string());
  }
  return names;
}

std::string map_text(const graph::Graph& deployed) { return std::to_string(deployed.nodes.size()) + " nodes"; }

}  // namespace

TEST_CASE("File names follow from the save path") {
  const OutputFiles named("out/m");
  CHECK(named.deploy_model == "out/m_deploy_model.onnx");
  CHECK(named.fake_quant_model == "out/m_fake_quant_model.onnx");
  CHECK(named.record == "out/m_quant_param_record.txt");
  CHECK(named.map == "out/m_quant.json");
  CHECK(OutputFiles("out/").deploy_model == "out/deploy_model.onnx");
  CHECK(OutputFiles("").fake_quant_model == "fake_quant_model.onnx");
  CHECK(named.all().size() == 4);
  CHECK(named.qdq_model == "out/m_qdq_model.onnx");
}

TEST_CASE("Models are those that were chosen; record and map always are written") {
  const OutputFiles all("m", {.qdq = true});
  CHECK(all.all() == std::vector{all.deploy_model, all.fake_quant_model, all.qdq_model, all.record, all.map});
  const TempDir folder;
  const OutputFiles files((folder / "m").string(), {.deploy = false, .fake_quant = false, .qdq = true});
  amct::onnx::save_model(files, prepared().graph, kRecord, map_text);
  CHECK(files_in(folder) == std::set<std::string>{"m_qdq_model.onnx", "m_quant.json", "m_quant_param_record.txt"});
  const auto model = amct::onnx::import_model(files.qdq_model);
  CHECK(support::node_names(model) ==
        Names{"fc.quant", "fc.quant.dequant", "fc.weight.dequant", "fc.bias.dequant", "fc"});
  CHECK(model.opset == 13);
  CHECK(support::find_initializer(model, "fc.quant.zero_point")->type() == ElementType::int8);
}

TEST_CASE("INT4 weights of a qdq model are two codes a byte") {
  Record record = kRecord;
  record[0].wts_type = "INT4";
  const TempDir folder;
  const OutputFiles files((folder / "m").string(), {.qdq = true, .qdq_form = {.int4_weights = true}});
  amct::onnx::save_model(files, prepared().graph, record, map_text);
  ::onnx::ModelProto model;
  REQUIRE(model.ParseFromString(support::read_text(files.qdq_model)));
  CHECK(model.opset_import(0).version() == 21);
  CHECK(model.ir_version() == 10);
  std::map<std::string, std::string> int4;
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.data_type() == 22) int4[tensor.name()] = tensor.raw_data();
  }
  CHECK(int4 == std::map<std::string, std::string>{{"w", "\xC4"}, {"fc.weight.zero_point", std::string(1, '\0')}});
}

TEST_CASE("A qdq model has the opset that it needs") {
  const auto opset_of = [](std::int64_t opset, const char* type) {
    Record record = kRecord;
    record[0].act_type = type;
    auto graph = prepared().graph;
    graph.opset = opset;
    return amct::onnx::qdq(flow::deploy(graph, record), record).graph.opset;
  };
  CHECK(opset_of(11, "INT8") == 13);
  CHECK(opset_of(17, "INT8") == 17);
  CHECK(opset_of(13, "INT16") == 21);
}

TEST_CASE("A session writes deploy model, fake-quant model, record and map") {
  const TempDir folder;
  const OutputFiles files((folder / "new/m").string());
  amct::onnx::save_model(files, prepared().graph, kRecord, map_text);

  const auto record = protobuf::read_record(files.record);
  CHECK(record == kRecord);
  CHECK(support::read_text(files.map) == "3 nodes");

  const auto fake = amct::onnx::import_model(files.fake_quant_model);
  CHECK(fake.find_node("fc.quant.fakequant.mul") != nullptr);
  CHECK(fake.find_node("fc.fakedequant.mul") != nullptr);
  CHECK(support::values(*support::find_initializer(fake, "w")) == std::vector<float>{4, -4});

  ::onnx::ModelProto deploy;
  REQUIRE(deploy.ParseFromString(support::read_text(files.deploy_model)));
  Names names;
  for (const auto& node : deploy.graph().node()) names.push_back(node.name());
  CHECK(names == Names{"fc.quant", "fc", "fc.dequant"});
  CHECK(deploy.graph().output(0).name() == "y");
  std::set<std::string> types;
  for (const auto& tensor : deploy.graph().initializer()) {
    types.insert(tensor.name() + ' ' +
                 ::onnx::TensorProto::DataType_Name(static_cast<::onnx::TensorProto::DataType>(tensor.data_type())));
  }
  CHECK(types == std::set<std::string>{"w INT8", "b INT32", "fc.dequant.param UINT64"});
}

TEST_CASE("Older files are replaced") {
  const TempDir folder;
  const OutputFiles files((folder / "m").string());
  for (const auto& path : files.all()) support::write_text(path, "old");
  amct::onnx::save_model(files, prepared().graph, kRecord, map_text);
  for (const auto& path : files.all()) CHECK(support::read_text(path) != "old");
  CHECK(files_in(folder).size() == 4);
}

TEST_CASE("If one file cannot be written none is, whichever it is") {
  for (std::size_t blocked = 0; blocked < 4; ++blocked) {
    CAPTURE(blocked);
    const TempDir folder;
    const OutputFiles files((folder / "m").string());
    std::filesystem::create_directories(files.all()[blocked] / "inside");
    const auto error = error_of([&] { amct::onnx::save_model(files, prepared().graph, kRecord, map_text); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::io_write);
    CHECK(error->where().file == files.all()[blocked].string());
    CHECK(files_in(folder).empty());
  }
}

TEST_CASE("If one file cannot be written older ones keep their content") {
  for (std::size_t blocked = 0; blocked < 4; ++blocked) {
    CAPTURE(blocked);
    const TempDir folder;
    const OutputFiles files((folder / "m").string());
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == blocked) std::filesystem::create_directories(files.all()[i] / "inside");
      else support::write_text(files.all()[i], "old");
    }
    CHECK(error_of([&] { amct::onnx::save_model(files, prepared().graph, kRecord, map_text); }));
    for (std::size_t i = 0; i < 4; ++i) {
      if (i != blocked) CHECK(support::read_text(files.all()[i]) == "old");
    }
  }
}

TEST_CASE("A bias that does not fit int32 leaves no file behind") {
  const TempDir folder;
  const auto error = error_of(
      [&] { amct::onnx::save_model(OutputFiles((folder / "m").string()), prepared(1e30F).graph, kRecord, map_text); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::numeric);
  CHECK(error->where().layer == "fc");
  CHECK(files_in(folder).empty());
}

TEST_CASE("Flavour hotwheels writes a record with inputs, ReQuant, and packed weights of four bits") {
  const auto net = GraphBuilder()
                       .input("x", {1, 2})
                       .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
                       .node("MatMul", "a", {"x", "w"}, "h")
                       .node("Relu", "relu", {"h"}, "r")
                       .node("Add", "add", {"r", "r"}, "y")
                       .output("y")
                       .build();
  LayerRecord layer{.name = "a", .scale_w = {1.0F}, .offset_w = {0}, .num_bits_w = 4};
  layer.record_d.push_back({.scale_d = 0.5F, .offset_d = 1, .index = 0});
  LayerRecord add{.name = "add"};
  for (const std::int32_t index : {0, 1}) add.record_d.push_back({.scale_d = 0.25F, .offset_d = 0, .index = index});
  const TempDir folder;
  const OutputFiles files((folder / "m").string());
  amct::onnx::save_model(files, net, {layer, add}, map_text, amct::onnx::file_rules(rules_of(Flavour::hotwheels)));
  CHECK(support::contains(support::read_text(files.record), "record_d {"));
  const auto deploy = amct::onnx::parse_model(files.deploy_model);
  Names names;
  for (const auto& node : deploy.graph().node()) names.push_back(node.name());
  CHECK(names == Names{"a.quant", "a", "a.requant", "add.anti_quant", "add"});
  std::vector<std::string> halved;
  for (const auto& tensor : deploy.graph().initializer()) {
    if (tensor.dims_size() == 2 && tensor.dims(0) == 1 && tensor.dims(1) == 2) halved.push_back(tensor.name());
  }
  CHECK(halved == Names{"w"});

  const auto error = error_of([&] { amct::onnx::save_model(files, net, {layer, add}, map_text); });
  REQUIRE(error);  // the dialect pytorch has one scale a layer
  CHECK(error->code() == ErrorCode::record_value);
}

TEST_CASE("K25 the float model is the one that was read, and all models are raised to the opset that is asked for") {
  const TempDir folder;
  const OutputFiles files((folder / "m").string(), {.qdq = true, .float32 = true, .opset = 17});
  const auto original = GraphBuilder().input("x", {1, 2}).node("Relu", "relu", {"x"}, "y").output("y").build();
  amct::onnx::save_model(files, prepared().graph, kRecord, map_text, {}, &original);
  REQUIRE(files_in(folder).size() == 6);
  CHECK(amct::onnx::parse_model(files.float_model).graph().node(0).name() == "relu");
  for (const auto& path : {files.deploy_model, files.fake_quant_model, files.qdq_model, files.float_model}) {
    CHECK(amct::onnx::parse_model(path).opset_import(0).version() == 17);
  }
  const OutputFiles lower((folder / "m").string(), {.float32 = true, .opset = 12});
  const auto error = error_of([&] { amct::onnx::save_model(lower, prepared().graph, kRecord, map_text); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(amct::onnx::parse_model(files.deploy_model).opset_import(0).version() == 17);
}
