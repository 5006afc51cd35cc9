// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/passes/fuse_batch_norm.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
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

const std::vector<float> kWeight{0.3F, -1.7F, 0.0625F, 2.9F, -0.11F, 0.77F};  // [2, 3, 1, 1]
const std::vector<float> kBias{0.4F, -3.3F};
const std::vector<float> kGamma{1.3F, -0.7F};
const std::vector<float> kBeta{0.1F, 5.5F};
const std::vector<float> kMean{-0.9F, 0.37F};
const std::vector<float> kVariance{0.61F, 7.3F};
constexpr float kEpsilon = 1e-3F;

/// One float32 operation each, through memory so that no two can be joined.
float stored(float x) {
  const volatile float memory = x;
  return memory;
}
float expected_factor(std::size_t c) {
  const float deviation = stored(std::sqrt(stored(kVariance[c] + kEpsilon)));
  return stored(kGamma[c] * stored(1.0F / deviation));
}
float expected_bias(std::size_t c, float bias) {
  const float inverse = stored(1.0F / stored(std::sqrt(stored(kVariance[c] + kEpsilon))));
  return stored(stored(stored(stored(bias - kMean[c]) * inverse) * kGamma[c]) + kBeta[c]);
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}
std::vector<float> expected_weight() {
  std::vector<float> weight;
  for (std::size_t i = 0; i < 6; ++i) weight.push_back(stored(kWeight[i] * expected_factor(i / 3)));
  return weight;
}

GraphBuilder with_norm() {
  return GraphBuilder()
      .input("x", {1, 3, 2, 2})
      .initializer("w", floats({2, 3, 1, 1}, kWeight))
      .initializer("gamma", floats({2}, kGamma))
      .initializer("beta", floats({2}, kBeta))
      .initializer("mean", floats({2}, kMean))
      .initializer("var", floats({2}, kVariance));
}
GraphBuilder& norm(GraphBuilder& builder, const std::string& from = "c", const std::string& to = "y",
                   const std::string& name = "bn", const std::string& gamma = "gamma") {
  return builder.node("BatchNormalization", name, {from, gamma, "beta", "mean", "var"}, to, {{"epsilon", kEpsilon}});
}

/// The layers that took in a batch normalization.
Names fuse(Graph& graph, const Names& skip = {}, Flavour flavour = Flavour::pytorch) {
  return fuse_batch_norm(graph, skip, rules_of(flavour)).changed_nodes();
}
/// Why the first layer did not.
std::string reason(Graph graph, const Names& skip = {}, Flavour flavour = Flavour::pytorch) {
  const auto report = fuse_batch_norm(graph, skip, rules_of(flavour));
  CHECK(report.changed.empty());
  REQUIRE(report.refused.size() == 1);
  return report.refused[0].text;
}

}  // namespace

TEST_CASE("A batch normalization is folded with exactly AMCT's float32 operations") {
  auto builder = with_norm().initializer("b", floats({2}, kBias)).node("Conv", "conv", {"x", "w", "b"}, "c");
  Graph graph = norm(builder).output("y").build();
  CHECK(fuse(graph) == Names{"conv"});

  CHECK(node_names(graph) == Names{"conv"});
  CHECK(same_bits(values(*find_initializer(graph, "w")), expected_weight()));
  CHECK(same_bits(values(*find_initializer(graph, "b")), {expected_bias(0, kBias[0]), expected_bias(1, kBias[1])}));
  CHECK(find_initializer(graph, "gamma") == nullptr);
}

TEST_CASE("Known numbers of a fold: variance 3 and epsilon 1 halve, gamma 6 makes it three") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 1, 1})
                    .initializer("w", floats({1, 1, 1, 1}, {2}))
                    .initializer("b", floats({1}, {5}))
                    .initializer("gamma", floats({1}, {6}))
                    .initializer("beta", floats({1}, {0.25F}))
                    .initializer("mean", floats({1}, {1}))
                    .initializer("var", floats({1}, {3}))
                    .node("Conv", "conv", {"x", "w", "b"}, "c")
                    .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "var"}, "y", {{"epsilon", 1.0F}})
                    .output("y")
                    .build();
  CHECK(fuse(graph) == Names{"conv"});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{6});
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{12.25F});
}

