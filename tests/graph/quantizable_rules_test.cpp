// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/quantizable_rules.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include <amct/config/type_names.hpp>
#include <amct/graph/quantizable.hpp>

#include "support/graph_builder.hpp"

// The guide's table of quantizable operators (flavour hotwheels), a test a row, each on the nodes that torch 1.13
// writes at opset 13; then the constraints of the other flavours.

using namespace amct;
using namespace amct::graph;
using support::Attributes;
using support::floats;
using support::GraphBuilder;
using support::int64s;
using support::Ints;
using support::whole_numbers;
using Names = std::vector<std::string>;

namespace {

QuantizableLayers find(const GraphBuilder& net, Flavour flavour = Flavour::hotwheels) {
  return find_quantizable(net.build(), rules_of(flavour));
}
/// "name type inputs" of each quantized layer, separated by semicolons.
std::string layers(const GraphBuilder& net, Flavour flavour = Flavour::hotwheels) {
  std::string text;
  for (const auto& layer : find(net, flavour).layers) {
    text += (text.empty() ? "" : "; ") + layer.name + ' ' + type_name(layer) + ' ' +
            std::to_string(layer.activation_inputs);
  }
  return text;
}
/// Why a layer stays float; empty if it is not listed as one that does.
std::string reason(const GraphBuilder& net, const std::string& name, Flavour flavour = Flavour::hotwheels) {
  for (const auto& layer : find(net, flavour).left_float) {
    if (layer.name == name) return layer.reason;
  }
  return "";
}
/// Whether the layer has all these types.
bool has_types(const GraphBuilder& net, const std::string& name, std::initializer_list<const char*> types) {
  const auto found = find(net);
  const LayerInfo* layer = find_layer(found.layers, name);
  REQUIRE(layer != nullptr);
  bool all = true;
  for (const char* type : types) {
    CAPTURE(type);
    CHECK(is_known_type(type));
    all = all && matches_type(*layer, type);
  }
  return all;
}

/// One node on data x, which operators that are no layers surround, with constants to choose from.
GraphBuilder one(const std::string& op, Attributes attributes = {}, Names inputs = {"x"}) {
  return GraphBuilder()
      .input("in", {1, 4, 8, 8})
      .input("in2", {1, 4, 8, 8})
      .initializer("axes", int64s({1}))
      .initializer("shape", int64s({1, -1}))
      .initializer("two", Tensor::scalar(2.0F))
      .initializer("six", Tensor::scalar(6.0F))
      .initializer("zero", Tensor::scalar(0.0F))
      .initializer("scales", floats({4}, {1, 1, 2, 2}))
      .initializer("slope", floats({1}, {0.25F}))
      .node("Sin", "sin1", {"in"}, "x")
      .node("Sin", "sin2", {"in2"}, "z")
      .node(op, "op", std::move(inputs), "y", std::move(attributes))
      .node("Cos", "cos", {"y"}, "out")
      .output("out");
}
/// The same behind a convolution.
GraphBuilder behind(const std::string& convolution, const std::string& op, Attributes attributes = {},
                    Names more = {}) {
  more.insert(more.begin(), "c");
  return GraphBuilder()
      .input("x", {1, 4, 8, 8})
      .initializer("w", whole_numbers({4, 4, 1, 1}, 1))
      .initializer("zero", Tensor::scalar(0.0F))
      .initializer("six", Tensor::scalar(6.0F))
      .initializer("slope", floats({1}, {0.25F}))
      .node(convolution, "conv", {"x", "w"}, "c")
      .node(op, "op", more, "y", std::move(attributes))
      .output("y");
}
/// A row of activations that stay float behind Conv and ConvTranspose, but not behind a fully connected layer.
void check_activation(const std::string& op, Attributes attributes = {}, const Names& more = {}) {
  Names inputs = more;
  inputs.insert(inputs.begin(), "x");
  CHECK(layers(one(op, attributes, inputs)) == "op " + op + " 1");
  for (const char* convolution : {"Conv", "ConvTranspose"}) {
    CHECK(layers(behind(convolution, op, attributes, more)) ==
          std::string("conv ") + (std::string(convolution) == "Conv" ? "Conv2d 1" : "ConvTranspose2d 1"));
    CHECK(reason(behind(convolution, op, attributes, more), "op") == "it stands directly behind a convolution");
  }
  auto linear = behind("Gemm", op, attributes, more);
  linear.initializer("w", whole_numbers({4, 4}, 1));
  CHECK(layers(linear) == "conv Linear 1; op " + op + " 1");
}
/// A row of layers that torch has as one and ONNX as the nodes given: none but the last is a layer.
void check_composite(const GraphBuilder& net, const std::string& type) {
  CHECK(layers(net) == "last " + type + " 1");
  CHECK(find(net).left_float.empty());
  CHECK(layers(net, Flavour::pytorch).empty());
}

}  // namespace

