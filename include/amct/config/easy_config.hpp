// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace amct {

/// ARQ as a config states it; what it leaves open is decided by the layer.
struct ArqSetting {
  std::optional<bool> channel_wise{};
  std::optional<std::uint32_t> bits{};
};

/// IFMR as a config states it. Values are the decimals of the file (see decimal_value).
struct IfmrSetting {
  double search_start = 0.7;
  double search_end = 1.3;
  double search_step = 0.01;
  double max_percentile = 0.999999;
  double min_percentile = 0.999999;
  std::optional<bool> asymmetric{};
  int bits = 8;
};

/// One level of an easy config: everything, a layer type, or a layer. An absent part is inherited from the level above.
struct LayerSetting {
  std::optional<ArqSetting> arq{};
  std::optional<IfmrSetting> ifmr{};
};

/// An easy calibration config, free of its file format. Default-constructed it is the empty file.
struct EasyConfig {
  std::string file{};                        ///< for error messages; empty = defaults
  std::optional<std::uint32_t> batch_num{};  ///< as stated; AMCT's default is 1
  bool activation_offset = true;             ///< asymmetric activations
  bool do_fusion = true;                     ///< fold BatchNormalization into Conv
  std::vector<std::string> skip_layers{};
  std::vector<std::string> skip_layer_types{};
  std::vector<std::string> skip_fusion_layers{};
  LayerSetting common{};
  std::vector<std::pair<std::string, LayerSetting>> layer_types{};
  std::vector<std::pair<std::string, LayerSetting>> layers{};
};

}  // namespace amct
