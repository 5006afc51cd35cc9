// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/core/error.hpp>

namespace amct {

/// Where the fields of one block of a config stand. A config that was made by a program has no lines.
struct Places {
  struct Position {
    int line = 0;
    int column = 0;
  };

  Where block{};                                                ///< of the whole; its field is the path to it
  std::map<std::string, Position, std::less<>> fields{};        ///< by the names that checks use
  std::map<std::string, std::string, std::less<>> spellings{};  ///< where the file uses another name

  /// The place of a field, or of the block if the field is not in the file.
  [[nodiscard]] Where at(std::string_view field) const {
    Where where = block;
    if (const auto found = fields.find(field); found != fields.end()) {
      where.line = found->second.line;
      where.column = found->second.column;
    }
    const auto spelled = spellings.find(field);
    if (!where.field.empty()) where.field += '.';
    where.field += spelled != spellings.end() ? std::string_view(spelled->second) : field;
    return where;
  }
};

/// How an easy config wants activations calibrated; what it leaves open has AMCT's defaults.
/// Decimals are those of the file (see decimal_value).
struct ActivationSetting {
  ActivationAlgorithm algorithm = ActivationAlgorithm::ifmr;
  std::optional<int> bits{};
  std::optional<bool> asymmetric{};  ///< else the config's activation_offset decides
  std::optional<double> max_percentile{};
  std::optional<double> min_percentile{};
  std::optional<double> search_start{};
  std::optional<double> search_end{};
  std::optional<double> search_step{};
  std::optional<std::uint32_t> num_of_bins{};
  Places places{};
};

/// How an easy config wants weights quantized; what it leaves open has AMCT's defaults.
struct WeightSetting {
  WeightAlgorithm algorithm = WeightAlgorithm::arq;
  std::optional<bool> channel_wise{};  ///< else the layer's kind decides
  std::optional<int> bits{};
  std::optional<std::uint32_t> num_iteration{};
  std::optional<double> reg_param{};
  std::optional<double> beta_start{};
  std::optional<double> beta_end{};
  std::optional<double> warm_start{};
  std::optional<std::uint32_t> max_iteration{};
  std::optional<double> min_distance{};
  std::optional<std::string> init_algo{};
  Places places{};
};

/// DMQ balancing as an easy config wants it.
struct BalancerSetting {
  double migration_strength = 0.5;
  Places places{};
};

/// One level of an easy config: everything, a layer type, or a layer. An absent part is inherited from the level above.
struct LayerSetting {
  std::optional<WeightSetting> weights{};
  std::optional<ActivationSetting> activation{};
  std::optional<BalancerSetting> balancer{};
};

/// An easy calibration config, free of its file format. Default-constructed it is the empty file.
struct EasyConfig {
  std::string file{};                        ///< for messages; empty = defaults
  std::optional<std::uint32_t> batch_num{};  ///< as stated; AMCT's default is 1
  bool activation_offset = true;             ///< asymmetric activations
  bool do_fusion = true;                     ///< fold BatchNormalization into Conv
  bool force_fp16 = false;                   ///< FORCE_FP16_QUANT
  std::vector<std::string> skip_layers{};    ///< names, or patterns (config/wildcard.hpp)
  std::vector<std::string> skip_layer_types{};
  std::vector<std::string> skip_fusion_layers{};
  std::optional<BatchNormUpdate> batch_norm_update{};
  std::optional<std::string> om_mapping_file{};  ///< path as the program can open it
  LayerSetting common{};
  std::vector<std::pair<std::string, LayerSetting>> layer_types{};
  std::vector<std::pair<std::string, LayerSetting>> layers{};
  Places places{};  ///< of the fields above; of list entries as "skip_layers[0]"

  /// The place of a field at the top.
  [[nodiscard]] Where at(std::string_view field) const {
    Where where = places.at(field);
    where.file = file;
    return where;
  }
  /// The place of an entry of a list at the top; the field is the list.
  [[nodiscard]] Where at(const std::string& list, std::size_t index) const {
    Where where = at(list + '[' + std::to_string(index) + ']');
    where.field = list;
    return where;
  }
};

}  // namespace amct
