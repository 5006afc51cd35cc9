// SPDX-License-Identifier: Apache-2.0
// Reports of users of other tools as small networks: cases C10, C12, C17 to C20.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

using namespace amct;
using support::floats;
using support::GraphBuilder;
using support::Ints;

namespace {

/// A network with its record, and the warnings on the way.
struct Quantized {
  flow::Prepared prepared;
  Record record;
  std::vector<std::string> warnings;

  [[nodiscard]] std::vector<std::string> layers() const {
    std::vector<std::string> names;
    for (const auto& layer : record) names.push_back(layer.name);
    return names;
  }
};

Quantized quantize(const graph::Graph& graph, const std::vector<std::vector<Tensor>>& batches) {
  EasyConfig config;
  config.batch_num = static_cast<std::uint32_t>(batches.size());
  Quantized result{flow::prepare(graph, config, support::ops()), {}, {}};
  ProgressSink sink;
  sink.on_message = [&](LogLevel, const std::string& text) { result.warnings.push_back(text); };
  flow::MemoryBatches source(batches);
  result.record = flow::calibrate(result.prepared, support::ops(), source, sink);
  return result;
}

std::vector<float> run(const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  return support::values(exec::Interpreter(graph, support::ops()).run(inputs).at(0));
}

/// What the fake-quant model computes.
std::vector<float> run_quantized(const Quantized& net, const std::vector<Tensor>& inputs) {
  return run(flow::fake_quant(flow::deploy(net.prepared.graph, net.record)), inputs);
}

Tensor wave(Shape shape, float phase) {
  Tensor tensor(ElementType::float32, std::move(shape));
  float x = phase;
  for (float& value : tensor.data<float>()) value = std::sin(x += 0.7F);
  return tensor;
}

/// Writes and reads a model, as a user's tool would.
graph::Graph through_file(const graph::Graph& graph) {
  const support::TempDir folder;
  amct::onnx::export_model(folder / "m.onnx", graph);
  return amct::onnx::import_model(folder / "m.onnx");
}

}  // namespace

TEST_CASE("C10 batches of different shapes count like one flat batch, and symbolic sizes are kept") {
  auto graph = GraphBuilder()
                   .input("x", {1, 1, 4})
                   .initializer("w", wave({4, 2}, 0))
                   .node("MatMul", "mm", {"x", "w"}, "y")
                   .output("y")
                   .build();
  graph.value(graph.inputs[0]).shape = {{-1, "N"}, {-1, "L"}, {4, ""}};
  const std::vector<Tensor> parts{wave({1, 3, 4}, 1), wave({1, 7, 4}, 2), wave({5, 3, 4}, 3)};
  Tensor all(ElementType::float32, {1, 25, 4});
  auto to = all.data<float>().begin();
  for (const auto& part : parts) to = std::copy(part.data<float>().begin(), part.data<float>().end(), to);
  const auto apart = quantize(graph, {{parts[0]}, {parts[1]}, {parts[2]}});
  CHECK(apart.record == quantize(graph, {{all}}).record);
  CHECK(apart.warnings.empty());

  const auto read = through_file(flow::fake_quant(flow::deploy(apart.prepared.graph, apart.record)));
  const auto& shape = *read.value(read.inputs[0]).shape;
  CHECK(shape == std::vector<graph::Dim>{{-1, "N"}, {-1, "L"}, {4, ""}});
}

TEST_CASE("C12 an empty tensor is no data and disturbs nothing") {
  const auto net = [](bool from_slice) {
    GraphBuilder builder;
    builder.input("x", {1, 4}).initializer("w", wave({4, 2}, 0)).initializer("nothing", floats({1, 0}, {}));
    if (from_slice) {
      builder.initializer("two", support::int64s({2}))
          .initializer("one", support::int64s({1}))
          .node("Slice", "slice", {"x", "two", "two", "one"}, "empty");
    }
    return builder.node("Concat", "concat", {from_slice ? "empty" : "nothing", "x"}, "all", {{"axis", std::int64_t{1}}})
        .node("MatMul", "mm", {"all", "w"}, "y")
        .output("y")
        .build();
  };
  const Tensor x = wave({1, 4}, 1);
  for (const bool from_slice : {true, false}) {
    const auto quantized = quantize(net(from_slice), {{x}});
    CHECK(quantized.layers() == std::vector<std::string>{"mm"});
    const auto expected = run(net(from_slice), {x});
    const auto actual = run_quantized(quantized, {x});
    for (std::size_t i = 0; i < 2; ++i) CHECK(actual[i] == doctest::Approx(expected[i]).epsilon(0.02));
  }
}

