// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/onnx/messages.hpp>

namespace amct::onnx {

/// Most axes of a tensor in a model. Every value of a network has its shape written down, so this bounds memory.
inline constexpr int kMostAxes = 32;
/// Most bytes that the sparse constants of a model may take together when they are made dense.
inline constexpr std::size_t kMostDenseBytes = std::size_t{1} << 26;

namespace detail {

/// Where an entry of a sparse tensor goes: indices are positions, or rows of one index an axis.
[[nodiscard]] inline std::size_t dense_position(const Tensor& indices, const Shape& shape, std::size_t entry,
                                                std::size_t elements) {
  const auto data = indices.data<std::int64_t>();
  const std::size_t width = indices.shape().rank() == 1 ? 1 : shape.rank();
  std::size_t position = 0;
  for (std::size_t axis = 0; axis < width; ++axis) {
    const auto extent = indices.shape().rank() == 1 ? elements : static_cast<std::size_t>(shape[axis]);
    const std::int64_t index = data[entry * width + axis];
    if (index < 0 || static_cast<std::size_t>(index) >= extent) return elements;
    position = position * extent + static_cast<std::size_t>(index);
  }
  return position;
}

/// A sparse constant with its zeros written out.
/// \param room  bytes that may still be taken; reduced by what this one takes
[[nodiscard]] inline ::onnx::TensorProto to_dense(const ::onnx::SparseTensorProto& sparse, std::size_t& room) {
  const std::string& name = sparse.values().name();
  const Tensor values = from_onnx(sparse.values());
  const Tensor indices = from_onnx(sparse.indices());
  const std::size_t elements = element_count(sparse, name);
  const std::size_t width = size_of(values.type());
  const Shape shape({sparse.dims().begin(), sparse.dims().end()});
  const auto count = static_cast<std::int64_t>(values.size());
  const bool is_list = indices.shape() == Shape{count};
  const bool is_table = indices.shape() == Shape{count, static_cast<std::int64_t>(shape.rank())};
  if (indices.type() != ElementType::int64 || !(is_list || is_table)) {
    throw Error(ErrorCode::model_corrupt, {.tensor = name},
                "has " + std::string(name_of(indices.type())) + " indices of shape " + to_string(indices.shape()) +
                    " for " + std::to_string(count) + " values");
  }
  if (elements > room / width) {
    throw Error(ErrorCode::model_unsupported, {.tensor = name},
                "is sparse; sparse constants can have " + std::to_string(kMostDenseBytes) + " bytes in all");
  }
  room -= elements * width;
  Tensor dense(values.type(), shape);
  std::memset(dense.raw().data(), 0, dense.bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t position = dense_position(indices, shape, i, elements);
    if (position >= elements) throw Error(ErrorCode::model_corrupt, {.tensor = name}, "has an index out of range");
    std::memcpy(dense.raw().data() + position * width, values.raw().data() + i * width, width);
  }
  ::onnx::TensorProto message;
  to_onnx(dense, name, message);
  return message;
}

/// Gives a Constant node its value in the form of a tensor. Strings stay as they are.
inline void normalize_constant(::onnx::NodeProto& node, std::size_t& room) {
  if (node.op_type() != "Constant" || !node.domain().empty() || node.attribute_size() != 1) return;
  auto& attribute = *node.mutable_attribute(0);
  const std::string& form = attribute.name();
  ::onnx::TensorProto tensor;
  if (form == "value_float" || form == "value_floats") {
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    *tensor.mutable_float_data() = attribute.floats();
    if (form == "value_float") tensor.add_float_data(attribute.f());
    if (form == "value_floats") tensor.add_dims(attribute.floats_size());
  } else if (form == "value_int" || form == "value_ints") {
    tensor.set_data_type(::onnx::TensorProto::INT64);
    *tensor.mutable_int64_data() = attribute.ints();
    if (form == "value_int") tensor.add_int64_data(attribute.i());
    if (form == "value_ints") tensor.add_dims(attribute.ints_size());
  } else if (form == "sparse_value") {
    tensor = to_dense(attribute.sparse_tensor(), room);
    tensor.clear_name();
  } else {
    return;
  }
  attribute.Clear();
  attribute.set_name("value");
  attribute.set_type(::onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = std::move(tensor);
}

/// "ai.onnx" is another name of the default domain, which the checker does not know.
template <class Message>
void resolve_domain_alias(Message& message) {
  if (message.domain() == "ai.onnx") message.set_domain("");
}

inline void check_axes(int axes, const std::string& tensor) {
  if (axes <= kMostAxes) return;
  throw Error(ErrorCode::model_unsupported, {.tensor = tensor},
              "has " + std::to_string(axes) + " axes, at most " + std::to_string(kMostAxes) + " are supported");
}

inline void check(const ::onnx::TensorProto& tensor) {
  check_axes(tensor.dims_size(), tensor.name());
  check_tensor(tensor);
}

/// Tensors of attributes seldom have a name, so errors name the node.
inline void check(const ::onnx::AttributeProto& attribute, const ::onnx::NodeProto& node) {
  try {
    check(attribute.t());
  } catch (const Error& error) {
    throw Error(error.code(), {.layer = node.name(), .tensor = error.where().tensor, .field = attribute.name()},
                error.message());
  }
}

inline void normalize_graph(::onnx::GraphProto& graph, std::size_t& room) {
  if (graph.name().empty()) graph.set_name("graph");
  for (const auto& sparse : graph.sparse_initializer()) *graph.add_initializer() = to_dense(sparse, room);
  graph.clear_sparse_initializer();
  for (const auto& tensor : graph.initializer()) check(tensor);
  for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& info : *values) check_axes(info.type().tensor_type().shape().dim_size(), info.name());
  }
  for (auto& node : *graph.mutable_node()) {
    normalize_constant(node, room);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) check(attribute, node);
      if (attribute.has_sparse_tensor() || attribute.sparse_tensors_size() > 0) {
        throw Error(ErrorCode::model_unsupported, {.layer = node.name(), .field = attribute.name()},
                    "sparse attributes are not supported");
      }
    }
  }
}

}  // namespace detail

/// Gives the default domain its usual name, in functions too.
inline void resolve_domain_aliases(::onnx::ModelProto& model) {
  for (auto& entry : *model.mutable_opset_import()) detail::resolve_domain_alias(entry);
  const auto resolve = [](::onnx::NodeProto& node) {
    detail::resolve_domain_alias(node);
    for (auto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      for_each_graph(*attribute.mutable_g(), [](::onnx::GraphProto& body) {
        for (auto& inner : *body.mutable_node()) detail::resolve_domain_alias(inner);
      });
    }
  };
  for (auto& node : *model.mutable_graph()->mutable_node()) resolve(node);
  for (auto& function : *model.mutable_functions()) {
    for (auto& entry : *function.mutable_opset_import()) detail::resolve_domain_alias(entry);
    for (auto& node : *function.mutable_node()) resolve(node);
  }
}

/// Brings what ONNX lets a file say in several ways into one: Constant nodes have a tensor `value` (strings apart),
/// sparse initializers become dense ones, graphs have names.
/// \throws Error model_corrupt or model_unsupported, as for tensors of more than kMostAxes axes
inline void normalize_model(::onnx::ModelProto& model) {
  std::size_t room = kMostDenseBytes;
  for_each_graph(*model.mutable_graph(), [&](::onnx::GraphProto& graph) { detail::normalize_graph(graph, room); });
}

}  // namespace amct::onnx
