// SPDX-License-Identifier: Apache-2.0
#include <amct/config/type_names.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::LayerInfo;
using amct::LayerKind;

LayerInfo of(LayerKind kind, const char* op_type = "") { return {.name = "layer", .kind = kind, .op_type = op_type}; }
LayerInfo data(const char* op_type) { return of(LayerKind::other, op_type); }
LayerInfo conv() { return of(LayerKind::conv2d, "Conv"); }
LayerInfo depthwise() {
  LayerInfo layer = conv();
  layer.depthwise = true;
  return layer;
}
LayerInfo transposed() { return of(LayerKind::conv_transpose2d, "ConvTranspose"); }
LayerInfo fc() { return of(LayerKind::linear, "Gemm"); }
LayerInfo fc_by_matmul() { return of(LayerKind::linear, "MatMul"); }
LayerInfo pool() { return of(LayerKind::avg_pool2d, "AveragePool"); }

struct Case {
  std::string_view type;
  LayerInfo layer;
};

/// Every type name of the user's documents, and a layer that it must match.
const std::vector<Case> kCases = {
    // The guide's table of quantizable operators, in its order
    {"torch.nn.Linear", fc()},
    {"torch.nn.Conv2d", conv()},
    {"torch.nn.ConvTranspose2d", transposed()},
    {"torch.nn.MaxPool2d", data("MaxPool")},
    {"torch.nn.functional.max_pool2d", data("MaxPool")},
    {"torch.nn.AvgPool2d", pool()},
    {"torch.nn.functional.avg_pool2d", pool()},
    {"torch.nn.AdaptiveMaxPool2d", data("MaxPool")},
    {"torch.nn.functional.adaptive_max_pool2d", data("GlobalMaxPool")},
    {"torch.nn.AdaptiveAvgPool2d", data("GlobalAveragePool")},
    {"torch.nn.functional.adaptive_avg_pool2d", data("GlobalAveragePool")},
    {"torch.nn.LayerNorm", data("LayerNorm")},
    {"+", data("Add")},
    {"operator.add", data("Add")},
    {"torch.add", data("Add")},
    {"Tensor.add", data("Add")},
    {"Tensor.add_", data("Add")},
    {"-", data("Sub")},
    {"operator.sub", data("Sub")},
    {"torch.sub", data("Sub")},
    {"Tensor.sub", data("Sub")},
    {"Tensor.sub_", data("Sub")},
    {"*", data("Mul")},
    {"operator.mul", data("Mul")},
    {"torch.mul", data("Mul")},
    {"Tensor.mul", data("Mul")},
    {"Tensor.mul_", data("Mul")},
    {"/", data("Div")},
    {"operator.truediv", data("Div")},
    {"torch.div", data("Div")},
    {"Tensor.div", data("Div")},
    {"Tensor.div_", data("Div")},
    {"**", data("Pow")},
    {"operator.pow", data("Pow")},
    {"torch.pow", data("Pow")},
    {"Tensor.pow", data("Pow")},
    {"Tensor.pow_", data("Pow")},
    {"torch.bmm", data("MatMul")},
    {"torch.sum", data("ReduceSum")},
    {"torch.matmul", data("MatMul")},
    {"operator.matmul", data("MatMul")},
    {"Tensor.matmul", data("MatMul")},
    {"torch.abs", data("Abs")},
    {"Tensor.abs", data("Abs")},
    {"Tensor.abs_", data("Abs")},
    {"torch.max", data("ReduceMax")},
    {"Tensor.max", data("Max")},
    {"torch.min", data("ReduceMin")},
    {"Tensor.min", data("Min")},
    {"Tensor.mean", data("ReduceMean")},
    {"torch.mean", data("ReduceMean")},
    {"torch.clamp", data("Clip")},
    {"Tensor.clamp", data("Clip")},
    {"Tensor.clamp_", data("Clip")},
    {"torch.permute", data("Transpose")},
    {"Tensor.permute", data("Transpose")},
    {"torch.nn.Upsample", data("Resize")},
    {"torch.nn.functional.upsample", data("Resize")},
    {"torch.nn.functional.interpolate", data("Resize")},
    {"Tensor.transpose", data("Transpose")},
    {"torch.transpose", data("Transpose")},
    {"torch.concat", data("Concat")},
    {"torch.cat", data("Concat")},
    {"torch.stack", data("Concat")},
    {"Tensor.flatten", data("Flatten")},
    {"torch.flatten", data("Flatten")},
    {"torch.squeeze", data("Squeeze")},
    {"Tensor.squeeze", data("Squeeze")},
    {"torch.unsqueeze", data("Unsqueeze")},
    {"Tensor.unsqueeze", data("Unsqueeze")},
    {"Tensor.reshape", data("Reshape")},
    {"torch.reshape", data("Reshape")},
    {"Tensor.view", data("Reshape")},
    {"torch.split", data("Split")},
    {"Tensor.split", data("Split")},
    {"torch.nn.ReLU", data("Relu")},
    {"torch.nn.functional.relu", data("Relu")},
    {"torch.nn.functional.relu_", data("Relu")},
    {"Tensor.relu", data("Relu")},
    {"Tensor.relu_", data("Relu")},
    {"torch.nn.ReLU6", data("Clip")},
    {"torch.nn.functional.relu6", data("Clip")},
    {"Tensor.sigmoid", data("Sigmoid")},
    {"Tensor.sigmoid_", data("Sigmoid")},
    {"torch.nn.functional.sigmoid", data("Sigmoid")},
    {"Tensor.tanh", data("Tanh")},
    {"Tensor.tanh_", data("Tanh")},
    {"torch.nn.Tanh", data("Tanh")},
    {"torch.nn.functional.tanh", data("Tanh")},
    {"torch.nn.LeakyReLU", data("LeakyRelu")},
    {"torch.nn.functional.leaky_relu", data("LeakyRelu")},
    {"torch.nn.functional.leaky_relu_", data("LeakyRelu")},
    {"torch.nn.PReLU", data("PRelu")},
    {"torch.nn.functional.prelu", data("PRelu")},
    {"torch.nn.GELU", data("GELU")},
    {"torch.nn.functional.gelu", data("GELU")},
    {"torch.nn.Hardtanh", data("Clip")},
    {"torch.nn.functional.hardtanh", data("Clip")},
    {"torch.nn.functional.hardtanh_", data("Clip")},
    {"torch.nn.Softmax", data("Softmax")},
    {"torch.nn.functional.softmax", data("Softmax")},
    {"torch.nn.Softmax2d", data("Softmax")},
    {"torch.nn.LogSoftmax", data("LogSoftmax")},
    {"torch.nn.functional.log_softmax", data("LogSoftmax")},
    {"torch.nn.ELU", data("Elu")},
    {"torch.nn.functional.elu", data("Elu")},
    {"torch.nn.functional.elu_", data("Elu")},
    {"torch.nn.LogSigmoid", data("LogSigmoid")},
    {"torch.nn.functional.logsigmoid", data("LogSigmoid")},
    {"torch.nn.Softsign", data("Softsign")},
    {"torch.nn.functional.softsign", data("Softsign")},
    {"torch.nn.Softmin", data("Softmin")},
    {"torch.nn.functional.softmin", data("Softmin")},
    {"torch.nn.Tanhshrink", data("Tanhshrink")},
    {"torch.nn.functional.tanhshrink", data("Tanhshrink")},
    {"torch.nn.GLU", data("GLU")},
    {"torch.nn.functional.glu", data("GLU")},
    {"torch.nn.Hardswish", data("Hardswish")},
    {"torch.nn.functional.hardswish", data("Hardswish")},
    {"torch.nn.SiLU", data("SiLU")},
    {"torch.nn.functional.silu", data("SiLU")},
    {"torch.nn.Mish", data("Mish")},
    {"torch.nn.functional.mish", data("Mish")},
    {"torch.nn.BatchNorm2d", data("BatchNormalization")},
    {"torch.nn.SyncBatchNorm2d", data("BatchNormalization")},
    {"amct.nn.SpaceToDepth", data("SpaceToDepth")},
    {"amct.nn.DepthToSpace", data("DepthToSpace")},
    {"amct.nn.Warp", data("GridSample")},
    {"amct.nn.GlobalWarp", data("GridSample")},
    // The guide's examples for cube operators
    {"matmul", data("MatMul")},
    {"torch.nn.functional.max_pool2d_with_indices", data("MaxPool")},
    {"torch.nn.functional.adaptive_max_pool2d_with_indices", data("GlobalMaxPool")},
    // The guide's dynamic graph: ONNX types
    {"Gemm", fc()},
    {"Conv", conv()},
    {"ConvTranspose", transposed()},
    {"MaxPool", data("MaxPool")},
    {"AveragePool", pool()},
    {"GlobalMaxPool", data("GlobalMaxPool")},
    {"GlobalAveragePool", data("GlobalAveragePool")},
    {"Concat", data("Concat")},
    {"Split", data("Split")},
    {"Reshape", data("Reshape")},
    {"Flatten", data("Flatten")},
    {"Slice", data("Slice")},
    {"Transpose", data("Transpose")},
    {"Tile", data("Tile")},
    {"Squeeze", data("Squeeze")},
    {"eltwise_add", data("Add")},
    // MindSpore
    {"nn.Conv2d", conv()},
    {"nn.DepthwiseConv2d", depthwise()},
    {"Conv2d", conv()},
    {"DepthwiseConv2d", depthwise()},
    {"Dense", fc()},
    {"nn.Dense", fc()},
    // AMCT's PyTorch configs
    {"Conv1d", of(LayerKind::conv1d)},
    {"Conv3d", of(LayerKind::conv3d)},
    {"ConvTranspose1d", of(LayerKind::conv_transpose1d)},
    {"ConvTranspose2d", transposed()},
    {"Linear", fc()},
    {"LSTM", of(LayerKind::lstm)},
    {"GRU", of(LayerKind::gru)},
    {"AvgPool2d", pool()},
    // TensorFlow
    {"Conv2D", conv()},
    {"DepthwiseConv2dNative", depthwise()},
    {"Conv2DBackpropInput", transposed()},
    {"Conv3D", of(LayerKind::conv3d)},
    {"MatMul", data("MatMul")},
    {"BatchMatMulV2", data("MatMul")},
    {"AvgPool", pool()},
    {"Add", data("Add")},
    // Caffe
    {"Convolution", conv()},
    {"DepthwiseConv", depthwise()},
    {"InnerProduct", fc()},
    {"Deconvolution", transposed()},
    {"Pooling", pool()},
    {"Pooling", data("MaxPool")},
    {"Eltwise", data("Add")},
};

}  // namespace

