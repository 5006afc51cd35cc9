// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/session.hpp>

#include <doctest/doctest.h>

#include <set>

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
