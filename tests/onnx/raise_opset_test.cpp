// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/raise_opset.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <amct/exec/interpreter.hpp>

#include "onnx/model_text.hpp"
#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using amct::onnx::OldOpset;
using support::error_of;
using support::floats;
using support::node_names;
using support::whole_numbers;
using Names = std::vector<std::string>;

namespace {

graph::Graph kept(int opset, const std::string& text) {
  return support::import_message(support::model_of_opset(opset, text), OldOpset::keep);
}

/// Imports a graph in both ways, runs both on the same inputs and compares.
/// \return the raised graph
graph::Graph check_same(int opset, const std::string& text, const std::vector<Tensor>& inputs) {
  CAPTURE(opset);
  CAPTURE(text);
  const auto old = kept(opset, text);
  CHECK(old.opset == opset);
  auto raised = support::import_message(support::model_of_opset(opset, text));
  CHECK(raised.opset == 13);
  for (const auto& node : old.nodes) CHECK(raised.find_node(node.name) != nullptr);
  const auto before = exec::Interpreter(old, support::ops()).run(inputs);
  const auto after = exec::Interpreter(raised, support::ops()).run(inputs);
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(to_string(before[i].shape()) == to_string(after[i].shape()));
    REQUIRE(before[i].type() == after[i].type());
    CHECK(std::equal(before[i].raw().begin(), before[i].raw().end(), after[i].raw().begin(), after[i].raw().end()));
  }
  return raised;
}

const std::string kGraph = "g (float[2, 3, 4] x) => (y) { ";
const Tensor kInput = whole_numbers({2, 3, 4}, 1);

}  // namespace

TEST_CASE("Limits of Clip become inputs, those that are not given stay away") {
  const auto both = check_same(10, kGraph + "y = Clip<min = -1.0, max = 2.0>(x) }", {kInput});
  CHECK(support::find_initializer(both, "Clip_0_min") != nullptr);
  CHECK(both.nodes[0].attributes.empty());
  check_same(7, kGraph + "y = Clip<max = 2.0>(x) }", {kInput});
  CHECK(check_same(10, kGraph + "y = Clip<min = -1.0>(x) }", {kInput}).nodes[0].inputs.size() == 2);
  CHECK(check_same(7, kGraph + "y = Clip(x) }", {kInput}).nodes[0].inputs.size() == 1);
}

TEST_CASE("Pads of Pad become inputs") {
  check_same(10, kGraph + "y = Pad<pads = [0, 1, 0, 0, 0, 2], value = 5.0>(x) }", {kInput});
  check_same(7, kGraph + R"(y = Pad<pads = [0, 1, 1, 0, 1, 2], mode = "reflect">(x) })", {kInput});
}

TEST_CASE("Ranges of Slice become inputs") {
  check_same(9, kGraph + "y = Slice<starts = [1, -2], ends = [2, 1000], axes = [1, 2]>(x) }", {kInput});
  check_same(7, kGraph + "y = Slice<starts = [1], ends = [-1]>(x) }", {kInput});
  check_same(10,
             "g (float[2, 3, 4] x) => (y) { s = Constant<value = int64[1] {1}>()  e = Constant<value = int64[1] {3}>()"
             "  a = Constant<value = int64[1] {2}>()  y = Slice(x, s, e, a) }",
             {kInput});
}

TEST_CASE("The k of TopK becomes an input") {
  check_same(9, "g (float[2, 3, 4] x) => (y, i) { y, i = TopK<k = 2, axis = 1>(x) }", {kInput});
}

TEST_CASE("Axes of Squeeze, Unsqueeze and ReduceSum, and parts of Split, become inputs") {
  check_same(10, "g (float[2, 1, 4] x) => (y) { y = Squeeze<axes = [1]>(x) }", {whole_numbers({2, 1, 4}, 1)});
  check_same(7, "g (float[2, 1, 4] x) => (y) { y = Squeeze(x) }", {whole_numbers({2, 1, 4}, 1)});
  check_same(10, kGraph + "y = Unsqueeze<axes = [0, 4]>(x) }", {kInput});
  check_same(10, kGraph + "y = ReduceSum<axes = [0, 2], keepdims = 0>(x) }", {kInput});
  check_same(7, kGraph + "y = ReduceSum(x) }", {kInput});
  check_same(10, "g (float[2, 3, 4] x) => (y, z) { y, z = Split<axis = 2, split = [1, 3]>(x) }", {kInput});
  check_same(7, "g (float[2, 3, 4] x) => (y, z) { y, z = Split<axis = 2>(x) }", {kInput});
}

