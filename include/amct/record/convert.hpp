// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/record/dialect.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/fields.hpp>
#include <amct/record/prune.hpp>
#include <amct/record/record.hpp>

/// \file
/// The factors of one dialect in the terms of another. What means the same is translated: scale_d with act_type is an
/// element of record_d with num_bits_d, wts_type is num_bits_w, dst_type is both. What the target has no word for is
/// listed, never dropped silently; a value that equals what its absence means is no loss.

namespace amct {

/// A value that the target dialect cannot hold.
struct RecordLoss {
  std::string layer{};  ///< or the first node of a prune record
  std::string field{};
  std::string value{};  ///< for people, long ones shortened

  friend bool operator==(const RecordLoss&, const RecordLoss&) = default;
};

/// Result of a conversion; `entry` is empty if nothing of it can be held.
template <class Entry>
struct ConvertedRecord {
  std::optional<Entry> entry{};
  std::vector<RecordLoss> losses{};
};

namespace detail {

class LayerConversion {
 public:
  LayerConversion(const LayerRecord& source, RecordDialect to) : source_(source), result_(source), to_(to) {}

  [[nodiscard]] ConvertedRecord<LayerRecord> run() {
    if (!source_.unknown.empty()) lose("unknown fields", field_text(source_.unknown));
    result_.unknown.clear();
    if (holds(to_, "record_d")) {
      list_inputs();
    } else {
      single_input();
    }
    types();
    for_each_layer_field([&](std::string_view field, auto member) { drop_unless_held(field, member); });
    drop_input_fields();
    if (source_.kv_cache && !holds(to_, "kv_cache_value")) {
      lose("kv_cache_value",
           "scale " + field_text(source_.kv_cache->scale) + ", offset " + field_text(source_.kv_cache->offset));
      result_.kv_cache.reset();
    }
    const bool empty = !result_.has_value && !result_.kv_cache;
    if (!empty) converted_.entry = std::move(result_);
    return std::move(converted_);
  }

 private:
  void lose(std::string_view field, std::string value) {
    converted_.losses.push_back({source_.name, std::string(field), std::move(value)});
  }

  template <class T>
  static bool is_given(const std::optional<T>& value) {
    return value.has_value();
  }
  template <class T>
  static bool is_given(const std::vector<T>& values) {
    return !values.empty();
  }
  template <class Member>
  void drop_unless_held(std::string_view field, Member member) {
    auto& value = result_.*member;
    if (!is_given(value) || holds(to_, field)) return;
    const bool as_if_absent = field == "fakequant_precision_mode" && result_.fakequant_precision_mode == "DEFAULT";
    if (!as_if_absent) lose(field, field_text(value));
    value = {};
  }

  /// scale_d and offset_d become the first element of record_d.
  void list_inputs() {
    if (!source_.record_d.empty() || (!source_.scale_d && !source_.offset_d)) return;
    ActivationRecord input{.scale_d = source_.scale_d, .offset_d = source_.offset_d, .index = 0};
    if (source_.dst_type || source_.act_type) input.num_bits_d = activation_bits(source_);
    if (holds(to_, "record_d.channels")) {
      input.channels = std::exchange(result_.channels, {});
      input.height = std::exchange(result_.height, {});
      input.width = std::exchange(result_.width, {});
    }
    result_.scale_d.reset();
    result_.offset_d.reset();
    result_.record_d = {input};
  }

  /// The element of record_d for input 0 becomes scale_d and offset_d; there is no place for others.
  void single_input() {
    const auto is_first = [](const ActivationRecord& input) { return input.index.value_or(0) == 0; };
    const auto first = std::find_if(source_.record_d.begin(), source_.record_d.end(), is_first);
    for (auto input = source_.record_d.begin(); input != source_.record_d.end(); ++input) {
      if (input == first) {
        take_input(*input);
      } else {
        lose("record_d", describe(*input));
      }
    }
    result_.record_d.clear();
  }
  void take_input(const ActivationRecord& input) {
    result_.scale_d = input.scale_d;
    result_.offset_d = input.offset_d;
    result_.channels = input.channels;
    result_.height = input.height;
    result_.width = input.width;
    if (!input.num_bits_d) return;
    const int bits = *input.num_bits_d;
    if (holds(to_, "act_type") && (bits == 4 || bits == 8 || bits == 16)) {
      result_.act_type = "INT" + std::to_string(bits);
    } else if (bits != 8) {
      lose("record_d.num_bits_d", std::to_string(bits));
    }
  }
  static std::string describe(const ActivationRecord& input) {
    std::string text;
    for_each_input_field([&](std::string_view field, auto member) {
      if (!(input.*member)) return;
      text += (text.empty() ? "" : ", ") + std::string(field) + ' ' + field_text(*(input.*member));
    });
    return text;
  }

