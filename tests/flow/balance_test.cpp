// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/balance.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;

namespace {

/// A convolution in two groups and a fully connected layer, with magnitudes of data and weights that are squares.
graph::Graph net() {
  return GraphBuilder()
      .input("x", {1, 4, 1, 1})
      .initializer("w", floats({2, 2, 1, 1}, {1, -4, 0.25F, 16}))
      .initializer("v", floats({2, 1}, {1, 4}))
      .node("Conv", "conv", {"x", "w"}, "c", {{"group", std::int64_t{2}}})
      .node("Flatten", "flat", {"c"}, "f")
      .node("MatMul", "fc", {"f", "v"}, "y")
      .output("y")
      .build();
}

flow::Prepared prepared(double strength = 0.5) {
  EasyConfig config;
  config.common.balancer.emplace().migration_strength = strength;
  return flow::prepare(net(), config, support::ops());
}

}  // namespace

TEST_CASE("Factors are those of the input channels of every balanced layer, in one batch") {
  const auto network = prepared();
  CHECK(flow::needs_balance(network.plan));
  const Record record = flow::balance_factors(network, support::ops(), {floats({1, 4, 1, 1}, {4, -1, 16, 0.0625F})});
  REQUIRE(record.size() == 2);
  CHECK(record[0].name == "conv");
  // sqrt(4 / 1), sqrt(1 / 4), sqrt(16 / 0.25), sqrt(0.0625 / 16)
  CHECK(record[0].tensor_balance_factor == std::vector<float>{2, 0.5F, 8, 0.0625F});
  CHECK_FALSE(record[0].scale_d);
  CHECK(record[0].scale_w.empty());
  CHECK(record[1].tensor_balance_factor.size() == 2);  // conv gives 8 and 5
  CHECK(record[1].tensor_balance_factor[0] == doctest::Approx(std::sqrt(8.0)));
}

TEST_CASE("Without a balanced layer nothing is run") {
  const auto network = flow::prepare(net(), {}, support::ops());
  CHECK_FALSE(flow::needs_balance(network.plan));
  CHECK(flow::balance_factors(network, support::ops(), {}).empty());
}

TEST_CASE("Empty data and zeros give factors of 1") {
  const auto network = prepared();
  for (const Tensor& batch : {Tensor(ElementType::float32, Shape{0, 4, 1, 1}), floats({1, 4, 1, 1}, {0, 0, 0, 0})}) {
    const Record record = flow::balance_factors(network, support::ops(), {batch});
    CHECK(record[0].tensor_balance_factor == std::vector<float>{1, 1, 1, 1});
  }
}

TEST_CASE("Factors out of range and NaN are refused by layer") {
  const auto extreme = error_of([&] {
    (void)flow::balance_factors(prepared(0.8), support::ops(), {floats({1, 4, 1, 1}, {1e30F, 1, 1, 1})});
  });
  REQUIRE(extreme);
  CHECK(extreme->code() == ErrorCode::numeric);
  CHECK(extreme->where().layer == "conv");
  CHECK(contains(extreme->message(), "input channel 0"));
  const auto nan = error_of([&] {
    const float bad = std::numeric_limits<float>::quiet_NaN();
    (void)flow::balance_factors(prepared(), support::ops(), {floats({1, 4, 1, 1}, {1, bad, 1, 1})});
  });
  REQUIRE(nan);
  CHECK(nan->code() == ErrorCode::data_not_finite);
  CHECK(nan->where().layer == "conv");
}

TEST_CASE("Data without the axes that a layer reads are refused by the layer, and not looked at before") {
  for (const Tensor& x : {floats({4}, {1, 2, 3, 4}), floats({}, {1})}) {
    const auto error = error_of([&] { (void)flow::balance_factors(prepared(), support::ops(), {x}); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::model_shape);
  }
  EasyConfig config;
  config.common.balancer.emplace();
  const auto product = flow::prepare(GraphBuilder()
                                         .input("x")
                                         .initializer("v", floats({1, 2}, {1, 4}))
                                         .node("MatMul", "fc", {"x", "v"}, "y")
                                         .output("y")
                                         .build(),
                                     config, support::ops());
  const auto error = error_of([&] { (void)flow::balance_factors(product, support::ops(), {floats({}, {1})}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_shape);
}