TEST_CASE("K3: every type name of the documents is known and matches its layer") {
  for (const Case& c : kCases) {
    CAPTURE(c.type);
    CHECK(amct::is_known_type(c.type));
    CHECK(amct::matches_type(c.layer, c.type));
    const bool names_it = c.type == "ConvTranspose1d" || c.type == "ConvTranspose";
    CHECK(amct::matches_type(of(LayerKind::conv_transpose1d), c.type) == names_it);
  }
}

TEST_CASE("depthwise convolutions have a type of their own") {
  CHECK(amct::matches_type(depthwise(), "Conv2d"));
  CHECK(amct::matches_type(depthwise(), "nn.Conv2d"));
  CHECK(amct::matches_type(depthwise(), "Conv"));
  CHECK_FALSE(amct::matches_type(conv(), "nn.DepthwiseConv2d"));
  CHECK_FALSE(amct::matches_type(conv(), "DepthwiseConv2dNative"));
  CHECK_FALSE(amct::matches_type(depthwise(), "Conv2D"));  // TensorFlow tells the two apart
}

TEST_CASE("a product with a constant weight is a Linear layer, one of two tensors a matmul") {
  CHECK(amct::matches_type(fc_by_matmul(), "Linear"));
  CHECK(amct::matches_type(fc_by_matmul(), "torch.nn.Linear"));
  CHECK(amct::matches_type(fc_by_matmul(), "MatMul"));
  CHECK_FALSE(amct::matches_type(fc_by_matmul(), "torch.matmul"));
  CHECK_FALSE(amct::matches_type(fc_by_matmul(), "Gemm"));
  CHECK_FALSE(amct::matches_type(fc(), "MatMul"));
  CHECK_FALSE(amct::matches_type(data("MatMul"), "Linear"));
  CHECK(amct::matches_type(data("MatMul"), "MatMul"));
}

