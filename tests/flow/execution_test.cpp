// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/execution.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "flow/integer_nets.hpp"

using namespace amct;
using support::check_quantized_network;
using support::GraphBuilder;
using support::Ints;
using support::random_floats;

TEST_CASE("A convolution of any geometry computes in integers what its fake-quant model computes") {
  struct Geometry {
    Shape x, w;
    support::Attributes attributes;
  };
  const Geometry geometries[] = {
      {{2, 3, 9, 8}, {5, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
      {{1, 4, 9, 8}, {6, 2, 3, 2}, {{"pads", Ints{0, 1, 2, 0}}, {"strides", Ints{2, 1}}, {"group", std::int64_t{2}}}},
      {{1, 6, 10, 10}, {6, 1, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"group", std::int64_t{6}}}},
      {{1, 3, 12, 11}, {4, 3, 3, 3}, {{"dilations", Ints{2, 3}}, {"strides", Ints{2, 2}}}},
      {{1, 17, 4, 4}, {33, 17, 1, 1}, {}},
      {{1, 2, 7, 7}, {3, 2, 4, 4}, {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
      {{2, 3, 11}, {4, 3, 5}, {{"pads", Ints{2, 1}}, {"strides", Ints{2}}}},
      {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {{"pads", Ints{1, 1, 0, 0, 1, 1}}}},
  };
  std::uint32_t seed = 1;
  for (const Geometry& geometry : geometries) {
    const Shape& x = geometry.x;
    const Shape& w = geometry.w;
    CAPTURE(to_string(w));
    const auto graph = GraphBuilder()
                           .input("x", x)
                           .initializer("w", random_floats(w, seed, 0.2F))
                           .initializer("b", random_floats({w[0]}, seed + 1))
                           .node("Conv", "conv", {"x", "w", "b"}, "y", geometry.attributes)
                           .output("y")
                           .build();
    check_quantized_network(graph, {random_floats(x, seed + 2)});
    seed += 3;
  }
}

TEST_CASE("A transposed convolution computes the same bits too") {
  struct Geometry {
    Shape x, w;
    support::Attributes attributes;
  };
  const Geometry geometries[] = {
      {{1, 3, 5, 6},
       {3, 4, 3, 3},
       {{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 1}}, {"output_padding", Ints{1, 0}}}},
      {{2, 4, 4, 4}, {4, 2, 2, 2}, {{"strides", Ints{2, 2}}, {"group", std::int64_t{2}}}},
      {{1, 2, 7}, {2, 3, 4}, {{"strides", Ints{3}}}},
  };
  std::uint32_t seed = 50;
  for (const Geometry& geometry : geometries) {
    const Shape& x = geometry.x;
    const Shape& w = geometry.w;
    CAPTURE(to_string(w));
    const auto graph = GraphBuilder()
                           .input("x", x)
                           .initializer("w", random_floats(w, seed, 0.2F))
                           .node("ConvTranspose", "up", {"x", "w"}, "y", geometry.attributes)
                           .output("y")
                           .build();
    check_quantized_network(graph, {random_floats(x, seed + 1)});
    seed += 2;
  }
}

TEST_CASE("Matrix products: Gemm with transB and a bias, MatMul with the Add of its bias, of three axes, by a vector") {
  const auto graph = GraphBuilder()
                         .input("x", {5, 19})
                         .initializer("w1", random_floats({33, 19}, 70, 0.3F))
                         .initializer("b1", random_floats({33}, 71))
                         .initializer("w2", random_floats({33, 8}, 72, 0.3F))
                         .initializer("b2", random_floats({8}, 73))
                         .node("Gemm", "fc1", {"x", "w1", "b1"}, "a", {{"transB", std::int64_t{1}}})
                         .node("Tanh", "tanh", {"a"}, "t")
                         .node("MatMul", "fc2", {"t", "w2"}, "m")
                         .node("Add", "bias", {"m", "b2"}, "y")
                         .output("y")
                         .build();
  check_quantized_network(graph, {random_floats({5, 19}, 74)});

  const auto batched = GraphBuilder()
                           .input("x", {2, 3, 6})
                           .initializer("w1", random_floats({6, 16}, 75))
                           .initializer("w2", random_floats({16}, 76))
                           .node("MatMul", "fc1", {"x", "w1"}, "a")
                           .node("Relu", "relu", {"a"}, "r")
                           .node("MatMul", "fc2", {"r", "w2"}, "y")
                           .output("y")
                           .build();
  check_quantized_network(batched, {random_floats({2, 3, 6}, 77)});
}

namespace {

/// What builds networks of convolutions of images, whose weights are random.
class Nets {
 public:
  Nets(std::int64_t channels, std::int64_t size) { builder_.input("x", {1, channels, size, size}); }

  Nets& conv(const std::string& name, const std::string& from, Shape w, support::Attributes attributes = {}) {
    builder_.initializer(name + ".w", random_floats(w, seed_, 0.2F))
        .initializer(name + ".b", random_floats({w[0]}, seed_ + 1, 0.3F))
        .node("Conv", name, {from, name + ".w", name + ".b"}, name + ".y", std::move(attributes));
    seed_ += 2;
    return *this;
  }
  Nets& conv3(const std::string& name, const std::string& from, std::int64_t in, std::int64_t out,
              std::int64_t stride = 1) {
    return conv(name, from, {out, in, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{stride, stride}}});
  }
  /// A node `name` that makes `name`.y.
  Nets& node(const std::string& op_type, const std::string& name, const std::vector<std::string>& inputs,
             support::Attributes attributes = {}) {
    builder_.node(op_type, name, inputs, name + ".y", std::move(attributes));
    return *this;
  }
  Nets& initializer(const std::string& name, Tensor data) {
    builder_.initializer(name, std::move(data));
    return *this;
  }
  GraphBuilder& builder() { return builder_; }
  [[nodiscard]] graph::Graph build(const std::string& output) { return builder_.output(output).build(); }

 private:
  GraphBuilder builder_;
  std::uint32_t seed_ = 100;
};

}  // namespace

TEST_CASE("A residual network: additions, both kinds of shortcuts, pooling and a classifier") {
  Nets nets(3, 17);
  nets.conv3("stem", "x", 3, 8, 2)
      .node("Relu", "stem.relu", {"stem.y"})
      .node("MaxPool", "pool", {"stem.relu.y"},
            {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}})
      .conv3("a1", "pool.y", 8, 8)
      .node("Relu", "a1.relu", {"a1.y"})
      .conv3("a2", "a1.relu.y", 8, 8)
      .node("Add", "a.add", {"a2.y", "pool.y"})
      .node("Relu", "a.relu", {"a.add.y"})
      .conv3("b1", "a.relu.y", 8, 12, 2)
      .node("Relu", "b1.relu", {"b1.y"})
      .conv3("b2", "b1.relu.y", 12, 12)
      .conv("down", "a.relu.y", {12, 8, 1, 1}, {{"strides", Ints{2, 2}}})
      .node("Add", "b.add", {"down.y", "b2.y"})
      .node("Relu", "b.relu", {"b.add.y"})
      .conv3("c1", "b.relu.y", 12, 12)
      .node("Add", "c.add", {"b.relu.y", "c1.y"})
      .node("GlobalAveragePool", "mean", {"c.add.y"})
      .node("Flatten", "flat", {"mean.y"})
      .initializer("fc.w", random_floats({12, 10}, 1))
      .node("Gemm", "fc", {"flat.y", "fc.w"});
  nets.builder().output("b.relu.y");
  check_quantized_network(nets.build("fc.y"), {random_floats({1, 3, 17, 17}, 2)});
}

