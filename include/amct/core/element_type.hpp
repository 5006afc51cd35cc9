// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <amct/core/half.hpp>

namespace amct {

/// Element types of tensors that amct reads, computes with or writes.
enum class ElementType : std::uint8_t {
  float32,
  float64,
  float16,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean
};

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean: return 1;
    case ElementType::float16:
    case ElementType::int16:
    case ElementType::uint16: return 2;
    case ElementType::float32:
    case ElementType::int32:
    case ElementType::uint32: return 4;
    case ElementType::float64:
    case ElementType::int64:
    case ElementType::uint64: return 8;
  }
  return 0;
}

/// The name numpy and AMCT's `--data_types` use.
[[nodiscard]] constexpr const char* name_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32: return "float32";
    case ElementType::float64: return "float64";
    case ElementType::float16: return "float16";
    case ElementType::int8: return "int8";
    case ElementType::uint8: return "uint8";
    case ElementType::int16: return "int16";
    case ElementType::uint16: return "uint16";
    case ElementType::int32: return "int32";
    case ElementType::uint32: return "uint32";
    case ElementType::int64: return "int64";
    case ElementType::uint64: return "uint64";
    case ElementType::boolean: return "bool";
  }
  return "unknown";
}

/// The ElementType of a C++ type.
template <class T>
inline constexpr ElementType element_type_of = [] {
  if constexpr (std::same_as<T, float>) return ElementType::float32;
  else if constexpr (std::same_as<T, double>) return ElementType::float64;
  else if constexpr (std::same_as<T, Half>) return ElementType::float16;
  else if constexpr (std::same_as<T, std::int8_t>) return ElementType::int8;
  else if constexpr (std::same_as<T, std::uint8_t>) return ElementType::uint8;
  else if constexpr (std::same_as<T, std::int16_t>) return ElementType::int16;
  else if constexpr (std::same_as<T, std::uint16_t>) return ElementType::uint16;
  else if constexpr (std::same_as<T, std::uint32_t>) return ElementType::uint32;
  else if constexpr (std::same_as<T, std::int32_t>) return ElementType::int32;
  else if constexpr (std::same_as<T, std::int64_t>) return ElementType::int64;
  else if constexpr (std::same_as<T, std::uint64_t>) return ElementType::uint64;
  else if constexpr (std::same_as<T, bool>) return ElementType::boolean;
}();

/// A C++ type that a tensor can hold.
template <class T>
concept TensorElement = std::same_as<std::remove_const_t<decltype(element_type_of<T>)>, ElementType>;

/// Calls `visit.template operator()<T>()` with the C++ type of `type`.
template <class Visit>
constexpr decltype(auto) with_element_type(ElementType type, Visit&& visit) {
  switch (type) {
    case ElementType::float64: return visit.template operator()<double>();
    case ElementType::float16: return visit.template operator()<Half>();
    case ElementType::int8: return visit.template operator()<std::int8_t>();
    case ElementType::uint8: return visit.template operator()<std::uint8_t>();
    case ElementType::int16: return visit.template operator()<std::int16_t>();
    case ElementType::uint16: return visit.template operator()<std::uint16_t>();
    case ElementType::uint32: return visit.template operator()<std::uint32_t>();
    case ElementType::int32: return visit.template operator()<std::int32_t>();
    case ElementType::int64: return visit.template operator()<std::int64_t>();
    case ElementType::uint64: return visit.template operator()<std::uint64_t>();
    case ElementType::boolean: return visit.template operator()<bool>();
    case ElementType::float32: break;
  }
  return visit.template operator()<float>();
}

}  // namespace amct
