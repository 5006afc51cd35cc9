// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/graph/ir.hpp>
#include <amct/graph/passes/insert_dequant.hpp>
#include <amct/graph/passes/insert_quant.hpp>
#include <amct/graph/passes/normalize_gemm.hpp>
#include <amct/graph/passes/quantize_bias.hpp>
#include <amct/graph/passes/quantize_weights.hpp>
#include <amct/graph/passes/to_fake_quant.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// The network as AMCT deploys it: AscendQuant, integer weights and biases, AscendDequant around each layer of the
/// record. `graph` is a prepared float network (see prepare) and `record` fits it.
/// \throws Error numeric naming the layer if a bias does not fit int32
[[nodiscard]] inline graph::Graph deploy(graph::Graph graph, const Record& record) {
  graph::normalize_gemm(graph);
  graph::quantize_bias(graph, record);
  graph::quantize_weights(graph, record);
  graph::insert_quant(graph, record);
  graph::insert_dequant(graph, record);
  return graph;
}

/// The same network in standard ONNX operators on float tensors that hold integers; any ONNX runtime can run it.
[[nodiscard]] inline graph::Graph fake_quant(graph::Graph deployed) {
  graph::to_fake_quant(deployed);
  return deployed;
}

}  // namespace amct::flow