TEST_CASE("Activations between layers: Relu6, HardSwish, Sigmoid, Clip of any ends, LeakyRelu, Swish") {
  Nets nets(4, 9);
  nets.initializer("zero", support::floats({}, {0}))
      .initializer("six", support::floats({}, {6}))
      .initializer("low", support::floats({}, {-0.7F}))
      .conv3("c1", "x", 4, 4)
      .node("Clip", "relu6", {"c1.y", "zero", "six"})
      .conv3("c2", "relu6.y", 4, 4)
      .node("HardSwish", "hard", {"c2.y"})
      .conv3("c3", "hard.y", 4, 4)
      .node("Sigmoid", "sigmoid", {"c3.y"})
      .conv3("c4", "sigmoid.y", 4, 4)
      .node("Clip", "clip", {"c4.y", "low"})
      .conv3("c5", "clip.y", 4, 4)
      .node("LeakyRelu", "leaky", {"c5.y"})
      .conv3("c6", "leaky.y", 4, 4)
      .node("Sigmoid", "gate", {"c6.y"})
      .node("Mul", "swish", {"c6.y", "gate.y"})
      .conv3("c7", "swish.y", 4, 4);
  nets.builder().opset(14);
  check_quantized_network(nets.build("c7.y"), {random_floats({1, 4, 9, 9}, 3)});
}