  /// dst_type, act_type and wts_type against num_bits_d and num_bits_w.
  void types() {
    if (holds(to_, "act_type")) {
      weight_type();
      return;
    }
    const auto& effective = source_.dst_type ? source_.dst_type : source_.act_type;
    const bool placed = holds(to_, "record_d") && source_.record_d.empty() && !result_.record_d.empty();
    drop_type("dst_type", result_.dst_type, effective, placed && holds(to_, "num_bits_w"));
    drop_type("act_type", result_.act_type, effective, placed);
    const auto weight = source_.dst_type ? source_.dst_type : source_.wts_type;
    if (holds(to_, "num_bits_w") && weight && bits_of_type(*weight)) {
      result_.num_bits_w = bits_of_type(*weight);
    }
    drop_type("wts_type", result_.wts_type, weight, holds(to_, "num_bits_w"));
  }
  /// Removes a type. No loss if the target says the same with a number of bits, or by saying nothing.
  void drop_type(const char* field, std::optional<std::string>& type, const std::optional<std::string>& effective,
                 bool in_bits) {
    const auto value = std::exchange(type, std::nullopt);
    if (!value) return;
    if (value == effective && (in_bits ? bits_of_type(*value).has_value() : value == "INT8")) return;
    lose(field, field_text(*value));
  }
  void weight_type() {
    if (!source_.num_bits_w || holds(to_, "num_bits_w")) return;
    const int bits = *source_.num_bits_w;
    result_.num_bits_w.reset();
    if (bits == 4 || (bits >= 6 && bits <= 8)) {
      result_.wts_type = "INT" + std::to_string(bits);
    } else {
      lose("num_bits_w", std::to_string(bits));
    }
  }

  void drop_input_fields() {
    for (auto& input : result_.record_d) {
      for_each_input_field([&](std::string_view field, auto member) {
        const std::string path = "record_d." + std::string(field);
        if (!(input.*member) || holds(to_, path)) return;
        lose(path, field_text(*(input.*member)));
        (input.*member).reset();
      });
    }
    if (result_.num_bits_w == 8 && !holds(to_, "num_bits_w")) result_.num_bits_w.reset();
  }

  const LayerRecord& source_;
  LayerRecord result_;
  RecordDialect to_;
  ConvertedRecord<LayerRecord> converted_;
};

}  // namespace detail

/// A layer in the terms of dialect `to`. In its own dialect it stays as it is, with its layout and unknown fields.
[[nodiscard]] inline ConvertedRecord<LayerRecord> convert_record(const LayerRecord& record, RecordDialect from,
                                                                 RecordDialect to) {
  if (from == to) return {record, {}};
  return detail::LayerConversion(record, to).run();
}

/// A prune record for dialect `to`: unchanged, or lost as a whole.
[[nodiscard]] inline ConvertedRecord<PruneRecord> convert_record(const PruneRecord& record, RecordDialect from,
                                                                 RecordDialect to) {
  if (from == to) return {record, {}};
  const auto& nodes = record.producers.empty() ? record.consumers : record.producers;
  std::string name = nodes.empty() ? std::string() : nodes.front().name.value_or("");
  if (nodes.empty() && record.selective_prune) name = record.selective_prune->name.value_or("");
  if (!holds(to, "prune_record")) {
    return {std::nullopt,
            {{name, "prune_record",
              std::to_string(record.producers.size()) + " producers, " + std::to_string(record.consumers.size()) +
                  " consumers" + (record.selective_prune ? ", selective_prune" : "")}}};
  }
  ConvertedRecord<PruneRecord> result{record, {}};
  if (!record.unknown.empty()) result.losses.push_back({name, "unknown fields", field_text(record.unknown)});
  result.entry->unknown.clear();
  return result;
}

}  // namespace amct