TEST_CASE("A convolution without bias gets one named after the layer") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  Graph graph = norm(builder).output("y").build();
  fuse(graph);
  REQUIRE(graph.nodes.size() == 1);
  REQUIRE(graph.nodes[0].inputs.size() == 3);
  CHECK(support::name_of(graph, graph.nodes[0].inputs[2]) == "conv.bias");
  CHECK(same_bits(values(*find_initializer(graph, "conv.bias")), {expected_bias(0, 0.0F), expected_bias(1, 0.0F)}));
  CHECK(find_initializer(graph, "conv.bias")->shape() == Shape{2});
}

TEST_CASE("A new bias avoids a name that is taken") {
  auto builder = with_norm().input("conv.bias").node("Conv", "conv", {"x", "w"}, "c");
  Graph graph = norm(builder).output("y").build();
  fuse(graph);
  CHECK(support::name_of(graph, graph.nodes[0].inputs[2]) == "conv.bias_2");
}

TEST_CASE("The folded convolution makes the value that the batch normalization made") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  Graph graph = norm(builder).node("Relu", "relu", {"y"}, "z").output("z").output("y").build();
  fuse(graph);
  CHECK(node_names(graph) == Names{"conv", "relu"});
  CHECK(support::name_of(graph, graph.nodes[0].outputs[0]) == "y");
  CHECK(graph.nodes[1].inputs[0] == graph.nodes[0].outputs[0]);
  CHECK(support::name_of(graph, graph.outputs[1]) == "y");
}

TEST_CASE("A bias that another node reads too keeps its value there") {
  auto builder = with_norm().initializer("b", floats({2}, kBias)).node("Conv", "conv", {"x", "w", "b"}, "c");
  Graph graph = norm(builder).node("Add", "add", {"y", "b"}, "z").output("z").build();
  CHECK(fuse(graph) == Names{"conv"});
  CHECK(values(*find_initializer(graph, "b")) == kBias);
  CHECK(support::name_of(graph, graph.nodes[0].inputs[2]) == "conv.bias");
}

TEST_CASE("Constants made by nodes serve as bias and as parameters") {
  auto builder = with_norm()
                     .constant("b", floats({2}, kBias))
                     .constant("g", floats({2}, kGamma))
                     .node("Conv", "conv", {"x", "w", "b"}, "c");
  Graph graph = norm(builder, "c", "y", "bn", "g").output("y").build();
  CHECK(fuse(graph) == Names{"conv"});
  CHECK(node_names(graph) == Names{"conv"});
  CHECK(same_bits(values(*find_initializer(graph, "conv.bias")),
                  {expected_bias(0, kBias[0]), expected_bias(1, kBias[1])}));
}

TEST_CASE("Layers of the skip list are left alone") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  Graph graph = norm(builder).output("y").build();
  CHECK(fuse(graph, {"other", "conv"}).empty());
  CHECK(node_names(graph) == Names{"conv", "bn"});
  CHECK(values(*find_initializer(graph, "w")) == kWeight);
}

TEST_CASE("A convolution with a second reader is not fused") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  Graph graph = norm(builder).node("Add", "add", {"y", "c"}, "z").output("z").build();
  CHECK(fuse(graph).empty());
  CHECK(node_names(graph) == Names{"conv", "bn", "add"});
}

TEST_CASE("A convolution that two batch normalizations read is not fused") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  norm(builder, "c", "y1", "bn1");
  norm(builder, "c", "y2", "bn2");
  Graph graph = builder.output("y1").output("y2").build();
  CHECK(fuse(graph).empty());
  CHECK(graph.nodes.size() == 3);
}

TEST_CASE("A convolution whose result is a graph output is not fused") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  Graph graph = norm(builder).output("y").output("c").build();
  CHECK(fuse(graph).empty());
  CHECK(graph.nodes.size() == 2);
}

