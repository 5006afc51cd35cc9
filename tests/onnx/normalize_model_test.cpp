// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/normalize_model.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/model_text.hpp"
#include "support/graph_builder.hpp"

using namespace amct;
using support::error_of;
using support::model_of;
using support::values;
using Ints = std::vector<std::int64_t>;
using Proto = ::onnx::TensorProto;

namespace {

::onnx::SparseTensorProto sparse(const Ints& dims, const Ints& index_dims, const Ints& indices,
                                 const std::vector<float>& data) {
  ::onnx::SparseTensorProto message;
  message.mutable_dims()->Add(dims.begin(), dims.end());
  auto& entries = *message.mutable_values();
  entries.set_name("s");
  entries.set_data_type(Proto::FLOAT);
  entries.add_dims(static_cast<std::int64_t>(data.size()));
  entries.mutable_float_data()->Add(data.begin(), data.end());
  auto& positions = *message.mutable_indices();
  positions.set_data_type(Proto::INT64);
  positions.mutable_dims()->Add(index_dims.begin(), index_dims.end());
  positions.mutable_int64_data()->Add(indices.begin(), indices.end());
  return message;
}

::onnx::ModelProto with_sparse(const ::onnx::SparseTensorProto& message) {
  auto model = model_of("g (float[2] x) => (float[2] y) { y = Add(x, s) }");
  *model.mutable_graph()->add_sparse_initializer() = message;
  return model;
}

void check_refused(::onnx::ModelProto model, ErrorCode code, const std::string& message) {
  const auto error = error_of([&] { amct::onnx::normalize_model(model); });
  REQUIRE(error);
  INFO(error->what());
  CHECK(error->code() == code);
  CHECK(support::contains(error->message(), message));
}

}  // namespace

TEST_CASE("The domain ai.onnx becomes the default domain in nodes, bodies, functions and imports") {
  auto model = model_of(
      R"(g (bool c, float[2] x) => (float[2] y) {
           y = ai.onnx.If(c) <then_branch = t () => (z) { z = ai.onnx.Neg(x) },
                             else_branch = e () => (z) { z = Abs(x) }>
         }
         <opset_import: ["ai.onnx": 13], domain: "local"> f (a) => (b) { b = ai.onnx.Relu(a) })",
      R"(<ir_version: 8, opset_import: ["ai.onnx": 13]>)");
  amct::onnx::resolve_domain_aliases(model);
  CHECK(model.DebugString().find("ai.onnx") == std::string::npos);
  CHECK(model.opset_import(0).version() == 13);
}

TEST_CASE("Constant nodes get their value as a tensor, in bodies too") {
  auto model = model_of(R"(g (bool c) => (float y) {
    a = Constant<value_float = 0.5>()
    b = Constant<value_floats = [1.0, 2.0]>()
    d = Constant<value_int = -3>()
    e = Constant<value_ints = [4, 5]>()
    h = Constant<value_string = "text">()
    y = If(c) <then_branch = t () => (z) { z = Constant<value_float = 7.0>() },
              else_branch = f () => (z) { z = Neg(a) }>
  })");
  amct::onnx::normalize_model(model);
  const auto tensor = [&](int node) {
    const auto& attribute = model.graph().node(node).attribute(0);
    CHECK(attribute.name() == "value");
    return amct::onnx::from_onnx(attribute.t());
  };
  CHECK(tensor(0).shape() == Shape{});
  CHECK(values(tensor(0)) == std::vector<float>{0.5F});
  CHECK(values(tensor(1)) == std::vector<float>{1, 2});
  CHECK(tensor(2).shape() == Shape{});
  CHECK(values<std::int64_t>(tensor(2)) == Ints{-3});
  CHECK(values<std::int64_t>(tensor(3)) == Ints{4, 5});
  CHECK(model.graph().node(4).attribute(0).name() == "value_string");
  const auto& body = model.graph().node(5).attribute(0).g();
  CHECK(values(amct::onnx::from_onnx(body.node(0).attribute(0).t())) == std::vector<float>{7});
}

