// SPDX-License-Identifier: Apache-2.0
#include <amct/core/element_type.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace {

using amct::ElementType;

constexpr ElementType kAll[] = {ElementType::float32, ElementType::float64, ElementType::int8,   ElementType::uint8,
                                ElementType::int32,   ElementType::int64,   ElementType::uint64, ElementType::boolean};

}  // namespace

TEST_CASE("element types have numpy's names and sizes") {
  std::string names;
  std::size_t bytes = 0;
  for (const ElementType type : kAll) {
    names += std::string(amct::name_of(type)) + ' ';
    bytes += amct::size_of(type);
  }
  CHECK(names == "float32 float64 int8 uint8 int32 int64 uint64 bool ");
  CHECK(bytes == 4 + 8 + 1 + 1 + 4 + 8 + 8 + 1);
}

TEST_CASE("the C++ type of an element type has its size and leads back to it") {
  for (const ElementType type : kAll) {
    CAPTURE(amct::name_of(type));
    CHECK(amct::with_element_type(type, []<class T>() { return sizeof(T); }) == amct::size_of(type));
    CHECK(amct::with_element_type(type, []<class T>() { return amct::element_type_of<T>; }) == type);
  }
}

TEST_CASE("only types that a tensor can hold are tensor elements") {
  static_assert(amct::TensorElement<float> && amct::TensorElement<double> && amct::TensorElement<bool>);
  static_assert(amct::TensorElement<std::int8_t> && amct::TensorElement<std::uint64_t>);
  CHECK(amct::element_type_of<std::int32_t> == ElementType::int32);
}

TEST_CASE("an element type outside the enumeration has no size") {
  CHECK(amct::size_of(static_cast<ElementType>(200)) == 0);
  CHECK(std::string(amct::name_of(static_cast<ElementType>(200))) == "unknown");
}