TEST_CASE("A fold whose weight or bias would not be finite is not done and changes nothing") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  SUBCASE("overflow of the weight") {
    auto builder = with_norm()
                       .initializer("w", floats({2, 3, 1, 1}, {3e38F, 1, 1, 1, 1, 1}))
                       .node("Conv", "conv", {"x", "w"}, "c");
    builder.initializer("gamma", floats({2}, {1e10F, 1}));
    Graph graph = norm(builder).output("y").build();
    CHECK(fuse(graph).empty());
    CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{3e38F, 1, 1, 1, 1, 1});
    CHECK(graph.nodes[0].inputs.size() == 2);
    CHECK(graph.nodes.size() == 2);
  }
  SUBCASE("negative variance") {
    auto builder = with_norm().initializer("var", floats({2}, {1, -1})).node("Conv", "conv", {"x", "w"}, "c");
    Graph graph = norm(builder).output("y").build();
    CHECK(fuse(graph).empty());
    CHECK(values(*find_initializer(graph, "w")) == kWeight);
  }
  SUBCASE("infinite shift") {
    auto builder = with_norm().initializer("beta", floats({2}, {kInfinity, 0})).node("Conv", "conv", {"x", "w"}, "c");
    Graph graph = norm(builder).output("y").build();
    CHECK(fuse(graph).empty());
    CHECK(find_initializer(graph, "conv.bias") == nullptr);
  }
}

TEST_CASE("Two layers that share a weight are not fused") {
  auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c").node("Conv", "other", {"x", "w"}, "o");
  Graph graph = norm(builder).output("y").output("o").build();
  CHECK(fuse(graph).empty());
  CHECK(values(*find_initializer(graph, "w")) == kWeight);
}

TEST_CASE("Flavour pytorch folds into Conv alone, and says so") {
  for (const char* op : {"ConvTranspose", "Gemm", "MatMul"}) {
    CAPTURE(op);
    auto builder = with_norm().node(op, "layer", {"x", "w"}, "c");
    Graph graph = norm(builder).output("y").build();
    CHECK(reason(graph) == std::string("flavour pytorch does not fold into ") + op);
    CHECK(fuse(graph).empty());
    CHECK(graph.nodes.size() == 2);
  }
}

namespace {

/// layer - normalization with the factors 1, 2, 3, 4 and the shifts 10, 20, 30, 40
Graph four_channels(const char* op, Tensor weight, const support::Attributes& attributes) {
  return GraphBuilder()
      .input("x")
      .initializer("w", std::move(weight))
      .initializer("gamma", floats({4}, {1, 2, 3, 4}))
      .initializer("beta", floats({4}, {10, 20, 30, 40}))
      .initializer("zero", floats({4}, {0, 0, 0, 0}))
      .initializer("one", floats({4}, {1, 1, 1, 1}))
      .node(op, "layer", {"x", "w"}, "c", attributes)
      .node("BatchNormalization", "bn", {"c", "gamma", "beta", "zero", "one"}, "y", {{"epsilon", 0.0F}})
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("A grouped transposed convolution takes in one factor for each real output channel") {
  Graph graph =
      four_channels("ConvTranspose", floats({4, 2, 1, 1}, std::vector<float>(8, 1.0F)), {{"group", std::int64_t{2}}});
  CHECK(fuse(graph, {}, Flavour::tensorflow) == Names{"layer"});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(values(*find_initializer(graph, "layer.bias")) == std::vector<float>{10, 20, 30, 40});
}

TEST_CASE("A Gemm takes in a factor a column, wherever its columns lie") {
  for (const std::int64_t transposed : {0, 1}) {
    const Shape shape = transposed != 0 ? Shape{4, 2} : Shape{2, 4};
    Graph graph = four_channels("Gemm", floats(shape, std::vector<float>(8, 1.0F)), {{"transB", transposed}});
    CHECK(fuse(graph, {}, Flavour::caffe) == Names{"layer"});
    const auto expected =
        transposed != 0 ? std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4} : std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4};
    CHECK(values(*find_initializer(graph, "w")) == expected);
  }
}

