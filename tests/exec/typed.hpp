// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>

namespace support {

/// A tensor of any element type.
template <class T>
[[nodiscard]] amct::Tensor typed(amct::Shape shape, const std::vector<T>& values) {
  amct::Tensor tensor(amct::element_type_of<T>, std::move(shape));
  assert(tensor.size() == values.size());
  std::copy(values.begin(), values.end(), tensor.data<T>().begin());
  return tensor;
}
template <class T>
[[nodiscard]] amct::Tensor typed(amct::Shape shape, std::initializer_list<T> values) {
  return typed(std::move(shape), std::vector<T>(values));
}

/// Type, shape and exact elements.
template <class T>
void check_typed(const amct::Tensor& tensor, const amct::Shape& shape, const std::vector<T>& expected) {
  CHECK(amct::to_string(tensor.shape()) == amct::to_string(shape));
  REQUIRE(tensor.type() == amct::element_type_of<T>);
  REQUIRE(tensor.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const T value = expected[i];
    CHECK(tensor.data<T>()[i] == value);
  }
}
template <class T>
void check_typed(const amct::Tensor& tensor, const amct::Shape& shape, std::initializer_list<T> expected) {
  check_typed(tensor, shape, std::vector<T>(expected));
}

}  // namespace support
