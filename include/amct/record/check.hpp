// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/finding.hpp>
#include <amct/record/record.hpp>

/// \file
/// Are the factors of a layer such that a network can be quantized with them? docs/records.md lists the rules.

namespace amct {

/// What a network tells about one of its quantizable layers.
struct RecordLayer {
  LayerInfo info{};
  std::size_t output_channels = 1;
  std::size_t input_channels = 0;  ///< 0: not known
  std::vector<float> bias{};       ///< empty: none
};

namespace detail {

/// True for the key of a quantized tensor, "layer:0": such an entry has data factors only.
[[nodiscard]] inline bool is_tensor_key(std::string_view key) noexcept {
  const auto colon = key.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == key.size()) return false;
  return key.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

/// Checks one layer; each function one group of fields.
class LayerCheck : private FindingList {
 public:
  LayerCheck(const LayerRecord& record, const FlavourRules& rules, const RecordLayer* layer)
      : record_(record), rules_(rules), layer_(layer) {}

  [[nodiscard]] std::vector<RecordFinding> run() {
    if (record_.name.empty()) error("key", "is missing or empty, expected the name of a layer");
    if (record_.kv_cache) kv_cache();
    if (!record_.has_value) {
      if (!record_.kv_cache) {
        error("", "has neither value nor kv_cache_value");
      } else if (layer_ != nullptr) {
        error("value", "is missing: the entry has KV cache factors only, and the layer is to be quantized");
      }
      return take();
    }
    types();
    shift_bits();
    non_uniform();
    shape();
    if (has_factors(record_)) factors();
    return take();
  }

 private:
  enum class Need : std::uint8_t { required, optional, forbidden };

  void kv_cache() {
    const auto& [scale, offset] = *record_.kv_cache;
    if (scale.empty()) error("kv_cache_value.scale", "is missing");
    if (scale.size() != offset.size()) {
      error("kv_cache_value.offset",
            "got " + counted(offset.size()) + ", expected as many as scale has, " + std::to_string(scale.size()));
    }
    scales("kv_cache_value.scale", scale);
    codes("kv_cache_value.offset", offset, 8);
  }

  void types() {
    static constexpr int kDstBits[] = {4, 8};
    std::vector<int> both;
    for (const int bits : kDstBits) {
      const auto has = [bits](std::span<const int> all) {
        return std::find(all.begin(), all.end(), bits) != all.end();
      };
      if (has(rules_.activation_bits) && has(rules_.weight_bits)) both.push_back(bits);
    }
    type("dst_type", record_.dst_type, both);
    type("act_type", record_.act_type, rules_.activation_bits);
    type("wts_type", record_.wts_type, rules_.weight_bits);
    if (record_.num_bits_w) number_of_bits("num_bits_w", *record_.num_bits_w, rules_.weight_bits);
    const auto& mode = record_.fakequant_precision_mode;
    if (mode && *mode != "DEFAULT" && *mode != "FORCE_FP16_QUANT") {
      error("fakequant_precision_mode", "got \"" + *mode + "\", expected DEFAULT or FORCE_FP16_QUANT");
    }
    if (layer_ == nullptr) return;
    if (record_.wts_type == "INT4" && has_weights(layer_->info.kind) && !layer_->info.packs_int4) {
      error("wts_type",
            "got INT4, expected INT8: two weights of 4 bits are packed along the input channels, whose "
            "number is odd here, or the convolution has groups");
    }
  }
  void type(const std::string& field, const std::optional<std::string>& value, std::span<const int> allowed) {
    if (!value) return;
    const auto choices = texts(allowed, "INT");
    if (std::find(choices.begin(), choices.end(), *value) != choices.end()) return;
    error(field, "got \"" + *value + "\", expected " + alternatives(choices));
  }

