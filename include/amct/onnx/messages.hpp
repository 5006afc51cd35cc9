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
#include <amct/core/tensor.hpp>

namespace amct::onnx {

/// Our element type for ONNX's number, if amct has it.
[[nodiscard]] inline std::optional<ElementType> from_onnx_type(std::int32_t type) noexcept {
  switch (type) {
    case ::onnx::TensorProto::FLOAT: return ElementType::float32;
    case ::onnx::TensorProto::DOUBLE: return ElementType::float64;
    case ::onnx::TensorProto::INT8: return ElementType::int8;
    case ::onnx::TensorProto::UINT8: return ElementType::uint8;
    case ::onnx::TensorProto::INT32: return ElementType::int32;
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
    case ElementType::int8: return ::onnx::TensorProto::INT8;
    case ElementType::uint8: return ::onnx::TensorProto::UINT8;
    case ElementType::int32: return ::onnx::TensorProto::INT32;
    case ElementType::int64: return ::onnx::TensorProto::INT64;
    case ElementType::uint64: return ::onnx::TensorProto::UINT64;
    case ElementType::boolean: return ::onnx::TensorProto::BOOL;
  }
  return ::onnx::TensorProto::UNDEFINED;
}

namespace detail {

/// Number of elements of a tensor message, bounded. \throws Error model_corrupt
[[nodiscard]] inline std::size_t element_count(const ::onnx::TensorProto& message) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  std::int64_t elements = 1;
  for (const auto dim : message.dims()) {
    if (dim < 0 || (dim > 0 && elements > kMostElements / dim)) {
      throw Error(ErrorCode::model_corrupt, {.tensor = message.name()}, "has impossible dimensions");
    }
    elements *= dim;
  }
  return static_cast<std::size_t>(elements);
}

/// Takes memory only when the file holds as much data as its dimensions promise.
[[nodiscard]] inline Tensor allocate(const ::onnx::TensorProto& message, ElementType type, std::size_t available,
                                     const char* unit, std::size_t expected) {
  if (available != expected) {
    throw Error(ErrorCode::model_corrupt, {.tensor = message.name()},
                "has " + std::to_string(available) + ' ' + unit + ", expected " + std::to_string(expected));
  }
  return {type, Shape({message.dims().begin(), message.dims().end()})};
}

/// Reads one of the typed data fields, whose element type may be wider than the tensor's.
template <class T, class Field>
[[nodiscard]] Tensor from_field(const ::onnx::TensorProto& message, const Field& field) {
  Tensor tensor =
      allocate(message, element_type_of<T>, static_cast<std::size_t>(field.size()), "values", element_count(message));
  std::transform(field.begin(), field.end(), tensor.data<T>().begin(),
                 [](auto value) { return static_cast<T>(value); });
  return tensor;
}

}  // namespace detail

/// A constant of an ONNX file. \throws Error model_corrupt or model_unsupported naming the tensor
[[nodiscard]] inline Tensor from_onnx(const ::onnx::TensorProto& message) {
  const std::string& name = message.name();
  const auto type = from_onnx_type(message.data_type());
  if (!type) {
    throw Error(ErrorCode::model_unsupported, {.tensor = name},
                "has element type " + ::onnx::TensorProto::DataType_Name(
                                          static_cast<::onnx::TensorProto::DataType>(message.data_type())));
  }
  if (message.data_location() == ::onnx::TensorProto::EXTERNAL) {
    throw Error(ErrorCode::model_unsupported, {.tensor = name}, "keeps its data in another file");
  }
  if (message.has_raw_data()) {
    const std::string& data = message.raw_data();
    Tensor tensor =
        detail::allocate(message, *type, data.size(), "bytes", detail::element_count(message) * size_of(*type));
    if (tensor.bytes() != 0) std::memcpy(tensor.raw().data(), data.data(), tensor.bytes());
    return tensor;
  }
  return with_element_type(*type, [&]<class T>() {
    if constexpr (std::is_same_v<T, float>) return detail::from_field<T>(message, message.float_data());
    else if constexpr (std::is_same_v<T, double>) return detail::from_field<T>(message, message.double_data());
    else if constexpr (std::is_same_v<T, std::int64_t>) return detail::from_field<T>(message, message.int64_data());
    else if constexpr (std::is_same_v<T, std::uint64_t>) return detail::from_field<T>(message, message.uint64_data());
    else return detail::from_field<T>(message, message.int32_data());
  });
}

/// A constant as ONNX stores it, in raw form.
inline void to_onnx(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& message) {
  message.set_name(name);
  message.set_data_type(to_onnx_type(tensor.type()));
  for (const auto dim : tensor.shape()) message.add_dims(dim);
  message.set_raw_data(tensor.raw().data(), tensor.bytes());
}

}  // namespace amct::onnx