TEST_CASE("Sparse constants become dense, with indices of both forms") {
  auto list = with_sparse(sparse({2, 3}, {2}, {1, 5}, {7, 8}));
  amct::onnx::normalize_model(list);
  CHECK(list.graph().sparse_initializer_size() == 0);
  REQUIRE(list.graph().initializer_size() == 1);
  CHECK(list.graph().initializer(0).name() == "s");
  const Tensor tensor = amct::onnx::from_onnx(list.graph().initializer(0));
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(values(tensor) == std::vector<float>{0, 7, 0, 0, 0, 8});

  auto table = with_sparse(sparse({2, 3}, {2, 2}, {0, 1, 1, 2}, {7, 8}));
  amct::onnx::normalize_model(table);
  CHECK(values(amct::onnx::from_onnx(table.graph().initializer(0))) == std::vector<float>{0, 7, 0, 0, 0, 8});

  auto node = model_of("g () => (float[3] y) { y = Constant<value = float {1.0}>() }");
  auto& attribute = *node.mutable_graph()->mutable_node(0)->mutable_attribute(0);
  attribute.Clear();
  attribute.set_name("sparse_value");
  *attribute.mutable_sparse_tensor() = sparse({3}, {1}, {2}, {9});
  amct::onnx::normalize_model(node);
  CHECK(values(amct::onnx::from_onnx(node.graph().node(0).attribute(0).t())) == std::vector<float>{0, 0, 9});
}

TEST_CASE("Sparse constants that are damaged or large are refused") {
  check_refused(with_sparse(sparse({2, 3}, {1}, {6}, {1})), ErrorCode::model_corrupt, "has an index out of range");
  check_refused(with_sparse(sparse({2, 3}, {1}, {-1}, {1})), ErrorCode::model_corrupt, "has an index out of range");
  check_refused(with_sparse(sparse({2, 3}, {1, 2}, {1, 3}, {1})), ErrorCode::model_corrupt,
                "has an index out of range");
  check_refused(with_sparse(sparse({2, 3}, {2}, {1, 2}, {1})), ErrorCode::model_corrupt,
                "has int64 indices of shape [2] for 1 values");
  check_refused(with_sparse(sparse({1 << 20, 17}, {1}, {0}, {1})), ErrorCode::model_unsupported,
                "sparse constants can have 67108864 bytes in all");
  check_refused(with_sparse(sparse({-2}, {1}, {0}, {1})), ErrorCode::model_corrupt, "has impossible dimensions");
}

TEST_CASE("Tensors with very many axes are refused wherever they are") {
  const auto axes = [](auto& message, int count) {
    for (int i = 0; i < count; ++i) message.add_dims(1);
  };
  auto constant = model_of("g (float[1] x) => (y) { y = Add(x, w) }");
  auto& tensor = *constant.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(Proto::FLOAT);
  tensor.add_float_data(1);
  axes(tensor, 32);
  auto copy = constant;
  amct::onnx::normalize_model(copy);
  axes(*constant.mutable_graph()->mutable_initializer(0), 1);
  check_refused(constant, ErrorCode::model_unsupported, "has 33 axes, at most 32 are supported");

  auto input = model_of("g (float[1] x) => (y) { y = Abs(x) }");
  auto& shape = *input.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < 32; ++i) shape.add_dim();
  check_refused(input, ErrorCode::model_unsupported, "has 33 axes");
}

TEST_CASE("Constants of attributes are checked and named by their node") {
  auto model = model_of("g () => (float[3] y) { y = Constant<value = float {1.0}>() }");
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.set_name("n");
  node.mutable_attribute(0)->mutable_t()->add_dims(2);
  const auto error = error_of([&] { amct::onnx::normalize_model(model); });
  REQUIRE(error);
  CHECK(error->where().layer == "n");
  CHECK(error->where().field == "value");
}

TEST_CASE("A graph without a name gets one") {
  auto model = model_of("(float[1] x) => (float[1] y) { y = Abs(x) }");
  model.mutable_graph()->clear_name();
  amct::onnx::normalize_model(model);
  CHECK(model.graph().name() == "graph");
}