TEST_CASE("Operators that move data between layers: Concat, Split, Slice, Pad, Reshape, Transpose, Resize") {
  Nets nets(4, 8);
  nets.initializer("one", support::int64s({1}))
      .initializer("three", support::int64s({3}))
      .initializer("seven", support::int64s({7}))
      .initializer("pads", support::int64s({0, 0, 1, 0, 0, 0, 0, 2}))
      .initializer("flat", support::int64s({1, 6, -1}))
      .initializer("back", support::int64s({1, 6, 6, 7}))
      .initializer("none", support::floats({0}, {}))
      .initializer("scales", support::floats({4}, {1, 1, 2, 2}))
      .conv3("c1", "x", 4, 6)
      .node("Relu", "r1", {"c1.y"})
      .conv3("c2", "x", 4, 2)
      .node("Concat", "concat", {"r1.y", "c2.y"}, {{"axis", std::int64_t{1}}})
      .conv3("c3", "concat.y", 8, 6)
      .node("Slice", "slice", {"c3.y", "one", "seven", "three"})
      .node("Pad", "pad", {"slice.y", "pads"})
      .conv("c4", "pad.y", {6, 6, 3, 3}, {{"pads", Ints{0, 0, 0, 0}}})
      .node("Reshape", "reshape", {"c4.y", "flat"})
      .node("Reshape", "unreshape", {"reshape.y", "back"})
      .conv("c5", "unreshape.y", {4, 6, 1, 1})
      .node("Transpose", "transpose", {"c5.y"}, {{"perm", Ints{0, 1, 3, 2}}})
      .conv("c6", "transpose.y", {4, 4, 1, 1})
      .node("Resize", "resize", {"c6.y", "none", "scales"}, {{"mode", std::string("nearest")}})
      .conv("c7", "resize.y", {4, 4, 2, 2});
  nets.builder().node("Split", "split", {"c7.y"}, std::vector<std::string>{"half1", "half2"},
                      {{"axis", std::int64_t{1}}});
  nets.conv("c8", "half1", {2, 2, 1, 1})
      .node("Mul", "product", {"c8.y", "half2"})
      .conv("c9", "product.y", {3, 2, 1, 1});
  check_quantized_network(nets.build("c9.y"), {random_floats({1, 4, 8, 8}, 4)});
}

TEST_CASE("A value that several layers read is quantized once; its real values stay for others") {
  Nets nets(3, 8);
  nets.conv3("c1", "x", 3, 5)
      .conv3("c2", "c1.y", 5, 4)
      .conv("c3", "c1.y", {4, 5, 1, 1})
      .node("Add", "add", {"c2.y", "c3.y"})
      .node("Exp", "exp", {"c1.y"});
  nets.builder().output("exp.y").output("c1.y");
  check_quantized_network(nets.build("add.y"), {random_floats({1, 3, 8, 8}, 5)});
}

TEST_CASE("Max pooling of codes and of real values, of any geometry") {
  const support::Attributes geometries[] = {
      {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 3}}, {"pads", Ints{1, 0, 2, 1}}},
      {{"kernel_shape", Ints{2, 3}}, {"dilations", Ints{3, 2}}},
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}},
      {{"kernel_shape", Ints{2, 2}}, {"auto_pad", std::string("SAME_LOWER")}},
  };
  for (const auto& geometry : geometries) {
    for (const bool is_read_as_float : {false, true}) {
      Nets nets(3, 9);
      nets.conv3("c1", "x", 3, 5).node("MaxPool", "pool", {"c1.y"}, geometry).conv("c2", "pool.y", {4, 5, 1, 1});
      if (is_read_as_float) nets.builder().output("pool.y");
      check_quantized_network(nets.build("c2.y"), {random_floats({1, 3, 9, 9}, 40)});
    }
  }
  const auto volume =
      GraphBuilder()
          .input("x", {1, 2, 5, 6, 5})
          .initializer("w", random_floats({3, 2, 1, 1, 1}, 41))
          .node("Conv", "c1", {"x", "w"}, "a")
          .node("MaxPool", "pool", {"a"}, "y", {{"kernel_shape", Ints{2, 3, 2}}, {"strides", Ints{1, 2, 3}}})
          .output("y")
          .build();
  check_quantized_network(volume, {random_floats({1, 2, 5, 6, 5}, 42)});
}

TEST_CASE("Global average pooling with channels last sums in the order of the operator with channels first") {
  for (const std::int64_t size : {3, 6, 40}) {
    Nets nets(2, size);
    nets.conv3("c1", "x", 2, 21).node("GlobalAveragePool", "mean", {"c1.y"}).conv("c2", "mean.y", {3, 21, 1, 1});
    nets.builder().output("mean.y");
    check_quantized_network(nets.build("c2.y"), {random_floats({1, 2, size, size}, 43)});
  }
}

