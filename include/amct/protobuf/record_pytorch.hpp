// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <amct/core/error.hpp>
#include <amct/protobuf/text.hpp>
#include <amct/record/record.hpp>

#include <amct/proto/scale_offset_record_pytorch.pb.h>

namespace amct::protobuf {

namespace detail {

inline void to_message(const LayerRecord& layer, proto::pytorch::MapFiledEntry& entry) {
  entry.set_key(layer.name);
  auto& value = *entry.mutable_value();
  if (layer.scale_d) value.set_scale_d(*layer.scale_d);
  if (layer.offset_d) value.set_offset_d(*layer.offset_d);
  for (const float scale : layer.scale_w) value.add_scale_w(scale);
  for (const auto offset : layer.offset_w) value.add_offset_w(offset);
  for (const auto shift : layer.shift_bit) value.add_shift_bit(shift);
  for (const float factor : layer.tensor_balance_factor) value.add_tensor_balance_factor(factor);
  if (layer.skip_fusion) value.set_skip_fusion(*layer.skip_fusion);
  if (layer.dst_type) value.set_dst_type(*layer.dst_type);
  if (layer.act_type) value.set_act_type(*layer.act_type);
  if (layer.wts_type) value.set_wts_type(*layer.wts_type);
}

[[nodiscard]] inline LayerRecord from_message(const proto::pytorch::MapFiledEntry& entry) {
  const auto& value = entry.value();
  LayerRecord layer;
  layer.name = entry.key();
  if (value.has_scale_d()) layer.scale_d = value.scale_d();
  if (value.has_offset_d()) layer.offset_d = value.offset_d();
  layer.scale_w.assign(value.scale_w().begin(), value.scale_w().end());
  layer.offset_w.assign(value.offset_w().begin(), value.offset_w().end());
  layer.shift_bit.assign(value.shift_bit().begin(), value.shift_bit().end());
  layer.tensor_balance_factor.assign(value.tensor_balance_factor().begin(), value.tensor_balance_factor().end());
  if (value.has_skip_fusion()) layer.skip_fusion = value.skip_fusion();
  if (value.has_dst_type()) layer.dst_type = value.dst_type();
  if (value.has_act_type()) layer.act_type = value.act_type();
  if (value.has_wts_type()) layer.wts_type = value.wts_type();
  return layer;
}

}  // namespace detail

/// The text of a record file of AMCT's open PyTorch flavour, layers in the order of `record`.
[[nodiscard]] inline std::string record_text(const Record& record) {
  proto::pytorch::ScaleOffsetRecord message;
  for (const auto& layer : record) detail::to_message(layer, *message.add_record());
  return to_text(message);
}

/// Reads a text record file of AMCT's open PyTorch flavour. Values are not judged here, only the form.
/// \throws Error record_syntax with file, line and column; record_value for an entry without key or value and for a
///         layer given twice
[[nodiscard]] inline Record read_record(const std::filesystem::path& path) {
  proto::pytorch::ScaleOffsetRecord message;
  read_text(path, ErrorCode::record_syntax, message);
  Record record;
  std::set<std::string> names;
  for (const auto& entry : message.record()) {
    const Where where{.file = path.string(), .layer = entry.key()};
    if (!entry.has_key() || !entry.has_value()) {
      throw Error(ErrorCode::record_value, where,
                  "record " + std::to_string(record.size() + 1) + " needs key and value");
    }
    if (!names.insert(entry.key()).second) throw Error(ErrorCode::record_value, where, "has more than one record");
    record.push_back(detail::from_message(entry));
  }
  return record;
}

}  // namespace amct::protobuf
