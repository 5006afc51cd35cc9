// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/op_set.hpp>

#include <memory>

#include <doctest/doctest.h>

#include <amct/exec/interpreter.hpp>

#include "exec/run_op.hpp"
#include "support/ops.hpp"

using namespace amct;
using namespace amct::exec;

namespace {

/// An operator that says which one it is.
Op makes(float value) {
  return [value](const OpContext& context) { context.make_output({1})[0] = value; };
}

float result_of(const Op* op) {
  const graph::Node node{.op_type = "Own", .name = "own", .outputs = {0}};
  std::vector<Tensor> outputs(1);
  (*op)({.node = node, .opset = 1, .inputs = {}, .outputs = outputs});
  return outputs[0].data<float>()[0];
}

}  // namespace

TEST_CASE("An operator has the form of the newest version that is not later than the model's") {
  OpSet set;
  set.add("Own", 7, makes(7));
  set.add("Own", 13, makes(13));
  CHECK(set.find("Own", 6) == nullptr);
  CHECK(result_of(set.find("Own", 7)) == 7);
  CHECK(result_of(set.find("Own", 12)) == 7);
  CHECK(result_of(set.find("Own", 13)) == 13);
  CHECK(result_of(set.find("Own", 17)) == 13);
  CHECK(set.find("Other", 17) == nullptr);
}

TEST_CASE("Users add operators, also of other domains, and replace built-in ones") {
  const Op twice = [](const OpContext& context) { context.make_output({1})[0] = 2.0F * context.data<float>(0)[0]; };
  OpSet ops = support::ops();
  ops.add("com.example:Twice", 2, twice);
  ops.add("Relu", 13, twice);
  CHECK(ops.names().contains("com.example:Twice"));
  auto graph = support::GraphBuilder()
                   .input("x")
                   .node("Twice", "t", {"x"}, "y")
                   .node("Relu", "r", {"y"}, "z")
                   .output("z")
                   .build();
  graph.nodes[0].domain = "com.example";
  CHECK(ops.find(graph, graph.nodes[0]) == nullptr);  // a model that does not state the domain means version 1
  graph.domains["com.example"] = 2;
  const auto out = Interpreter(graph, ops).run({support::floats({1}, {-3})});
  CHECK(support::values(out[0]) == std::vector<float>{-12});
}

TEST_CASE("Operators outside the set are refused, each named once with the first node, also inside bodies") {
  auto body = std::make_shared<graph::Graph>(
      support::GraphBuilder().node("Foo", "f", {}, "y").node("Bar", "inner", {}, "z").output("z").build());
  const auto graph =
      support::GraphBuilder()
          .input("x")
          .node("Relu", "r", {"x"}, "a")
          .node("Foo", "f1", {"a"}, "b")
          .node("Foo", "f2", {"b"}, "c")
          .node("If", "i", {"c"}, "d", {{"then_branch", graph::Body(body)}, {"else_branch", graph::Body(body)}})
          .output("d")
          .build();
  OpSet ops;
  ops.add("Relu", makes(0));
  ops.add("If", makes(0));
  const auto error = support::error_of([&] { ops.require_all(graph); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "inner");
  CHECK(error->message() == "operators that cannot be executed: Bar, Foo");
}

TEST_CASE("A factory makes the operator of each node once, with the node's constants at hand") {
  int made = 0;
  OpSet ops;
  ops.add_factory("Own", 2, [&made](const graph::Graph& graph, const graph::Node& node) -> Op {
    ++made;
    if (node.attribute_or<std::int64_t>("bad", 0) != 0) {
      throw Error(ErrorCode::model_unsupported, {.layer = node.name}, "bad");
    }
    const float constant = graph.value(node.input(1)).initializer->data<float>()[0];
    return [constant](const OpContext& context) { context.make_output({1})[0] = constant + context.data<float>(0)[0]; };
  });
  CHECK(ops.find("Own", 2) == nullptr);
  auto builder = support::GraphBuilder()
                     .input("x")
                     .initializer("one", support::floats({1}, {1}))
                     .initializer("two", support::floats({1}, {2}))
                     .node("Own", "first", {"x", "one"}, "a")
                     .node("Own", "second", {"a", "two"}, "y")
                     .output("y");
  const auto graph = builder.build();
  const Interpreter interpreter(graph, ops);
  CHECK(made == 2);
  for (const float x : {5.0F, 7.0F}) {
    CHECK(support::values(interpreter.run({support::floats({1}, {x})})[0]) == std::vector<float>{x + 3});
  }
  CHECK(made == 2);

  auto old = graph;
  old.opset = 1;
  CHECK(support::error_of([&] { Interpreter(old, ops); }).has_value());
  CHECK(support::error_of([&] { (void)ops.make(old, old.nodes[0]); })->where().layer == "first");
  const auto bad = builder.node("Own", "third", {"y", "one"}, "z", {{"bad", std::int64_t{1}}}).build();
  const auto error = support::error_of([&] { Interpreter(bad, ops); });
  REQUIRE(error);
  CHECK(error->where().layer == "third");
}

TEST_CASE("All operators of a set can be wrapped, those of factories too") {
  OpSet set;
  set.add("Own", makes(1));
  set.add("Own", 2, makes(2));
  set.add_factory("Made", 1, [](const graph::Graph&, const graph::Node&) { return makes(3); });
  const OpSet tenfold = set.wrapped([](Op op) -> Op {
    return [op = std::move(op)](const OpContext& context) {
      op(context);
      context.outputs[0].data<float>()[0] *= 10.0F;
    };
  });
  CHECK(result_of(tenfold.find("Own", 1)) == 10);
  CHECK(result_of(tenfold.find("Own", 2)) == 20);
  CHECK(result_of(set.find("Own", 2)) == 2);
  const Op made = tenfold.make({}, {.op_type = "Made", .name = "made"});
  CHECK(result_of(&made) == 30);
}

TEST_CASE("A net of known operators is accepted") {
  const auto graph = support::GraphBuilder().input("x").node("Relu", "r", {"x"}, "y").output("y").build();
  CHECK_FALSE(support::error_of([&] { support::ops().require_all(graph); }));
}
