// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/core/affine.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/quantize/concept.hpp>
#include <amct/record/record.hpp>

/// \file
/// What quantizers and observers found, as the entry of a layer in a record.

namespace amct::flow {

/// Whether a dialect lists the factors of data in `record_d`, one an input, and widths as numbers.
[[nodiscard]] constexpr bool lists_inputs(RecordDialect dialect) noexcept {
  return dialect == RecordDialect::hotwheels || dialect == RecordDialect::caffe_pico;
}

/// Adds the factors of one input that carries data.
/// \param index  which one, counted among those that carry data. A dialect without record_d has only the first
inline void add_input_factors(LayerRecord& entry, std::size_t index, const Affine& affine, int bits,
                              RecordDialect dialect) {
  if (lists_inputs(dialect)) {
    entry.record_d.push_back({.scale_d = affine.scale,
                              .offset_d = affine.offset,
                              .index = static_cast<std::int32_t>(index),
                              .num_bits_d = bits});
    return;
  }
  entry.scale_d = affine.scale;
  entry.offset_d = affine.offset;
  if (dialect == RecordDialect::pytorch) entry.act_type = "INT" + std::to_string(bits);  // elsewhere always 8 bits
}

/// Sets the factors of the weights: scales, the width, and the levels of a non-uniform quantizer.
/// \param bits  of a code; of a non-uniform weight those of an index into its levels
/// \throws Error config_range for an offset other than 0, which no device has for weights
inline void set_weight_factors(LayerRecord& entry, const QuantParams& found, const RecordExtras& extras, int bits,
                               RecordDialect dialect) {
  entry.scale_w.clear();
  for (const Affine& channel : found.channels) {
    if (channel.offset != 0) {
      throw Error(ErrorCode::config_range, {.layer = entry.name, .field = "weight_quant_params"},
                  "the quantizer found offset " + std::to_string(channel.offset) +
                      ", expected 0: weights are quantized without offset");
    }
    entry.scale_w.push_back(channel.scale);
  }
  entry.offset_w.assign(entry.scale_w.size(), 0);
  if (lists_inputs(dialect)) entry.num_bits_w = bits;
  else if (dialect == RecordDialect::pytorch) entry.wts_type = "INT" + std::to_string(bits);
  entry.params = extras.params;
  entry.cluster = extras.cluster;
  entry.centroids = extras.centroids;
  if (!extras.params.empty()) entry.weight_clip_max = extras.clip_max;
}

}  // namespace amct::flow