TEST_CASE("Linear: Gemm, or MatMul for more than two axes; layers may share their weight") {
  const auto net = GraphBuilder()
                       .input("x", {1, 4})
                       .initializer("w", whole_numbers({4, 4}, 1))
                       .initializer("b", floats({4}, {1, 2, 3, 4}))
                       .node("Gemm", "fc1", {"x", "w", "b"}, "a")
                       .node("Gemm", "fc2", {"a", "w", "b"}, "c")
                       .node("MatMul", "mm", {"c", "w"}, "y")
                       .output("y");
  CHECK(layers(net) == "fc1 Linear 1; fc2 Linear 1; mm Linear 1");
  CHECK(has_types(net, "mm", {"torch.nn.Linear", "Linear"}));
}

TEST_CASE("Linear: with bias on more than two axes it stays float") {
  const auto net = GraphBuilder()
                       .input("x", {1, 2, 4})
                       .initializer("w", whole_numbers({4, 4}, 1))
                       .initializer("b", floats({4}, {1, 2, 3, 4}))
                       .node("MatMul", "mm", {"x", "w"}, "a")
                       .node("Add", "add", {"b", "a"}, "y")
                       .output("y");
  CHECK(layers(net) == "add Add 1");
  CHECK(support::contains(reason(net, "mm"), "fully connected layer with bias"));
  CHECK(layers(net, Flavour::pytorch) == "mm Linear 1");
}

TEST_CASE("Conv2d and ConvTranspose2d; other convolutions are not in the table") {
  CHECK(layers(behind("Conv", "Sin")) == "conv Conv2d 1");
  CHECK(has_types(behind("Conv", "Sin"), "conv", {"torch.nn.Conv2d"}));
  CHECK(layers(behind("ConvTranspose", "Sin")) == "conv ConvTranspose2d 1");
  CHECK(has_types(behind("ConvTranspose", "Sin"), "conv", {"torch.nn.ConvTranspose2d"}));
  auto one_d = behind("Conv", "Sin");
  one_d.initializer("w", whole_numbers({4, 4, 1}, 1));
  CHECK(reason(one_d, "conv") == "flavour hotwheels does not quantize Conv1d");
}

TEST_CASE("Conv2d of constants is computed beforehand and stays float") {
  auto net = behind("Conv", "Sin");
  net.initializer("x", whole_numbers({1, 4, 8, 8}, 2));
  CHECK(reason(net, "conv") == "its input is a constant");
}

TEST_CASE("MaxPool2d, max_pool2d") {
  const auto net = one("MaxPool", {{"kernel_shape", Ints{2, 2}}});
  CHECK(layers(net) == "op MaxPool 1");
  CHECK(has_types(
      net, "op",
      {"torch.nn.MaxPool2d", "torch.nn.functional.max_pool2d", "torch.nn.functional.max_pool2d_with_indices"}));
}

TEST_CASE("AvgPool2d, avg_pool2d: Pad and AveragePool") {
  const auto net = GraphBuilder()
                       .input("x", {1, 4, 8, 8})
                       .initializer("pads", int64s({0, 0, 0, 0, 0, 0, 0, 0}))
                       .node("Pad", "pad", {"x", "pads"}, "a")
                       .node("AveragePool", "pool", {"a"}, "y", {{"kernel_shape", Ints{2, 2}}})
                       .output("y");
  CHECK(layers(net) == "pool AvgPool2d 1");
  CHECK(find(net).left_float.empty());
  CHECK(has_types(net, "pool", {"torch.nn.AvgPool2d", "torch.nn.functional.avg_pool2d"}));
}

TEST_CASE("AdaptiveMaxPool2d, adaptive_max_pool2d") {
  CHECK(layers(one("GlobalMaxPool")) == "op GlobalMaxPool 1");
  CHECK(
      has_types(one("GlobalMaxPool"), "op", {"torch.nn.AdaptiveMaxPool2d", "torch.nn.functional.adaptive_max_pool2d"}));
  CHECK(has_types(one("MaxPool", {{"kernel_shape", Ints{4, 4}}}), "op", {"torch.nn.AdaptiveMaxPool2d"}));
}

TEST_CASE("AdaptiveAvgPool2d, adaptive_avg_pool2d") {
  CHECK(layers(one("GlobalAveragePool")) == "op GlobalAveragePool 1");
  CHECK(has_types(one("GlobalAveragePool"), "op",
                  {"torch.nn.AdaptiveAvgPool2d", "torch.nn.functional.adaptive_avg_pool2d"}));
  CHECK(has_types(one("AveragePool", {{"kernel_shape", Ints{4, 4}}}), "op", {"torch.nn.AdaptiveAvgPool2d"}));
}

