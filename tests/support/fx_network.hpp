// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <amct/config/network_names.hpp>
#include <amct/config/value.hpp>
#include <amct/core/layer_table.hpp>

#include "support/config_text.hpp"
#include "support/data.hpp"

namespace support {

/// A network with a layer of each sort that matters to configs of the static graph.
struct FxNetwork {
  amct::LayerTable layers = {
      {.name = "conv1", .kind = amct::LayerKind::conv2d, .op_type = "Conv"},
      {.name = "maxpool", .kind = amct::LayerKind::other, .op_type = "MaxPool"},
      {.name = "add", .kind = amct::LayerKind::other, .op_type = "Add", .activation_inputs = 2},
      {.name = "matmul", .kind = amct::LayerKind::other, .op_type = "MatMul", .activation_inputs = 2},
      {.name = "softsign", .kind = amct::LayerKind::other, .op_type = "Softsign"},
      {.name = "fc", .kind = amct::LayerKind::linear, .op_type = "Gemm"},
  };
  std::vector<std::string> nodes = {"conv1", "maxpool", "add", "matmul", "softsign", "shape", "fc"};
  amct::NetworkNames names{layers, nodes};
};

/// The guide's sample of torch's FakeQuantize as it must be meant: it prints two activation entries for the one input
/// of conv1, of which the first is for the weights, as in its YAML.
[[nodiscard]] inline amct::ConfigValue mended_custom_sample() {
  const amct::ConfigValue printed = config_file(seed("fx_custom.json"));
  const amct::ConfigValue::List& entries = *printed.find("conv1")->find("activation_quant_params")->list();
  amct::ConfigValue layer;
  layer.add("quant_enable", true);
  layer.add("activation_quant_params", amct::ConfigValue::List{entries.at(1)});
  layer.add("weight_quant_params", entries.at(0));
  amct::ConfigValue mended;
  mended.add("conv1", layer);
  return mended;
}

}  // namespace support
