// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/node_evaluator.hpp>

#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "support/ops.hpp"

using namespace amct;

TEST_CASE("A node of constants is computed; what cannot be done gives nothing") {
  const auto graph = support::GraphBuilder()
                         .input("a")
                         .input("b")
                         .node("Add", "add", {"a", "b"}, "c")
                         .node("Unheard", "odd", {"a"}, "d")
                         .output("c")
                         .output("d")
                         .build();
  const auto evaluate = exec::node_evaluator(support::ops());
  const Tensor one = support::floats({2}, {1, 2});
  const Tensor other = support::floats({2}, {10, 20});
  const Tensor misfit = support::floats({3}, {1, 2, 3});
  const std::vector<const Tensor*> fitting{&one, &other};
  const auto result = evaluate(graph, graph.nodes[0], fitting);
  REQUIRE(result);
  CHECK(support::values(result->at(0)) == std::vector<float>{11, 22});
  const std::vector<const Tensor*> misfits{&one, &misfit};
  CHECK_FALSE(evaluate(graph, graph.nodes[0], misfits));
  const std::vector<const Tensor*> single{&one};
  CHECK_FALSE(evaluate(graph, graph.nodes[1], single));
}
