// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/type_attribute.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include "support/graph_builder.hpp"

using namespace amct;

TEST_CASE("An attribute names an element type by number") {
  const auto type_of = [](std::int64_t number) {
    graph::Node node{.op_type = "EyeLike", .name = "eye", .attributes = {{"dtype", number}}};
    return exec::type_attribute({.node = node, .opset = 13, .inputs = {}, .outputs = {}}, "dtype", ElementType::int8);
  };
  CHECK(type_of(1) == ElementType::float32);
  CHECK(type_of(7) == ElementType::int64);
  CHECK(type_of(10) == ElementType::float16);
  const auto error = support::error_of([&] { (void)type_of(8); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->message() == "dtype names the element type 8");
}

TEST_CASE("Without the attribute the default holds") {
  const graph::Node node{.op_type = "EyeLike", .name = "eye"};
  CHECK(exec::type_attribute({.node = node, .opset = 13, .inputs = {}, .outputs = {}}, "dtype", ElementType::int8) ==
        ElementType::int8);
}
