// SPDX-License-Identifier: Apache-2.0
#include <amct/record/record.hpp>

#include <doctest/doctest.h>

TEST_CASE("a layer record starts without any factor") {
  const amct::LayerRecord layer;
  CHECK(layer.name.empty());
  CHECK_FALSE(layer.scale_d.has_value());
  CHECK_FALSE(layer.offset_d.has_value());
  CHECK(layer.scale_w.empty());
  CHECK_FALSE(layer.skip_fusion.has_value());
  CHECK_FALSE(layer.act_type.has_value());
  CHECK_FALSE(layer.wts_type.has_value());
}

TEST_CASE("records are compared field by field, absent is not the same as default") {
  const amct::LayerRecord layer{.name = "conv1", .scale_d = 0.5F, .offset_d = 0, .scale_w = {1.0F}, .offset_w = {0}};
  auto other = layer;
  CHECK(other == layer);
  other.skip_fusion = false;
  CHECK(other != layer);
  other = layer;
  other.offset_d.reset();
  CHECK(other != layer);
  other = layer;
  other.scale_w.push_back(1.0F);
  CHECK(other != layer);
}

TEST_CASE("a layer is found by its whole name, the first of equal names counts") {
  const amct::Record record = {{.name = "conv1", .scale_d = 1.0F}, {.name = "conv10"}, {.name = "conv1"}};
  CHECK(amct::find_record(record, "conv1") == &record[0]);
  CHECK(amct::find_record(record, "conv10") == &record[1]);
  CHECK(amct::find_record(record, "conv") == nullptr);
  CHECK(amct::find_record({}, "conv1") == nullptr);
}
