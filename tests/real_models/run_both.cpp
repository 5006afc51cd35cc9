// SPDX-License-Identifier: Apache-2.0
#include "real_models/run_both.hpp"

#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>

#include <amct/exec/interpreter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/import.hpp>

#include "support/ops.hpp"

namespace real_models {

namespace {

using amct::Tensor;

std::vector<std::vector<Tensor>> run_ours(const peer::Job& job) {
  const amct::graph::Graph graph = amct::onnx::import_model(job.model);
  const amct::exec::Interpreter interpreter(graph, support::ops());
  std::vector<std::vector<Tensor>> results;
  std::map<std::string, Tensor> carried;
  for (const auto& given : job.runs) {
    std::vector<Tensor> inputs;
    for (const auto id : graph.inputs) {
      const std::string& name = graph.value(id).name;
      const auto found = given.find(name);
      inputs.push_back(found != given.end() ? found->second : carried.at(name));
    }
    results.push_back(interpreter.run(inputs));
    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
      const auto goes_to = job.carry.find(graph.value(graph.outputs[o]).name);
      if (goes_to != job.carry.end()) carried[goes_to->second] = results.back()[o];
    }
  }
  return results;
}

}  // namespace

std::filesystem::path folder() {
  const char* chosen = std::getenv("AMCT_REAL_MODELS");
  return chosen != nullptr ? chosen : AMCT_DEFAULT_REAL_MODELS;
}

Tensor read_input(const std::string& name) { return amct::interop::read_npy(folder() / "inputs" / name); }

peer::Distance Both::distance(std::size_t output) const {
  peer::Distance distance;
  for (std::size_t r = 0; r < theirs.size(); ++r) distance.add(ours.at(r).at(output), theirs[r].at(output));
  return distance;
}

Both run_both(const peer::Job& job) { return {run_ours(job), peer::run_onnxruntime(job)}; }

}  // namespace real_models
