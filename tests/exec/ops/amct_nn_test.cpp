// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"

using namespace amct;
using namespace support;

namespace {

Tensor run_pico(const std::string& op_type, const Tensor& x) {
  GraphBuilder builder;
  builder.input("x", x.shape()).node(op_type, "op", {"x"}, "y", {{"blocksize", 2}}).output("y");
  auto graph = builder.build();
  graph.nodes[0].domain = "pico_ops";
  return run_graph(graph, {x});
}

}  // namespace

TEST_CASE("Depth becomes space and back in the domain of hotwheels") {
  const Tensor depth = whole_numbers({1, 8, 2, 3}, 1);
  const Tensor space = run_pico("DepthToSpaceDCR", depth);
  const Tensor same = run_op("DepthToSpace", {depth}, {{"blocksize", 2}, {"mode", std::string("DCR")}});
  check_tensor(space, {1, 2, 4, 6}, values(same));
  check_tensor(run_pico("SpaceToDepth", space), depth.shape(), values(depth));
}
