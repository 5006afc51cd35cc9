// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <amct/exec/node_evaluator.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/passes/chunk_to_split.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/fuse_norm_affine.hpp>
#include <amct/graph/passes/matmul_to_gemm.hpp>
#include <amct/graph/passes/remove_no_ops.hpp>
#include <amct/graph/passes/swap_matmul_operands.hpp>

namespace amct::flow {

/// What simplify() may do beyond what suits every network.
struct SimplifyOptions {
  graph::WideLinear wide_linear = graph::WideLinear::kept;  ///< fully connected layers on more than two axes
  std::vector<std::string> swap{};  ///< MatMul nodes whose operands change places, by any of their names
};

/// What one pass did.
struct PassRun {
  std::string pass{};
  graph::PassReport report{};
};

/// Takes out of a float network what quantization tools and compilers stumble over, and leaves what it computes equal
/// up to rounding: constants are folded, nodes that do nothing removed, torch's chunk becomes Split, arithmetic goes
/// into a BatchNormalization that stands alone, MatMul and Add become Gemm. \param ops  the operators that compute
/// constants, usually exec::builtin_ops() \throws Error config_layer for an entry of `swap` that names no node, or
/// several
inline std::vector<PassRun> simplify(graph::Graph& graph, const exec::OpSet& ops, const SimplifyOptions& options = {}) {
  const graph::ModuleNames names(graph);
  std::vector<std::string> swapped;
  for (const auto& name : options.swap) swapped.push_back(names.resolve(name));
  std::vector<PassRun> runs;
  const auto add = [&](const char* pass, graph::PassReport report) { runs.push_back({pass, std::move(report)}); };
  add("fold_constants", graph::fold_constants(graph, exec::node_evaluator(ops)));
  add("remove_no_ops", graph::remove_no_ops(graph));
  add("chunk_to_split", graph::chunk_to_split(graph));
  add("fuse_norm_affine", graph::fuse_norm_affine(graph));
  add("matmul_to_gemm", graph::matmul_to_gemm(graph, options.wide_linear));
  if (!swapped.empty()) add("swap_matmul_operands", graph::swap_matmul_operands(graph, swapped));
  return runs;
}

}  // namespace amct::flow
