// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/parse_model.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "onnx/model_builder.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

using namespace amct;
using support::error_of;
using support::ModelBuilder;
using support::TempDir;

namespace {

ModelBuilder small() { return ModelBuilder().input("x", {1}).output("y", {1}).node("Relu", "relu", {"x"}, {"y"}); }

Error refused(const std::filesystem::path& path) {
  const auto error = error_of([&] { (void)amct::onnx::parse_model(path); });
  REQUIRE(error);
  CHECK(error->where().file == path.string());
  return *error;
}

}  // namespace

TEST_CASE("A model file is parsed") {
  const TempDir folder;
  small().save(folder / "net.onnx");
  CHECK(amct::onnx::parse_model(folder / "net.onnx").graph().node(0).name() == "relu");
}

TEST_CASE("Files that are missing, folders, and files that are no models are refused") {
  const TempDir folder;
  CHECK(refused(folder / "missing.onnx").code() == ErrorCode::io_read);
  CHECK(refused(folder.path()).code() == ErrorCode::io_read);
  support::write_text(folder / "text.onnx", "this is not a model");
  CHECK(refused(folder / "text.onnx").code() == ErrorCode::model_corrupt);
  support::write_text(folder / "empty.onnx", "");
  CHECK(refused(folder / "empty.onnx").code() == ErrorCode::model_corrupt);
}

TEST_CASE("A model with bytes behind its end is refused") {
  const TempDir folder;
  small().save(folder / "net.onnx");
  support::write_text(folder / "long.onnx", support::read_text(folder / "net.onnx") + std::string(4, '\0'));
  CHECK(refused(folder / "long.onnx").code() == ErrorCode::model_corrupt);
}

TEST_CASE("A file larger than protobuf's limit is refused before it is read") {
  const TempDir folder;
  support::write_text(folder / "large.onnx", "");
  std::filesystem::resize_file(folder / "large.onnx", amct::onnx::kMostModelBytes + 1);  // no blocks are written
  const Error error = refused(folder / "large.onnx");
  CHECK(error.code() == ErrorCode::model_unsupported);
  CHECK(support::contains(error.message(), "has 2147483648 bytes, an ONNX file can have 2147483647"));
}

TEST_CASE("Bodies nested too deep are refused") {
  const auto nested = [](int depth) {
    ModelBuilder builder = small();
    auto* graph = &builder.graph();
    for (int i = 0; i < depth; ++i) {
      auto& attribute = *graph->mutable_node(0)->add_attribute();
      attribute.set_name("body");
      attribute.set_type(::onnx::AttributeProto::GRAPH);
      graph = attribute.mutable_g();
      graph->add_node()->set_op_type("If");
    }
    return builder;
  };
  const TempDir folder;
  nested(20).save(folder / "deep.onnx");
  CHECK_FALSE(error_of([&] { (void)amct::onnx::parse_model(folder / "deep.onnx"); }));
  nested(21).save(folder / "deeper.onnx");
  CHECK(refused(folder / "deeper.onnx").code() == ErrorCode::model_corrupt);
}
