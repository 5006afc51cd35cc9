// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/indices.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exec/typed.hpp"
#include "support/graph_builder.hpp"

using namespace amct;
using namespace support;
using Positions = std::vector<std::size_t>;

namespace {

/// Calls with the context of a node whose one input is `indices`.
template <class Call>
auto with_indices(const Tensor& indices, Call&& call) {
  const graph::Node node{.op_type = "Gather", .name = "op"};
  const Tensor* const input = &indices;
  return call(exec::OpContext{.node = node, .opset = 13, .inputs = {&input, 1}, .outputs = {}});
}

Positions elements(const Tensor& indices, const Shape& shape, std::size_t axis) {
  return with_indices(indices, [&](auto context) { return exec::element_positions(context, shape, axis, 0); });
}

exec::SlicePositions slices(const Tensor& indices, const Shape& shape, std::int64_t batch_axes = 0) {
  return with_indices(indices, [&](auto context) { return exec::slice_positions(context, shape, 0, batch_axes); });
}

void refuses(const std::string& message, const std::function<void()>& call) {
  const auto error = error_of(call);
  REQUIRE(error);
  CHECK(error->message() == message);
}

}  // namespace

TEST_CASE("Indices count from the end if negative and are checked") {
  const auto checked = [](const Tensor& indices, std::int64_t size) {
    return with_indices(indices, [&](auto context) { return exec::checked_indices(context, 0, size); });
  };
  CHECK(checked(int64s({0, 2, -1, -3}), 3) == Positions{0, 2, 2, 0});
  CHECK(checked(typed<std::int32_t>({2}, {-1, 1}), 4) == Positions{3, 1});
  refuses("index 3 is outside an axis of 3", [&] { (void)checked(int64s({3}), 3); });
  refuses("index -4 is outside an axis of 3", [&] { (void)checked(int64s({-4}), 3); });
  refuses("index 0 is outside an axis of 0", [&] { (void)checked(int64s({0}), 0); });
  refuses("index -9223372036854775808 is outside an axis of 3", [&] { (void)checked(int64s({INT64_MIN}), 3); });
  refuses("input 0 is float32, expected int32 or int64", [&] { (void)checked(floats({1}, {0}), 3); });
}

TEST_CASE("Each element has its own position, but along one axis its index") {
  CHECK(elements(typed<std::int64_t>({2, 3}, {0, 1, 2, 2, -1, 0}), {2, 4}, 1) == Positions{0, 1, 2, 6, 7, 4});
  CHECK(elements(typed<std::int64_t>({1, 3}, {1, 0, -1}), {2, 4}, 0) == Positions{4, 1, 6});
  CHECK(elements(typed<std::int64_t>({2, 1, 2}, {0, 2, 1, 0}), {2, 3, 2}, 1) == Positions{0, 5, 8, 7});
  refuses("indices [3] do not fit [2,4]", [] { (void)elements(int64s({0, 0, 0}), {2, 4}, 1); });
  refuses("indices [3,1] do not fit [2,4]", [] { (void)elements(typed<std::int64_t>({3, 1}, {0, 0, 0}), {2, 4}, 1); });
}

TEST_CASE("The last axis of the indices names slices") {
  const auto rows = slices(typed<std::int64_t>({2, 1}, {1, -2}), {2, 3});
  CHECK(rows.rank == 1);
  CHECK(rows.size == 3);
  CHECK(rows.starts == Positions{3, 0});
  const auto single = slices(typed<std::int64_t>({2, 2}, {1, -1, 0, 1}), {2, 3});
  CHECK(single.rank == 0);
  CHECK(single.size == 1);
  CHECK(single.starts == Positions{5, 1});
  const auto batch = slices(typed<std::int64_t>({2, 1}, {2, 0}), {2, 3, 4}, 1);
  CHECK(batch.size == 4);
  CHECK(batch.starts == Positions{8, 12});
}

TEST_CASE("Slices that do not fit are refused") {
  const Tensor two = typed<std::int64_t>({2, 1}, {0, 1});
  refuses("indices [2,1] and 2 batch axes do not fit [2,3]", [&] { (void)slices(two, {2, 3}, 2); });
  refuses("indices [2,1] and -1 batch axes do not fit [2,3]", [&] { (void)slices(two, {2, 3}, -1); });
  refuses("indices [2,1] and 1 batch axes do not fit [3,3]", [&] { (void)slices(two, {3, 3}, 1); });
  refuses("indices [3] and 0 batch axes do not fit [2,3]", [&] { (void)slices(int64s({0, 0, 0}), {2, 3}); });
  refuses("indices [5,0] and 0 batch axes do not fit [2,3]", [&] {
    (void)slices(Tensor(ElementType::int64, {5, 0}), {2, 3});
  });
  refuses("index 2 is outside an axis of 2", [&] { (void)slices(typed<std::int64_t>({1, 1}, {2}), {2, 3}); });
}