TEST_CASE("C12 a layer that never gets data stays float, with a warning; with no other layer that is an error") {
  const auto net = [](bool second) {
    GraphBuilder builder;
    builder.input("x", {1, 4})
        .initializer("w", wave({4, 2}, 0))
        .initializer("zero", support::int64s({0}))
        .node("Slice", "slice", {"x", "zero", "zero", "zero"}, "empty")
        .node("MatMul", "starved", {"empty", "w"}, "y")
        .output("y");
    if (second) builder.initializer("v", wave({4, 2}, 1)).node("MatMul", "fed", {"x", "v"}, "z").output("z");
    return builder.build();
  };
  const auto quantized = quantize(net(true), {{wave({1, 4}, 1)}});
  CHECK(quantized.layers() == std::vector<std::string>{"fed"});
  REQUIRE(quantized.warnings.size() == 1);
  CHECK(quantized.warnings[0] == "layer \"starved\": its input was empty in every batch; it stays float");
  const auto error = support::error_of([&] { (void)quantize(net(false), {{wave({1, 4}, 1)}}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::data_empty);
}

TEST_CASE("C17 Gemm keeps transB, transA, alpha, beta and its bias") {
  const auto net = [](std::int64_t trans_a, std::int64_t trans_b, float alpha, float beta, bool bias) {
    GraphBuilder builder;
    builder.input("a").initializer("b", floats({2, 2}, {3, 4, 5, 6})).initializer("c", floats({2}, {1, -1}));
    std::vector<std::string> inputs{"a", "b"};
    if (bias) inputs.push_back("c");
    return builder
        .node("Gemm", "fc", inputs, "y", {{"transA", trans_a}, {"transB", trans_b}, {"alpha", alpha}, {"beta", beta}})
        .node("Relu", "r", {"y"}, "z")
        .output("z")
        .build();
  };
  const Tensor row = floats({1, 2}, {1, 2});
  const auto check = [](const graph::Graph& graph, const Tensor& a, const std::vector<float>& expected) {
    CHECK(run(graph, {a}) == expected);
    const auto actual = run_quantized(quantize(graph, {{a}}), {a});
    REQUIRE(actual.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) CHECK(std::fabs(actual[i] - expected[i]) <= 0.02F * expected[i]);
  };
  check(net(0, 1, 2, 1, true), row, {23, 33});
  check(net(0, 1, 2, 0.5F, true), row, {22.5F, 33.5F});
  check(net(0, 0, 2, 1, true), row, {27, 31});
  check(net(0, 1, 2, 1, false), row, {22, 34});
}

TEST_CASE("C17 a Gemm with transA is executed and stays float with the reason") {
  const auto graph =
      GraphBuilder()
          .input("a")
          .input("x")
          .initializer("b", floats({2, 2}, {3, 4, 5, 6}))
          .node("Gemm", "fc", {"a", "b"}, "y", {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}})
          .node("MatMul", "mm", {"x", "b"}, "z")
          .output("y")
          .output("z")
          .build();
  CHECK(run(graph, {floats({2, 1}, {1, 2}), floats({1, 2}, {0, 0})}) == std::vector<float>{11, 17});
  auto apart = graph;
  graph::replace_initializer(apart, graph::add_initializer(apart, "own", floats({2, 2}, {3, 4, 5, 6})),
                             floats({2, 2}, {3, 4, 5, 6}));
  apart.nodes[1].inputs[1] = support::find_value(apart, "own");
  const auto prepared = flow::prepare(apart, {}, support::ops());
  REQUIRE(prepared.left_float.size() == 1);
  CHECK(prepared.left_float[0].name == "fc");
  CHECK(prepared.left_float[0].reason == "transA is set");
}

TEST_CASE("C18 transposed convolutions have one scale a real output channel, grouped or not") {
  const auto scales = [](Tensor weight, std::int64_t groups) {
    const auto graph = GraphBuilder()
                           .input("x", {1, weight.shape()[0], 2, 2})
                           .initializer("w", weight)
                           .initializer("b", Tensor(wave({weight.shape()[1] * groups}, 0)))
                           .node("ConvTranspose", "up", {"x", "w", "b"}, "y", {{"group", groups}})
                           .node("Relu", "r", {"y"}, "z")
                           .output("z")
                           .build();
    const auto quantized = quantize(graph, {{wave({1, weight.shape()[0], 2, 2}, 1)}});
    return quantized.record.at(0).scale_w;
  };
  CHECK(scales(wave({3, 64, 3, 3}, 0), 1).size() == 64);
  // [Cin 4, Cout/g 2]: rows 0 and 1 belong to group 0; each real channel has a range of its own.
  const auto grouped = scales(floats({4, 2, 1, 1}, {0.01F, 0.1F, -0.005F, 0.05F, 1, 10, -0.5F, 5}), 2);
  REQUIRE(grouped.size() == 4);
  const float ends[] = {0.01F, 0.1F, 1, 10};
  for (std::size_t c = 0; c < 4; ++c) CHECK(grouped[c] == doctest::Approx(ends[c] / 127).epsilon(1e-6));
}

TEST_CASE("C18 MatMul with a vector, with two activations and with one column") {
  const auto vector = quantize(GraphBuilder()
                                   .input("x", {5, 4})
                                   .initializer("w", wave({4}, 0))
                                   .node("MatMul", "mm", {"x", "w"}, "y")
                                   .output("y")
                                   .build(),
                               {{wave({5, 4}, 1)}});
  CHECK(vector.record.at(0).scale_w.size() == 1);
  const auto fake = flow::fake_quant(flow::deploy(vector.prepared.graph, vector.record));
  CHECK(exec::Interpreter(fake, support::ops()).run({wave({5, 4}, 1)}).at(0).shape() == Shape{5});

  const auto prepared = flow::prepare(GraphBuilder()
                                          .input("x", {2, 3, 4})
                                          .input("w", {2, 4, 5})
                                          .input("own", {1, 4})
                                          .initializer("v", wave({4, 4}, 2))
                                          .node("MatMul", "mm", {"x", "w"}, "y")
                                          .node("MatMul", "other", {"own", "v"}, "z")
                                          .output("y")
                                          .output("z")
                                          .build(),
                                      {}, support::ops());
  REQUIRE(prepared.left_float.size() == 1);
  CHECK(prepared.left_float[0].name == "mm");
  CHECK(prepared.left_float[0].reason == "its weight is not an initializer");
  const auto column = quantize(GraphBuilder()
                                   .input("x", {3, 4})
                                   .initializer("w", wave({4, 1}, 0))
                                   .node("MatMul", "mm", {"x", "w"}, "y")
                                   .output("y")
                                   .build(),
                               {{wave({3, 4}, 1)}});
  CHECK(column.record.at(0).scale_w.size() == 1);
}

TEST_CASE("C20 weights as initializer, Constant, behind Identity and behind a Cast give the same layers and scales") {
  enum class Form { initializer, constant, identity, cast, input };
  const auto net = [](Form form) {
    GraphBuilder builder;
    const Tensor half = cast(wave({2, 1, 1, 1}, 0), ElementType::float16);
    const Tensor weight = cast(half, ElementType::float32);
    builder.input("x", {1, 1, 2, 2}).initializer("v", wave({2, 2, 1, 1}, 1));
    switch (form) {
      case Form::initializer: builder.initializer("w", weight); break;
      case Form::constant: builder.constant("w", weight); break;
      case Form::identity: builder.initializer("w0", weight).node("Identity", "same", {"w0"}, "w"); break;
      case Form::cast:
        builder.initializer("w0", half).node("Cast", "widen", {"w0"}, "w", {{"to", std::int64_t{1}}});
        break;
      case Form::input: builder.input("w", {2, 1, 1, 1}); break;
    }
    return builder.node("Conv", "first", {"x", "w"}, "a")
        .node("Relu", "relu", {"a"}, "b")
        .node("Conv", "second", {"b", "v"}, "y")
        .output("y")
        .build();
  };
  const Tensor x = wave({1, 1, 2, 2}, 2);
  const auto plain = quantize(net(Form::initializer), {{x}});
  CHECK(plain.layers() == std::vector<std::string>{"first", "second"});
  for (const auto form : {Form::constant, Form::identity, Form::cast}) {
    CAPTURE(static_cast<int>(form));
    CHECK(quantize(net(form), {{x}}).record == plain.record);
  }
  const auto dynamic = quantize(net(Form::input), {{x, wave({2, 1, 1, 1}, 0)}});
  CHECK(dynamic.layers() == std::vector<std::string>{"second"});
  REQUIRE(dynamic.prepared.left_float.size() == 1);
  CHECK(dynamic.prepared.left_float[0].reason == "its weight is not an initializer");
}
