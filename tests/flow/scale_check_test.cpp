// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/scale_check.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

namespace {

using amct::Shape;
using amct::Tensor;
using support::floats;
using support::GraphBuilder;

/// Values with mean 0 and deviation 1.
std::vector<float> normalized(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = (i % 2 == 0 ? 1.0F : -1.0F) * (i % 4 < 2 ? 1.25F : 0.6614F);
  return values;
}
Tensor image(double factor, double shift) {
  auto values = normalized(64);
  for (float& value : values) value = static_cast<float>(value * factor + shift);
  return floats({1, 1, 8, 8}, values);
}

/// A convolution of two channels, which double and negate, and the normalization that training found for it.
GraphBuilder network(const std::vector<float>& mean, const std::vector<float>& variance) {
  GraphBuilder net;
  net.input("x", Shape{1, 1, 8, 8});
  net.initializer("w", floats({2, 1, 1, 1}, {2.0F, -1.0F}));
  net.initializer("g", floats({2}, {1, 1})).initializer("b", floats({2}, {0, 0}));
  net.initializer("m", floats({2}, mean)).initializer("v", floats({2}, variance));
  net.node("Conv", "conv", {"x", "w"}, "c");
  net.node("BatchNormalization", "bn", {"c", "g", "b", "m", "v"}, "n");
  net.node("Relu", "relu", {"n"}, "y").output("y");
  return net;
}

auto check(const amct::graph::Graph& graph, const Tensor& input) {
  return amct::flow::check_scale(graph, support::ops(), {input});
}

}  // namespace

TEST_CASE("scale check: inputs as in training pass, raw pixels do not, with the numbers") {
  const auto graph = network({0, 0}, {4, 1}).build();
  CHECK(check(graph, image(1.0, 0.0)).empty());
  CHECK(check(graph, image(2.0, 0.5)).empty());
  const auto raw = check(graph, image(60.0, 120.0));
  REQUIRE(raw.size() == 1);
  CHECK(raw[0].input == "x");
  CHECK(raw[0].batch_norm == "bn");
  CHECK(raw[0].channels == 2);
  CHECK(raw[0].spread == doctest::Approx(60.0).epsilon(0.01));
  CHECK(raw[0].shift == doctest::Approx(120.0).epsilon(0.01));
  CHECK(raw[0].greatest == doctest::Approx(195.0));
  CHECK(raw[0].mean == doctest::Approx(120.0).epsilon(0.01));
  const std::string text = describe(raw[0]);
  CAPTURE(text);
  CHECK(support::contains(text, "\"bn\""));
  CHECK(support::contains(text, "60"));
  CHECK(support::contains(text, "\"x\" holds 45 to 195"));
}

TEST_CASE("scale check: too small, and beside the mean, are mistakes too") {
  const auto graph = network({0, 0}, {4, 1}).build();
  CHECK(check(graph, image(1.0 / 255.0, 0.0)).size() == 1);
  CHECK(check(graph, image(1.0, 5.0)).size() == 1);
  CHECK(check(network({10, -5}, {4, 1}).build(), image(1.0, 5.0)).empty());
  CHECK(check(graph, image(0.0, 0.0)).size() == 1);
}

TEST_CASE("scale check: channels that are dead in training say nothing") {
  CHECK(check(network({0, 0}, {0, 1}).build(), image(1.0, 0.0)).empty());
  CHECK(check(network({0, 0}, {0, 0}).build(), image(100.0, 0.0)).empty());
}

TEST_CASE("scale check: layers in front of the convolution belong to it") {
  GraphBuilder net;
  net.input("x", Shape{1, 1, 8, 8}).initializer("s", floats({1}, {1.0F / 60.0F}));
  net.initializer("w", floats({1, 1, 1, 1}, {1})).initializer("one", floats({1}, {1}));
  net.initializer("zero", floats({1}, {0}));
  net.node("Mul", "scale", {"x", "s"}, "i").node("Conv", "conv", {"i", "w"}, "c");
  net.node("BatchNormalization", "bn", {"c", "one", "zero", "zero", "one"}, "y").output("y");
  CHECK(check(net.build(), image(60.0, 0.0)).empty());
  CHECK(check(net.build(), image(1.0, 0.0)).size() == 1);
}

TEST_CASE("scale check: a network without normalization behind its first layer shows nothing") {
  GraphBuilder net;
  net.input("x", Shape{1, 1, 8, 8}).initializer("w", floats({1, 1, 1, 1}, {1}));
  net.node("Conv", "conv", {"x", "w"}, "c").node("Relu", "relu", {"c"}, "y").output("y");
  const auto graph = net.build();
  CHECK(!amct::flow::compare_scale(graph, support::ops(), 0, {image(1000.0, 0.0)}));
  CHECK(check(graph, image(1000.0, 0.0)).empty());
}

TEST_CASE("scale check: channels with NaN or infinities say nothing") {
  const auto graph = network({0, 0}, {4, 1}).build();
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, inf - inf}) {
    auto values = normalized(64);
    values[5] = bad;
    CHECK(check(graph, floats({1, 1, 8, 8}, values)).empty());
    CHECK(check(network({bad, 0}, {4, 1}).build(), image(60.0, 0.0)).at(0).channels == 1);
  }
}
