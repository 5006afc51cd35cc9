// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/exact.hpp>
#include <amct/kernel/channels.hpp>
#include <amct/kernel/vector_contract.hpp>
#include <amct/simd/vec.hpp>

namespace amct::kernel {

AMCT_EXACT_BEGIN

/// Scales and offsets of consecutive elements, an array each, for channels too short for a vector loop of their own.
struct AffineRow {
  float scale[kRowMemory];
  float inverse[kRowMemory];
  std::int32_t offset[kRowMemory];

  void set(std::size_t first, std::size_t count, const Affine& affine) noexcept {
    fill_row(scale + first, count, affine.scale);
    fill_row(inverse + first, count, 1.0F / affine.scale);
    fill_row(offset + first, count, affine.offset);
  }
  /// One element for each.
  void set_each(std::span<const Affine> affines) noexcept {
    for (std::size_t i = 0; i < affines.size(); ++i) {
      scale[i] = affines[i].scale;
      inverse[i] = 1.0F / affines[i].scale;
      offset[i] = affines[i].offset;
    }
  }
  void repeat(std::size_t period, std::size_t count) noexcept {
    repeat_row(scale, period, count);
    repeat_row(inverse, period, count);
    repeat_row(offset, period, count);
  }

  [[nodiscard]] Affine affine(std::size_t i) const noexcept { return {scale[i], offset[i]}; }
};

AMCT_EXACT_END

/// A row and what fills it: the scales and offsets of a tensor's channels. For for_each_channel.
template <class Apply>
class AffineRows {
 public:
  AffineRows(std::span<const Affine> affines, const Apply& apply) noexcept : affines_(affines), apply_(apply) {}

  void set(std::size_t channel, std::size_t first, std::size_t count) noexcept {
    row_.set(first, count, affines_[channel]);
  }
  void set_each(std::size_t channel, std::size_t count) noexcept { row_.set_each(affines_.subspan(channel, count)); }
  void repeat(std::size_t period, std::size_t count) noexcept { row_.repeat(period, count); }
  void apply(std::size_t first, std::size_t count) const noexcept { apply_(row_, first, count); }

 private:
  AffineRow row_;
  std::span<const Affine> affines_;
  const Apply& apply_;
};

}  // namespace amct::kernel

#define AMCT_KERNEL_BODY <amct/kernel/body/affine_row-inl.hpp>
#include <amct/simd/for_each_arch.hpp>
