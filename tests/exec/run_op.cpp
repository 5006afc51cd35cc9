// SPDX-License-Identifier: Apache-2.0
#include "exec/run_op.hpp"

#include <amct/exec/interpreter.hpp>

namespace support {

amct::Tensor run_graph(const amct::graph::Graph& graph, const std::vector<amct::Tensor>& inputs) {
  return amct::exec::Interpreter(graph).run(inputs).at(0);
}

}  // namespace support