TEST_CASE("Codes move through every operator that only moves data") {
  const auto list = [](const Ints& values) { return support::int64s(values); };
  Nets nets(4, 6);
  nets.initializer("axis", list({4}))
      .initializer("repeats", list({1, 1, 1, 2}))
      .initializer("index", list({3, 0, 5, 5}))
      .initializer("wide", list({1, 8, 3, 12}))
      .conv3("c1", "x", 4, 8)
      .node("DepthToSpace", "space", {"c1.y"}, {{"blocksize", std::int64_t{2}}})
      .node("SpaceToDepth", "depth", {"space.y"}, {{"blocksize", std::int64_t{2}}})
      .conv("c2", "depth.y", {8, 8, 1, 1})
      .node("Unsqueeze", "unsqueeze", {"c2.y", "axis"})
      .node("Identity", "identity", {"unsqueeze.y"})
      .node("Squeeze", "squeeze", {"identity.y", "axis"})
      .node("Tile", "tile", {"squeeze.y", "repeats"})
      .node("Gather", "gather", {"tile.y", "index"}, {{"axis", std::int64_t{2}}})
      .conv("c3", "gather.y", {8, 8, 2, 1})
      .node("Expand", "expand", {"c3.y", "wide"})
      .conv("c4", "expand.y", {8, 8, 1, 1})
      .node("GlobalMaxPool", "top", {"c4.y"})
      .node("Flatten", "flatten", {"top.y"})
      .initializer("fc.w", random_floats({8, 3}, 50))
      .node("Gemm", "fc", {"flatten.y", "fc.w"});
  check_quantized_network(nets.build("fc.y"), {random_floats({1, 4, 6, 6}, 51)});
}

TEST_CASE("Average pooling of codes, also behind a Pad, with and without the border in its count") {
  for (const std::int64_t counted : {0, 1}) {
    Nets nets(3, 9);
    nets.initializer("pads", support::int64s({0, 0, 1, 1, 0, 0, 1, 1}))
        .conv3("c1", "x", 3, 5)
        .node("AveragePool", "mean", {"c1.y"},
              {{"kernel_shape", Ints{3, 2}},
               {"strides", Ints{2, 2}},
               {"pads", Ints{1, 0, 1, 1}},
               {"count_include_pad", counted},
               {"ceil_mode", std::int64_t{1}}})
        .conv3("c2", "mean.y", 5, 4)
        .node("Pad", "pad", {"c2.y", "pads"})
        .node("AveragePool", "padded", {"pad.y"}, {{"kernel_shape", Ints{3, 3}}})
        .node("Relu", "relu", {"padded.y"})
        .conv3("c3", "relu.y", 4, 4);
    check_quantized_network(nets.build("c3.y"), {random_floats({1, 3, 9, 9}, 6)});
  }
}

TEST_CASE("An addition that broadcasts and constants of all shapes meet values with channels last") {
  Nets nets(3, 6);
  nets.initializer("channel", random_floats({5, 1, 1}, 7))
      .initializer("column", random_floats({6}, 8))
      .initializer("image", random_floats({1, 5, 6, 6}, 9))
      .initializer("two", support::floats({}, {2}))
      .initializer("slope", random_floats({5, 1, 1}, 10))
      .conv3("c1", "x", 3, 5)
      .node("GlobalAveragePool", "squeeze", {"c1.y"})
      .conv("se", "squeeze.y", {5, 5, 1, 1})
      .node("Add", "gate", {"c1.y", "se.y"})
      .node("Mul", "m1", {"gate.y", "channel"})
      .node("Add", "m2", {"column", "m1.y"})
      .node("Sub", "m3", {"m2.y", "image"})
      .node("Div", "m4", {"m3.y", "two"})
      .node("PRelu", "prelu", {"m4.y", "slope"})
      .conv3("c2", "prelu.y", 5, 5)
      .node("Add", "plus", {"se.y", "c2.y"})
      .conv3("c3", "plus.y", 5, 3);
  check_quantized_network(nets.build("c3.y"), {random_floats({1, 3, 6, 6}, 11)});
}

