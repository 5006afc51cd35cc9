// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/flavour.hpp>
#include <amct/record/record.hpp>

/// \file
/// What the factors of a layer mean, whatever layout they are written in.

namespace amct {

/// Bits of a type name "INT4" .. "INT16"; empty for any other text.
[[nodiscard]] constexpr std::optional<int> bits_of_type(std::string_view name) noexcept {
  if (!name.starts_with("INT")) return std::nullopt;
  int bits = 0;
  for (const char c : name.substr(3)) {
    if (c < '0' || c > '9' || bits > 16) return std::nullopt;
    bits = bits * 10 + (c - '0');
  }
  return bits >= 2 && bits <= 16 ? std::optional(bits) : std::nullopt;
}

/// Width of the data of a layer with one input: dst_type, which speaks for data and weights, else act_type, else 8.
[[nodiscard]] inline int activation_bits(const LayerRecord& record) noexcept {
  const auto& type = record.dst_type ? record.dst_type : record.act_type;
  return type ? bits_of_type(*type).value_or(8) : 8;
}

/// Width of the weights: num_bits_w, else dst_type, else wts_type, else 8.
[[nodiscard]] inline int weight_bits(const LayerRecord& record) noexcept {
  if (record.num_bits_w) return *record.num_bits_w;
  const auto& type = record.dst_type ? record.dst_type : record.wts_type;
  return type ? bits_of_type(*type).value_or(8) : 8;
}

/// How one input of a layer is quantized.
struct InputFactors {
  float scale = 1.0F;
  std::int32_t offset = 0;
  int bits = 8;
  std::int32_t index = 0;

  /// The least and the greatest number that a code stands for.
  [[nodiscard]] double lowest() const noexcept { return (-half() - offset) * static_cast<double>(scale); }
  [[nodiscard]] double highest() const noexcept { return (half() - 1.0 - offset) * static_cast<double>(scale); }

 private:
  [[nodiscard]] double half() const noexcept {
    return static_cast<double>(std::int32_t{1} << (std::clamp(bits, 2, 16) - 1));
  }
};

/// The quantized inputs of a layer, from record_d or scale_d with offset_d; inputs without a scale are left out.
[[nodiscard]] inline std::vector<InputFactors> inputs_of(const LayerRecord& record) {
  std::vector<InputFactors> inputs;
  for (const auto& input : record.record_d) {
    if (!input.scale_d) continue;
    inputs.push_back({*input.scale_d, input.offset_d.value_or(0), input.num_bits_d.value_or(8),
                      input.index.value_or(static_cast<std::int32_t>(inputs.size()))});
  }
  if (record.record_d.empty() && record.scale_d) {
    inputs.push_back({*record.scale_d, record.offset_d.value_or(0), activation_bits(record), 0});
  }
  return inputs;
}

/// True if the entry quantizes anything. AMCT skips an entry without factors, except for its skip_fusion.
[[nodiscard]] inline bool has_factors(const LayerRecord& record) noexcept {
  return record.scale_d || record.offset_d || !record.record_d.empty() || !record.scale_w.empty() ||
         !record.offset_w.empty() || record.scale_h || record.offset_h || !record.scale_r.empty() ||
         !record.offset_r.empty();
}

/// Weight channels whose scale is the one that a flavour gives to channels of zeros: dead channels, most likely.
[[nodiscard]] inline std::size_t dead_channels(const LayerRecord& record, const FlavourRules& rules) noexcept {
  const bool weights_known = record.scale_w.size() > 1 || record.wts_type || record.num_bits_w;
  if (!weights_known) return 0;  // AveragePool writes a scale of 1
  const float degenerate = rules.degenerate_scale == DegenerateScale::one ? 1.0F : kScaleEpsilon;
  return static_cast<std::size_t>(std::count(record.scale_w.begin(), record.scale_w.end(), degenerate));
}

}  // namespace amct
