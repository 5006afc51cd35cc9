// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/passes/group_composites.hpp>

namespace amct::exec::ops {

/// A layer of several nodes, see graph::group_composites: runs what is inside.
inline void composite(const OpContext& context) {
  std::vector<Tensor> results = context.run_body("body", {context.inputs.begin(), context.inputs.end()});
  if (results.size() != 1 || context.outputs.size() != 1) {
    context.fail("its body has " + std::to_string(results.size()) + " results, expected one");
  }
  context.outputs[0] = std::move(results[0]);
}

inline void add_composite(OpSet& set) {
  for (const auto type : graph::kCompositeTypes) {
    set.add(std::string(graph::kCompositeDomain) + ':' + std::string(type), composite);
  }
}

}  // namespace amct::exec::ops
