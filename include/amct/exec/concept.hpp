// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// Watches an execution: called around every node, with the tensors it reads and has made. May throw to stop.
template <class H>
concept ExecHook = requires(H hook, const graph::Node& node, std::span<const Tensor* const> inputs,
                            std::span<const Tensor> outputs) {
  hook.before(node, inputs);
  hook.after(node, outputs);
};

/// Watches nothing.
struct NoHook {
  void before(const graph::Node&, std::span<const Tensor* const>) const noexcept {}
  void after(const graph::Node&, std::span<const Tensor>) const noexcept {}
};

}  // namespace amct::exec
