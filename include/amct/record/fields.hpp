// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <amct/core/float_text.hpp>
#include <amct/record/record.hpp>

/// \file
/// The fields of a record as a list, for code that does the same with each, and their values as text for people.

namespace amct {

/// Calls visit(name, pointer to member) for each field of a `value` except record_d, in the order of LayerRecord.
template <class Visit>
void for_each_layer_field(Visit&& visit) {
  visit("scale_d", &LayerRecord::scale_d);
  visit("offset_d", &LayerRecord::offset_d);
  visit("scale_w", &LayerRecord::scale_w);
  visit("offset_w", &LayerRecord::offset_w);
  visit("shift_bit", &LayerRecord::shift_bit);
  visit("tensor_balance_factor", &LayerRecord::tensor_balance_factor);
  visit("cluster", &LayerRecord::cluster);
  visit("num_bits_w", &LayerRecord::num_bits_w);
  visit("skip_fusion", &LayerRecord::skip_fusion);
  visit("dst_type", &LayerRecord::dst_type);
  visit("act_type", &LayerRecord::act_type);
  visit("wts_type", &LayerRecord::wts_type);
  visit("fakequant_precision_mode", &LayerRecord::fakequant_precision_mode);
  visit("prune_producer", &LayerRecord::prune_producer);
  visit("prune_consumer", &LayerRecord::prune_consumer);
  visit("params", &LayerRecord::params);
  visit("centroids", &LayerRecord::centroids);
  visit("weight_clip_max", &LayerRecord::weight_clip_max);
  visit("scale_h", &LayerRecord::scale_h);
  visit("offset_h", &LayerRecord::offset_h);
  visit("scale_r", &LayerRecord::scale_r);
  visit("offset_r", &LayerRecord::offset_r);
  visit("channels", &LayerRecord::channels);
  visit("height", &LayerRecord::height);
  visit("width", &LayerRecord::width);
  visit("object_layer", &LayerRecord::object_layer);
}

/// Calls visit(name, pointer to member) for each field of an element of record_d.
template <class Visit>
void for_each_input_field(Visit&& visit) {
  visit("scale_d", &ActivationRecord::scale_d);
  visit("offset_d", &ActivationRecord::offset_d);
  visit("index", &ActivationRecord::index);
  visit("num_bits_d", &ActivationRecord::num_bits_d);
  visit("channels", &ActivationRecord::channels);
  visit("height", &ActivationRecord::height);
  visit("width", &ActivationRecord::width);
}

[[nodiscard]] inline std::string field_text(float value) { return shortest_text(value); }
[[nodiscard]] inline std::string field_text(std::int32_t value) { return std::to_string(value); }
[[nodiscard]] inline std::string field_text(std::uint32_t value) { return std::to_string(value); }
[[nodiscard]] inline std::string field_text(bool value) { return value ? "true" : "false"; }
/// A text in quotes, of long ones the beginning.
[[nodiscard]] inline std::string field_text(const std::string& value) {
  constexpr std::size_t kMost = 60;
  return value.size() <= kMost ? '"' + value + '"' : '"' + value.substr(0, kMost) + "...\"";
}
/// "absent" if there is no value.
template <class T>
[[nodiscard]] std::string field_text(const std::optional<T>& value) {
  return value ? field_text(*value) : "absent";
}
/// The values, of many the first three and their number: "0.1, 0.2, 0.3 ... (64 values)".
template <class T>
[[nodiscard]] std::string field_text(const std::vector<T>& values) {
  constexpr std::size_t kMost = 3;
  if (values.empty()) return "absent";
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < kMost; ++i) text += (i == 0 ? "" : ", ") + field_text(values[i]);
  return values.size() <= kMost ? text : text + " ... (" + std::to_string(values.size()) + " values)";
}

}  // namespace amct
