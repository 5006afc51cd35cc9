// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/move_codes.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include <amct/core/rounding.hpp>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::Attributes;
using support::find_value;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::name_of;
using support::node_names;
using Names = std::vector<std::string>;

namespace {

Attributes quant(float scale = 2.0F, float offset = 0.0F) {
  return {{"scale", scale}, {"offset", offset}, {"dst_type", std::string("INT8")}};
}
/// Undoes quant() of the same numbers.
Attributes anti(float scale = 2.0F, float offset = 0.0F) {
  return {{"scale", 1.0F / scale}, {"offset", -offset}, {"dst_type", std::string("INT8")}};
}

/// "node(inputs)" of all nodes.
Names wiring(const Graph& graph) {
  Names lines;
  for (const Node& node : graph.nodes) {
    std::string line = node.name + '(';
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      line += (i == 0 ? "" : ",") + name_of(graph, node.inputs[i]);
    }
    lines.push_back(line + ')');
  }
  return lines;
}
Names moved(GraphBuilder builder) {
  Graph graph = builder.build();
  (void)move_codes(graph);
  return wiring(graph);
}

}  // namespace

TEST_CASE("A quant node goes up in front of operators that move data and keeps its name") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .initializer("shape", int64s({-1}))
                    .node("MaxPool", "pool", {"x"}, "p")
                    .node("Reshape", "flat", {"p", "shape"}, "f")
                    .node("AscendQuant", "fc.quant", {"f"}, "fc.quant.output0", quant())
                    .node("MatMul", "fc", {"fc.quant.output0", "w"}, "y")
                    .output("y")
                    .build();
  const PassReport report = move_codes(graph);
  CHECK(wiring(graph) == Names{"fc.quant(x)", "pool(fc.quant.output0)", "flat(p,shape)", "fc(f,w)"});
  CHECK(graph.nodes[0].attribute_or<float>("scale", 0.0F) == 2.0F);
  CHECK(report.changed_nodes() == Names{"pool", "flat", "fc.quant"});
  Graph again = graph;
  (void)move_codes(again);
  CHECK(wiring(again) == wiring(graph));
}

TEST_CASE("A Concat wants codes of all its inputs; equal ones are made once") {
  CHECK(moved(GraphBuilder()
                  .input("x")
                  .input("z")
                  .node("Concat", "cat", {"x", "z", "x"}, "c")
                  .node("AscendQuant", "a.quant", {"c"}, "q", quant())
                  .node("Conv", "a", {"q", "w"}, "y")
                  .output("y")) == Names{"a.quant(x)", "a.quant_2(z)", "cat(q,a.quant_2.output0,q)", "a(c,w)"});
}

TEST_CASE("A quant node that stands on the value already is used") {
  CHECK(moved(GraphBuilder()
                  .input("x")
                  .node("AscendQuant", "a.quant", {"x"}, "q", quant())
                  .node("Transpose", "t", {"x"}, "xt")
                  .node("AscendQuant", "b.quant", {"xt"}, "r", quant())
                  .node("Conv", "a", {"q", "w"}, "y")
                  .node("Conv", "b", {"r", "w"}, "z")
                  .output("y")
                  .output("z")) == Names{"a.quant(x)", "t(q)", "a(q,w)", "b(xt,w)"});
}

TEST_CASE("All results of a Split must be wanted in one format") {
  const auto split = [](float other) {
    return moved(GraphBuilder()
                     .input("x")
                     .node("Split", "split", {"x"}, Names{"s", "t"})
                     .node("AscendQuant", "a.quant", {"s"}, "q", quant())
                     .node("AscendQuant", "b.quant", {"t"}, "r", quant(other))
                     .node("Conv", "a", {"q", "w"}, "y")
                     .node("Conv", "b", {"r", "w"}, "z")
                     .output("y")
                     .output("z"));
  };
  CHECK(split(2.0F) == Names{"a.quant(x)", "split(q)", "a(s,w)", "b(t,w)"});
  CHECK(split(4.0F) == Names{"split(x)", "a.quant(s)", "b.quant(t)", "a(q,w)", "b(r,w)"});
}

TEST_CASE("A quant node stays where somebody reads the float value, or where codes are no numbers that move") {
  const Names stays{"t(x)", "a.quant(xt)", "a(q,w)"};
  const auto base = [](const std::string& op, const Names& outputs) {
    return GraphBuilder()
        .input("x")
        .node(op, "t", {"x"}, outputs)
        .node("AscendQuant", "a.quant", {"xt"}, "q", quant())
        .node("Conv", "a", {"q", "w"}, "y")
        .output("y");
  };
  CHECK(moved(base("Transpose", {"xt"}).output("xt")) == stays);
  CHECK(moved(base("MaxPool", {"xt", "indices"}).output("indices")) == stays);
  CHECK(moved(base("Relu", {"xt"})) == stays);
  CHECK(moved(base("Transpose", {"xt"})) == Names{"a.quant(x)", "t(q)", "a(xt,w)"});
  CHECK(moved(base("MaxPool", {"xt", "indices"})) == Names{"a.quant(x)", "t(q)", "a(xt,w)"});
  Names read = stays;
  read.push_back("n(xt)");
  CHECK(moved(base("Transpose", {"xt"}).node("Neg", "n", {"xt"}, "z").output("z")) == read);
  // A table is quantized where it is used, not in every run.
  CHECK(moved(GraphBuilder()
                  .input("ids")
                  .initializer("table", floats({2, 1}, {1, 2}))
                  .node("Gather", "t", {"table", "ids"}, "xt")
                  .node("AscendQuant", "a.quant", {"xt"}, "q", quant())
                  .node("Conv", "a", {"q", "w"}, "y")
                  .output("y")) == Names{"t(table,ids)", "a.quant(xt)", "a(q,w)"});
}

