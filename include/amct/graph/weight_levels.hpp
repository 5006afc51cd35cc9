// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::graph {

/// The INT8 codes that the weights of a non-uniform layer may have: one ascending list, or one an output channel. A
/// code stands for code * scale_w, as in every other layer, so integer execution need not know of them.
struct WeightLevels {
  std::vector<std::int32_t> codes{};  ///< all lists, one behind the other
  std::size_t per_list = 0;
  bool of_codes = false;  ///< true: the level next to the INT8 code (NUQ); false: next to the weight (SNQ, LNQ)

  [[nodiscard]] bool empty() const noexcept { return codes.empty(); }
  /// The list of a channel. \pre not empty; channel is one of the layer's
  [[nodiscard]] std::span<const std::int32_t> of(std::size_t channel) const noexcept {
    const std::size_t first = codes.size() == per_list ? 0 : channel * per_list;
    return std::span(codes).subspan(first, per_list);
  }

  friend auto operator<=>(const WeightLevels&, const WeightLevels&) = default;
};

namespace detail {

[[noreturn]] inline void refuse_weight_field(const LayerRecord& layer, const char* field, const std::string& message) {
  throw Error(ErrorCode::record_value, {.layer = layer.name, .field = field}, message);
}

}  // namespace detail

/// The levels of a layer: NUQ's `cluster`, or the `params` of SNQ and LNQ, which are one list of at most 2^num_bits_w
/// codes or as many lists of 2^num_bits_w codes as there are weight scales. Empty for all other layers. `centroids` are
/// the same levels in the units of the algorithm and are not needed.
/// \throws Error record_value for numbers that are no such lists
[[nodiscard]] inline WeightLevels weight_levels(const LayerRecord& layer) {
  const bool of_codes = layer.params.empty();
  const auto& codes = of_codes ? layer.cluster : layer.params;
  if (codes.empty()) return {};
  const char* field = of_codes ? "cluster" : "params";
  const std::size_t most = std::size_t{1} << std::clamp(of_codes ? 8 : weight_bits(layer), 2, 8);
  const std::size_t lists = layer.scale_w.size();
  const bool one_a_channel = lists > 1 && !of_codes && codes.size() == lists * most;
  if (codes.size() > most && !one_a_channel) {
    detail::refuse_weight_field(layer, field,
                                "got " + std::to_string(codes.size()) + " codes, expected at most " +
                                    std::to_string(most) + ", or " + std::to_string(most) +
                                    " for each of the weight scales");
  }
  WeightLevels levels{codes, one_a_channel ? most : codes.size(), of_codes};
  for (auto first = levels.codes.begin(); first != levels.codes.end();) {
    const auto end = first + static_cast<std::ptrdiff_t>(levels.per_list);
    std::sort(first, end);
    if (*first < Int8::min || *(end - 1) > Int8::max) {
      detail::refuse_weight_field(layer, field, "has a code outside -128 to 127");
    }
    first = end;
  }
  return levels;
}

/// Width of the codes in a layer's weight tensor: that of the record, or INT8 if the codes are levels.
/// \throws Error record_value for other widths than 2 to 8
[[nodiscard]] inline int code_bits_of_weights(const LayerRecord& layer) {
  if (!layer.params.empty() || !layer.cluster.empty()) return Int8::width;
  const int bits = weight_bits(layer);
  if (bits < 2 || bits > Int8::width) {
    detail::refuse_weight_field(layer, "num_bits_w", "got " + std::to_string(bits) + ", expected 2 to 8");
  }
  return bits;
}

}  // namespace amct::graph
