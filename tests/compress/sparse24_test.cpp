// SPDX-License-Identifier: Apache-2.0
#include <amct/compress/sparse24.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Status;
using amct::StatusCode;

using Floats = std::vector<float>;
using Mask = std::vector<std::uint8_t>;
using Shape = std::vector<std::size_t>;
using Words = std::vector<std::int64_t>;

Mask mask_of(const Floats& weight, const Shape& shape, std::size_t axis) {
  Mask mask(weight.size(), 7);
  REQUIRE(amct::mask24(weight, shape, axis, mask).ok());
  return mask;
}

Status status_of(const Floats& weight, const Shape& shape, std::size_t axis) {
  Mask mask(weight.size(), 7);
  const Status status = amct::mask24(weight, shape, axis, mask);
  CHECK(mask == Mask(weight.size(), 7));
  return status;
}

int kept(const Mask& mask) { return std::accumulate(mask.begin(), mask.end(), 0); }

}  // namespace

TEST_CASE("the two largest magnitudes of each four are kept") {
  CHECK(mask_of({1.0F, -2.0F, 3.0F, -4.0F, 5.0F, 0.0F, -6.0F, 1.0F}, {1, 8}, 1) == Mask{0, 0, 1, 1, 1, 0, 1, 0});
  CHECK(mask_of({-4.0F, 1.0F, 2.0F, 3.0F}, {1, 4}, 1) == Mask{1, 0, 0, 1});
}