TEST_CASE("LayerNorm: nine nodes") {
  const auto net = GraphBuilder()
                       .input("x", {1, 4, 8})
                       .initializer("gamma", floats({8}, std::vector<float>(8, 1.0F)))
                       .initializer("beta", floats({8}, std::vector<float>(8, 1.0F)))
                       .constant("two", Tensor::scalar(2.0F))
                       .constant("eps", Tensor::scalar(1e-5F))
                       .node("ReduceMean", "mean", {"x"}, "m", {{"axes", Ints{-1}}})
                       .node("Sub", "sub", {"x", "m"}, "d")
                       .node("Pow", "pow", {"d", "two"}, "p")
                       .node("ReduceMean", "var", {"p"}, "v", {{"axes", Ints{-1}}})
                       .node("Add", "add", {"v", "eps"}, "e")
                       .node("Sqrt", "sqrt", {"e"}, "s")
                       .node("Div", "div", {"d", "s"}, "n")
                       .node("Mul", "mul", {"n", "gamma"}, "g")
                       .node("Add", "last", {"g", "beta"}, "y")
                       .output("y");
  check_composite(net, "LayerNorm");
  CHECK(has_types(net, "last", {"torch.nn.LayerNorm"}));
}

TEST_CASE("add: of two tensors, or of a tensor and a constant, which has one entry") {
  CHECK(layers(one("Add", {}, {"x", "z"})) == "op Add 2");
  CHECK(layers(one("Add", {}, {"x", "two"})) == "op Add 1");
  CHECK(has_types(one("Add", {}, {"x", "z"}), "op", {"operator.add", "torch.add", "Tensor.add", "Tensor.add_"}));
}

TEST_CASE("sub") {
  CHECK(layers(one("Sub", {}, {"x", "z"})) == "op Sub 2");
  CHECK(layers(one("Sub", {}, {"two", "x"})) == "op Sub 1");
  CHECK(has_types(one("Sub", {}, {"x", "z"}), "op", {"operator.sub", "torch.sub", "Tensor.sub", "Tensor.sub_"}));
}

TEST_CASE("mul") {
  CHECK(layers(one("Mul", {}, {"x", "z"})) == "op Mul 2");
  CHECK(layers(one("Mul", {}, {"x", "two"})) == "op Mul 1");
  CHECK(has_types(one("Mul", {}, {"x", "z"}), "op", {"operator.mul", "torch.mul", "Tensor.mul", "Tensor.mul_"}));
}

TEST_CASE("div") {
  CHECK(layers(one("Div", {}, {"x", "z"})) == "op Div 2");
  CHECK(layers(one("Div", {}, {"x", "two"})) == "op Div 1");
  CHECK(has_types(one("Div", {}, {"x", "z"}), "op", {"operator.truediv", "torch.div", "Tensor.div", "Tensor.div_"}));
}

TEST_CASE("pow") {
  CHECK(layers(one("Pow", {}, {"x", "z"})) == "op Pow 2");
  CHECK(layers(one("Pow", {}, {"x", "two"})) == "op Pow 1");
  CHECK(has_types(one("Pow", {}, {"x", "two"}), "op", {"operator.pow", "torch.pow", "Tensor.pow", "Tensor.pow_"}));
}

TEST_CASE("Arithmetic of constants alone, or on shapes, is no layer") {
  CHECK(reason(one("Add", {}, {"two", "six"}), "op") == "none of its inputs carries data");
  auto shapes = one("Add", {}, {"s", "s"});
  shapes.initializer("s", int64s({1}));
  CHECK(reason(shapes, "op") == "its data are int64");
}

TEST_CASE("bmm") {
  CHECK(layers(one("MatMul", {}, {"x", "z"})) == "op MatMul 2");
  CHECK(has_types(one("MatMul", {}, {"x", "z"}), "op", {"torch.bmm"}));
}

TEST_CASE("sum") {
  CHECK(layers(one("ReduceSum", {}, {"x", "axes"})) == "op ReduceSum 1");
  CHECK(has_types(one("ReduceSum", {}, {"x", "axes"}), "op", {"torch.sum"}));
}

TEST_CASE("matmul: not with a constant or parameter") {
  CHECK(layers(one("MatMul", {}, {"x", "z"})) == "op MatMul 2");
  CHECK(has_types(one("MatMul", {}, {"x", "z"}), "op", {"torch.matmul", "operator.matmul", "Tensor.matmul"}));
  CHECK(reason(one("MatMul", {}, {"scales", "x"}), "op") == "one of its operands is a constant");
  auto batch = one("MatMul", {}, {"x", "w"});
  batch.initializer("w", whole_numbers({4, 8, 8}, 1));
  CHECK(reason(batch, "op") == "its weight has 3 axes");
}

