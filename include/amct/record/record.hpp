// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace amct {

/// Factors of one input of a layer, in dialects that have several.
struct ActivationRecord {
  std::optional<float> scale_d{};
  std::optional<std::int32_t> offset_d{};
  std::optional<std::int32_t> index{};       ///< which input of the layer
  std::optional<std::int32_t> num_bits_d{};  ///< 8 if absent
  std::optional<std::uint32_t> channels{};   ///< shape of the input (Caffe)
  std::optional<std::uint32_t> height{};
  std::optional<std::uint32_t> width{};

  friend bool operator==(const ActivationRecord&, const ActivationRecord&) = default;
};

/// Factors of a KV cache: one, or one a channel of the last axis.
struct KvCacheRecord {
  std::vector<float> scale{};
  std::vector<std::int32_t> offset{};

  friend bool operator==(const KvCacheRecord&, const KvCacheRecord&) = default;
};

/// The quantization factors of one layer, free of any file format: the union of what the dialects can say. Fields a
/// file lacks stay empty. Names are those of AMCT's files.
struct LayerRecord {
  std::string name{};
  std::optional<float> scale_d{};            ///< activation scale
  std::optional<std::int32_t> offset_d{};    ///< activation offset
  std::vector<ActivationRecord> record_d{};  ///< activation factors, one an input (hotwheels, Caffe pico)
  std::vector<float> scale_w{};              ///< one weight scale, or one an output channel
  std::vector<std::int32_t> offset_w{};      ///< as many zeros
  std::vector<std::uint32_t> shift_bit{};
  std::vector<float> tensor_balance_factor{};  ///< one an input channel (DMQ)
  std::vector<std::int32_t> cluster{};         ///< levels of a NUQ layer
  std::optional<std::int32_t> num_bits_w{};
  std::optional<bool> skip_fusion{};      ///< absent is false
  std::optional<std::string> dst_type{};  ///< "INT8" or "INT4"
  std::optional<std::string> act_type{};  ///< "INT8", "INT16" or "INT4"
  std::optional<std::string> wts_type{};  ///< "INT8", "INT4", "INT6" or "INT7"; absent for layers without weights
  std::optional<std::string> fakequant_precision_mode{};  ///< "DEFAULT" or "FORCE_FP16_QUANT"
  std::vector<std::string> prune_producer{};
  std::vector<std::string> prune_consumer{};
  std::vector<std::int32_t> params{};      ///< codes of a non-uniform layer (SNQ, LNQ)
  std::vector<float> centroids{};          ///< their values
  std::optional<float> weight_clip_max{};  ///< learned clip of LNQ
  std::optional<float> scale_h{};          ///< hidden state of a recurrent layer
  std::optional<std::int32_t> offset_h{};
  std::vector<float> scale_r{};  ///< recurrent weights
  std::vector<std::int32_t> offset_r{};
  std::optional<std::uint32_t> channels{};  ///< shape of the input (Caffe)
  std::optional<std::uint32_t> height{};
  std::optional<std::uint32_t> width{};
  std::optional<std::string> object_layer{};
  bool has_value = true;                    ///< false: the entry has only a name, or only KV cache factors
  std::optional<KvCacheRecord> kv_cache{};  ///< `kv_cache_value`
  std::string unknown{};  ///< text of fields the dialect does not know, kept to be written again; see RecordReadOptions

  friend bool operator==(const LayerRecord&, const LayerRecord&) = default;
};

/// The factors of a network, in the order of the file.
using Record = std::vector<LayerRecord>;

[[nodiscard]] inline const LayerRecord* find_record(const Record& record, std::string_view name) noexcept {
  for (const auto& layer : record) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

}  // namespace amct
