// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include <amct/core/flavour.hpp>

/// \file
/// Which fields each layout of record files can hold.

namespace amct {

/// A field of an entry and the dialects that have it.
struct RecordField {
  std::string_view name;  ///< as in the files; fields of record_d behind "record_d."
  unsigned dialects = 0;  ///< bits of RecordDialect
};

namespace detail {

inline constexpr unsigned kPytorch = 1U << static_cast<unsigned>(RecordDialect::pytorch);
inline constexpr unsigned kMindspore = 1U << static_cast<unsigned>(RecordDialect::mindspore);
inline constexpr unsigned kTensorflow = 1U << static_cast<unsigned>(RecordDialect::tensorflow);
inline constexpr unsigned kHotwheels = 1U << static_cast<unsigned>(RecordDialect::hotwheels);
inline constexpr unsigned kCaffe = 1U << static_cast<unsigned>(RecordDialect::caffe);
inline constexpr unsigned kCaffePico = 1U << static_cast<unsigned>(RecordDialect::caffe_pico);
inline constexpr unsigned kEveryDialect = (1U << std::size(kAllRecordDialects)) - 1U;

}  // namespace detail

/// Fields below `value`, record_d with its own, kv_cache_value and prune_record.
/// hotwheels has scale_d and offset_d in the old layout of its text form.
inline constexpr auto kRecordFields = std::to_array<RecordField>({
    {"scale_d", detail::kEveryDialect & ~detail::kCaffePico},
    {"offset_d", detail::kEveryDialect & ~detail::kCaffePico},
    {"record_d", detail::kHotwheels | detail::kCaffePico},
    {"record_d.scale_d", detail::kHotwheels | detail::kCaffePico},
    {"record_d.offset_d", detail::kHotwheels | detail::kCaffePico},
    {"record_d.index", detail::kHotwheels | detail::kCaffePico},
    {"record_d.num_bits_d", detail::kHotwheels | detail::kCaffePico},
    {"record_d.channels", detail::kCaffePico},
    {"record_d.height", detail::kCaffePico},
    {"record_d.width", detail::kCaffePico},
    {"scale_w", detail::kEveryDialect},
    {"offset_w", detail::kEveryDialect},
    {"shift_bit", detail::kEveryDialect},
    {"tensor_balance_factor", detail::kPytorch | detail::kTensorflow},
    {"cluster", detail::kTensorflow},
    {"num_bits_w", detail::kHotwheels | detail::kCaffePico},
    {"skip_fusion", detail::kEveryDialect},
    {"dst_type", detail::kPytorch | detail::kTensorflow},
    {"act_type", detail::kPytorch | detail::kTensorflow},
    {"wts_type", detail::kPytorch | detail::kTensorflow},
    {"fakequant_precision_mode", detail::kPytorch},
    {"prune_producer", detail::kTensorflow},
    {"prune_consumer", detail::kTensorflow},
    {"params", detail::kHotwheels},
    {"centroids", detail::kHotwheels},
    {"weight_clip_max", detail::kHotwheels},
    {"scale_h", detail::kPytorch},
    {"offset_h", detail::kPytorch},
    {"scale_r", detail::kPytorch},
    {"offset_r", detail::kPytorch},
    {"channels", detail::kCaffe},
    {"height", detail::kCaffe},
    {"width", detail::kCaffe},
    {"object_layer", detail::kCaffePico},
    {"kv_cache_value", detail::kPytorch},
    {"prune_record", detail::kPytorch | detail::kTensorflow},
});

/// True if the dialect has a field of this name.
[[nodiscard]] constexpr bool holds(RecordDialect dialect, std::string_view field) noexcept {
  for (const auto& [name, dialects] : kRecordFields) {
    if (name == field) return (dialects >> static_cast<unsigned>(dialect) & 1U) != 0;
  }
  return false;
}

/// The dialect of this name; empty if there is none.
[[nodiscard]] constexpr std::optional<RecordDialect> dialect_named(std::string_view name) noexcept {
  for (const RecordDialect dialect : kAllRecordDialects) {
    if (name_of(dialect) == name) return dialect;
  }
  return std::nullopt;
}

/// The flavour whose own files are in this dialect: the first one in the order of Flavour.
[[nodiscard]] constexpr Flavour flavour_of(RecordDialect dialect) noexcept {
  if (dialect == RecordDialect::caffe_pico) return Flavour::caffe;
  for (const auto& rules : kFlavours) {
    if (rules.record_dialect == dialect) return rules.flavour;
  }
  return Flavour::pytorch;
}

}  // namespace amct