TEST_CASE("abs") {
  CHECK(layers(one("Abs")) == "op Abs 1");
  CHECK(has_types(one("Abs"), "op", {"torch.abs", "Tensor.abs", "Tensor.abs_"}));
}

TEST_CASE("max: of two tensors, or over an axis that is kept") {
  CHECK(layers(one("Max", {}, {"x", "z"})) == "op Max 2");
  const auto kept = one("ReduceMax", {{"axes", Ints{1}}, {"keepdims", std::int64_t{1}}});
  CHECK(layers(kept) == "op ReduceMax 1");
  CHECK(has_types(kept, "op", {"torch.max", "Tensor.max"}));
  CHECK(reason(one("ReduceMax", {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}}), "op") == "keepdims is 0");
}

TEST_CASE("min: the axis need not be kept") {
  CHECK(layers(one("Min", {}, {"x", "z"})) == "op Min 2");
  const auto dropped = one("ReduceMin", {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}});
  CHECK(layers(dropped) == "op ReduceMin 1");
  CHECK(has_types(dropped, "op", {"torch.min", "Tensor.min"}));
}

TEST_CASE("mean") {
  CHECK(layers(one("ReduceMean", {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}})) == "op ReduceMean 1");
  CHECK(has_types(one("ReduceMean", {{"axes", Ints{1}}}), "op", {"Tensor.mean", "torch.mean"}));
}

TEST_CASE("clamp") {
  CHECK(layers(one("Clip", {}, {"x", "zero", "two"})) == "op Clip 1");
  CHECK(has_types(one("Clip", {}, {"x", "zero", "two"}), "op", {"torch.clamp", "Tensor.clamp", "Tensor.clamp_"}));
}

TEST_CASE("permute") {
  CHECK(layers(one("Transpose", {{"perm", Ints{0, 2, 3, 1}}})) == "op Transpose 1");
  CHECK(has_types(one("Transpose"), "op", {"torch.permute", "Tensor.permute"}));
}

TEST_CASE("Upsample, upsample") {
  CHECK(layers(one("Resize", {}, {"x", "", "scales"})) == "op Resize 1");
  CHECK(has_types(one("Resize", {}, {"x", "", "scales"}), "op", {"torch.nn.Upsample", "torch.nn.functional.upsample"}));
}

TEST_CASE("interpolate") {
  CHECK(has_types(one("Resize", {}, {"x", "", "scales"}), "op", {"torch.nn.functional.interpolate"}));
  CHECK(layers(one("Upsample", {}, {"x", "scales"})) == "op Upsample 1");
}

TEST_CASE("transpose") {
  CHECK(layers(one("Transpose", {{"perm", Ints{0, 1, 3, 2}}})) == "op Transpose 1");
  CHECK(has_types(one("Transpose"), "op", {"Tensor.transpose", "torch.transpose"}));
}

TEST_CASE("concat") {
  CHECK(layers(one("Concat", {{"axis", std::int64_t{1}}}, {"x", "z"})) == "op Concat 2");
  CHECK(has_types(one("Concat", {}, {"x", "z"}), "op", {"torch.concat"}));
}

TEST_CASE("cat") {
  CHECK(layers(one("Concat", {{"axis", std::int64_t{1}}}, {"x", "two"})) == "op Concat 1");
  CHECK(has_types(one("Concat", {}, {"x", "z"}), "op", {"torch.cat"}));
}

TEST_CASE("stack: the Concat is the layer, the Unsqueeze nodes are parts of it") {
  const auto stack = [](std::int64_t axis) {
    return GraphBuilder()
        .input("x", {4})
        .input("z", {4})
        .initializer("axes", int64s({1}))
        .node("Sin", "sin1", {"x"}, "a")
        .node("Sin", "sin2", {"z"}, "b")
        .node("Unsqueeze", "u1", {"a", "axes"}, "c")
        .node("Unsqueeze", "u2", {"b", "axes"}, "d")
        .node("Concat", "concat", {"c", "d"}, "y", {{"axis", axis}})
        .output("y");
  };
  CHECK(layers(stack(1)) == "concat Concat 2");
  CHECK(reason(stack(1), "u1") == "it is a part of the stack concat");
  CHECK(has_types(stack(1), "concat", {"torch.stack"}));
  CHECK(layers(stack(0)) == "u1 Unsqueeze 1; u2 Unsqueeze 1; concat Concat 2");
}

