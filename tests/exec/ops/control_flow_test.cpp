// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kTrue = Tensor::scalar(true);
const Tensor kFalse = Tensor::scalar(false);

graph::Body body_of(const GraphBuilder& builder) { return std::make_shared<const graph::Graph>(builder.build()); }

/// A body that adds its second input to the first: a running sum, also given as a scanned output.
GraphBuilder adding() {
  GraphBuilder body;
  return body.input("sum").input("x").node("Add", "add", {"sum", "x"}, "next").output("next").output("next");
}

/// A body of a Loop that adds 1 to its value, also given as a scanned output, and always says the same of going on.
graph::Body counting(const Tensor& go_on) {
  GraphBuilder body;
  body.input("i").input("cond").input("v").initializer("one", floats({1}, {1})).initializer("go_on", go_on);
  body.node("Add", "add", {"v", "one"}, "next").output("go_on").output("next").output("next");
  return body_of(body);
}

/// A net of one control-flow node "op" of which output `index` is read; the last `captured` inputs are captured.
Tensor run_control(const std::string& op_type, const OpInputs& inputs, std::size_t captured, Attributes attributes,
                   std::size_t index, std::size_t outputs, std::int64_t opset = 13) {
  GraphBuilder builder;
  builder.opset(opset);
  std::vector<std::string> names, results;
  std::vector<Tensor> given;
  for (const auto& input : inputs) {
    names.push_back(input ? "in" + std::to_string(names.size()) : std::string());
    if (!input) continue;
    builder.input(names.back(), input->shape());
    given.push_back(*input);
  }
  for (std::size_t i = 0; i < outputs; ++i) results.push_back("out" + std::to_string(i));
  auto graph = builder.node(op_type, "op", names, results, std::move(attributes)).output(results[index]).build();
  graph.nodes[0].captured = captured;
  return run_graph(graph, given);
}

}  // namespace

TEST_CASE("If runs one of its bodies, which read outer values") {
  GraphBuilder yes, no;
  yes.input("a").input("b").node("Identity", "id", {"a"}, "y").output("y");
  no.input("a").input("b").node("Add", "add", {"a", "b"}, "y").output("y");
  const Attributes branches{{"then_branch", body_of(yes)}, {"else_branch", body_of(no)}};
  const Tensor a = floats({1}, {1});
  const Tensor b = floats({1}, {2});
  check_tensor(run_control("If", {kTrue, a, b}, 2, branches, 0, 1), {1}, {1});
  check_tensor(run_control("If", {kFalse, a, b}, 2, branches, 0, 1), {1}, {3});
}

TEST_CASE("Loop counts its trips and collects scanned outputs") {
  const Attributes body{{"body", counting(kTrue)}};
  const OpInputs three{Tensor::scalar<std::int64_t>(3), kTrue, floats({1}, {10})};
  check_tensor(run_control("Loop", three, 0, body, 0, 2), {1}, {13});
  check_tensor(run_control("Loop", three, 0, body, 1, 2), {3, 1}, {11, 12, 13});
  const OpInputs no_condition{Tensor::scalar<std::int64_t>(2), std::nullopt, floats({1}, {10})};
  check_tensor(run_control("Loop", no_condition, 0, body, 0, 2), {1}, {12});
}

TEST_CASE("Loop ends when its body says so, unless no condition is given") {
  const Attributes body{{"body", counting(kFalse)}};
  const OpInputs endless{std::nullopt, kTrue, floats({1}, {10})};
  check_tensor(run_control("Loop", endless, 0, body, 1, 2), {1, 1}, {11});
  const OpInputs ignored{Tensor::scalar<std::int64_t>(2), std::nullopt, floats({1}, {10})};
  check_tensor(run_control("Loop", ignored, 0, body, 1, 2), {2, 1}, {11, 12});
}

TEST_CASE("A Loop without a trip passes its values on") {
  GraphBuilder builder;
  builder.input("i").input("cond").input("v", {1}).initializer("one", floats({1}, {1}));
  builder.node("Add", "add", {"v", "one"}, "next").output("cond").output("next").output("v");
  const Attributes body{{"body", body_of(builder)}};
  for (const OpInputs& inputs : {OpInputs{Tensor::scalar<std::int64_t>(0), kTrue, floats({1}, {10})},
                                 OpInputs{Tensor::scalar<std::int64_t>(5), kFalse, floats({1}, {10})}}) {
    check_tensor(run_control("Loop", inputs, 0, body, 0, 2), {1}, {10});
    check_tensor(run_control("Loop", inputs, 0, body, 1, 2), {0, 1}, {});
  }
}

TEST_CASE("A Loop reads its trip number and outer values") {
  GraphBuilder builder;
  builder.input("i").input("cond").input("outer").node("Identity", "id", {"i"}, "number");
  builder.node("Identity", "copy", {"outer"}, "same").output("cond").output("number").output("same");
  const Attributes body{{"body", body_of(builder)}};
  const OpInputs inputs{Tensor::scalar<std::int64_t>(3), kTrue, floats({1}, {7})};
  check_typed<std::int64_t>(run_control("Loop", inputs, 1, body, 0, 2), {3}, {0, 1, 2});
  check_tensor(run_control("Loop", inputs, 1, body, 1, 2), {3, 1}, {7, 7, 7});
}