  void shift_bits() {
    const auto& shifts = record_.shift_bit;
    if (shifts.empty()) return;
    if (!rules_.shift_bit_allowed) {
      return error("shift_bit", "flavour " + std::string(rules_.name) + " has no shift_bit, please remove it");
    }
    const std::size_t channels = record_.scale_w.size();
    if (shifts.size() != 1 && shifts.size() != channels) {
      error("shift_bit", "got " + counted(shifts.size()) + ", expected " + one_or(channels));
    }
    const bool unused = std::all_of(shifts.begin(), shifts.end(), [](std::uint32_t value) { return value == 0; });
    if (unused) return;
    all(
        "shift_bit", shifts, "1 to 16, or 0 everywhere", [](std::uint32_t value) { return value >= 1 && value <= 16; },
        [](std::uint32_t value) { return std::to_string(value); });
  }

  /// Levels of non-uniform weights: NUQ's cluster, SNQ's and LNQ's params with centroids.
  void non_uniform() {
    const auto& record = record_;
    if (!record.cluster.empty() && record.cluster.size() != 16 && record.cluster.size() != 32) {
      error("cluster", "got " + counted(record.cluster.size()) + ", expected 16 or 32");
    }
    codes("cluster", record.cluster, 8);
    codes("params", record.params, 8);
    if (record.params.size() != record.centroids.size()) {
      error("centroids", "got " + counted(record.centroids.size()) + ", expected as many as params has, " +
                             std::to_string(record.params.size()));
    }
    all(
        "centroids", record.centroids, "a finite number", [](float value) { return std::isfinite(value); },
        [](float value) { return shortest_text(value); });
    if (const auto clip = record.weight_clip_max; clip && !(std::isfinite(*clip) && *clip > 0.0F)) {
      error("weight_clip_max", "got " + shortest_text(*clip) + ", expected a finite number above 0");
    }
  }

  void shape() {
    const auto extent = [&](const std::string& field, const std::optional<std::uint32_t>& value) {
      if (value == 0U) error(field, "got 0, expected at least 1");
    };
    extent("channels", record_.channels);
    extent("height", record_.height);
    extent("width", record_.width);
    for (std::size_t i = 0; i < record_.record_d.size(); ++i) {
      extent(input_path(i, "channels"), record_.record_d[i].channels);
      extent(input_path(i, "height"), record_.record_d[i].height);
      extent(input_path(i, "width"), record_.record_d[i].width);
    }
  }

  void factors() {
    if (record_.record_d.empty()) {
      single_input();
    } else {
      if (record_.scale_d || record_.offset_d) {
        error(record_.scale_d ? "scale_d" : "offset_d", "got one beside record_d, expected one of the two layouts");
      }
      listed_inputs();
    }
    weights();
    balance();
    recurrent();
    data_widths();
    if (empty()) accumulator();
  }

  void single_input() {
    if (!record_.scale_d) missing("scale_d");
    if (!record_.offset_d) missing("offset_d");
    if (record_.scale_d) scales("scale_d", {*record_.scale_d});
    // AMCT lets the offset of narrower types use the range of INT8.
    if (record_.offset_d) codes("offset_d", {*record_.offset_d}, std::max(activation_bits(record_), 8));
  }

  void listed_inputs() {
    const auto& inputs = record_.record_d;
    std::vector<bool> seen(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& [scale, offset, index, num_bits, channels, height, width] = inputs[i];
      if (!scale) missing(input_path(i, "scale_d"));
      if (!offset) missing(input_path(i, "offset_d"));
      const int bits = num_bits.value_or(8);
      number_of_bits(input_path(i, "num_bits_d"), bits, rules_.activation_bits);
      if (scale) scales(input_path(i, "scale_d"), {*scale});
      if (offset) codes(input_path(i, "offset_d"), {*offset}, std::clamp(bits, 2, 16));
      input_index(input_path(i, "index"), index, seen);
    }
    if (layer_ == nullptr) return;
    const auto most = static_cast<std::size_t>(std::max(layer_->info.activation_inputs, 0));
    if (inputs.size() <= most) return;
    error("record_d",
          "got " + counted(inputs.size()) + ", expected at most " + std::to_string(most) +
              ": so many inputs of the layer carry data",
          most);
  }
  static std::string input_path(std::size_t input, const char* field) {
    return "record_d[" + std::to_string(input) + "]." + field;
  }
  void input_index(const std::string& field, const std::optional<std::int32_t>& index, std::vector<bool>& seen) {
    if (!index) return missing(field);
    if (*index < 0 || static_cast<std::size_t>(*index) >= seen.size()) {
      return error(field, "got " + std::to_string(*index) + ", expected every number from 0 to " +
                              std::to_string(seen.size() - 1) + " once");
    }
    if (seen[static_cast<std::size_t>(*index)]) error(field, "got " + std::to_string(*index) + " a second time");
    seen[static_cast<std::size_t>(*index)] = true;
  }

