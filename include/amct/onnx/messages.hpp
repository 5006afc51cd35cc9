// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>
#include <amct/core/half.hpp>
#include <amct/core/packed4.hpp>
#include <amct/core/tensor.hpp>

namespace amct::onnx {

/// Our element type for ONNX's number, if amct has it.
[[nodiscard]] inline std::optional<ElementType> from_onnx_type(std::int32_t type) noexcept {
  switch (type) {
    case ::onnx::TensorProto::FLOAT: return ElementType::float32;
    case ::onnx::TensorProto::DOUBLE: return ElementType::float64;
    case ::onnx::TensorProto::FLOAT16: return ElementType::float16;
    case ::onnx::TensorProto::INT8: return ElementType::int8;
    case ::onnx::TensorProto::UINT8: return ElementType::uint8;
    case ::onnx::TensorProto::INT16: return ElementType::int16;
    case ::onnx::TensorProto::UINT16: return ElementType::uint16;
    case ::onnx::TensorProto::INT32: return ElementType::int32;
    case ::onnx::TensorProto::UINT32: return ElementType::uint32;
    case ::onnx::TensorProto::INT64: return ElementType::int64;
    case ::onnx::TensorProto::UINT64: return ElementType::uint64;
    case ::onnx::TensorProto::BOOL: return ElementType::boolean;
    default: return std::nullopt;
  }
}

[[nodiscard]] inline ::onnx::TensorProto::DataType to_onnx_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32: return ::onnx::TensorProto::FLOAT;
    case ElementType::float64: return ::onnx::TensorProto::DOUBLE;
    case ElementType::float16: return ::onnx::TensorProto::FLOAT16;
    case ElementType::int8: return ::onnx::TensorProto::INT8;
    case ElementType::uint8: return ::onnx::TensorProto::UINT8;
    case ElementType::int16: return ::onnx::TensorProto::INT16;
    case ElementType::uint16: return ::onnx::TensorProto::UINT16;
    case ElementType::int32: return ::onnx::TensorProto::INT32;
    case ElementType::uint32: return ::onnx::TensorProto::UINT32;
    case ElementType::int64: return ::onnx::TensorProto::INT64;
    case ElementType::uint64: return ::onnx::TensorProto::UINT64;
    case ElementType::boolean: return ::onnx::TensorProto::BOOL;
  }
  return ::onnx::TensorProto::UNDEFINED;
}

namespace detail {

/// ONNX's name of one of its types.
[[nodiscard]] inline std::string type_name(std::int32_t type) {
  const std::string& name = ::onnx::TensorProto::DataType_Name(static_cast<::onnx::TensorProto::DataType>(type));
  return name.empty() ? "number " + std::to_string(type) : name;
}

/// \throws Error model_unsupported naming the tensor
[[nodiscard]] inline ElementType element_type(const ::onnx::TensorProto& message) {
  const auto type = from_onnx_type(message.data_type());
  if (type) return *type;
  throw Error(ErrorCode::model_unsupported, {.tensor = message.name()},
              "has element type " + type_name(message.data_type()));
}

/// Number of elements of a tensor or sparse tensor message, bounded. \throws Error model_corrupt
template <class Message>
[[nodiscard]] std::size_t element_count(const Message& message, const std::string& name) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  std::int64_t elements = 1;
  for (const auto dim : message.dims()) {
    if (dim < 0 || (dim > 0 && elements > kMostElements / dim)) {
      throw Error(ErrorCode::model_corrupt, {.tensor = name}, "has impossible dimensions");
    }
    elements *= dim;
  }
  return static_cast<std::size_t>(elements);
}
[[nodiscard]] inline std::size_t element_count(const ::onnx::TensorProto& message) {
  return element_count(message, message.name());
}

/// Calls `visit` with the field that holds the data of a tensor of this type, and with one of its C++ type.
template <class Visit>
decltype(auto) with_data_field(const ::onnx::TensorProto& message, ElementType type, Visit&& visit) {
  return with_element_type(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, float>) return visit.template operator()<T>(message.float_data());
    else if constexpr (std::is_same_v<T, double>) return visit.template operator()<T>(message.double_data());
    else if constexpr (std::is_same_v<T, std::int64_t>) return visit.template operator()<T>(message.int64_data());
    else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::uint32_t>)
      return visit.template operator()<T>(message.uint64_data());
    else return visit.template operator()<T>(message.int32_data());
  });
}