TEST_CASE("flatten: only beside an operator that computes") {
  CHECK(layers(one("Flatten")) == "op Flatten 1");
  CHECK(has_types(one("Flatten"), "op", {"Tensor.flatten", "torch.flatten"}));
  CHECK(reason(GraphBuilder().input("x", {1, 4}).node("Flatten", "op", {"x"}, "y").output("y"), "op") ==
        "it only changes the shape, and so do its neighbours");
}

TEST_CASE("squeeze: inside a chain of shape operators it stays float") {
  CHECK(layers(one("Squeeze", {}, {"x", "axes"})) == "op Squeeze 1");
  CHECK(has_types(one("Squeeze", {}, {"x", "axes"}), "op", {"torch.squeeze", "Tensor.squeeze"}));
  const auto chain = GraphBuilder()
                         .input("x", {1, 4})
                         .initializer("axes", int64s({0}))
                         .initializer("shape", int64s({2, 2}))
                         .node("Sin", "sin", {"x"}, "a")
                         .node("Flatten", "first", {"a"}, "b")
                         .node("Squeeze", "inner", {"b", "axes"}, "c")
                         .node("Reshape", "end", {"c", "shape"}, "d")
                         .node("Cos", "cos", {"d"}, "y")
                         .output("y");
  CHECK(layers(chain) == "first Flatten 1; end Reshape 1");
}

TEST_CASE("unsqueeze") {
  CHECK(layers(one("Unsqueeze", {}, {"x", "axes"})) == "op Unsqueeze 1");
  CHECK(has_types(one("Unsqueeze", {}, {"x", "axes"}), "op", {"torch.unsqueeze", "Tensor.unsqueeze"}));
}

TEST_CASE("reshape") {
  CHECK(layers(one("Reshape", {}, {"x", "shape"})) == "op Reshape 1");
  CHECK(has_types(one("Reshape", {}, {"x", "shape"}), "op", {"Tensor.reshape", "torch.reshape"}));
}

TEST_CASE("view") {
  CHECK(has_types(one("Reshape", {}, {"x", "shape"}), "op", {"Tensor.view"}));
  CHECK(layers(one("Reshape", {}, {"x", "shape"}), Flavour::hotwheels_dynamic) == "op Reshape 1");
}

TEST_CASE("split") {
  CHECK(layers(one("Split", {{"axis", std::int64_t{1}}})) == "op Split 1");
  CHECK(has_types(one("Split"), "op", {"torch.split", "Tensor.split"}));
}

TEST_CASE("ReLU: not behind Conv2d or ConvTranspose2d") {
  check_activation("Relu");
  CHECK(has_types(
      one("Relu"), "op",
      {"torch.nn.ReLU", "torch.nn.functional.relu", "torch.nn.functional.relu_", "Tensor.relu", "Tensor.relu_"}));
}

TEST_CASE("ReLU6: not behind Conv2d or ConvTranspose2d, also in the form with attributes") {
  check_activation("Clip", {}, {"zero", "six"});
  CHECK(has_types(one("Clip", {}, {"x", "zero", "six"}), "op", {"torch.nn.ReLU6", "torch.nn.functional.relu6"}));
  check_activation("Clip", {{"min", 0.0F}, {"max", 6.0F}});
}

TEST_CASE("Sigmoid: not behind Conv2d or ConvTranspose2d") {
  check_activation("Sigmoid");
  CHECK(has_types(one("Sigmoid"), "op", {"Tensor.sigmoid", "Tensor.sigmoid_", "torch.nn.functional.sigmoid"}));
}

TEST_CASE("Tanh: not behind Conv2d or ConvTranspose2d") {
  check_activation("Tanh");
  CHECK(has_types(one("Tanh"), "op", {"Tensor.tanh", "Tensor.tanh_", "torch.nn.Tanh", "torch.nn.functional.tanh"}));
}

TEST_CASE("LeakyReLU: not behind Conv2d or ConvTranspose2d") {
  check_activation("LeakyRelu", {{"alpha", 0.1F}});
  CHECK(has_types(one("LeakyRelu"), "op",
                  {"torch.nn.LeakyReLU", "torch.nn.functional.leaky_relu", "torch.nn.functional.leaky_relu_"}));
}

TEST_CASE("PReLU: not behind Conv2d or ConvTranspose2d") {
  check_activation("PRelu", {}, {"slope"});
  CHECK(has_types(one("PRelu", {}, {"x", "slope"}), "op", {"torch.nn.PReLU", "torch.nn.functional.prelu"}));
}

