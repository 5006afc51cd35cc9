// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/layer_factors.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;

TEST_CASE("Data: record_d with index and width where a dialect lists inputs, else scale_d and act_type") {
  LayerRecord listed{.name = "add"};
  flow::add_input_factors(listed, 0, {0.5F, -3}, 8, RecordDialect::hotwheels);
  flow::add_input_factors(listed, 1, {0.25F, 7}, 12, RecordDialect::hotwheels);
  CHECK(listed.record_d ==
        std::vector<ActivationRecord>{{.scale_d = 0.5F, .offset_d = -3, .index = 0, .num_bits_d = 8},
                                      {.scale_d = 0.25F, .offset_d = 7, .index = 1, .num_bits_d = 12}});
  CHECK_FALSE(listed.scale_d.has_value());

  LayerRecord single;
  flow::add_input_factors(single, 0, {0.5F, -3}, 16, RecordDialect::pytorch);
  CHECK(single == LayerRecord{.scale_d = 0.5F, .offset_d = -3, .act_type = "INT16"});
}

TEST_CASE("Weights: zero offsets, the width, and the levels of a non-uniform quantizer with its learned clip") {
  LayerRecord entry{.name = "conv"};
  flow::set_weight_factors(entry, {{{0.5F, 0}, {0.25F, 0}}, Int8::range}, {}, 8, RecordDialect::pytorch);
  CHECK(entry.scale_w == std::vector<float>{0.5F, 0.25F});
  CHECK(entry.offset_w == std::vector<std::int32_t>{0, 0});
  CHECK(entry.wts_type == "INT8");

  LayerRecord levels{.name = "fc"};
  const RecordExtras extras{.centroids = {-1, 0.5F}, .params = {-127, 64}, .clip_max = 3.5F};
  flow::set_weight_factors(levels, {{{0.5F, 0}}, Int8::range}, extras, 4, RecordDialect::hotwheels);
  CHECK(levels.num_bits_w == 4);
  CHECK_FALSE(levels.wts_type.has_value());
  CHECK(levels.params == extras.params);
  CHECK(levels.centroids == extras.centroids);
  CHECK(levels.weight_clip_max == 3.5F);
}

TEST_CASE("Weights with an offset are refused, naming the layer") {
  LayerRecord entry{.name = "conv"};
  const auto error = support::error_of([&] {
    flow::set_weight_factors(entry, {{{0.5F, 4}}, Int8::range}, {}, 8, RecordDialect::pytorch);
  });
  REQUIRE(error.has_value());
  CHECK(error->where().layer == "conv");
  CHECK(support::contains(error->what(), "found offset 4, expected 0"));
}
