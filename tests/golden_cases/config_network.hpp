// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/onnx/import.hpp>

namespace golden {

/// What a config is checked against.
struct ConfigNetwork {
  amct::LayerTable layers{};
  std::vector<std::string> nodes{};
};

[[nodiscard]] inline ConfigNetwork config_network(const std::filesystem::path& model) {
  amct::graph::Graph graph = amct::onnx::import_model(model);
  ConfigNetwork network;
  for (const auto& node : graph.nodes) network.nodes.push_back(node.name);
  amct::graph::fold_weight_transpose(graph);
  amct::graph::normalize_gemm(graph);
  network.layers = amct::graph::find_quantizable(graph, amct::rules_of(amct::Flavour::pytorch)).layers;
  return network;
}

/// All that a check found wrong, as one text.
[[nodiscard]] inline std::string text_of(const amct::Diagnostics& found) {
  std::string text;
  for (const auto& finding : found.all()) {
    if (finding.is_error) text += amct::Error(finding.code, finding.where, finding.message).what() + std::string("\n");
  }
  return text;
}

}  // namespace golden
