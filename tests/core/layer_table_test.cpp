// SPDX-License-Identifier: Apache-2.0
#include <amct/core/layer_table.hpp>

#include <string>

#include <doctest/doctest.h>

TEST_CASE("layer types are spelled as in AMCT's PyTorch configs") {
  std::string names;
  for (const auto kind : amct::kAllLayerKinds) names += std::string(amct::type_name(kind)) + ' ';
  CHECK(names == "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d Linear LSTM GRU AvgPool2d other ");
  CHECK(std::string(amct::type_name(static_cast<amct::LayerKind>(99))) == "unknown");
}

TEST_CASE("pools and layers that only have data have no weights") {
  using amct::LayerKind;
  CHECK(amct::has_weights(LayerKind::conv3d));
  CHECK(amct::has_weights(LayerKind::linear));
  CHECK(amct::has_weights(LayerKind::gru));
  CHECK_FALSE(amct::has_weights(LayerKind::avg_pool2d));
  CHECK_FALSE(amct::has_weights(LayerKind::other));
}

TEST_CASE("a layer without weights is called by its operator") {
  CHECK(amct::type_name({.name = "a", .kind = amct::LayerKind::other, .op_type = "Softmax"}) == "Softmax");
  CHECK(amct::type_name({.name = "a", .kind = amct::LayerKind::linear, .op_type = "Gemm"}) == "Linear");
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
