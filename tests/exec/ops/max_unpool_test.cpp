// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "exec/run_op.hpp"
#include "exec/run_output.hpp"

using namespace amct;
using namespace support;

namespace {

const Tensor kX = floats({1, 1, 2}, {5, 6});
const Attributes kPairs{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};

Tensor indices(const Ints& values) {
  return Tensor(Shape{1, 1, static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values));
}

}  // namespace

TEST_CASE("MaxUnpool puts elements back where MaxPool found them") {
  const Tensor x = whole_numbers({2, 3, 4, 6}, 3);
  const Attributes pool{{"kernel_shape", Ints{2, 3}}, {"strides", Ints{2, 3}}};
  const Tensor y = run_op("MaxPool", {x}, pool);
  const Tensor where = run_output(1, 2, "MaxPool", {x}, pool);
  const Tensor back = run_op("MaxUnpool", {y, where}, pool);
  REQUIRE(back.shape() == x.shape());
  std::vector<float> expected(x.size(), 0.0F);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto at = static_cast<std::size_t>(where.data<std::int64_t>()[i]);
    CHECK(values(x)[at] == values(y)[i]);
    expected[at] = values(y)[i];
  }
  CHECK(values(back) == expected);
}

TEST_CASE("An output shape may leave room behind") {
  check_tensor(run_op("MaxUnpool", {kX, indices({1, 2})}, kPairs), {1, 1, 4}, {0, 5, 6, 0});
  check_tensor(run_op("MaxUnpool", {kX, indices({1, 2}), int64s({1, 1, 6})}, kPairs), {1, 1, 6}, {0, 5, 6, 0, 0, 0});
  const Tensor square = floats({1, 1, 1, 2}, {5, 6});
  const Tensor at(Shape{1, 1, 1, 2}, std::span<const std::int64_t>(Ints{1, 6}));
  check_tensor(
      run_op("MaxUnpool", {square, at, int64s({1, 1, 2, 5})}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
      {1, 1, 2, 5}, {0, 5, 0, 0, 0, 0, 0, 6, 0, 0});
}

TEST_CASE("Positions and shapes that do not fit are refused") {
  check_refused(kShape, "index 4 is outside [1,1,4]", "MaxUnpool", {kX, indices({1, 4})}, kPairs);
  check_refused(kShape, "index -1 is outside", "MaxUnpool", {kX, indices({-1, 0})}, kPairs);
  check_refused(kShape, "indices are [1,1,1], expected [1,1,2]", "MaxUnpool", {kX, indices({1})}, kPairs);
  check_refused(kShape, "the output shape is [1,1,3], expected at least [1,1,4]", "MaxUnpool",
                {kX, indices({1, 2}), int64s({1, 1, 3})}, kPairs);
  check_refused(kCorrupt, "kernel_shape is missing", "MaxUnpool", {kX, indices({1, 2})});
}
