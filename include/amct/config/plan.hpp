// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/layer_table.hpp>

namespace amct {

enum class ActivationAlgorithm : std::uint8_t { ifmr, hfmg };

/// How one input of a layer is calibrated. Decimals are those of the file (see decimal_value).
struct ActivationPlan {
  ActivationAlgorithm algorithm = ActivationAlgorithm::ifmr;
  int bits = 8;
  bool asymmetric = true;
  double max_percentile = 0.999999;  ///< IFMR
  double min_percentile = 0.999999;
  double search_start = 0.7;
  double search_end = 1.3;
  double search_step = 0.01;
  std::uint32_t num_of_bins = 4096;  ///< HFMG

  friend bool operator==(const ActivationPlan&, const ActivationPlan&) = default;
};

enum class WeightAlgorithm : std::uint8_t {
  arq,
  ada,
  snq,
  none,  ///< the layer has no weights and its config states no parameters of them
};

/// How the weights of a layer are quantized.
struct WeightPlan {
  WeightAlgorithm algorithm = WeightAlgorithm::arq;
  int bits = 8;
  bool channel_wise = false;            ///< one scale an output channel
  std::uint32_t num_iteration = 10000;  ///< AdaRound
  double reg_param = 0.01;
  double beta_start = 20.0;
  double beta_end = 2.0;
  double warm_start = 0.2;
  std::uint32_t max_iteration = 1000;  ///< SNQ
  double min_distance = 1e-10;
  std::string init_algo = "uniform";  ///< "uniform", "gaussian" or "d2sampling"

  friend bool operator==(const WeightPlan&, const WeightPlan&) = default;
};

/// How one layer is quantized.
struct LayerPlan {
  std::string name{};
  LayerKind kind = LayerKind::conv2d;
  std::string op_type{};
  bool enabled = true;                                        ///< false: skipped by the config, stays float
  std::optional<double> dmq_strength{};                       ///< migration strength of DMQ balancing, if it is wanted
  std::vector<ActivationPlan> activations{ActivationPlan{}};  ///< one an input that carries data
  WeightPlan weights{};                                       ///< means nothing for layers without weights

  friend bool operator==(const LayerPlan&, const LayerPlan&) = default;
};

/// Statistics of BatchNormalization layers updated on the quantized network (hotwheels, 4-bit calibration).
struct BatchNormUpdate {
  std::uint32_t iterations = 30;
  double momentum = 0.1;   ///< weight of the new batch in the running statistics, as torch means it
  std::string dump_dir{};  ///< Caffe: where the new statistics are saved; empty = nowhere

  friend bool operator==(const BatchNormUpdate&, const BatchNormUpdate&) = default;
};

/// What post-training quantization does to a network: the one result of every calibration config, in model order.
struct QuantPlan {
  std::uint32_t batch_num = 1;
  bool activation_offset = true;
  bool do_fusion = true;
  bool force_fp16 = false;  ///< FORCE_FP16_QUANT: factors rounded to what fp16 holds
  std::vector<std::string> skip_fusion_layers{};
  std::optional<BatchNormUpdate> batch_norm_update{};
  std::vector<LayerPlan> layers{};

  [[nodiscard]] const LayerPlan* find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    return found == layers.end() ? nullptr : &*found;
  }
  friend bool operator==(const QuantPlan&, const QuantPlan&) = default;
};

}  // namespace amct