  [[nodiscard]] Need weight_need() const {
    if (is_tensor_key(record_.name)) return Need::optional;
    if (layer_ == nullptr) return rules_.pool_has_weight_factors ? Need::required : Need::optional;
    if (has_weights(layer_->info.kind)) return Need::required;
    const bool pool = layer_->info.kind == LayerKind::avg_pool2d;
    return pool && rules_.pool_has_weight_factors ? Need::optional : Need::forbidden;
  }
  void weights() {
    const auto& [scale, offset] = std::tie(record_.scale_w, record_.offset_w);
    const Need need = weight_need();
    if (need == Need::forbidden) {
      for (const char* field : {"scale_w", "offset_w"}) {
        if (field == std::string_view("scale_w") ? scale.empty() : offset.empty()) continue;
        error(field, "a layer of type " + type_name(layer_->info) + " has no weights, please remove it");
      }
      return;
    }
    if (scale.empty() && (need == Need::required || !offset.empty())) missing("scale_w");
    if (offset.empty() && (need == Need::required || !scale.empty())) missing("offset_w");
    scales("scale_w", scale);
    integers("offset_w", offset, 0, 0);
    if (scale.empty() || offset.empty()) return;
    if (scale.size() != offset.size()) {
      error("offset_w",
            "got " + counted(offset.size()) + ", expected as many as scale_w has, " + std::to_string(scale.size()));
    }
    weight_count("scale_w", scale.size());
  }
  /// One value, or one an output channel where the flavour has that.
  void weight_count(const std::string& field, std::size_t count) {
    if (layer_ == nullptr || count == 1) return;
    const LayerKind kind = layer_->info.kind;
    const bool channel_wise = may_be_channel_wise(rules_, kind);
    if (channel_wise && count == layer_->output_channels) return;
    if (channel_wise) {
      return error(field, "got " + counted(count) + ", expected " + one_or(layer_->output_channels) +
                              ": one, or one an output channel");
    }
    error(field, "got " + counted(count) + ", expected 1: a layer of type " + type_name(layer_->info) +
                     " has one weight scale");
  }

  void balance() {
    const auto& factor = record_.tensor_balance_factor;
    if (factor.empty()) return;
    all(
        "tensor_balance_factor", factor, "1.1920929e-07 to 8388608",
        [](float value) { return value >= kScaleEpsilon && value <= 1.0F / kScaleEpsilon; },
        [](float value) { return shortest_text(value); });
    if (layer_ == nullptr || layer_->input_channels == 0 || factor.size() == layer_->input_channels) return;
    error("tensor_balance_factor", "got " + counted(factor.size()) + ", expected " +
                                       std::to_string(layer_->input_channels) + ", one an input channel");
  }