TEST_CASE("A value that is also a shape or an index is not quantized") {
  CHECK(moved(GraphBuilder()
                  .input("x")
                  .node("Gather", "g", {"x", "x"}, "xt")
                  .node("AscendQuant", "a.quant", {"xt"}, "q", quant())
                  .node("Conv", "a", {"q", "w"}, "y")
                  .output("y")) == Names{"a.quant(x)", "g(q,x)", "a(xt,w)"});
}

TEST_CASE("An anti-quant node goes down behind an operator that moves data") {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("AscendQuant", "p.quant", {"x"}, "q", quant(2.0F, 5.0F))
                    .node("AscendAntiQuant", "p.anti_quant", {"q"}, "r", anti(2.0F, 5.0F))
                    .node("MaxPool", "p", {"r"}, "y")
                    .output("y")
                    .build();
  (void)move_codes(graph);
  CHECK(wiring(graph) == Names{"p.quant(x)", "p(q)", "p.anti_quant_2(p.codes)"});
  CHECK(name_of(graph, graph.outputs[0]) == "y");
  CHECK(graph.nodes[2].outputs == graph.outputs);
  CHECK(anti_quant_source(graph.nodes[2]) == AntiQuantSource{0.5F, 5});
}

TEST_CASE("What quantized, moved and quantized alike again is quantized once") {
  CHECK(moved(GraphBuilder()
                  .input("x")
                  .node("AscendQuant", "p.quant", {"x"}, "q", quant(10.0F, -128.0F))
                  .node("AscendAntiQuant", "p.anti_quant", {"q"}, "r", anti(10.0F, -128.0F))
                  .node("MaxPool", "p", {"r"}, "s")
                  .node("AscendQuant", "a.quant", {"s"}, "t", quant(10.0F, -128.0F))
                  .node("Conv", "a", {"t", "w"}, "y")
                  .output("y")) == Names{"p.quant(x)", "p(q)", "a(p.codes,w)"});
}

TEST_CASE("Codes of another format are made again") {
  for (const Attributes& other : {quant(4.0F, -128.0F), quant(10.0F, 0.0F)}) {
    CHECK(moved(GraphBuilder()
                    .input("x")
                    .node("AscendQuant", "p.quant", {"x"}, "q", quant(10.0F, -128.0F))
                    .node("AscendAntiQuant", "p.anti_quant", {"q"}, "r", anti(10.0F, -128.0F))
                    .node("AscendQuant", "a.quant", {"r"}, "t", other)
                    .node("Conv", "a", {"t", "w"}, "y")
                    .output("y")) == Names{"p.quant(x)", "p.anti_quant(q)", "a.quant(r)", "a(t,w)"});
  }
}

TEST_CASE("A Concat of codes and of numbers has numbers made codes") {
  CHECK(moved(GraphBuilder()
                  .input("x")
                  .input("z")
                  .node("AscendQuant", "p.quant", {"x"}, "q", quant())
                  .node("AscendAntiQuant", "p.anti_quant", {"q"}, "r", anti())
                  .node("Concat", "cat", {"r", "z"}, "c")
                  .node("AscendQuant", "a.quant", {"c"}, "t", quant())
                  .node("Conv", "a", {"t", "w"}, "y")
                  .output("y")) == Names{"p.quant(x)", "a.quant(z)", "cat(q,t)", "a(c,w)"});
}

TEST_CASE("Quantizing an anti-quantized code gives the code back, for every code and hard scales") {
  // The scales with the largest rounding errors of reciprocal and product are among random ones.
  std::uint32_t state = 1;
  for (int draw = 0; draw < 300; ++draw) {
    state = state * 1664525U + 1013904223U;
    const float scale =
        std::ldexp(1.0F + static_cast<float>(state >> 9U) * 0x1p-23F, static_cast<int>(state % 40U) - 30);
    const float inverse = 1.0F / scale;
    std::int32_t wrong = 0;
    for (std::int32_t distance = -65535; distance <= 65535; ++distance) {
      const float real = static_cast<float>(distance) * scale;
      const float scaled = real * inverse;
      if (round_half_even(scaled) != static_cast<float>(distance)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}
