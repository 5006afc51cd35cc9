// SPDX-License-Identifier: Apache-2.0
// The importer of ONNX models. What it accepts is written again, and what was written is read as the same graph; only
// where a graph was raised, its new form may show that shapes do not fit.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include <amct/core/error.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>

#include "fuzz/fuzz.hpp"

namespace {

using amct::onnx::OldOpset;

/// A file that every input goes through, in memory if there is /dev/shm.
const std::filesystem::path& file() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    return folder / ("amct_fuzz_" + std::to_string(::getpid()) + ".onnx");
  }();
  return path;
}

/// The graph, or the code of the refusal.
using Imported = std::variant<amct::graph::Graph, amct::ErrorCode>;

Imported import(const std::string& content, OldOpset old) {
  std::ofstream(file(), std::ios::binary) << content;
  try {
    return amct::onnx::import_model(file(), {}, old);
  } catch (const amct::Error& error) {
    fuzz::require(!error.message().empty(), "an error has a message");
    return error.code();
  }
}

bool is_shape_error(const Imported& imported) {
  const auto* code = std::get_if<amct::ErrorCode>(&imported);
  return code != nullptr && *code == amct::ErrorCode::model_shape;
}

void run(const std::string& content, OldOpset old) {
  const Imported first = import(content, old);
  const auto* graph = std::get_if<amct::graph::Graph>(&first);
  if (graph == nullptr) return;
  const std::string written = amct::onnx::to_model(*graph).SerializeAsString();
  const Imported second = import(written, old);
  const auto* again = std::get_if<amct::graph::Graph>(&second);
  const bool may_be_refused = old == OldOpset::raise && is_shape_error(second);
  fuzz::require(again != nullptr || may_be_refused, "what was written is accepted");
  if (again == nullptr) return;
  fuzz::require(again->nodes.size() == graph->nodes.size() && again->inputs.size() == graph->inputs.size() &&
                    again->outputs.size() == graph->outputs.size(),
                "what was written is the same graph");  // of which inference may know more the second time
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content = fuzz::text_of(data, size);
  run(content, OldOpset::raise);
  run(content, OldOpset::keep);
  return 0;
}
