// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/prune_config.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>

namespace amct {

/// What a retrain config is used for. Settings for the other use are refused (pruning) or ignored with a warning.
enum class RetrainMode : std::uint8_t {
  quantize,  ///< quantization-aware training
  prune,     ///< pruning, weights stay float
  compress,  ///< both
};

[[nodiscard]] constexpr bool quantizes(RetrainMode mode) noexcept { return mode != RetrainMode::prune; }
[[nodiscard]] constexpr bool prunes(RetrainMode mode) noexcept { return mode != RetrainMode::quantize; }

enum class RetrainDataAlgorithm : std::uint8_t {
  ulq,    ///< learned clips
  luq,    ///< one learned maximum (hotwheels)
  fixed,  ///< given factors that are not learned (hotwheels)
};

/// How one input of a layer is quantized while training. Numbers are those of the file (see decimal_value).
struct RetrainData {
  RetrainDataAlgorithm algorithm = RetrainDataAlgorithm::ulq;
  int bits = 8;
  std::optional<double> clip_max{};  ///< ULQ: first values of the clips, both or none; none: found by IFMR
  std::optional<double> clip_min{};
  std::optional<bool> fixed_min{};  ///< ULQ: the lower clip stays 0; empty: true exactly after a Relu
  double scale = 1.0;               ///< fixed
  double zero_point = 0.0;          ///< fixed

  friend bool operator==(const RetrainData&, const RetrainData&) = default;
};

enum class RetrainWeightAlgorithm : std::uint8_t {
  arq,
  ulq,  ///< learned scale
  lnq,  ///< 16 learned centroids (hotwheels)
};

/// How the weights of a layer are quantized while training.
struct RetrainWeights {
  RetrainWeightAlgorithm algorithm = RetrainWeightAlgorithm::arq;
  int bits = 8;
  bool channel_wise = false;           ///< one scale an output channel
  std::uint32_t cluster_freq = 400;    ///< LNQ: steps between new centroids, at least 1
  std::uint32_t max_iteration = 1000;  ///< LNQ: most iterations of a search for centroids, 500..2000
  double min_distance = 1e-4;          ///< LNQ: a search ends at this movement, 1e-8..1e-2
  double clip_max = 3.0;               ///< LNQ: first value of the learned clip, above 0

  friend bool operator==(const RetrainWeights&, const RetrainWeights&) = default;
};

/// How one layer is retrained. What its mode does not do means nothing.
struct RetrainLayer {
  std::string name{};
  LayerKind kind = LayerKind::conv2d;
  std::string op_type{};
  bool enabled = true;              ///< quantized
  std::vector<RetrainData> data{};  ///< one an input that carries data
  RetrainWeights weights{};         ///< means nothing for layers without weights
  bool prune_enabled = false;
  std::optional<PruneSetting> prune{};

  friend bool operator==(const RetrainLayer&, const RetrainLayer&) = default;
};

/// What retraining does to a network: the result of every retrain config, in the order of the model.
struct RetrainPlan {
  RetrainMode mode = RetrainMode::quantize;
  std::uint32_t batch_num = 1;  ///< batches that the first clips are found with
  bool force_fp16 = false;      ///< FORCE_FP16_QUANT
  std::vector<RetrainLayer> layers{};

  [[nodiscard]] const RetrainLayer* find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    return found == layers.end() ? nullptr : &*found;
  }
  friend bool operator==(const RetrainPlan&, const RetrainPlan&) = default;
};

/// How the retrain configs of a flavour differ, from what the flavour says of its other configs.
struct RetrainForm {
  bool counts_bits = false;   ///< num_bits: 8 instead of dst_type: INT8, and the algorithms LUQ, LNQ and fixed
  bool lists_inputs = false;  ///< a list of data objects, one an input; layers without weights are quantized too
  RetrainDataAlgorithm default_data = RetrainDataAlgorithm::ulq;
  bool inherits = false;  ///< an override that states only data takes the weights of the upper level, and the other way
                          ///< round; otherwise it takes the defaults
};

[[nodiscard]] constexpr RetrainForm retrain_form(const FlavourRules& rules) noexcept {
  if (rules.config_family == ConfigFamily::classic) return {};
  return {.counts_bits = true, .lists_inputs = true, .default_data = RetrainDataAlgorithm::luq, .inherits = true};
}

/// The layers that retrain configs of this flavour list.
[[nodiscard]] inline LayerTable retrainable_layers(const LayerTable& layers, const FlavourRules& rules) {
  LayerTable result;
  for (const LayerInfo& layer : layers) {
    if (has_weights(layer.kind) || retrain_form(rules).lists_inputs) result.push_back(layer);
  }
  return result;
}

}  // namespace amct