TEST_CASE("Layers that stay float can run in float16, the same whether layers are fused or not") {
  Nets nets(3, 8);
  nets.conv3("c1", "x", 3, 5)
      .node("Relu", "fused", {"c1.y"})
      .node("MaxPool", "codes", {"fused.y"}, {{"kernel_shape", Ints{2, 2}}})
      .conv3("c2", "codes.y", 5, 5)
      .node("HardSigmoid", "float", {"c2.y"})
      .conv3("c3", "float.y", 5, 3);
  const auto graph = nets.build("float.y");
  const std::vector<Tensor> inputs{random_floats({1, 3, 8, 8}, 12)};
  const auto deployed =
      flow::deploy(graph, support::record_of(graph, inputs, Symmetry::asymmetric, support::is_usual_layer));
  const auto run = [&](bool every_layer, bool float16) {
    const flow::Execution execution(deployed, flow::Mode::real_quant, support::integer_ops(),
                                    {.every_layer = every_layer, .float16_layers = float16});
    return execution.run(inputs)[0];
  };
  const Tensor exact = run(false, false);
  const Tensor half = run(false, true);
  CHECK_FALSE(support::same_bits(half, exact));
  CHECK(support::same_bits(half, run(true, true)));
  CHECK(support::same_bits(half, exec::rounded_to_float16(half)));
  for (std::size_t i = 0; i < half.size(); ++i) {
    CHECK(std::fabs(half.data<float>()[i] - exact.data<float>()[i]) <= 0x1p-10F);
  }
}

namespace {

/// A network of random operators and shapes, ending in a convolution.
class RandomNet {
 public:
  explicit RandomNet(std::uint32_t seed) : engine_(seed), seed_(1000 * seed) {
    shape_ = Shape{1 + below(2), 1 + below(5), 6 + below(4), 6 + below(4)};
    builder_.input("x", shape_);
    images_.push_back({"x", shape_[1], shape_[2], shape_[3]});
    const std::int64_t nodes = 4 + below(12);
    for (std::int64_t i = 0; i < nodes; ++i) add("n" + std::to_string(i));
    const Image from = images_.back();
    weight("last.w", {2, from.channels, 1, 1});
    builder_.node("Conv", "last", {from.name, "last.w"}, "y").output("y");
  }

  [[nodiscard]] graph::Graph graph() const { return builder_.build(); }
  [[nodiscard]] std::vector<Tensor> inputs() const { return {random_floats(shape_, seed_)}; }

 private:
  struct Image {
    std::string name;
    std::int64_t channels, height, width;
  };

  std::int64_t below(std::uint32_t end) { return static_cast<std::int64_t>(engine_() % end); }
  void weight(const std::string& name, Shape shape) {
    builder_.initializer(name, random_floats(std::move(shape), ++seed_, 0.4F));
  }
  Image one_of(const std::vector<Image>& images) {
    return images[static_cast<std::size_t>(below(static_cast<std::uint32_t>(images.size())))];
  }
  template <class Fits>
  Image one_that(const Fits& fits) {
    std::vector<Image> found;
    std::copy_if(images_.begin(), images_.end(), std::back_inserter(found), fits);
    return one_of(found);
  }

  void add(const std::string& name) {
    const Image from =
        one_of({images_.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(4, images_.size())), images_.end()});
    Image to{name + ".y", from.channels, from.height, from.width};
    const auto node = [&](const char* type, const std::vector<std::string>& inputs,
                          support::Attributes attributes = {}) {
      builder_.node(type, name, inputs, to.name, std::move(attributes));
    };
    const std::int64_t kind = below(12);
    if (kind < 4) {
      const std::int64_t kernel = std::min(from.height, from.width) < 3 || below(2) == 0 ? 1 : 3;
      const bool depthwise = below(4) == 0;
      const std::int64_t stride = 1 + below(4) / 3;
      to = {to.name, depthwise ? from.channels : 1 + below(9), (from.height - 1) / stride + 1,
            (from.width - 1) / stride + 1};
      weight(name + ".w", {to.channels, depthwise ? 1 : from.channels, kernel, kernel});
      node("Conv", {from.name, name + ".w"},
           {{"group", depthwise ? from.channels : std::int64_t{1}},
            {"strides", Ints{stride, stride}},
            {"pads", Ints(4, kernel / 2)}});
    } else if (kind < 6) {
      node(kind == 4 ? "Relu" : "Sigmoid", {from.name});
    } else if (kind < 9) {
      const Image other = one_that([&](const Image& image) {
        return image.channels == from.channels && image.height == from.height && image.width == from.width;
      });
      node(kind < 8 ? "Add" : "Mul", {from.name, other.name});
    } else if (kind == 9) {
      const Image other =
          one_that([&](const Image& image) { return image.height == from.height && image.width == from.width; });
      to.channels += other.channels;
      node("Concat", {from.name, other.name}, {{"axis", std::int64_t{1}}});
    } else if (kind == 10) {
      node("MaxPool", {from.name}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
    } else {
      std::swap(to.height, to.width);
      node("Transpose", {from.name}, {{"perm", Ints{0, 1, 3, 2}}});
    }
    images_.push_back(std::move(to));
  }