TEST_CASE("Softmax over several axes is done on a matrix, over the last one as it is") {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    const auto call = [&](const std::string& attributes) { return kGraph + "y = " + op + attributes + "(x) }"; };
    const auto wide = check_same(10, call(""), {kInput});
    CHECK(wide.nodes.size() == 4);
    CHECK(support::name_of(wide, wide.outputs[0]) == "y");
    check_same(7, call("<axis = 0>"), {kInput});
    CHECK(check_same(10, call("<axis = 2>"), {kInput}).nodes.size() == 1);
  }
}

TEST_CASE("Softmax of a tensor with unknown axes is done on a matrix") {
  const std::string text = "g (float[2, 3, 4] x, int64[N] s) => (y) { r = Reshape(x, s)  y = Softmax(r) }";
  CHECK(check_same(10, text, {kInput, support::int64s({4, 3, 2})}).nodes.size() == 5);
  CHECK(check_same(10, text, {kInput, support::int64s({8, 3})}).nodes.size() == 5);
}

TEST_CASE("Upsample, and Resize of opset 10, become Resize") {
  const std::string image = "g (float[1, 2, 2, 3] x) => (y) { ";
  const Tensor input = whole_numbers({1, 2, 2, 3}, 2);
  const std::string scales = "s = Constant<value = float[4] {1.0, 1.0, 2.0, 3.0}>()  ";
  for (const char* mode : {"nearest", "linear"}) {
    const std::string attribute = std::string("<mode = \"") + mode + "\"";
    const auto old =
        check_same(7, image + "y = Upsample" + attribute + ", scales = [1.0, 1.0, 2.0, 3.0]>(x) }", {input});
    CHECK(old.nodes[0].op_type == "Resize");
    CHECK(old.nodes[0].name == "Upsample_0");
    check_same(9, image + scales + "y = Upsample" + attribute + ">(x, s) }", {input});
    check_same(10, image + scales + "y = Resize" + attribute + ">(x, s) }", {input});
  }
  check_same(10, image + "s = Constant<value = float[4] {1.0, 1.0, 0.6, 0.6}>()  y = Resize(x, s) }", {input});
}

TEST_CASE("The ratio of Dropout becomes an input") {
  const auto raised = check_same(10, kGraph + "y = Dropout<ratio = 0.25>(x) }", {kInput});
  CHECK(support::values(*support::find_initializer(raised, "Dropout_0_ratio")) == std::vector<float>{0.25F});
}

TEST_CASE("Scatter becomes ScatterElements") {
  const auto raised = check_same(10, "g (float[3] x, int64[2] i, float[2] u) => (y) { y = Scatter<axis = 0>(x, i, u) }",
                                 {floats({3}, {1, 2, 3}), support::int64s({2, 0}), floats({2}, {7, 8})});
  CHECK(raised.nodes[0].op_type == "ScatterElements");
}

TEST_CASE("BatchNormalization loses the attribute that only had one sensible value") {
  const std::string net =
      "g (float[1, 2, 2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (y) { "
      "y = BatchNormalization";
  const std::vector<Tensor> inputs{whole_numbers({1, 2, 2}, 3), floats({2}, {1, 2}), floats({2}, {0, 1}),
                                   floats({2}, {1, 1}), floats({2}, {1, 4})};
  CHECK(check_same(7, net + "<spatial = 1>(x, s, b, m, v) }", inputs).nodes[0].attributes.empty());
  const auto error = error_of(
      [&] { (void)support::import_message(support::model_of_opset(7, net + "<spatial = 0>(x, s, b, m, v) }")); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == "BatchNormalization_0");
}

TEST_CASE("Bodies are raised too") {
  const std::string text = R"(g (bool c, float[2, 1] x) => (y) {
    y = If(c) <then_branch = t () => (z) { z = Squeeze<axes = [1]>(x) },
              else_branch = e () => (z) { z = ReduceSum<axes = [1], keepdims = 0>(x) }> })";
  for (const bool condition : {true, false}) {
    const auto raised = check_same(10, text, {Tensor::scalar(condition), floats({2, 1}, {3, 4})});
    CHECK((*raised.nodes[0].attribute<graph::Body>("then_branch"))->opset == 13);
  }
}

