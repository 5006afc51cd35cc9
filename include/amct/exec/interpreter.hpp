// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/concept.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// Runs a network node by node. Each intermediate tensor is freed after its last reader.
///
/// The graph must outlive the interpreter and not change meanwhile.
class Interpreter {
 public:
  /// \throws Error model_unsupported if the graph needs an operator that `ops` lacks
  Interpreter(const graph::Graph& graph, OpSet ops) : graph_(graph), ops_(std::move(ops)) {
    ops_.require_all(graph);
    last_reader_.assign(graph.values.size(), kNever);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const auto id : graph.nodes[n].inputs) {
        if (id != graph::kNoValue) last_reader_[index(id)] = n;
      }
    }
    for (const auto id : graph.outputs) last_reader_[index(id)] = graph.nodes.size();
  }
  explicit Interpreter(const graph::Graph& graph) : Interpreter(graph, float_ops(graph.opset)) {}

  /// Runs the network once.
  /// \param inputs one tensor a graph input, in the order of graph.inputs
  /// \return one tensor a graph output
  /// \throws Error model_shape, naming the node, if shapes do not fit
  template <ExecHook Hook = NoHook>
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, Hook&& hook = {}) const {
    if (inputs.size() != graph_.inputs.size()) {
      throw Error(ErrorCode::model_shape, {},
                  "got " + std::to_string(inputs.size()) + " inputs, expected " + std::to_string(graph_.inputs.size()));
    }
    std::vector<std::optional<Tensor>> made(graph_.values.size());
    std::vector<const Tensor*> tensors(graph_.values.size(), nullptr);
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      if (graph_.values[v].initializer) tensors[v] = &*graph_.values[v].initializer;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) tensors[index(graph_.inputs[i])] = &inputs[i];
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      run_node(n, made, tensors, hook);
    }
    std::vector<Tensor> outputs;
    for (const auto id : graph_.outputs) {
      if (tensors[index(id)] == nullptr) {
        throw Error(ErrorCode::model_corrupt, {.tensor = graph_.value(id).name},
                    "is a graph output that nothing makes");
      }
      outputs.push_back(*tensors[index(id)]);
    }
    return outputs;
  }

 private:
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  static std::size_t index(graph::ValueId id) noexcept { return static_cast<std::size_t>(id); }

  template <ExecHook Hook>
  void run_node(std::size_t n, std::vector<std::optional<Tensor>>& made, std::vector<const Tensor*>& tensors,
                Hook& hook) const {
    const graph::Node& node = graph_.nodes[n];
    std::vector<const Tensor*> inputs;
    for (const auto id : node.inputs) inputs.push_back(id == graph::kNoValue ? nullptr : tensors[index(id)]);
    std::vector<Tensor> outputs(node.outputs.size());
    hook.before(node, inputs);
    ops_.find(node)({node, inputs, outputs});
    hook.after(node, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == graph::kNoValue || last_reader_[index(node.outputs[i])] == kNever) continue;
      auto& slot = made[index(node.outputs[i])];
      slot = std::move(outputs[i]);
      tensors[index(node.outputs[i])] = &*slot;
    }
    for (const auto id : node.inputs) {
      if (id != graph::kNoValue && last_reader_[index(id)] == n) made[index(id)].reset();
    }
  }

  const graph::Graph& graph_;
  OpSet ops_;
  std::vector<std::size_t> last_reader_;  ///< position of the last node that reads a value
};

}  // namespace amct::exec