TEST_CASE("GELU: Div Erf Add Mul Mul") {
  const auto net = GraphBuilder()
                       .input("x", {1, 4})
                       .constant("root", Tensor::scalar(1.4142135F))
                       .constant("one", Tensor::scalar(1.0F))
                       .constant("half", Tensor::scalar(0.5F))
                       .node("Div", "div", {"x", "root"}, "a")
                       .node("Erf", "erf", {"a"}, "b")
                       .node("Add", "add", {"b", "one"}, "c")
                       .node("Mul", "mul", {"x", "c"}, "d")
                       .node("Mul", "last", {"d", "half"}, "y")
                       .output("y");
  check_composite(net, "GELU");
  CHECK(has_types(net, "last", {"torch.nn.GELU", "torch.nn.functional.gelu"}));
}

TEST_CASE("Hardtanh: also behind a convolution") {
  const auto hardtanh = [](const char* op) {
    auto net = behind(op, "Clip", {}, {"zero", "two"});
    return net.initializer("two", Tensor::scalar(2.0F));
  };
  CHECK(layers(hardtanh("Conv")) == "conv Conv2d 1; op Clip 1");
  CHECK(has_types(hardtanh("Conv"), "op",
                  {"torch.nn.Hardtanh", "torch.nn.functional.hardtanh", "torch.nn.functional.hardtanh_"}));
}

TEST_CASE("Softmax") {
  CHECK(layers(one("Softmax", {{"axis", std::int64_t{-1}}})) == "op Softmax 1");
  CHECK(has_types(one("Softmax"), "op", {"torch.nn.Softmax", "torch.nn.functional.softmax"}));
}

TEST_CASE("Softmax2d: over the channels") {
  CHECK(layers(one("Softmax", {{"axis", std::int64_t{1}}})) == "op Softmax 1");
  CHECK(has_types(one("Softmax", {{"axis", std::int64_t{1}}}), "op", {"torch.nn.Softmax2d"}));
}

TEST_CASE("LogSoftmax") {
  CHECK(layers(one("LogSoftmax")) == "op LogSoftmax 1");
  CHECK(has_types(one("LogSoftmax"), "op", {"torch.nn.LogSoftmax", "torch.nn.functional.log_softmax"}));
}

TEST_CASE("ELU: also behind a convolution") {
  CHECK(layers(behind("Conv", "Elu")) == "conv Conv2d 1; op Elu 1");
  CHECK(has_types(one("Elu"), "op", {"torch.nn.ELU", "torch.nn.functional.elu", "torch.nn.functional.elu_"}));
}

namespace {

/// x through the nodes of one torch layer.
GraphBuilder net_of_x() { return GraphBuilder().input("x", {1, 4}).constant("one", Tensor::scalar(1.0F)); }

}  // namespace

TEST_CASE("LogSigmoid: Sigmoid Log") {
  const auto net = net_of_x().node("Sigmoid", "s", {"x"}, "a").node("Log", "last", {"a"}, "y").output("y");
  check_composite(net, "LogSigmoid");
  CHECK(has_types(net, "last", {"torch.nn.LogSigmoid", "torch.nn.functional.logsigmoid"}));
}

TEST_CASE("Softsign: Abs Add Div, or one node") {
  const auto net = net_of_x()
                       .node("Abs", "abs", {"x"}, "a")
                       .node("Add", "add", {"a", "one"}, "b")
                       .node("Div", "last", {"x", "b"}, "y")
                       .output("y");
  check_composite(net, "Softsign");
  CHECK(has_types(net, "last", {"torch.nn.Softsign", "torch.nn.functional.softsign"}));
  CHECK(layers(one("Softsign")) == "op Softsign 1");
}

TEST_CASE("Softmin: Neg Softmax") {
  const auto net = net_of_x().node("Neg", "neg", {"x"}, "a").node("Softmax", "last", {"a"}, "y").output("y");
  check_composite(net, "Softmin");
  CHECK(has_types(net, "last", {"torch.nn.Softmin", "torch.nn.functional.softmin"}));
}

TEST_CASE("Tanhshrink: Tanh Sub") {
  const auto net = net_of_x().node("Tanh", "tanh", {"x"}, "a").node("Sub", "last", {"x", "a"}, "y").output("y");
  check_composite(net, "Tanhshrink");
  CHECK(has_types(net, "last", {"torch.nn.Tanhshrink", "torch.nn.functional.tanhshrink"}));
}

TEST_CASE("GLU: Split Sigmoid Mul") {
  const auto net = net_of_x()
                       .node("Split", "split", {"x"}, Names{"a", "b"}, {{"axis", std::int64_t{1}}})
                       .node("Sigmoid", "s", {"b"}, "c")
                       .node("Mul", "last", {"a", "c"}, "y")
                       .output("y");
  check_composite(net, "GLU");
  CHECK(has_types(net, "last", {"torch.nn.GLU", "torch.nn.functional.glu"}));
}

