// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <amct/onnx/import.hpp>

#include "support/temp_dir.hpp"

namespace support {

/// A model written in ONNX's text form: a graph, then functions.
[[nodiscard]] inline ::onnx::ModelProto model_of(
    const std::string& text, const std::string& head = R"(<ir_version: 8, opset_import: ["": 13, "local": 1]>)") {
  ::onnx::ModelProto model;
  const auto status = ::onnx::OnnxParser::Parse(model, (head + text).c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return model;
}
[[nodiscard]] inline ::onnx::ModelProto model_of_opset(int opset, const std::string& text) {
  return model_of(text, "<ir_version: 8, opset_import: [\"\": " + std::to_string(opset) + "]>");
}

/// Imports a message through a file.
[[nodiscard]] inline amct::graph::Graph import_message(const ::onnx::ModelProto& model,
                                                       amct::onnx::OldOpset old = amct::onnx::OldOpset::raise) {
  const TempDir folder;
  std::ofstream(folder / "net.onnx", std::ios::binary) << model.SerializeAsString();
  return amct::onnx::import_model(folder / "net.onnx", {}, old);
}

}  // namespace support