TEST_CASE("A layer that does not take in its normalization is reported with the reason") {
  auto conv = with_norm().node("Conv", "conv", {"x", "w"}, "c");
  norm(conv).output("y");
  CHECK(reason(conv.build(), {"conv"}) == "skipped by the configuration");
  CHECK(reason(GraphBuilder(conv).output("c").build()) == "its result has other readers");
  CHECK(reason(GraphBuilder(conv).node("Conv", "c2", {"x", "w"}, "o").output("o").build()) ==
        "its weight is shared with another node");
  CHECK(reason(GraphBuilder(conv).initializer("var", floats({2}, {1, -1})).build()) ==
        "the result would not be finite");
  CHECK(reason(GraphBuilder(conv).initializer("w", floats({2, 3}, kWeight)).build()) == "its weight has 2 axes");
  CHECK(reason(four_channels("ConvTranspose", floats({4, 2, 1, 1}, std::vector<float>(8, 1.0F)),
                             {{"group", std::int64_t{3}}}),
               {}, Flavour::caffe) == "its groups do not divide its channels");
  CHECK(reason(four_channels("ConvTranspose", floats({4, 2, 1, 1}, std::vector<float>(8, 1.0F)),
                             {{"group", std::int64_t{0}}}),
               {}, Flavour::caffe) == "its groups do not divide its channels");
  CHECK(reason(with_norm()
                   .initializer("b", floats({1}, {7}))
                   .node("Conv", "conv", {"x", "w", "b"}, "c")
                   .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "var"}, "y")
                   .output("y")
                   .build()) == "its bias has 1 values, expected 2");
}

TEST_CASE("A normalization in training form or with parameters of another size is not fused") {
  SUBCASE("training") {
    auto builder = with_norm().node("Conv", "conv", {"x", "w"}, "c");
    Graph graph = norm(builder).output("y").build();
    graph.nodes[1].set_attribute("training_mode", std::int64_t{1});
    CHECK(fuse(graph).empty());
  }
  SUBCASE("three values for two channels") {
    auto builder = with_norm().initializer("mean", floats({3}, {1, 2, 3})).node("Conv", "conv", {"x", "w"}, "c");
    Graph graph = norm(builder).output("y").build();
    CHECK(fuse(graph).empty());
  }
  SUBCASE("computed scale") {
    auto builder = with_norm().input("g").node("Conv", "conv", {"x", "w"}, "c");
    Graph graph = norm(builder, "c", "y", "bn", "g").output("y").build();
    CHECK(fuse(graph).empty());
  }
}

TEST_CASE("A bias with fewer values than channels is not read past its end") {
  auto builder = with_norm().initializer("b", floats({1}, {7})).node("Conv", "conv", {"x", "w", "b"}, "c");
  Graph graph = norm(builder).output("y").build();
  CHECK(fuse(graph).empty());
  CHECK(values(*find_initializer(graph, "b")) == std::vector<float>{7});
}

TEST_CASE("A depthwise convolution is folded channel by channel") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 2, 1, 1})
                    .initializer("w", floats({2, 1, 1, 2}, {1, 2, 3, 4}))
                    .initializer("gamma", floats({2}, {2, 10}))
                    .initializer("beta", floats({2}, {0, 1}))
                    .initializer("mean", floats({2}, {1, 0}))
                    .initializer("var", floats({2}, {1, 1}))
                    .node("Conv", "dw", {"x", "w"}, "c", {{"group", std::int64_t{2}}})
                    .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "var"}, "y", {{"epsilon", 0.0F}})
                    .output("y")
                    .build();
  CHECK(fuse(graph) == Names{"dw"});
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{2, 4, 30, 40});
  CHECK(values(*find_initializer(graph, "dw.bias")) == std::vector<float>{-2, 1});
}

TEST_CASE("Without an epsilon attribute 1e-5 is used") {
  Graph graph = GraphBuilder()
                    .input("x", {1, 1, 1, 1})
                    .initializer("w", floats({1, 1, 1, 1}, {1}))
                    .initializer("one", floats({1}, {1}))
                    .initializer("zero", floats({1}, {0}))
                    .node("Conv", "conv", {"x", "w"}, "c")
                    .node("BatchNormalization", "bn", {"c", "one", "zero", "zero", "zero"}, "y")
                    .output("y")
                    .build();
  fuse(graph);
  CHECK(values(*find_initializer(graph, "w")) == std::vector<float>{1.0F / std::sqrt(1e-5F)});
}
