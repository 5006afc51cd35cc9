// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

// As y, x, y, x: the second overlaps the first by a third, the third is the first turned round, the last one is apart.
const Tensor kBoxes = floats({1, 4, 4}, {0, 0, 2, 2, 1, 0, 3, 2, 2, 2, 0, 0, 8, 8, 9, 9});
const Tensor kScores = floats({1, 1, 4}, {0.5F, 0.75F, 0.5F, 0.25F});
const Tensor kMany = int64s({9});

Tensor kept(float overlap, std::optional<float> score = std::nullopt, Attributes attributes = {}) {
  std::optional<Tensor> least;
  if (score) least = floats({1}, {*score});
  return run_op("NonMaxSuppression", {kBoxes, kScores, kMany, floats({1}, {overlap}), least}, std::move(attributes));
}

}  // namespace

TEST_CASE("The best boxes stay, those that overlap them too much go") {
  check_typed<std::int64_t>(kept(0.25F), {2, 3}, {0, 0, 1, 0, 0, 3});
  check_typed<std::int64_t>(kept(0.5F), {3, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 3});
  check_typed<std::int64_t>(kept(1.0F), {4, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 3});
}

TEST_CASE("Scores must exceed the threshold, and only so many boxes stay") {
  check_typed<std::int64_t>(kept(0.5F, 0.25F), {2, 3}, {0, 0, 1, 0, 0, 0});
  check_typed<std::int64_t>(run_op("NonMaxSuppression", {kBoxes, kScores, int64s({1})}), {1, 3}, {0, 0, 1});
  check_typed<std::int64_t>(run_op("NonMaxSuppression", {kBoxes, kScores}), {0, 3}, {});
  check_typed<std::int64_t>(run_op("NonMaxSuppression", {kBoxes, kScores, int64s({-1})}), {0, 3}, {});
}

TEST_CASE("Boxes may be given by their centre and size") {
  const Tensor boxes = floats({1, 2, 4}, {1, 1, 2, 2, 1, 2, 2, 2});  // overlap by a third
  const Tensor scores = floats({1, 1, 2}, {1, 2});
  const Attributes centred{{"center_point_box", 1}};
  check_typed<std::int64_t>(run_op("NonMaxSuppression", {boxes, scores, kMany, floats({1}, {0.25F})}, centred), {1, 3},
                            {0, 0, 1});
  check_typed<std::int64_t>(run_op("NonMaxSuppression", {boxes, scores, kMany, floats({1}, {0.5F})}, centred), {2, 3},
                            {0, 0, 1, 0, 0, 0});
}

TEST_CASE("Every class of every image is on its own") {
  const Tensor boxes = floats({2, 1, 4}, {0, 0, 1, 1, 0, 0, 1, 1});
  const Tensor scores = floats({2, 2, 1}, {1, 1, 1, 1});
  check_typed<std::int64_t>(run_op("NonMaxSuppression", {boxes, scores, kMany}), {4, 3},
                            {0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0});
}

TEST_CASE("Boxes and scores that do not fit are refused") {
  check_refused(kShape, "boxes [1,4,4] and scores [1,1,3], expected [N,B,4] and [N,classes,B]", "NonMaxSuppression",
                {kBoxes, floats({1, 1, 3}, {1, 2, 3})});
  check_refused(kShape, "boxes [1,2] and scores", "NonMaxSuppression", {floats({1, 2}, {1, 2}), kScores});
  check_refused(kShape, "input 2 is [2], expected one value", "NonMaxSuppression", {kBoxes, kScores, int64s({1, 2})});
}
