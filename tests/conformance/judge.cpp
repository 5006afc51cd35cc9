// SPDX-License-Identifier: Apache-2.0
#include "conformance/judge.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/import.hpp>
#include <amct/onnx/messages.hpp>

#include "conformance/compare.hpp"
#include "support/ops.hpp"

namespace conformance {

namespace {

using amct::Tensor;

template <class Message>
Message parse(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Message message;
  if (!message.ParseFromIstream(&file)) throw std::runtime_error(path.filename().string() + " cannot be parsed");
  return message;
}

std::int64_t opset_of(const std::filesystem::path& path) {
  const auto model = parse<::onnx::ModelProto>(path);
  for (const auto& entry : model.opset_import()) {
    if (entry.domain().empty() || entry.domain() == "ai.onnx") return entry.version();
  }
  return 0;
}

/// input_0.pb, input_1.pb ... or output_0.pb ...
std::vector<Tensor> read_tensors(const std::filesystem::path& data_set, const std::string& stem) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0;; ++i) {
    const auto path = data_set / (stem + '_' + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(path)) return tensors;
    tensors.push_back(amct::onnx::from_onnx(parse<::onnx::TensorProto>(path)));
  }
}

std::string run_data_set(const amct::exec::Interpreter& interpreter, const std::filesystem::path& data_set) {
  const auto expected = read_tensors(data_set, "output");
  const auto actual = interpreter.run(read_tensors(data_set, "input"));
  if (expected.empty() || actual.size() != expected.size()) {
    return "made " + std::to_string(actual.size()) + " outputs, expected " + std::to_string(expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string found = difference(expected[i], actual[i]);
    if (!found.empty()) return "output " + std::to_string(i) + ' ' + found;
  }
  return {};
}

/// Everything after the import. The graph keeps its opset or was raised to a newer one.
Verdict run(const amct::graph::Graph& graph, const std::filesystem::path& folder) {
  std::string missing;
  for (const auto& [op, node] : support::ops().missing(graph)) missing += (missing.empty() ? "" : "\n") + op;
  if (!missing.empty()) return {Outcome::unsupported, missing};
  const amct::exec::Interpreter interpreter(graph, support::ops());
  std::size_t data_sets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    ++data_sets;
    const std::string problem = run_data_set(interpreter, entry.path());
    if (!problem.empty()) return {Outcome::failed, entry.path().filename().string() + ": " + problem};
  }
  if (data_sets == 0) return {Outcome::failed, "has no data"};
  return {Outcome::passed, {}};
}

/// Imports a model in one of the ways and runs it.
Verdict import_and_run(const std::filesystem::path& folder, amct::onnx::OldOpset old) {
  std::optional<amct::graph::Graph> graph;
  try {
    graph = amct::onnx::import_model(folder / "model.onnx", {}, old);
  } catch (const amct::Error& error) {
    if (error.code() == amct::ErrorCode::model_unsupported) return {Outcome::unsupported, error.message()};
    throw;
  }
  return run(*graph, folder);
}

}  // namespace

Verdict judge(const std::filesystem::path& folder) {
  const Verdict verdict = import_and_run(folder, amct::onnx::OldOpset::keep);
  if (verdict.outcome != Outcome::passed) return verdict;
  const std::int64_t opset = opset_of(folder / "model.onnx");
  if (opset < amct::onnx::kFirstRaisedOpset || opset >= amct::onnx::kFirstKeptOpset) return verdict;
  const Verdict raised = import_and_run(folder, amct::onnx::OldOpset::raise);
  if (raised.outcome == Outcome::unsupported) return {Outcome::passed, "not when raised: " + raised.reason};
  return {raised.outcome, raised.reason.empty() ? "" : "when raised: " + raised.reason};
}

}  // namespace conformance
