// SPDX-License-Identifier: Apache-2.0
#include <amct/core/layer_table.hpp>

#include <string>

#include <doctest/doctest.h>

TEST_CASE("layer types are spelled as in AMCT's PyTorch configs") {
  std::string names;
  for (const auto kind : amct::kAllLayerKinds) names += std::string(amct::type_name(kind)) + ' ';
  CHECK(names == "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d Linear AvgPool2d ");
  CHECK(std::string(amct::type_name(static_cast<amct::LayerKind>(99))) == "unknown");
}

TEST_CASE("only convolutions can have one scale an output channel") {
  using amct::LayerKind;
  static_assert(amct::can_be_channel_wise(LayerKind::conv1d) && amct::can_be_channel_wise(LayerKind::conv2d));
  static_assert(amct::can_be_channel_wise(LayerKind::conv3d));
  static_assert(amct::can_be_channel_wise(LayerKind::conv_transpose1d));
  static_assert(amct::can_be_channel_wise(LayerKind::conv_transpose2d));
  static_assert(!amct::can_be_channel_wise(LayerKind::linear));
  CHECK_FALSE(amct::can_be_channel_wise(LayerKind::avg_pool2d));
}

TEST_CASE("a layer is found by its whole name") {
  const amct::LayerTable table = {{"conv1", amct::LayerKind::conv2d}, {"conv10", amct::LayerKind::conv1d}, {"", {}}};
  REQUIRE(amct::find_layer(table, "conv10") != nullptr);
  CHECK(amct::find_layer(table, "conv10")->kind == amct::LayerKind::conv1d);
  CHECK(amct::find_layer(table, "conv1") == &table[0]);
  CHECK(amct::find_layer(table, "") == &table[2]);
  CHECK(amct::find_layer(table, "Conv1") == nullptr);
  CHECK(amct::find_layer({}, "conv1") == nullptr);
}
