// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/permute.hpp>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

TEST_CASE("Elements move with their axes, whatever their type") {
  std::vector<std::int16_t> values(24);
  std::iota(values.begin(), values.end(), std::int16_t{0});
  const Tensor tensor(Shape{2, 3, 4}, std::span<const std::int16_t>(values));
  const Tensor result = graph::permuted(tensor, {2, 0, 1});
  CHECK(result.shape() == Shape{4, 2, 3});
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t c = 0; c < 3; ++c) {
        CHECK(result.data<std::int16_t>()[(a * 2 + b) * 3 + c] == static_cast<std::int16_t>((b * 3 + c) * 4 + a));
      }
    }
  }
}

TEST_CASE("Scalars and empty tensors have nothing to move") {
  CHECK(graph::permuted(Tensor::scalar(2.0F), {}).data<float>()[0] == 2.0F);
  CHECK(graph::permuted(Tensor(ElementType::float32, Shape{0, 3}), {1, 0}).shape() == Shape{3, 0});
}
