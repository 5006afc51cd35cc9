// SPDX-License-Identifier: Apache-2.0
// Writes the corpus of the target onnx, tiny models that have in them what the importer must understand:
//   g++ -std=c++20 -DONNX_NAMESPACE=onnx -DONNX_ML=1 tests/fuzz/onnx_corpus.cpp -lonnx -lonnx_proto -lprotobuf -o
//   make_corpus
//   ./make_corpus tests/fuzz/corpus/onnx

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

namespace {

using Models = std::vector<std::pair<std::string, std::string>>;

/// A model of one node: its opset, its inputs, the node.
std::string single(int opset, const std::string& inputs, const std::string& node) {
  return "<ir_version: 7, opset_import: [\"\": " + std::to_string(opset) + "]> g (" + inputs + ") => (float[N] y) { " +
         node + " }";
}

Models models() {
  const std::string head = R"(<ir_version: 8, opset_import: ["": 13, "local": 1]> )";
  const std::string image = "float[1, 2, 4, 4] x";
  return {
      {"chain", head +
                    "g (float[N, 2] x) => (float[N, 2] y) { w = Constant<value = float[2, 2] {1.0, 2.0, 3.0, 4.0}>() "
                    "m = MatMul(x, w) y = Relu(m) }"},
      {"constants", head +
                        "g (float[2] x) => (float[2] y) { a = Constant<value_float = 0.5>() b = Constant<value_ints = "
                        "[1, 2]>() c = Constant<value_floats = [1.0, 2.0]>() d = Constant<value_int = 3>() "
                        "e = Constant<value_string = \"s\">() t = Mul(x, a) y = Add(t, c) }"},
      {"branch", head +
                     "g (bool c, float[2] x) => (float[2] y) { w = Neg(x) y = If(c) <then_branch = t () => (z) { u = "
                     "Abs(w) z = Add(x, u) }, else_branch = e () => (z) { z = Neg(x) }> }"},
      {"loop",
       head + "g (int64 n, bool k, float[2] x, float[2] s) => (float[2] y) { y = Loop(n, k, s) <body = b (int64 i, "
              "bool c, float[2] p) => (bool d, float[2] q) { d = Identity(c) q = If(c) <then_branch = t () => (z) "
              "{ z = Add(p, x) }, else_branch = e () => (z) { z = Neg(p) }> }> }"},
      {"scan",
       head + "g (float[2] s, float[3, 2] x) => (float[2] y, float[3, 2] z) { y, z = Scan<num_scan_inputs = 1, body "
              "= b (float[2] p, float[2] v) => (float[2] q, float[2] r) { q = Add(p, v) r = Identity(q) }>(s, x) }"},
      {"function",
       head + "g (float[2] x) => (float[2] y) { a = local.f<slope = 0.5>(x) y = local.f(a) } <opset_import: "
              "[\"\": 13, \"local\": 1], domain: \"local\"> f <slope> (v) => (w) { t = LeakyRelu<alpha : float "
              "= @slope>(v) w = local.h(t) } <opset_import: [\"\": 13], domain: \"local\"> h (v) => (w) { w = "
              "Neg(v) }"},
      {"shapes",
       head + "g (float[2, 6] x) => (float[2, 3, 2] y) { s = Shape(x) i = Constant<value = int64[1] {0}>() n = "
              "Gather(s, i) m = Constant<value = int64[1] {-1}>() r = Concat<axis = 0>(n, m, n) y = Reshape(x, r) "
              "}"},
      {"unknown",
       head + "g (float[2] x) => (float[2] y) { a = local.Own<k = [1, 2], s = \"t\">(x, , x) y = Nonsense(a) }"},
      {"quantized",
       head + "g (float[2] x) => (float[2] y) { s = Constant<value = float {0.5}>() z = Constant<value = int8 "
              "{0}>() q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }"},
      {"conv", single(11, image + ", float[3, 2, 3, 3] w",
                      "y = Conv<strides = [2, 2], auto_pad = \"SAME_UPPER\", dilations = [1, 1]>(x, w)")},
      {"deconv", single(11, image + ", float[2, 3, 3, 3] w",
                        "y = ConvTranspose<output_padding = [1, 1], strides = [2, 2]>(x, "
                        "w)")},
      {"pool", single(12, image, "y = MaxPool<kernel_shape = [2, 2], ceil_mode = 1, pads = [0, 0, 1, 1]>(x)")},
      {"gemm", single(9, "float[2, 3] a, float[4, 3] b, float[4] c", "y = Gemm<transB = 1, alpha = 0.5>(a, b, c)")},
      {"lstm",
       single(7, "float[5, 1, 2] x, float[1, 12, 2] w, float[1, 12, 3] r", "y, h = LSTM<hidden_size = 3>(x, w, r)")},
      {"einsum", single(12, "float[2, 3] a, float[3, 4] b", "y = Einsum<equation = \"ij,jk->ik\">(a, b)")},
      {"resize", single(13, image + ", float[4] s", "y = Resize<mode = \"linear\">(x, , s)")},
      {"resize10", single(10, image + ", float[4] s", "y = Resize(x, s)")},
      {"upsample", single(7, image, "y = Upsample<scales = [1.0, 1.0, 2.0, 2.0]>(x)")},
      {"softmax", single(10, "float[2, 3, 4] x", "y = Softmax(x)")},
      {"clip", single(10, "float[2] x", "y = Clip<min = -1.0, max = 1.0>(x)")},
      {"pad", single(10, image, "y = Pad<pads = [0, 0, 1, 1, 0, 0, 1, 1], value = 2.0>(x)")},
      {"slice", single(9, image, "y = Slice<starts = [1], ends = [3], axes = [2]>(x)")},
      {"split", single(12, "float[2, 4] x", "y, z = Split<axis = 1, split = [1, 3]>(x)")},
      {"squeeze", single(10, "float[2, 1] x", "t = Squeeze<axes = [1]>(x) y = Unsqueeze<axes = [0]>(t)")},
      {"topk", single(9, "float[2, 4] x", "y, i = TopK<k = 2>(x)")},
      {"norm", single(8, image + ", float[2] s, float[2] b, float[2] m, float[2] v",
                      "y = BatchNormalization<spatial = 1>(x, s, b, m, v)")},
      {"old", single(6, "float[2] x", "t = Dropout<is_test = 1, ratio = 0.5>(x) y = Cast<to = 1>(t)")},
  };
}

/// What the text form cannot say: initializers, dense and sparse, that are inputs too, and data in other files.
onnx::ModelProto with_initializers() {
  onnx::ModelProto model;
  onnx::OnnxParser::Parse(model,
                          "<ir_version: 3, opset_import: [\"\": 11]> g (float[2] x, float[2] w, float[2] u) => "
                          "(float[2] y) { a = Add(x, w) b = Add(a, s) y = Add(b, u) }");
  auto& graph = *model.mutable_graph();
  auto& tensor = *graph.add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(2);
  tensor.set_raw_data("abcdefgh");
  auto& external = *graph.add_initializer();
  external.set_name("u");
  external.set_data_type(onnx::TensorProto::FLOAT);
  external.add_dims(2);
  external.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair{"location", "u.bin"}, {"offset", "0"}, {"length", "8"}}) {
    auto& entry = *external.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  auto& sparse = *graph.add_sparse_initializer();
  sparse.add_dims(2);
  sparse.mutable_values()->set_name("s");
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(1);
  sparse.mutable_values()->add_float_data(5);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(1);
  sparse.mutable_indices()->add_int64_data(1);
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const auto save = [&](const std::string& name, const onnx::ModelProto& model) {
    std::ofstream(folder / (name + ".onnx"), std::ios::binary) << model.SerializeAsString();
  };
  for (const auto& [name, text] : models()) {
    onnx::ModelProto model;
    const auto status = onnx::OnnxParser::Parse(model, text.c_str());
    if (!status.IsOK()) return std::fprintf(stderr, "%s: %s\n", name.c_str(), status.ErrorMessage().c_str()), 1;
    save(name, model);
  }
  auto model = with_initializers();
  save("initializers", model);
  model.mutable_graph()->mutable_initializer()->RemoveLast();
  model.set_ir_version(7);
  save("no_external_data", model);
}