  void recurrent() {
    const bool any = record_.scale_h || record_.offset_h || !record_.scale_r.empty() || !record_.offset_r.empty();
    const LayerKind kind = layer_ == nullptr ? LayerKind::lstm : layer_->info.kind;
    const bool may = kind == LayerKind::lstm || kind == LayerKind::gru;
    if (any && !may) {
      return error("scale_h", "a layer of type " + type_name(layer_->info) +
                                  " has no hidden state, please remove scale_h, offset_h, scale_r and offset_r");
    }
    if (!any && (layer_ == nullptr || !may)) return;
    if (!record_.scale_h) missing("scale_h");
    if (!record_.offset_h) missing("offset_h");
    if (record_.scale_r.empty()) missing("scale_r");
    if (record_.offset_r.empty()) missing("offset_r");
    if (record_.scale_h) scales("scale_h", {*record_.scale_h});
    if (record_.offset_h) codes("offset_h", {*record_.offset_h}, std::max(activation_bits(record_), 8));
    scales("scale_r", record_.scale_r);
    integers("offset_r", record_.offset_r, 0, 0);
    if (record_.scale_r.size() != record_.offset_r.size()) {
      error("offset_r", "got " + counted(record_.offset_r.size()) + ", expected as many as scale_r has, " +
                            std::to_string(record_.scale_r.size()));
    }
    weight_count("scale_r", record_.scale_r.size());
  }

  /// Widths of data that the layer or the width of its weights does not allow.
  void data_widths() {
    const int weight = weight_bits(record_);
    const auto inputs = inputs_of(record_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const int bits = inputs[i].bits;
      const std::string field = !record_.record_d.empty() ? input_path(i, "num_bits_d")
                                : record_.act_type        ? "act_type"
                                                          : "dst_type";
      const std::string got = "got " + std::to_string(bits) + " bits, expected ";
      if (layer_ != nullptr && bits > 8 && !may_have_wide_activation(rules_, layer_->info.kind)) {
        error(field, got + "at most 8 for a layer of type " + type_name(layer_->info));
      }
      if (record_.scale_w.empty()) continue;
      if (rules_.wide_activation_needs_int8_weight && bits > 8 && weight != 8) {
        error(field, got + "at most 8 beside weights of " + std::to_string(weight) + " bits");
      }
      if (rules_.narrow_activation_needs_int4_weight && bits == 4 && weight != 4) {
        error(field, got + "at least 8 beside weights of " + std::to_string(weight) + " bits");
      }
    }
  }

  /// Scale of the accumulator and the int32 bias at it.
  void accumulator() {
    const auto inputs = inputs_of(record_);
    if (inputs.empty() || record_.scale_w.empty()) return;
    const float scale_d = inputs.front().scale;
    const std::string field = record_.record_d.empty() ? "scale_d" : input_path(0, "scale_d");
    for (const float scale_w : record_.scale_w) {
      const float product = accumulator_scale(scale_d, scale_w);
      if (product > 0.0F && std::isfinite(product)) continue;
      return error(field,
                   "got " + shortest_text(scale_d) + ", whose product with scale_w " + shortest_text(scale_w) +
                       " float32 cannot hold",
                   0, ErrorCode::numeric);
    }
    if (layer_ == nullptr || layer_->bias.empty()) return;
    std::vector<std::int32_t> codes(layer_->bias.size());
    const Status status = quantize_bias(layer_->bias, scale_d, record_.scale_w, codes);
    if (status.ok()) return;
    const float scale_w = record_.scale_w[record_.scale_w.size() == 1 ? 0 : status.index];
    error(field,
          "got " + shortest_text(scale_d) + " with scale_w " + shortest_text(scale_w) + ": the bias " +
              decimal_text(status.value) + " of channel " + std::to_string(status.index) +
              " divided by both does not fit int32",
          0, ErrorCode::numeric);
  }

  static std::string one_or(std::size_t channels) { return channels <= 1 ? "1" : "1 or " + std::to_string(channels); }

  const LayerRecord& record_;
  const FlavourRules& rules_;
  const RecordLayer* layer_;
};

}  // namespace detail

/// What is wrong with the factors of one layer under the rules of a flavour. An entry without any factor is fine: the
/// layer stays float.
/// \param layer  what the network tells of the layer; without it counts of channels and the bias are not checked
[[nodiscard]] inline std::vector<RecordFinding> check_record(const LayerRecord& record, const FlavourRules& rules,
                                                             const RecordLayer* layer = nullptr) {
  return detail::LayerCheck(record, rules, layer).run();
}

}  // namespace amct