/// Bytes of a file become booleans: what is not 0 is 1.
inline void make_booleans(Tensor& tensor) {
  if (tensor.type() != ElementType::boolean) return;
  for (std::byte& byte : tensor.raw()) byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace detail

/// Refuses a tensor of a type that amct lacks, or with other data than its dimensions promise. Data in another file are
/// not looked at. \throws Error model_corrupt or model_unsupported naming the tensor
inline void check_tensor(const ::onnx::TensorProto& message) {
  const ElementType type = detail::element_type(message);
  const std::size_t elements = detail::element_count(message);
  if (message.data_location() == ::onnx::TensorProto::EXTERNAL) return;
  const bool is_raw = message.has_raw_data();
  const std::size_t expected = is_raw ? elements * size_of(type) : elements;
  const std::size_t available =
      is_raw ? message.raw_data().size() : detail::with_data_field(message, type, []<class T>(const auto& field) {
        return static_cast<std::size_t>(field.size());
      });
  if (available != expected) {
    throw Error(ErrorCode::model_corrupt, {.tensor = message.name()},
                "has " + std::to_string(available) + (is_raw ? " bytes" : " values") + ", expected " +
                    std::to_string(expected));
  }
}

/// A constant of an ONNX file that holds its own data. \throws Error model_corrupt or model_unsupported naming the
/// tensor
[[nodiscard]] inline Tensor from_onnx(const ::onnx::TensorProto& message) {
  check_tensor(message);
  if (message.data_location() == ::onnx::TensorProto::EXTERNAL) {
    throw Error(ErrorCode::model_unsupported, {.tensor = message.name()}, "keeps its data in another file");
  }
  Tensor tensor(detail::element_type(message), Shape({message.dims().begin(), message.dims().end()}));
  if (message.has_raw_data()) {
    if (tensor.bytes() != 0) std::memcpy(tensor.raw().data(), message.raw_data().data(), tensor.bytes());
    detail::make_booleans(tensor);
    return tensor;
  }
  detail::with_data_field(message, tensor.type(), [&]<class T>(const auto& field) {
    std::transform(field.begin(), field.end(), tensor.data<T>().begin(), [](auto value) {
      if constexpr (std::is_same_v<T, Half>) return Half{static_cast<std::uint16_t>(value)};  // halves are kept as bits
      else return static_cast<T>(value);
    });
  });
  return tensor;
}

/// A constant as ONNX stores it, in raw form.
inline void to_onnx(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& message) {
  message.set_name(name);
  message.set_data_type(to_onnx_type(tensor.type()));
  for (const auto dim : tensor.shape()) message.add_dims(dim);
  message.set_raw_data(tensor.raw().data(), tensor.bytes());
}

/// int8 codes of -8..7 as ONNX's INT4: two a byte, the first in the low half.
inline void to_onnx_int4(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& message) {
  constexpr std::int32_t kInt4 = 22;  // later than libonnx 1.12
  message.set_name(name);
  message.set_data_type(kInt4);
  for (const auto dim : tensor.shape()) message.add_dims(dim);
  const auto codes = tensor.data<std::int8_t>();
  std::string bytes;
  for (std::size_t i = 0; i < codes.size(); i += 2) {
    bytes.push_back(pair4(codes[i], i + 1 < codes.size() ? codes[i + 1] : std::int8_t{0}));
  }
  message.set_raw_data(std::move(bytes));
}

/// Calls `visit` on a graph message and on the bodies of its nodes, outer ones first. The parser limits the depth.
template <class GraphProto, class Visit>
void for_each_graph(GraphProto& graph, const Visit& visit) {
  visit(graph);
  if constexpr (std::is_const_v<GraphProto>) {
    for (const auto& node : graph.node()) {
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) for_each_graph(attribute.g(), visit);
      }
    }
  } else {
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) for_each_graph(*attribute.mutable_g(), visit);
      }
    }
  }
}

}  // namespace amct::onnx
