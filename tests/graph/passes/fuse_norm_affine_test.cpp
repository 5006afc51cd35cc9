// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/fuse_norm_affine.hpp>

#include <doctest/doctest.h>

#include <limits>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::find_initializer;
using support::floats;
using support::GraphBuilder;
using support::node_names;
using support::values;
using Names = std::vector<std::string>;

namespace {

/// norm - Mul - Add - Relu on [1, 2, 4, 4]
GraphBuilder net(Tensor factor, Tensor shift) {
  return GraphBuilder()
      .input("x", {1, 2, 4, 4})
      .initializer("gamma", floats({2}, {2, 3}))
      .initializer("beta", floats({2}, {5, 7}))
      .initializer("mean", floats({2}, {0, 0}))
      .initializer("var", floats({2}, {1, 1}))
      .initializer("factor", std::move(factor))
      .initializer("shift", std::move(shift))
      .node("BatchNormalization", "bn", {"x", "gamma", "beta", "mean", "var"}, "a")
      .node("Mul", "mul", {"factor", "a"}, "b")
      .node("Add", "add", {"b", "shift"}, "c")
      .node("Relu", "relu", {"c"}, "y")
      .output("y");
}
Graph with_shapes(const GraphBuilder& builder) {
  Graph graph = builder.build();
  for (const char* name : {"a", "b", "c"})
    graph.value(support::find_value(graph, name)).shape = graph.value(graph.inputs[0]).shape;
  return graph;
}

}  // namespace

TEST_CASE("Factor and shift go into gamma and beta") {
  Graph graph = with_shapes(net(floats({2, 1, 1}, {10, 100}), floats({1, 2, 1, 1}, {1, 2})));
  CHECK(fuse_norm_affine(graph).changed == std::vector<PassNote>{{"bn", "takes in mul"}, {"bn", "takes in add"}});
  CHECK(node_names(graph) == Names{"bn", "relu"});
  CHECK(values(*find_initializer(graph, "bn.scale")) == std::vector<float>{20, 300});
  CHECK(values(*find_initializer(graph, "bn.bias")) == std::vector<float>{51, 702});
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
}

TEST_CASE("Scalars need no known shape") {
  Graph graph = net(Tensor::scalar(2.0F), Tensor::scalar(-1.0F)).build();
  CHECK(fuse_norm_affine(graph).changed.size() == 2);
  CHECK(values(*find_initializer(graph, "bn.scale")) == std::vector<float>{4, 6});
  CHECK(values(*find_initializer(graph, "bn.bias")) == std::vector<float>{9, 13});
}

TEST_CASE("Parameters that others read keep their values there") {
  Graph graph = net(Tensor::scalar(2.0F), Tensor::scalar(0.0F)).node("Neg", "neg", {"gamma"}, "z").output("z").build();
  fuse_norm_affine(graph);
  CHECK(values(*find_initializer(graph, "gamma")) == std::vector<float>{2, 3});
}

TEST_CASE("What may lie along another axis is left alone") {
  Graph unknown = net(floats({2, 1, 1}, {10, 100}), Tensor::scalar(0.0F)).build();
  CHECK(fuse_norm_affine(unknown).refused.size() == 1);
  CHECK(unknown.nodes.size() == 4);
  for (const Shape& shape : {Shape{2}, Shape{2, 1}, Shape{2, 1, 1, 1}, Shape{1, 2, 1, 1, 1}}) {
    CAPTURE(to_string(shape));
    Graph graph = with_shapes(net(floats(shape, {10, 100}), Tensor::scalar(0.0F)));
    CHECK(fuse_norm_affine(graph).changed.empty());
  }
}

TEST_CASE("Results beyond float32, training form, other readers and computed operands are left alone") {
  Graph huge = net(Tensor::scalar(std::numeric_limits<float>::max()), Tensor::scalar(0.0F)).build();
  CHECK(fuse_norm_affine(huge).refused == std::vector<PassNote>{{"bn", "with mul the result would not be finite"}});
  CHECK(values(*find_initializer(huge, "gamma")) == std::vector<float>{2, 3});
  Graph training = net(Tensor::scalar(2.0F), Tensor::scalar(0.0F)).build();
  training.nodes[0].set_attribute("training_mode", std::int64_t{1});
  CHECK(fuse_norm_affine(training).changed.empty());
  Graph read = net(Tensor::scalar(2.0F), Tensor::scalar(0.0F)).output("a").build();
  CHECK(fuse_norm_affine(read).changed.empty());
  Graph computed = GraphBuilder(net(Tensor::scalar(2.0F), Tensor::scalar(0.0F))).build();
  computed.nodes[1].inputs[0] = computed.inputs[0];
  CHECK(fuse_norm_affine(computed).changed.empty());
}
