// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/input_check.hpp>

#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using amct::Shape;
using amct::Tensor;
using amct::flow::constant_value;
using amct::flow::layout_mistake;

TEST_CASE("input check: a shape that fits with its channels elsewhere is a mistake of the layout") {
  const Shape nchw{8, 3, 32, 48};
  const Shape nhwc{8, 32, 48, 3};
  REQUIRE(layout_mistake(nhwc, nchw));
  CHECK(layout_mistake(nhwc, nchw)->channels_last);
  REQUIRE(layout_mistake(nchw, nhwc));
  CHECK(!layout_mistake(nchw, nhwc)->channels_last);
  CHECK(layout_mistake(Shape{1, 32, 48, 3}, nchw)->channels_last);  // another batch
  CHECK(layout_mistake(Shape{32, 48, 3}, nchw)->channels_last);     // one image
  CHECK(layout_mistake(Shape{16, 28, 28, 1}, Shape{16, 1, 28, 28})->channels_last);
  CHECK(!layout_mistake(Shape{16, 1, 28, 28}, Shape{16, 28, 28, 1})->channels_last);
  CHECK(support::contains(describe(*layout_mistake(nhwc, nchw)), "(0, 3, 1, 2)"));
  CHECK(support::contains(describe(*layout_mistake(nchw, nhwc)), "(0, 2, 3, 1)"));
}

TEST_CASE("input check: other shapes that do not fit are no mistake of the layout") {
  const Shape nchw{8, 3, 32, 48};
  CHECK(!layout_mistake(nchw, nchw));
  CHECK(!layout_mistake(Shape{4, 3, 32, 48}, nchw));
  CHECK(!layout_mistake(Shape{8, 48, 32, 3}, nchw));
  CHECK(!layout_mistake(Shape{8, 3, 32}, Shape{8, 32}));
  CHECK(!layout_mistake(Shape{1, 8, 32, 48, 3}, nchw));
  CHECK(!layout_mistake(Shape{}, nchw));
  CHECK(!layout_mistake(Shape{8, 5, 5, 5}, Shape{4, 5, 5, 5}));
}

TEST_CASE("input check: constant data are found in every element type") {
  CHECK(constant_value(support::floats({2, 2}, {0.5F, 0.5F, 0.5F, 0.5F})) == 0.5);
  CHECK(!constant_value(support::floats({2, 2}, {0.5F, 0.5F, 0.5F, 0.25F})));
  CHECK(!constant_value(support::floats({1}, {0.5F})));
  CHECK(!constant_value(support::floats({0}, {})));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(!constant_value(support::floats({2}, {nan, nan})));
  CHECK(constant_value(support::int64s({-3, -3})) == -3.0);
  Tensor halves(amct::ElementType::float16, Shape{3});
  for (auto& half : halves.data<amct::Half>()) half = amct::to_half(1.5F);
  CHECK(constant_value(halves) == 1.5);
}
