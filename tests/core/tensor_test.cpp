// SPDX-License-Identifier: Apache-2.0
#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ElementType;
using amct::Shape;
using amct::Tensor;

template <class T>
Tensor tensor_of(Shape shape, const std::vector<T>& values) {
  return Tensor(std::move(shape), std::span<const T>(values));
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

}  // namespace

TEST_CASE("a default tensor is empty") {
  const Tensor tensor;
  CHECK(tensor.size() == 0);
  CHECK(tensor.bytes() == 0);
  CHECK(tensor.data<float>().empty());
  CHECK(Tensor(tensor).size() == 0);
}

TEST_CASE("a tensor knows its type, shape and bytes") {
  const Tensor tensor(ElementType::float64, {2, 3});
  CHECK(tensor.type() == ElementType::float64);
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(tensor.size() == 6);
  CHECK(tensor.bytes() == 48);
  CHECK(tensor.raw().size() == 48);
}

TEST_CASE("data are aligned to 64 bytes whatever the size") {
  for (const std::int64_t size : {0, 1, 15, 16, 17, 1000}) {
    Tensor tensor(ElementType::int8, {size});
    CAPTURE(size);
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.raw().data()) % 64 == 0);
  }
}

TEST_CASE("a scalar has rank 0 and one element") {
  const Tensor scalar = Tensor::scalar(2.5F);
  CHECK(scalar.shape().rank() == 0);
  CHECK(values_of<float>(scalar) == std::vector<float>{2.5F});
}

TEST_CASE("copies are independent") {
  Tensor original = tensor_of<float>({2}, {1.0F, 2.0F});
  Tensor copy = original;
  Tensor assigned;
  assigned = original;
  original.data<float>()[0] = 9.0F;
  CHECK(values_of<float>(copy) == std::vector<float>{1.0F, 2.0F});
  CHECK(values_of<float>(assigned) == std::vector<float>{1.0F, 2.0F});
  const Tensor& alias = copy;
  copy = alias;
  CHECK(values_of<float>(copy) == std::vector<float>{1.0F, 2.0F});
}

TEST_CASE("a move takes the memory along") {
  Tensor original = tensor_of<std::int32_t>({3}, {1, 2, 3});
  const std::byte* memory = original.raw().data();
  Tensor moved = std::move(original);
  CHECK(moved.raw().data() == memory);
  CHECK(values_of<std::int32_t>(moved) == std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("reshaping keeps the elements") {
  Tensor tensor = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  tensor.reshape({3, 2, 1});
  CHECK(tensor.shape() == Shape{3, 2, 1});
  CHECK(values_of<float>(tensor) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a cast converts each element") {
  const Tensor floats = tensor_of<float>({4}, {-2.75F, 0.0F, 1.5F, 100.0F});
  CHECK(values_of<std::int32_t>(amct::cast(floats, ElementType::int32)) == std::vector<std::int32_t>{-2, 0, 1, 100});
  CHECK(values_of<std::int8_t>(amct::cast(floats, ElementType::int8)) == std::vector<std::int8_t>{-2, 0, 1, 100});
  CHECK(values_of<bool>(amct::cast(floats, ElementType::boolean)) == std::vector<bool>{true, false, true, true});
  CHECK(values_of<float>(amct::cast(floats, ElementType::float32)) == values_of<float>(floats));

  const Tensor wide = tensor_of<std::int64_t>({2}, {-128, 4294967297});
  CHECK(values_of<double>(amct::cast(wide, ElementType::float64)) == std::vector<double>{-128.0, 4294967297.0});
  CHECK(amct::cast(wide, ElementType::float64).shape() == Shape{2});
}

TEST_CASE("a tensor without elements can be copied, cast and reshaped") {
  Tensor empty(ElementType::float32, {2, 0});
  CHECK(amct::cast(empty, ElementType::int64).size() == 0);
  CHECK(Tensor(empty).shape() == Shape{2, 0});
  empty.reshape({0});
  CHECK(empty.shape() == Shape{0});
}
