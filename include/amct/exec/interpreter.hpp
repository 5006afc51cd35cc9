// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/arena.hpp>
#include <amct/exec/concept.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// Runs a network node by node. The memory of each intermediate tensor is used again after its last reader, in the same
/// run and the next.
///
/// The graph must outlive the interpreter and not change meanwhile. One run at a time; the bodies of If, Loop and Scan
/// run without hooks.
class Interpreter {
 public:
  /// \param ops  the operators to run with, usually builtin_ops()
  /// \throws Error model_unsupported if the graph needs an operator that `ops` lacks
  Interpreter(const graph::Graph& graph, const OpSet& ops) : graph_(graph) {
    ops.require_all(graph);
    last_reader_.assign(graph.values.size(), kNever);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const graph::Node& node = graph.nodes[n];
      ops_.push_back(ops.make(graph, node));
      bodies_.emplace_back(node, ops);
      for (const auto id : node.inputs) {
        if (id != graph::kNoValue) last_reader_[index(id)] = n;
      }
    }
    for (const auto id : graph.outputs) last_reader_[index(id)] = graph.nodes.size();
  }

  /// Runs the network once.
  /// \param inputs one tensor a graph input, in the order of graph.inputs
  /// \return one tensor a graph output
  /// \throws Error model_shape, naming the node, if shapes do not fit
  template <ExecHook Hook = NoHook>
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, Hook&& hook = {}) const {
    std::vector<const Tensor*> pointers;
    for (const Tensor& input : inputs) pointers.push_back(&input);
    return run_borrowed(pointers, hook);
  }
  /// The same on tensors that somebody else holds.
  template <ExecHook Hook = NoHook>
  std::vector<Tensor> run_borrowed(std::span<const Tensor* const> inputs, Hook&& hook = {}) const {
    if (inputs.size() != graph_.inputs.size()) {
      throw Error(ErrorCode::model_shape, {},
                  "got " + std::to_string(inputs.size()) + " inputs, expected " + std::to_string(graph_.inputs.size()));
    }
    Run run{std::vector<Tensor>(graph_.values.size()), std::vector<const Tensor*>(graph_.values.size(), nullptr)};
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      if (graph_.values[v].initializer) run.tensors[v] = &*graph_.values[v].initializer;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) run.tensors[index(graph_.inputs[i])] = inputs[i];
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) run_node(n, run, hook);
    return take_outputs(run);
  }

  /// How much memory runs have taken so far, without inputs, initializers and what operators use inside.
  [[nodiscard]] const Arena& memory() const noexcept { return arena_; }

 private:
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  /// The state of one run.
  struct Run {
    std::vector<Tensor> made;            ///< by value: what nodes have made
    std::vector<const Tensor*> tensors;  ///< by value: what nodes read; null if not there (yet)
  };

  /// The bodies of one node, made ready once.
  class NodeBodies final : public BodyRunner {
   public:
    NodeBodies(const graph::Node& node, const OpSet& ops) {
      for (const auto& [name, value] : node.attributes) {
        if (const auto* body = std::get_if<graph::Body>(&value)) {
          bodies_.emplace(name, std::make_unique<Interpreter>(**body, ops));
        }
      }
    }
    [[nodiscard]] std::vector<Tensor> run(std::string_view name, std::span<const Tensor* const> inputs) const override {
      const auto found = bodies_.find(name);
      if (found == bodies_.end()) throw Error(ErrorCode::model_corrupt, {}, "has no body " + std::string(name));
      return found->second->run_borrowed(inputs);
    }
    [[nodiscard]] const BodyRunner* if_any() const noexcept { return bodies_.empty() ? nullptr : this; }

   private:
    std::map<std::string, std::unique_ptr<Interpreter>, std::less<>> bodies_;
  };

  static std::size_t index(graph::ValueId id) noexcept { return static_cast<std::size_t>(id); }

  template <ExecHook Hook>
  void run_node(std::size_t n, Run& run, Hook& hook) const {
    const graph::Node& node = graph_.nodes[n];
    if (node.outputs.empty()) return;  // makes nothing, so nobody can miss it
    std::vector<const Tensor*> inputs;
    for (const auto id : node.inputs) inputs.push_back(id == graph::kNoValue ? nullptr : run.tensors[index(id)]);
    hook.before(node, inputs);
    std::vector<Tensor> outputs(node.outputs.size());
    ops_[n]({.node = node,
             .opset = OpSet::version_of(graph_, node),
             .inputs = inputs,
             .outputs = outputs,
             .dying = dying_inputs(n, run),
             .arena = &arena_,
             .bodies = bodies_[n].if_any()});
    hook.after(node, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto id = node.outputs[i];
      if (id == graph::kNoValue || last_reader_[index(id)] == kNever) {
        arena_.give(outputs[i].release());
        continue;
      }
      run.made[index(id)] = std::move(outputs[i]);
      run.tensors[index(id)] = &run.made[index(id)];
    }
    for (const auto id : node.inputs) {
      if (id != graph::kNoValue && last_reader_[index(id)] == n) arena_.give(run.made[index(id)].release());
    }
  }

  /// The inputs of a node that no later node reads, which it may use up; null for the others.
  [[nodiscard]] std::span<Tensor* const> dying_inputs(std::size_t n, Run& run) const {
    const auto& inputs = graph_.nodes[n].inputs;
    dying_.assign(inputs.size(), nullptr);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == graph::kNoValue || last_reader_[index(inputs[i])] != n) continue;
      Tensor& made = run.made[index(inputs[i])];
      const bool read_once = std::count(inputs.begin(), inputs.end(), inputs[i]) == 1;
      if (read_once && run.tensors[index(inputs[i])] == &made) dying_[i] = &made;
    }
    return dying_;
  }

  [[nodiscard]] std::vector<Tensor> take_outputs(Run& run) const {
    std::vector<Tensor> outputs;
    for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
      const auto id = graph_.outputs[o];
      const Tensor* tensor = run.tensors[index(id)];
      if (tensor == nullptr) {
        throw Error(ErrorCode::model_corrupt, {.tensor = graph_.value(id).name},
                    "is a graph output that nothing makes");
      }
      const auto rest = graph_.outputs.begin() + static_cast<std::ptrdiff_t>(o) + 1;
      Tensor& made = run.made[index(id)];
      if (tensor != &made || std::find(rest, graph_.outputs.end(), id) != graph_.outputs.end()) {
        outputs.push_back(*tensor);
        continue;
      }
      arena_.forget(made.bytes());
      outputs.push_back(std::move(made));
    }
    return outputs;
  }

  const graph::Graph& graph_;
  std::vector<Op> ops_;                   ///< by node
  std::vector<NodeBodies> bodies_;        ///< by node
  std::vector<std::size_t> last_reader_;  ///< by value: position of the last node that reads it
  mutable Arena arena_;
  mutable std::vector<Tensor*> dying_;  ///< of the node that runs
};

}  // namespace amct::exec
