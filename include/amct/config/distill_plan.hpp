// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/retrain_plan.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// How one layer is quantized while the quantized network learns from the float one.
struct DistillLayer {
  std::string name{};
  LayerKind kind = LayerKind::conv2d;
  bool enabled = true;
  RetrainData data{};        ///< ULQ of 4 or 8 bits
  RetrainWeights weights{};  ///< ARQ or ULQ of 4 or 8 bits

  friend bool operator==(const DistillLayer&, const DistillLayer&) = default;
};

/// What distillation does to a network.
struct DistillPlan {
  std::uint32_t batch_num = 1;   ///< batches that the first clips are found with
  std::uint32_t group_size = 1;  ///< layers with weights in a group that is not given by name, at least 1
  bool data_dump = false;        ///< inputs of the groups go through files instead of memory
  std::vector<std::vector<std::string>> groups{};  ///< nodes that are trained together, in the order of the model
  std::vector<DistillLayer> layers{};              ///< in the order of the model

  [[nodiscard]] const DistillLayer* find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    return found == layers.end() ? nullptr : &*found;
  }
  friend bool operator==(const DistillPlan&, const DistillPlan&) = default;
};

}  // namespace amct
