// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/float16.hpp>

#include <doctest/doctest.h>

#include <limits>

#include <amct/exec/interpreter.hpp>

#include "exec/run_op.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::check_tensor;
using support::floats;

TEST_CASE("Only marked nodes round what they read and make to float16") {
  auto graph = support::GraphBuilder()
                   .input("x", {2})
                   .initializer("w", floats({2}, {0.1F, 4}))
                   .node("Mul", "exact", {"x", "w"}, "a")
                   .node("Mul", "half", {"x", "w"}, "b")
                   .output("a")
                   .output("b")
                   .build();
  graph.nodes[1].set_attribute(exec::kFloat16, std::int64_t{1});
  const exec::OpSet ops = exec::in_float16(support::ops());
  const auto results = exec::Interpreter(graph, ops).run({floats({2}, {1, 60000})});
  check_tensor(results[0], {2}, {0.1F, 240000});
  check_tensor(results[1], {2}, {0.0999755859375F, std::numeric_limits<float>::infinity()});
}

TEST_CASE("Tensors of other types stay") {
  auto graph = support::GraphBuilder()
                   .input("x", {2})
                   .initializer("shape", support::int64s({2, 1}))
                   .node("Reshape", "half", {"x", "shape"}, "y")
                   .output("y")
                   .build();
  graph.nodes[0].set_attribute(exec::kFloat16, std::int64_t{1});
  const exec::OpSet ops = exec::in_float16(support::ops());
  check_tensor(exec::Interpreter(graph, ops).run({floats({2}, {0.1F, 1})})[0], {2, 1}, {0.0999755859375F, 1});
}