  std::mt19937 engine_;
  std::uint32_t seed_;
  Shape shape_;
  GraphBuilder builder_;
  std::vector<Image> images_;
};

}  // namespace

TEST_CASE("Random networks") {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    const RandomNet net(seed);
    check_quantized_network(net.graph(), net.inputs());
  }
}

namespace {

/// Two convolutions with a Relu between, and what flows into them.
struct Pair {
  graph::Graph graph;
  std::vector<Tensor> inputs;
  Record record;
};

Pair pair_of_convs() {
  Nets nets(4, 7);
  nets.conv3("c1", "x", 4, 6).node("Relu", "relu", {"c1.y"}).conv3("c2", "relu.y", 6, 5);
  Pair pair{nets.build("c2.y"), {random_floats({1, 4, 7, 7}, 20)}, {}};
  pair.record = support::record_of(pair.graph, pair.inputs, Symmetry::asymmetric, support::is_usual_layer);
  return pair;
}

}  // namespace

TEST_CASE("Every contract of ReQuant computes as its fake-quant model says") {
  const auto [graph, inputs, record] = pair_of_convs();
  for (const auto rule : graph::kAllRequantRules) {
    CAPTURE(std::string(graph::name_of(rule)));
    support::check_integer_network(flow::deploy(graph, record, {.merge_requant = true, .requant_rule = rule}), inputs);
  }
}

TEST_CASE("Activations of 12 bits, codes and weights of 4 bits, accumulators shifted by shift_bit") {
  auto [graph, inputs, record] = pair_of_convs();
  SUBCASE("12 bits, also through a MaxPool of the input") {
    graph.nodes.insert(graph.nodes.begin(), {.op_type = "MaxPool",
                                             .name = "pool",
                                             .inputs = graph.inputs,
                                             .outputs = {graph.add_value({.name = "pooled"})},
                                             .attributes = {{"kernel_shape", Ints{2, 2}}}});
    graph.find_node("c1")->inputs[0] = graph.nodes[0].outputs[0];
    for (auto& layer : record) {
      layer.record_d = {{.scale_d = *layer.scale_d / 16.0F, .offset_d = *layer.offset_d * 16, .num_bits_d = 12}};
      layer.scale_d.reset();
      layer.offset_d.reset();
      layer.act_type.reset();
    }
  }
  SUBCASE("4 bits") {
    for (auto& layer : record) {
      layer.scale_d = *layer.scale_d * 17.0F;
      layer.offset_d = *layer.offset_d / 17;
      for (float& scale : layer.scale_w) scale *= 18.0F;
      layer.act_type = layer.wts_type = "INT4";
    }
  }
  SUBCASE("shift_bit") {
    for (auto& layer : record) layer.shift_bit.assign(layer.scale_w.size(), 3);
    record[0].shift_bit[1] = 5;
  }
  for (const bool merged : {false, true}) {
    support::check_integer_network(flow::deploy(graph, record, {.merge_requant = merged}), inputs);
  }
}

TEST_CASE("A MatMul of two data inputs, and operators that compute in float on codes") {
  const auto graph = GraphBuilder()
                         .input("x", {2, 5, 6})
                         .input("z", {2, 6, 7})
                         .node("MatMul", "scores", {"x", "z"}, "s")
                         .node("Softmax", "softmax", {"s"}, "p", {{"axis", std::int64_t{-1}}})
                         .node("Add", "add", {"p", "s"}, "y")
                         .output("y")
                         .build();
  const std::vector<Tensor> inputs{random_floats({2, 5, 6}, 21), random_floats({2, 6, 7}, 22)};
  for (const std::int32_t bits : {8, 12}) {
    const std::int32_t finer = bits == 8 ? 1 : 16;
    const auto input = [&](std::int32_t index, float scale, std::int32_t offset) {
      return ActivationRecord{
          .scale_d = scale / static_cast<float>(finer), .offset_d = offset * finer, .index = index, .num_bits_d = bits};
    };
    const Record record{{.name = "scores", .record_d = {input(0, 0.02F, 9), input(1, 0.03F, -20)}},
                        {.name = "softmax", .record_d = {input(0, 0.07F, 3)}},
                        {.name = "add", .record_d = {input(0, 0.004F, -128), input(1, 0.06F, 0)}}};
    support::check_integer_network(flow::deploy(graph, record), inputs);
  }
}