TEST_CASE("Scan of opset 8, which had a batch axis, is refused") {
  auto graph = support::GraphBuilder().opset(8).input("x").node("Scan", "scan", {"", "x"}, "y").output("y").build();
  const auto error = error_of([&] { amct::onnx::raise_opset(graph); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(support::contains(error->message(), "has no form in opset 13"));
}

TEST_CASE("Operators of other domains, and names that are taken, are left alone") {
  auto graph = support::GraphBuilder()
                   .opset(10)
                   .input("x", {2})
                   .input("clip_min", {})
                   .node("Clip", "own", {"x"}, "a", {{"min", 1.0F}})
                   .node("Clip", "clip", {"a"}, "y", {{"min", 2.0F}})
                   .output("y")
                   .build();
  graph.nodes[0].domain = "com.example";
  amct::onnx::raise_opset(graph);
  CHECK(graph.nodes[0].attribute<float>("min") != nullptr);
  CHECK(support::find_initializer(graph, "clip_min_2") != nullptr);
}

TEST_CASE("Raised to 21, what changed after opset 13 has its new form") {
  auto graph = support::GraphBuilder()
                   .opset(13)
                   .input("x", {2, 4})
                   .node("ReduceMean", "mean", {"x"}, "m", {{"axes", support::Ints{1}}})
                   .node("ReduceMax", "max", {"x"}, "n")
                   .node("Split", "halves", {"x"}, Names{"a", "b"}, {{"axis", std::int64_t{1}}})
                   .initializer("sizes", support::int64s({1, 3}))
                   .node("Split", "parts", {"x", "sizes"}, Names{"c", "d"}, {{"axis", std::int64_t{1}}})
                   .node("GridSample", "sample", {"x", "x"}, "s", {{"mode", std::string("bicubic")}})
                   .node("GridSample", "default", {"x", "x"}, "t")
                   .node("RoiAlign", "roi", {"x", "x", "x"}, "r")
                   .node("DFT", "dft", {"x"}, "f")
                   .output("y")
                   .build();
  const auto constant = [&](const char* name) {
    const Tensor* found = support::find_initializer(graph, name);
    REQUIRE(found != nullptr);
    return support::values<std::int64_t>(*found);
  };
  amct::onnx::raise_opset(graph, 21);
  CHECK(graph.opset == 21);
  CHECK(graph.ir_version == 10);
  CHECK(graph.find_node("mean")->inputs.size() == 2);
  CHECK(constant("mean_axes") == support::Ints{1});
  CHECK(graph.find_node("mean")->attributes.empty());
  CHECK(graph.find_node("max")->inputs.size() == 1);
  CHECK(graph.find_node("halves")->attribute_or<std::int64_t>("num_outputs", 0) == 2);
  CHECK(graph.find_node("parts")->attribute<std::int64_t>("num_outputs") == nullptr);
  CHECK(graph.find_node("sample")->attribute_or<std::string>("mode", "") == "cubic");
  CHECK(graph.find_node("default")->attribute_or<std::string>("mode", "") == "linear");
  CHECK(graph.find_node("roi")->attribute_or<std::string>("coordinate_transformation_mode", "") == "output_half_pixel");
  CHECK(graph.find_node("dft")->inputs.size() == 3);
  CHECK(graph.find_node("dft")->inputs[1] == graph::kNoValue);
  CHECK(constant("dft_axis") == support::Ints{1});
}

TEST_CASE("Raising stops at the target: an operator that changed twice gets the forms up to there") {
  const auto raised = [](std::int64_t target) {
    auto graph = support::GraphBuilder()
                     .opset(12)
                     .input("x", {2, 4})
                     .node("Split", "split", {"x"}, Names{"a", "b"}, {{"split", support::Ints{1, 1}}})
                     .node("ReduceMean", "mean", {"x"}, "m", {{"axes", support::Ints{1}}})
                     .output("a")
                     .build();
    amct::onnx::raise_opset(graph, target);
    return graph;
  };
  const auto first = raised(13);
  CHECK(first.find_node("split")->inputs.size() == 2);
  CHECK(first.find_node("mean")->inputs.size() == 1);
  const auto last = raised(21);
  CHECK(last.find_node("split")->inputs.size() == 2);
  CHECK(last.find_node("split")->attributes.empty());
  CHECK(last.find_node("mean")->inputs.size() == 2);
}

TEST_CASE("A mode of Resize that opset 13 dropped is refused") {
  auto graph =
      support::GraphBuilder()
          .opset(11)
          .input("x")
          .node("Resize", "up", {"x"}, "y", {{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")}})
          .output("y")
          .build();
  const auto error = error_of([&] { amct::onnx::raise_opset(graph, 21); });
  REQUIRE(error);
  CHECK(error->where().layer == "up");
  CHECK(support::contains(error->message(), "has no form in opset 21"));
}
