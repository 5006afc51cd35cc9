// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/promote.hpp>

#include <vector>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>

#include "exec/run_op.hpp"

using namespace amct;
using support::floats;

namespace {

/// Runs an operator that adds its two float32 inputs and gives an int64 beside, on inputs of another type.
std::vector<Tensor> run(ElementType type) {
  const exec::Op add = exec::in_float32([](const exec::OpContext& context) {
    const auto a = context.data<float>(0);
    const auto b = context.data<float>(1);
    context.make_output<float>({1})[0] = a[0] + b[0];
    context.make_output(1, ElementType::int64, {1}).data<std::int64_t>()[0] = 7;
  });
  const Tensor a = cast(floats({1}, {1.5F}), type);
  const Tensor b = cast(floats({1}, {0.25F}), type);
  const std::vector<const Tensor*> inputs{&a, &b, nullptr};
  std::vector<Tensor> outputs(2);
  const graph::Node node{.op_type = "Own", .name = "own", .inputs = {0, 1, graph::kNoValue}, .outputs = {2, 3}};
  add({.node = node, .opset = 1, .inputs = inputs, .outputs = outputs});
  return outputs;
}

}  // namespace

TEST_CASE("An operator of float32 takes float16 and float64, and gives the same type back") {
  for (const auto type : {ElementType::float32, ElementType::float16, ElementType::float64}) {
    const auto outputs = run(type);
    CHECK(outputs[0].type() == type);
    CHECK(cast(outputs[0], ElementType::float32).data<float>()[0] == 1.75F);
    CHECK(outputs[1].type() == ElementType::int64);
  }
}

TEST_CASE("Other types are the operator's to refuse") {
  const auto error = support::error_of([] { (void)run(ElementType::int32); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
}
