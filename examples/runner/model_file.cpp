// SPDX-License-Identifier: Apache-2.0
#include "model_file.hpp"

#include <amct/onnx/import.hpp>

namespace runner {

amct::graph::Graph read_model(const std::string& file, const std::map<std::string, amct::Shape>& shapes) {
  return amct::onnx::import_model(file, shapes);
}

std::vector<std::pair<std::string, amct::ElementType>> inputs_of(const amct::graph::Graph& graph) {
  std::vector<std::pair<std::string, amct::ElementType>> inputs;
  for (const auto id : graph.inputs) inputs.emplace_back(graph.value(id).name, graph.value(id).type);
  return inputs;
}

}  // namespace runner
