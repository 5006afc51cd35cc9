// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/layer_table.hpp>
#include <amct/observe/ifmr.hpp>

namespace amct {

/// How one layer is quantized.
struct LayerPlan {
  std::string name{};
  LayerKind kind = LayerKind::conv2d;
  bool enabled = true;        ///< false: skipped by the config, stays float
  bool channel_wise = false;  ///< one weight scale an output channel
  IfmrOptions activation{};   ///< its batch_num is that of the plan
};

/// The neutral result of every config format: what is done to each quantizable layer, in model order.
struct QuantPlan {
  std::size_t batch_num = 1;
  bool do_fusion = true;
  std::vector<std::string> skip_fusion_layers;
  std::vector<LayerPlan> layers;

  [[nodiscard]] const LayerPlan* find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    return found == layers.end() ? nullptr : &*found;
  }
};

}  // namespace amct
