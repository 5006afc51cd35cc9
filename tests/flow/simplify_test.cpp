// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/simplify.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/exec/interpreter.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::floats;

namespace {

/// A Linear layer behind a multiplication by one, on a weight that is made of another.
graph::Graph net() {
  return support::GraphBuilder()
      .input("x", {2, 2})
      .initializer("one", floats({}, {1}))
      .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
      .initializer("b", floats({2}, {0.5F, -1}))
      .node("Mul", "scale", {"x", "one"}, "a")
      .node("Transpose", "turn", {"w"}, "v")
      .node("MatMul", "fc", {"a", "v"}, "h")
      .node("Add", "bias", {"h", "b"}, "y")
      .output("y")
      .build();
}

std::vector<float> run(const graph::Graph& graph) {
  return support::values(exec::Interpreter(graph, support::ops()).run({floats({2, 2}, {1, -2, 0.5F, 3})})[0]);
}

}  // namespace

TEST_CASE("A network is simplified without changing what it computes, and every pass says what it did") {
  auto graph = net();
  const auto runs = flow::simplify(graph, support::ops());
  CHECK(support::node_names(graph) == std::vector<std::string>{"fc"});
  CHECK(graph.nodes[0].op_type == "Gemm");
  CHECK(run(graph) == run(net()));
  std::vector<std::string> changed;
  for (const auto& pass : runs) {
    for (const auto& node : pass.report.changed_nodes()) changed.push_back(pass.pass + ' ' + node);
  }
  CHECK(changed == std::vector<std::string>{"fold_constants turn", "remove_no_ops scale", "matmul_to_gemm fc"});
}

TEST_CASE("Operands are swapped where it is asked for") {
  const auto two_inputs = support::GraphBuilder()
                              .input("x", {2, 3})
                              .input("z", {3, 4})
                              .node("MatMul", "/block/MatMul", {"x", "z"}, "y")
                              .output("y")
                              .build();
  auto graph = two_inputs;
  const auto runs = flow::simplify(graph, support::ops(), {.swap = {"block"}});
  REQUIRE(runs.back().pass == "swap_matmul_operands");
  CHECK(runs.back().report.changed.size() == 1);
  const std::vector<Tensor> inputs{support::whole_numbers({2, 3}, 1), support::whole_numbers({3, 4}, 2)};
  CHECK(support::values(exec::Interpreter(graph, support::ops()).run(inputs)[0]) ==
        support::values(exec::Interpreter(two_inputs, support::ops()).run(inputs)[0]));
  const auto error = support::error_of([&] { (void)flow::simplify(graph, support::ops(), {.swap = {"nowhere"}}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_layer);
}
