// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amct {

/// The quantization factors of one layer, free of any file format. Fields a file lacks stay empty.
struct LayerRecord {
  std::string name{};
  std::optional<float> scale_d{};          ///< activation scale
  std::optional<std::int32_t> offset_d{};  ///< activation offset
  std::vector<float> scale_w{};            ///< one weight scale, or one an output channel
  std::vector<std::int32_t> offset_w{};    ///< as many zeros
  std::vector<std::uint32_t> shift_bit{};
  std::vector<float> tensor_balance_factor{};
  std::optional<bool> skip_fusion{};
  std::optional<std::string> dst_type{};  ///< "INT8" or "INT4"
  std::optional<std::string> act_type{};  ///< "INT8", "INT16" or "INT4"
  std::optional<std::string> wts_type{};  ///< "INT8" or "INT4"; absent for layers without weights

  friend bool operator==(const LayerRecord&, const LayerRecord&) = default;
};

/// The content of a record file, in its order.
using Record = std::vector<LayerRecord>;

[[nodiscard]] inline const LayerRecord* find_record(const Record& record, std::string_view name) noexcept {
  for (const auto& layer : record) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

}  // namespace amct