TEST_CASE("ONNX types cover every dimension, torch's only their own") {
  CHECK(amct::matches_type(of(LayerKind::conv1d, "Conv"), "Conv"));
  CHECK(amct::matches_type(of(LayerKind::conv3d, "Conv"), "Conv"));
  CHECK_FALSE(amct::matches_type(of(LayerKind::conv1d, "Conv"), "Conv2d"));
  CHECK_FALSE(amct::matches_type(transposed(), "Conv2d"));
  CHECK_FALSE(amct::matches_type(conv(), "ConvTranspose2d"));
}

TEST_CASE("no type name stands for two sets of layers") {
  std::set<std::string> seen;
  for (const std::string& name : amct::all_type_names()) {
    CAPTURE(name);
    CHECK(seen.insert(name).second);
    CHECK(amct::is_known_type(name));
  }
  CHECK(seen.size() > 300);
}

TEST_CASE("unknown types match nothing, and a message names those that look alike") {
  for (const char* type : {"", "Foo", "torch.Conv2d", "operator.Conv2d", "torch.nn.", "_", "conv2d", "Conv2d "}) {
    CAPTURE(type);
    CHECK_FALSE(amct::is_known_type(type));
    CHECK_FALSE(amct::matches_type(conv(), type));
  }
  CHECK(amct::matches_type(data("MyOperator"), "MyOperator"));  // one of the user's
  CHECK(amct::describe_unknown_type("conv2d").find("\"conv2d\" is not known, did you mean \"Conv2d\"") !=
        std::string::npos);
  CHECK(amct::describe_unknown_type("Foooooooooooooooo") == "layer type \"Foooooooooooooooo\" is not known");
}
