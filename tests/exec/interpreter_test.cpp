// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/interpreter.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

#include "exec/run_op.hpp"
#include "support/ops.hpp"

using namespace amct;
using namespace amct::exec;
using support::check_tensor;
using support::floats;
using support::GraphBuilder;
using Names = std::vector<std::string>;

namespace {

graph::Graph diamond() {
  return GraphBuilder()
      .input("x", {2})
      .input("s", {})
      .initializer("w", floats({2}, {10, 20}))
      .node("Mul", "mul", {"x", "s"}, "a")
      .node("Add", "add", {"a", "w"}, "b")
      .node("Neg", "neg", {"a"}, "c")
      .node("Sub", "sub", {"b", "c"}, "d")
      .output("d")
      .output("a")
      .build();
}

struct Trace {
  Names events;
  void before(const graph::Node& node, std::span<const Tensor* const> inputs) {
    events.push_back("before " + node.name + ' ' + std::to_string(inputs.size()));
  }
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    events.push_back("after " + node.name + ' ' + to_string(outputs[0].shape()));
  }
};

}  // namespace

TEST_CASE("A node without outputs is passed over") {
  auto graph = support::GraphBuilder().input("x").node("Relu", "r", {"x"}, "y").output("y").build();
  graph.nodes.insert(graph.nodes.begin(), graph::Node{.op_type = "Abs", .name = "idle", .inputs = {graph.inputs[0]}});
  check_tensor(Interpreter(graph, support::ops()).run({floats({1}, {-2})})[0], {1}, {0});
}

TEST_CASE("A net runs in node order and gives its outputs in their order") {
  const auto graph = diamond();
  const auto out = Interpreter(graph, support::ops()).run({floats({2}, {1, 2}), Tensor::scalar(3.0F)});
  REQUIRE(out.size() == 2);
  check_tensor(out[0], {2}, {16, 32});
  check_tensor(out[1], {2}, {3, 6});
}

TEST_CASE("An interpreter can run again, with other shapes too") {
  const auto graph =
      GraphBuilder().input("x").node("Relu", "r", {"x"}, "a").node("Neg", "n", {"a"}, "y").output("y").build();
  const Interpreter interpreter(graph, support::ops());
  check_tensor(interpreter.run({floats({2}, {1, -1})})[0], {2}, {-1, 0});
  check_tensor(interpreter.run({floats({1, 3}, {1, 2, 3})})[0], {1, 3}, {-1, -2, -3});
}

TEST_CASE("Graph outputs may be inputs, initializers, or given twice") {
  const auto graph =
      GraphBuilder().input("x").initializer("w", floats({1}, {7})).output("x").output("w").output("x").build();
  const auto out = Interpreter(graph, support::ops()).run({floats({1}, {5})});
  check_tensor(out[0], {1}, {5});
  check_tensor(out[1], {1}, {7});
  check_tensor(out[2], {1}, {5});
}

TEST_CASE("A value that a node reads twice is there both times") {
  const auto graph =
      GraphBuilder().input("x").node("Neg", "n", {"x"}, "a").node("Mul", "m", {"a", "a"}, "y").output("y").build();
  check_tensor(Interpreter(graph, support::ops()).run({floats({1}, {5})})[0], {1}, {25});
}

TEST_CASE("The hook sees every node before and after it runs") {
  const auto graph = diamond();
  Trace trace;
  (void)Interpreter(graph, support::ops()).run({floats({2}, {1, 2}), Tensor::scalar(3.0F)}, trace);
  CHECK(trace.events == Names{"before mul 2", "after mul [2]", "before add 2", "after add [2]", "before neg 1",
                              "after neg [2]", "before sub 2", "after sub [2]"});
}

TEST_CASE("The hook sees a null pointer for an input that is not given") {
  struct Watch {
    std::vector<bool> given;
    void before(const graph::Node&, std::span<const Tensor* const> inputs) {
      for (const auto* input : inputs) given.push_back(input != nullptr);
    }
    void after(const graph::Node&, std::span<const Tensor>) {}
  } watch;
  const auto graph = GraphBuilder()
                         .input("x")
                         .initializer("high", Tensor::scalar(1.0F))
                         .node("Clip", "c", {"x", "", "high"}, "y")
                         .output("y")
                         .build();
  check_tensor(Interpreter(graph, support::ops()).run({floats({2}, {-9, 9})}, watch)[0], {2}, {-9, 1});
  CHECK(watch.given == std::vector<bool>{true, false, true});
}

TEST_CASE("A hook that throws stops the run") {
  struct Stop {
    int nodes = 0;
    void before(const graph::Node&, std::span<const Tensor* const>) {
      if (++nodes == 2) throw std::runtime_error("stop");
    }
    void after(const graph::Node&, std::span<const Tensor>) {}
  } stop;
  const auto graph = diamond();
  const Interpreter interpreter(graph, support::ops());
  CHECK_THROWS_WITH((void)interpreter.run({floats({2}, {1, 2}), Tensor::scalar(3.0F)}, stop), "stop");
  CHECK(stop.nodes == 2);
}

TEST_CASE("A wrong number of inputs is refused") {
  const auto graph = diamond();
  const auto error = support::error_of([&] { (void)Interpreter(graph, support::ops()).run({floats({2}, {1, 2})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_shape);
  CHECK(error->message() == "got 1 inputs, expected 2");
}

TEST_CASE("Shapes that do not fit name the node") {
  const auto graph = diamond();
  const auto error = support::error_of([&] {
    (void)Interpreter(graph, support::ops()).run({floats({3}, {1, 2, 3}), Tensor::scalar(3.0F)});
  });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_shape);
  CHECK(error->where().layer == "add");
  CHECK(error->where().field == "Add");
  CHECK(error->message() == "shapes [3] and [2] cannot be broadcast");
}

TEST_CASE("A value that nothing makes is refused") {
  const auto input = GraphBuilder().input("x").node("Add", "add", {"x", "ghost"}, "y").output("y").build();
  const auto error = support::error_of([&] { (void)Interpreter(input, support::ops()).run({floats({1}, {1})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_corrupt);
  CHECK(error->where().layer == "add");

  const auto output = GraphBuilder().input("x").output("ghost").build();
  const auto other = support::error_of([&] { (void)Interpreter(output, support::ops()).run({floats({1}, {1})}); });
  REQUIRE(other);
  CHECK(other->code() == ErrorCode::model_corrupt);
  CHECK(other->where().tensor == "ghost");
}

TEST_CASE("Operators that cannot be executed are refused before the first run") {
  const auto graph = GraphBuilder().input("x").node("Unheard", "l", {"x"}, "y").output("y").build();
  const auto error = support::error_of([&] { (void)Interpreter(graph, support::ops()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
}

TEST_CASE("The opset of the graph selects the form of an operator") {
  auto graph =
      GraphBuilder().input("x").node("Softmax", "s", {"x"}, "y", {{"axis", std::int64_t{0}}}).output("y").build();
  graph.opset = 13;
  check_tensor(Interpreter(graph, support::ops()).run({floats({1, 2}, {0, 0})})[0], {1, 2}, {1, 1});
  graph.opset = 11;
  check_tensor(Interpreter(graph, support::ops()).run({floats({1, 2}, {0, 0})})[0], {1, 2}, {0.5F, 0.5F});
}
