// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/stack.hpp>

#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace amct::exec;
using namespace support;

namespace {

/// A context that can refuse; the body of its node has an output "y" of int64 [2, unknown].
struct SomeNode {
  graph::Node node{.op_type = "Loop", .name = "op"};
  OpContext context{.node = node, .opset = 13, .inputs = {}, .outputs = {}};

  SomeNode() {
    GraphBuilder body;
    body.input("y", {2, -1}).output("y");
    auto graph = std::make_shared<graph::Graph>(body.build());
    graph->values[0].type = ElementType::int64;
    node.set_attribute("body", graph::Body(graph));
  }
};

}  // namespace

TEST_CASE("Slices of a tensor") {
  const Tensor x = typed<std::int32_t>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  check_typed<std::int32_t>(slice_at(x, 0, 1), {3, 2}, {6, 7, 8, 9, 10, 11});
  check_typed<std::int32_t>(slice_at(x, 1, 2), {2, 2}, {4, 5, 10, 11});
  check_typed<std::int32_t>(slice_at(x, 2, 0), {2, 3}, {0, 2, 4, 6, 8, 10});
}

TEST_CASE("Slices joined along any axis, in both orders") {
  const SomeNode some;
  Stack stack;
  stack.push(some.context, floats({2}, {1, 2}));
  stack.push(some.context, floats({2}, {3, 4}));
  check_tensor(stack.finish(), {2, 2}, {1, 2, 3, 4});
  check_tensor(stack.finish(1), {2, 2}, {1, 3, 2, 4});
  check_tensor(stack.finish(0, true), {2, 2}, {3, 4, 1, 2});
  check_tensor(stack.finish(1, true), {2, 2}, {3, 1, 4, 2});
  stack.pad(some.context, 3);
  check_tensor(stack.finish(), {3, 2}, {1, 2, 3, 4, 0, 0});
}

TEST_CASE("A stack of nothing has the declared shape") {
  const SomeNode some;
  Stack stack;
  stack.expect_declared(some.context, 0);
  CHECK(stack.slice_rank() == 2);
  check_typed<std::int64_t>(stack.finish(), {0, 2, 0}, {});
  const auto error = error_of([&] { stack.expect_declared(some.context, 1); });
  REQUIRE(error);
  CHECK(error->code() == kCorrupt);
}

TEST_CASE("Slices that differ, or are too many, are refused") {
  const SomeNode some;
  Stack stack;
  stack.push(some.context, floats({2}, {1, 2}));
  for (const Tensor& other : {floats({1}, {1}), int64s({1, 2})}) {
    const auto error = error_of([&] { stack.push(some.context, other); });
    REQUIRE(error);
    CHECK(contains(error->message(), "after float32[2]"));
  }
  const auto error = error_of([&] { stack.pad(some.context, std::size_t{1} << 29); });
  REQUIRE(error);
  CHECK(contains(error->message(), "more than 2^29 elements"));
}