TEST_CASE("Hardswish: HardSigmoid Mul, or one node") {
  const auto net = net_of_x()
                       .node("HardSigmoid", "h", {"x"}, "a", {{"alpha", 1.0F / 6.0F}})
                       .node("Mul", "last", {"x", "a"}, "y")
                       .output("y");
  check_composite(net, "Hardswish");
  CHECK(has_types(net, "last", {"torch.nn.Hardswish", "torch.nn.functional.hardswish"}));
  CHECK(layers(one("HardSwish")) == "op HardSwish 1");
}

TEST_CASE("SiLU: Sigmoid Mul") {
  const auto net = net_of_x().node("Sigmoid", "s", {"x"}, "a").node("Mul", "last", {"x", "a"}, "y").output("y");
  check_composite(net, "SiLU");
  CHECK(has_types(net, "last", {"torch.nn.SiLU", "torch.nn.functional.silu"}));
}

TEST_CASE("Mish: Softplus Tanh Mul") {
  const auto net = net_of_x()
                       .node("Softplus", "p", {"x"}, "a")
                       .node("Tanh", "t", {"a"}, "b")
                       .node("Mul", "last", {"x", "b"}, "y")
                       .output("y");
  check_composite(net, "Mish");
  CHECK(has_types(net, "last", {"torch.nn.Mish", "torch.nn.functional.mish"}));
}

namespace {

/// BatchNormalization - Relu behind an operator.
GraphBuilder normalized(const char* op) {
  GraphBuilder net;
  net.input("x", {1, 4, 8, 8}).initializer("w", whole_numbers({4, 4, 1, 1}, 1));
  net.initializer("p", floats({4}, {1, 1, 1, 1}));
  net.node(op, "before", std::string(op) == "Sin" ? Names{"x"} : Names{"x", "w"}, "c");
  return net.node("BatchNormalization", "bn", {"c", "p", "p", "p", "p"}, "n")
      .node("Relu", "relu", {"n"}, "y")
      .output("y");
}

}  // namespace

TEST_CASE("BatchNorm2d: a layer of its own unless a convolution takes it in, before which counts as behind it") {
  CHECK(layers(normalized("Sin")) == "bn BatchNormalization 1; relu Relu 1");
  CHECK(has_types(normalized("Sin"), "bn", {"torch.nn.BatchNorm2d"}));
  CHECK(layers(normalized("Conv")) == "before Conv2d 1");
  CHECK(reason(normalized("Conv"), "bn") == "it is folded into the layer before it");
  CHECK(reason(normalized("Conv"), "relu") == "it stands directly behind a convolution");
  auto computed = normalized("Conv");
  computed.initializer("p", floats({3}, {1, 1, 1}));  // not one value a channel: it cannot be folded
  CHECK(layers(computed) == "before Conv2d 1; bn BatchNormalization 1; relu Relu 1");
}

TEST_CASE("SyncBatchNorm2d: not folded into a transposed convolution") {
  CHECK(layers(normalized("ConvTranspose")) == "before ConvTranspose2d 1; bn BatchNormalization 1; relu Relu 1");
  CHECK(has_types(normalized("Sin"), "bn", {"torch.nn.SyncBatchNorm2d"}));
}

TEST_CASE("amct.nn.SpaceToDepth") {
  CHECK(layers(one("SpaceToDepth", {{"blocksize", std::int64_t{2}}})) == "op SpaceToDepth 1");
  CHECK(has_types(one("SpaceToDepth"), "op", {"amct.nn.SpaceToDepth"}));
}

TEST_CASE("amct.nn.DepthToSpace: DCR only") {
  const auto net = [](const char* mode) {
    return one("DepthToSpace", {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}});
  };
  CHECK(layers(net("DCR")) == "op DepthToSpace 1");
  CHECK(has_types(net("DCR"), "op", {"amct.nn.DepthToSpace"}));
  CHECK(reason(net("CRD"), "op") == "its mode is not DCR");
}