TEST_CASE("Scan runs over slices, forwards and backwards, along any axes") {
  const Tensor start = floats({2}, {0, 0});
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](const Tensor& input, std::size_t index, Attributes more) {
    more.push_back({"body", body_of(adding())});
    more.push_back({"num_scan_inputs", 1});
    return run_control("Scan", {start, input}, 0, std::move(more), index, 2);
  };
  check_tensor(run(x, 0, {}), {2}, {9, 12});
  check_tensor(run(x, 1, {}), {3, 2}, {1, 2, 4, 6, 9, 12});
  check_tensor(run(x, 1, {{"scan_input_directions", Ints{1}}}), {3, 2}, {5, 6, 8, 10, 9, 12});
  check_tensor(run(x, 1, {{"scan_output_directions", Ints{1}}}), {3, 2}, {9, 12, 4, 6, 1, 2});
  check_tensor(run(x, 1, {{"scan_output_axes", Ints{-1}}}), {2, 3}, {1, 4, 9, 2, 6, 12});
  check_tensor(run(floats({2, 3}, {1, 3, 5, 2, 4, 6}), 1, {{"scan_input_axes", Ints{1}}}), {3, 2}, {1, 2, 4, 6, 9, 12});
}

TEST_CASE("Scan of opset 8 runs over each sequence of a batch") {
  const Tensor start = floats({2, 1}, {0, 100});
  const Tensor x = floats({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const Attributes attributes{{"body", body_of(adding())}, {"num_scan_inputs", 1}};
  const OpInputs all{std::nullopt, start, x};
  check_tensor(run_control("Scan", all, 0, attributes, 0, 2, 8), {2, 1}, {6, 115});
  check_tensor(run_control("Scan", all, 0, attributes, 1, 2, 8), {2, 3, 1}, {1, 3, 6, 104, 109, 115});
  const OpInputs shorter{int64s({1, 3}), start, x};
  check_tensor(run_control("Scan", shorter, 0, attributes, 0, 2, 8), {2, 1}, {1, 115});
  check_tensor(run_control("Scan", shorter, 0, attributes, 1, 2, 8), {2, 3, 1}, {1, 0, 0, 104, 109, 115});
}

TEST_CASE("Bad conditions, bodies and sequences are refused") {
  const auto refused = [](ErrorCode code, const std::string& part, const std::string& op_type, const OpInputs& inputs,
                          const Attributes& attributes, std::size_t outputs, std::int64_t opset = 13) {
    CAPTURE(part);
    const auto error = error_of([&] { (void)run_control(op_type, inputs, 0, attributes, 0, outputs, opset); });
    REQUIRE(error);
    CHECK(error->code() == code);
    CHECK(error->where().layer == "op");
    INFO(error->what());
    CHECK(contains(error->message(), part));
  };
  const Attributes endless{{"body", counting(kTrue)}};
  const Attributes adds{{"body", body_of(adding())}, {"num_scan_inputs", 1}};
  const Tensor value = floats({1}, {1});
  const Tensor x = floats({2, 1}, {1, 2});
  refused(kShape, "the condition is float32[1], expected one bool", "If", {value}, {}, 1);
  refused(kCorrupt, "has no body \"then_branch\"", "If", {kTrue}, {}, 1);
  refused(kShape, "input 0 is [2], expected one value", "Loop", {int64s({1, 2}), kTrue, value}, endless, 2);
  refused(kCorrupt, "the body gives 3 values, expected 4", "Loop", {int64s({1}), kTrue, value}, endless, 3);
  refused(kUnsupported, "runs a body more than 1048576 times", "Loop", {std::nullopt, std::nullopt, value}, endless, 1);
  refused(kShape, "num_scan_inputs is 3 of 2 inputs", "Scan", {value, x},
          {{"body", body_of(adding())}, {"num_scan_inputs", 3}}, 2);
  refused(kShape, "axis 0 is outside a tensor of 0 axes", "Scan", {value, Tensor::scalar(1.0F)}, adds, 2);
  refused(kShape, "scan_input_axes has 2 entries, expected 1", "Scan", {value, x},
          {{"body", body_of(adding())}, {"num_scan_inputs", 1}, {"scan_input_axes", Ints{0, 0}}}, 2);
  refused(kShape, "sequences of 2 and 1 steps", "Scan", {x, floats({1, 1}, {1})},
          {{"body", body_of(adding())}, {"num_scan_inputs", 2}}, 1);
  refused(kShape, "sequence_lens has 3, expected 0 to 2", "Scan", {int64s({3}), value, floats({1, 2, 1}, {1, 2})}, adds,
          2, 8);
  refused(kShape, "input 2 is [2,1], expected a batch of 1", "Scan", {std::nullopt, value, x}, adds, 2, 8);
}