TEST_CASE("Sums beyond 2^24 stay exact, where the fake-quant model rounds them; the ranges say so") {
  constexpr std::int64_t kDepth = 4000;
  Tensor x(ElementType::float32, Shape{1, kDepth});
  Tensor w(ElementType::float32, Shape{kDepth, 1});
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < kDepth; ++i) {
    const std::int64_t code = i % 3 == 0 ? 127 : 101;
    const std::int64_t weight = i % 7 == 0 ? 127 : 126;
    x.data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(code);
    w.data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(weight);
    expected += code * weight;
  }
  const auto graph =
      GraphBuilder().input("x", x.shape()).initializer("w", w).node("Gemm", "fc", {"x", "w"}, "y").output("y").build();
  const Record record{{.name = "fc", .scale_d = 1.0F, .offset_d = 0, .scale_w = {1.0F}, .act_type = "INT8"}};
  const auto deployed = flow::deploy(graph, record);
  REQUIRE(expected > std::int64_t{1} << 24);
  const auto ranges = exec::integer::accumulator_ranges(deployed);
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0].layer == "fc");
  CHECK_FALSE(ranges[0].fits_float32());
  CHECK(ranges[0].fits_int32());
  const flow::Execution real(deployed, flow::Mode::real_quant, support::integer_ops());
  CHECK(real.run({x})[0].data<float>()[0] == static_cast<float>(expected));
}

TEST_CASE("Two equal quant nodes behind a layer: the codes of the second can be an output") {
  const Pair pair = pair_of_convs();
  auto deployed = flow::deploy(pair.graph, pair.record);
  graph::Node second = *deployed.find_node("c2.quant");
  second.name = "second";
  second.outputs = {deployed.add_value({.name = "codes"})};
  deployed.outputs.push_back(second.outputs[0]);
  deployed.nodes.push_back(second);
  const auto codes = [&](bool every_layer) {
    return flow::Execution(deployed, flow::Mode::real_quant, support::integer_ops(), {.every_layer = every_layer})
        .run(pair.inputs)
        .at(1);
  };
  CHECK(codes(false).type() == ElementType::int8);
  CHECK(support::same_bits(codes(false), codes(true)));
}

TEST_CASE("A layer whose first output is left out is no result") {
  GraphBuilder builder;
  builder.input("x", {3, 1, 2});
  for (const std::string name : {"a", "b"}) {
    builder.initializer(name + ".w", random_floats({1, 4, 2}, 33))
        .initializer(name + ".r", random_floats({1, 4, 1}, 34))
        .node("LSTM", name, {"x", name + ".w", name + ".r"}, {"", name + ".h"}, {{"hidden_size", std::int64_t{1}}});
  }
  const auto graph = builder.node("Add", "add", {"a.h", "b.h"}, "y").output("y").build();
  for (const auto mode : {flow::Mode::float32, flow::Mode::fake_quant, flow::Mode::real_quant}) {
    CAPTURE(std::string(flow::name_of(mode)));
    const flow::Execution execution(graph, mode, support::integer_ops(), {.every_layer = true});
    std::vector<std::string> found;
    execution.run({random_floats({3, 1, 2}, 35)},
                  [&](const flow::LayerResult& result) { found.emplace_back(result.layer); });
    CHECK(found == std::vector<std::string>{"add"});
  }
}

TEST_CASE("Modes have names, results keep the names of the float network's layers") {
  for (const auto mode : {flow::Mode::float32, flow::Mode::fake_quant, flow::Mode::real_quant}) {
    CHECK(flow::mode_of(flow::name_of(mode)) == mode);
  }
  CHECK_FALSE(flow::mode_of("int8"));

  const auto graph = GraphBuilder()
                         .input("x", {3, 4})
                         .initializer("w", random_floats({4, 2}, 30))
                         .initializer("b", random_floats({2}, 31))
                         .node("MatMul", "fc", {"x", "w"}, "m")
                         .node("Add", "bias", {"m", "b"}, "a")
                         .node("Relu", "relu", {"a"}, "y")
                         .output("y")
                         .build();
  const std::vector<Tensor> inputs{random_floats({3, 4}, 32)};
  const auto record = support::record_of(graph, inputs, Symmetry::asymmetric, support::is_usual_layer);
  const auto layers_of = [&](const graph::Graph& network, flow::Mode mode) {
    const flow::Execution execution(network, mode, support::integer_ops(), {.every_layer = true});
    CHECK(execution.mode() == mode);
    std::vector<std::string> found;
    execution.run(inputs, [&](const flow::LayerResult& result) {
      const bool has_codes = mode != flow::Mode::float32 && result.layer == "fc";
      CHECK((result.codes != nullptr) == has_codes);
      CHECK(result.value.shape() == Shape{3, 2});
      found.push_back(std::string(result.layer) + ' ' + std::string(result.op_type));
    });
    return found;
  };
  const std::vector<std::string> expected{"fc MatMul", "relu Relu"};
  CHECK(layers_of(graph, flow::Mode::float32) == expected);
  CHECK(layers_of(flow::deploy(graph, record), flow::Mode::fake_quant) == expected);
  CHECK(layers_of(flow::deploy(graph, record), flow::Mode::real_quant) == expected);
}