TEST_CASE("groups lie along the axis, whatever lies between its elements") {
  // [4, 2] along axis 0: the columns are 1,2,3,4 and 8,7,6,5.
  const Floats weight{1.0F, 8.0F, 2.0F, 7.0F, 3.0F, 6.0F, 4.0F, 5.0F};
  CHECK(mask_of(weight, {4, 2}, 0) == Mask{0, 1, 0, 1, 1, 0, 1, 0});
  CHECK(mask_of(weight, {1, 4, 2}, 1) == Mask{0, 1, 0, 1, 1, 0, 1, 0});
  CHECK(mask_of(weight, {2, 4}, 1) == Mask{0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(mask_of(weight, {8}, 0) == Mask{0, 1, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("of equal magnitudes the first are kept") {
  CHECK(mask_of({1.0F, 1.0F, 1.0F, 1.0F}, {1, 4}, 1) == Mask{1, 1, 0, 0});
  CHECK(mask_of({1.0F, -1.0F, 2.0F, -2.0F}, {1, 4}, 1) == Mask{0, 0, 1, 1});
  CHECK(mask_of({1.0F, 1.0F, 1.0F, 2.0F}, {1, 4}, 1) == Mask{1, 0, 0, 1});
  CHECK(mask_of({0.0F, 3.0F, -0.0F, 0.0F}, {1, 4}, 1) == Mask{1, 1, 0, 0});
  CHECK(mask_of({0.0F, 0.0F, 0.0F, 0.0F}, {1, 4}, 1) == Mask{1, 1, 0, 0});
}

TEST_CASE("the last group is completed by zeros that are pruned first") {
  CHECK(mask_of({5.0F, 4.0F, 3.0F, 2.0F, 0.5F}, {1, 5}, 1) == Mask{1, 1, 0, 0, 1});
  CHECK(mask_of({5.0F, 4.0F, 3.0F, 2.0F, 0.5F, 0.0F}, {1, 6}, 1) == Mask{1, 1, 0, 0, 1, 1});
  CHECK(mask_of({5.0F, 4.0F, 3.0F, 2.0F, 0.5F, 0.25F, 0.75F}, {1, 7}, 1) == Mask{1, 1, 0, 0, 1, 0, 1});
  CHECK(mask_of({0.0F, 0.0F, 0.0F}, {1, 3}, 1) == Mask{1, 1, 0});
}

TEST_CASE("an axis of one or two elements is not pruned") {
  CHECK(mask_of({0.5F, -0.5F, 0.0F}, {3, 1}, 1) == Mask{1, 1, 1});
  CHECK(mask_of(Floats(72, 0.25F), {2, 4, 3, 3}, 0) == Mask(72, 1));
  CHECK(mask_of({3.0F}, {1}, 0) == Mask{1});
}

TEST_CASE("half of a weight with four-fold channels is kept") {
  Floats weight;
  for (int i = 0; i < 160 * 4 * 9; ++i) weight.push_back(static_cast<float>((i * 7919) % 1009) - 504.0F);
  CHECK(kept(mask_of(weight, {160, 4, 3, 3}, 1)) == 160 * 2 * 9);
  CHECK(kept(mask_of(weight, {160, 4, 3, 3}, 0)) == 80 * 4 * 9);
}

TEST_CASE("one huge weight costs its group no more than any other") {
  CHECK(mask_of({1e30F, 1.0F, 2.0F, 3.0F}, {1, 4}, 1) == Mask{1, 0, 0, 1});
}

TEST_CASE("what cannot be masked is refused") {
  const Status axis = status_of({1.0F, 2.0F}, {1, 2}, 2);
  CHECK(axis.code == StatusCode::bad_option);
  CHECK(axis.name == std::string_view("axis"));
  CHECK(status_of({1.0F}, {}, 0).code == StatusCode::bad_option);
  CHECK(status_of({}, {2, 0, 3}, 1).code == StatusCode::empty);
  CHECK(status_of({1.0F, 2.0F}, {1, 3}, 1).code == StatusCode::size_mismatch);
  const Status bad = status_of({1.0F, 2.0F, std::numeric_limits<float>::quiet_NaN()}, {1, 3}, 1);
  CHECK(bad.code == StatusCode::not_finite);
  CHECK(bad.index == 2);
  CHECK(status_of({-std::numeric_limits<float>::infinity()}, {1, 1}, 1).code == StatusCode::not_finite);
  Mask few(1);
  CHECK(amct::mask24(Floats{1.0F, 2.0F}, Shape{1, 2}, 1, few).code == StatusCode::size_mismatch);
}

TEST_CASE("masks are packed from the highest bit of the lowest byte") {
  CHECK(amct::pack_mask(Mask{1, 0, 1, 0, 0, 1, 1, 0}) == Words{166});
  CHECK(amct::pack_mask(Mask{0, 1, 0, 0, 1, 0, 0, 1}) == Words{73});
  CHECK(amct::pack_mask(Mask{1, 0, 0, 1, 1, 0, 1, 1, 1, 0}) == Words{32923});
  CHECK(amct::pack_mask(Mask(64, 1)) == Words{-1});
  CHECK(amct::pack_mask(Mask(65, 1)) == Words{-1, 128});
  CHECK(amct::pack_mask(Mask{255}) == Words{128});
  CHECK(amct::pack_mask(Mask{}).empty());
}

TEST_CASE("unpacking gives every mask back") {
  Mask mask;
  for (unsigned i = 0; i < 130; ++i) {
    Mask back(mask.size(), 7);
    REQUIRE(amct::unpack_mask(amct::pack_mask(mask), back).ok());
    CHECK(back == mask);
    mask.push_back(static_cast<std::uint8_t>((i * 2654435761U) >> 13 & 1U));
  }
}

TEST_CASE("unpacking wants as many words as the mask needs and ignores the bits behind it") {
  Mask mask(3, 7);
  const Status status = amct::unpack_mask(Words{1, 2}, mask);
  CHECK(status.code == StatusCode::size_mismatch);
  CHECK(status.index == 2);
  CHECK(amct::unpack_mask(Words{}, mask).code == StatusCode::size_mismatch);
  CHECK(mask == Mask{7, 7, 7});
  REQUIRE(amct::unpack_mask(Words{-1}, mask).ok());
  CHECK(mask == Mask{1, 1, 1});
  Mask nothing;
  CHECK(amct::unpack_mask(Words{}, nothing).ok());
}
