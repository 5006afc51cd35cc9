// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

/// \file
/// Figures about a whole record file, gathered entry by entry in bounded memory.

namespace amct {

/// Minimum, median and maximum of scales. The median comes from counts over the upper bits of a float32, so it is low
/// by at most one part in 4096, and memory is 8 MB however many scales there are. Scales that are not finite and
/// positive are only counted.
class ScaleSummary {
 public:
  void add(float scale) {
    if (!(scale > 0.0F) || !std::isfinite(scale)) {
      ++unusable_;
      return;
    }
    if (counts_.empty()) counts_.resize(std::size_t{1} << kBits);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof bits);
    ++counts_[bits >> kDropped];
    ++count_;
    least_ = std::min(least_, scale);
    greatest_ = std::max(greatest_, scale);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t unusable() const noexcept { return unusable_; }
  /// The following mean something if count() > 0.
  [[nodiscard]] float least() const noexcept { return least_; }
  [[nodiscard]] float greatest() const noexcept { return greatest_; }
  [[nodiscard]] float median() const {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      before += counts_[i];
      if (2 * before < count_) continue;
      const auto bits = static_cast<std::uint32_t>(i << kDropped);
      float scale = 0.0F;
      std::memcpy(&scale, &bits, sizeof scale);
      return std::clamp(scale, least_, greatest_);
    }
    return 0.0F;
  }

 private:
  static constexpr unsigned kDropped = 11;          // of 23 bits of the fraction, 12 stay
  static constexpr unsigned kBits = 31 - kDropped;  // positive floats have no sign bit
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t unusable_ = 0;
  float least_ = std::numeric_limits<float>::infinity();
  float greatest_ = 0.0F;
};

/// A layer with weight channels whose scale is that of zeros.
struct DeadChannels {
  std::string layer{};
  std::size_t dead = 0;
  std::size_t channels = 0;
};

/// Figures about the entries of a file.
class RecordStats {
 public:
  explicit RecordStats(const FlavourRules& rules) : rules_(&rules) {}

  void add(const LayerRecord& record) {
    if (record.kv_cache) ++kv_cache_layers;
    if (!record.has_value) return;
    if (!has_factors(record)) {
      ++float_layers;
      return;
    }
    ++quantized_layers;
    for (const auto& input : inputs_of(record)) {
      ++data_bits[input.bits];
      if (input.offset == 0) ++symmetric_inputs;
      scale_d.add(input.scale);
    }
    if (record.scale_w.empty()) {
      ++data_only_layers;
    } else {
      ++weight_bit_layers[weight_bits(record)];
    }
    if (record.scale_w.size() > 1) ++channel_wise_layers;
    for (const float scale : record.scale_w) scale_w.add(scale);
    if (record.skip_fusion.value_or(false)) ++skip_fusion_layers;
    if (!record.tensor_balance_factor.empty()) ++balanced_layers;
    if (!record.params.empty() || !record.cluster.empty()) ++non_uniform_layers;
    if (record.scale_h) ++recurrent_layers;
    const std::size_t dead = dead_channels(record, *rules_);
    if (dead == 0) return;
    ++layers_with_dead_channels;
    if (dead_channel_layers.size() < kMostListed) {
      dead_channel_layers.push_back({record.name, dead, record.scale_w.size()});
    }
  }
  void add(const PruneRecord& record) {
    ++prune_records;
    producers += record.producers.size();
    consumers += record.consumers.size();
    if (record.selective_prune) ++selective_prunes;
  }

  static constexpr std::size_t kMostListed = 1000;  ///< layers in dead_channel_layers

  std::size_t quantized_layers = 0;
  std::size_t float_layers = 0;  ///< entries without factors
  std::size_t kv_cache_layers = 0;
  std::size_t data_only_layers = 0;
  std::size_t channel_wise_layers = 0;
  std::size_t skip_fusion_layers = 0;
  std::size_t balanced_layers = 0;
  std::size_t non_uniform_layers = 0;
  std::size_t recurrent_layers = 0;
  std::size_t symmetric_inputs = 0;                ///< offset 0
  std::map<int, std::size_t> data_bits{};          ///< inputs of each width
  std::map<int, std::size_t> weight_bit_layers{};  ///< layers with weights of each width
  ScaleSummary scale_d{};
  ScaleSummary scale_w{};
  std::size_t layers_with_dead_channels = 0;
  std::vector<DeadChannels> dead_channel_layers{};  ///< the first of them
  std::size_t prune_records = 0;
  std::size_t producers = 0;
  std::size_t consumers = 0;
  std::size_t selective_prunes = 0;

 private:
  const FlavourRules* rules_;
};

}  // namespace amct