namespace {

/// A network of one layer, deployed; an empty `w` stands for no weight.
graph::Graph deployed_layer_of(const std::string& op_type, Shape x, Shape w, support::Attributes attributes,
                               std::vector<std::uint32_t> shift_bit = {}) {
  GraphBuilder builder;
  builder.input("x", std::move(x));
  std::vector<std::string> inputs{"x"};
  if (w.rank() != 0) {
    builder.initializer("w", random_floats(std::move(w), 40));
    inputs.emplace_back("w");
  }
  builder.node(op_type, "layer", inputs, "y", std::move(attributes)).output("y");
  const LayerRecord layer{.name = "layer",
                          .scale_d = 0.02F,
                          .offset_d = 0,
                          .scale_w = {1.0F},
                          .shift_bit = std::move(shift_bit),
                          .act_type = "INT8"};
  return flow::deploy(builder.build(), {layer});
}

}  // namespace

TEST_CASE("What cannot be executed in integers is refused with the name of its layer") {
  auto [graph, inputs, record] = pair_of_convs();
  auto deployed = flow::deploy(graph, record);
  const auto refusal = [&] {
    const auto error =
        support::error_of([&] { flow::Execution(deployed, flow::Mode::real_quant, support::integer_ops()); });
    return error ? error->where().layer + ": " + error->message() : "none";
  };
  CHECK(refusal() == "none");
  SUBCASE("a layer without a quant node") {
    deployed.find_node("c1")->inputs[0] = deployed.inputs[0];
    CHECK(refusal() == "c1: no AscendQuant makes its input 0");
  }
  SUBCASE("another operator") {
    deployed.find_node("c1")->op_type = "Einsum";
    CHECK(refusal() == "c1.dequant: its accumulators come from Einsum");
  }
  SUBCASE("a float weight") {
    const auto weight = deployed.find_node("c2")->inputs[1];
    graph::replace_initializer(deployed, weight, random_floats({5, 6, 3, 3}, 1));
    CHECK(refusal() == "c2: its weight is not a constant int8 tensor of 3 to 5 axes");
  }
  SUBCASE("scales of another number") {
    const auto parameter = deployed.find_node("c2.dequant")->inputs[1];
    graph::replace_initializer(deployed, parameter, graph::dequant_parameter(1.0F, {1, 1, 1}));
    CHECK(refusal() == "c2: has 3 scales, expected one or 5");
  }
  SUBCASE("accumulators that another node reads") {
    const auto copy = deployed.add_value({.name = "copy"});
    deployed.nodes.push_back({.op_type = "Cast",
                              .name = "cast",
                              .inputs = deployed.find_node("c1")->outputs,
                              .outputs = {copy},
                              .attributes = {{"to", std::int64_t{1}}}});
    deployed.outputs.push_back(copy);
    CHECK(refusal() == "cast: reads the accumulators that c1.dequant dequantizes");
  }
  SUBCASE("a Gemm that transposes its input") {
    deployed = deployed_layer_of("Gemm", {4, 4}, {4, 3}, {});
    CHECK(refusal() == "none");
    deployed.find_node("layer")->set_attribute("transA", std::int64_t{1});
    CHECK(refusal() == "layer: transA is set");
  }
  SUBCASE("shift_bit of a pool") {
    const support::Attributes kernel{{"kernel_shape", Ints{2, 2}}};
    deployed = deployed_layer_of("AveragePool", {1, 2, 4, 4}, {}, kernel);
    CHECK(refusal() == "none");
    deployed = deployed_layer_of("AveragePool", {1, 2, 4, 4}, {}, kernel, {2});
    CHECK(refusal() == "layer: has shift_bit, which only sums of integers can have");
  }
  SUBCASE("an input of other channels") {
    const flow::Execution execution(deployed, flow::Mode::real_quant, support::integer_ops());
    const auto error = support::error_of([&] { (void)execution.run({random_floats({1, 3, 7, 7}, 1)}); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_shape);
    CHECK(error->where().layer == "c1");
  }
}