namespace {

GraphBuilder warp(const char* mode, const char* padding, std::int64_t align) {
  return one("GridSample",
             {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", align}},
             {"x", "z"});
}

}  // namespace

TEST_CASE("amct.nn.Warp: nearest, border, aligned corners") {
  CHECK(layers(warp("nearest", "border", 1)) == "op GridSample 1");
  CHECK(has_types(warp("nearest", "border", 1), "op", {"amct.nn.Warp"}));
  for (const auto& other : {warp("bilinear", "border", 1), warp("nearest", "zeros", 1), warp("nearest", "border", 0)}) {
    CHECK(reason(other, "op") == "it does not sample nearest, align_corners, border");
  }
}

TEST_CASE("amct.nn.GlobalWarp") { CHECK(has_types(warp("nearest", "border", 1), "op", {"amct.nn.GlobalWarp"})); }

// Constraints of the other flavours

namespace {

GraphBuilder convolution(const char* op, const Shape& weight, const Ints& dilations) {
  return GraphBuilder()
      .input("x")
      .initializer("w", whole_numbers(weight, 1))
      .node(op, "conv", {"x", "w"}, "y", {{"dilations", dilations}})
      .output("y");
}

}  // namespace

TEST_CASE("A three-dimensional convolution has no dilation along the depth") {
  CHECK(layers(convolution("Conv", {2, 2, 1, 1, 1}, {1, 2, 2}), Flavour::pytorch) == "conv Conv3d 1");
  CHECK(reason(convolution("Conv", {2, 2, 1, 1, 1}, {2, 1, 1}), "conv", Flavour::pytorch) ==
        "its dilation along the depth is 2, expected 1");
}

TEST_CASE("Transposed convolutions with dilations are quantized by some flavours") {
  const auto net = convolution("ConvTranspose", {2, 2, 1, 1}, {1, 2});
  CHECK(layers(net, Flavour::pytorch) == "conv ConvTranspose2d 1");
  for (const Flavour flavour : {Flavour::onnx, Flavour::tensorflow, Flavour::caffe}) {
    CHECK(reason(net, "conv", flavour) == "it is a transposed convolution with dilations");
    CHECK(layers(convolution("ConvTranspose", {2, 2, 1, 1}, {1, 1}), flavour) == "conv ConvTranspose2d 1");
  }
}

TEST_CASE("Flavours quantize convolutions of some ranks only") {
  CHECK(layers(convolution("Conv", {2, 2, 1}, {1}), Flavour::pytorch) == "conv Conv1d 1");
  CHECK(reason(convolution("Conv", {2, 2, 1}, {1}), "conv", Flavour::onnx) == "flavour onnx does not quantize Conv1d");
  CHECK(reason(convolution("ConvTranspose", {2, 2, 1, 1}, {1, 1}), "conv", Flavour::mindspore) ==
        "flavour mindspore does not quantize ConvTranspose2d");
  CHECK(reason(convolution("Conv", {2, 2, 1, 1, 1}, {1, 1, 1}), "conv", Flavour::caffe) ==
        "flavour caffe does not quantize Conv3d");
}

namespace {

GraphBuilder recurrent(const char* op, Attributes attributes = {}) {
  const bool lstm = std::string(op) == "LSTM";
  GraphBuilder net;
  net.input("x").input("h").input("c");
  net.initializer("w", whole_numbers({1, lstm ? 32 : 24, 6}, 1))
      .initializer("r", whole_numbers({1, lstm ? 32 : 24, 8}, 2));
  Names inputs{"x", "w", "r", "", "", "h"};
  if (lstm) inputs.emplace_back("c");
  return net.node(op, "rnn", inputs, "y", std::move(attributes)).output("y");
}

}  // namespace

TEST_CASE("Recurrent layers run forward, with states from outside") {
  CHECK(layers(recurrent("LSTM"), Flavour::pytorch) == "rnn LSTM 1");
  CHECK(layers(recurrent("GRU", {{"linear_before_reset", std::int64_t{1}}}), Flavour::pytorch) == "rnn GRU 1");
  CHECK(reason(recurrent("GRU"), "rnn", Flavour::pytorch) == "linear_before_reset is 0");
  CHECK(reason(recurrent("LSTM", {{"direction", std::string("bidirectional")}}), "rnn", Flavour::pytorch) ==
        "it does not run forward only");
  CHECK(reason(recurrent("LSTM"), "rnn", Flavour::onnx) == "flavour onnx does not quantize LSTM");
  for (const char* state : {"h", "c"}) {
    auto net = recurrent("LSTM");
    net.initializer(state, whole_numbers({1, 1, 8}, 3));
    Graph graph = net.build();
    std::erase(graph.inputs, support::find_value(graph, state));
    CHECK(find_quantizable(graph).left_float.at(0).reason == "its initial state is not a graph input");
  }
}

TEST_CASE("A product of two tensors has no weight, one with a vector or a single column has") {
  const auto product = [](const Shape& weight) {
    return GraphBuilder()
        .input("x", {5, 4})
        .initializer("w", whole_numbers(weight, 1))
        .node("MatMul", "mm", {"x", "w"}, "y")
        .output("y");
  };
  CHECK(layers(product({4}), Flavour::pytorch) == "mm Linear 1");
  CHECK(layers(product({4, 1}), Flavour::pytorch) == "mm Linear 1");
  CHECK(reason(product({2, 4, 5}), "mm", Flavour::pytorch) == "its weight has 3 axes");
  CHECK(reason(one("MatMul", {}, {"x", "z"}), "op", Flavour::pytorch) == "its weight is not an initializer");
}
