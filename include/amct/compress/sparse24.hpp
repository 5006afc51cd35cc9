// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/status.hpp>
#include <amct/kernel/range.hpp>

/// \file
/// 2:4 structured sparsity: of every four weights along the input channels two are kept. Sparse matrix engines skip the
/// other two. A mask holds 1 for a weight that is kept and 0 for one that is pruned.

namespace amct {

namespace sparse24 {

inline constexpr std::size_t kGroup = 4;
inline constexpr std::size_t kPruned = 2;
inline constexpr std::size_t kWordBits = 64;

/// Words that a packed mask of `size` elements needs.
[[nodiscard]] constexpr std::size_t words(std::size_t size) noexcept {
  return size / kWordBits + (size % kWordBits != 0 ? 1 : 0);
}

/// The bit of its word that element `index` of a packed mask is.
[[nodiscard]] constexpr std::size_t position(std::size_t index) noexcept {
  const std::size_t bit = index % kWordBits;
  return bit / 8 * 8 + (7 - bit % 8);
}

/// Which two of four magnitudes are kept: the larger ones, of equal ones those that come first.
[[nodiscard]] constexpr std::array<std::uint8_t, kGroup> keep(const std::array<float, kGroup>& magnitude) noexcept {
  std::array<std::uint8_t, kGroup> kept{};
  for (std::size_t i = 0; i < kGroup; ++i) {
    std::size_t before = 0;  // how many are preferred to this one
    for (std::size_t j = 0; j < kGroup; ++j) {
      before += magnitude[j] > magnitude[i] || (magnitude[j] == magnitude[i] && j < i) ? 1 : 0;
    }
    kept[i] = before < kGroup - kPruned ? 1 : 0;
  }
  return kept;
}

/// The mask of one row of `length` weights, `stride` apart.
constexpr void mask_row(const float* weight, std::uint8_t* mask, std::size_t length, std::size_t stride) noexcept {
  for (std::size_t first = 0; first < length; first += kGroup) {
    const std::size_t count = std::min(kGroup, length - first);
    std::array<float, kGroup> magnitude{};  // zeros complete the last group and are pruned before weights of 0
    for (std::size_t i = 0; i < count; ++i) {
      const float w = weight[(first + i) * stride];
      magnitude[i] = w < 0.0F ? -w : w;
    }
    const auto kept = keep(magnitude);
    for (std::size_t i = 0; i < count; ++i) mask[(first + i) * stride] = kept[i];
  }
}

}  // namespace sparse24

/// Chooses the weights that 2:4 sparsity keeps: in each group of four consecutive elements along `axis` the two largest
/// magnitudes. Of equal magnitudes the first are kept, so a group of four zeros keeps its first two.
///
/// An axis whose length is not a multiple of 4 is completed by zeros, which are pruned first: its last group loses two
/// weights of four, one of three and none of two or one. So an axis of one or two elements is not pruned at all.
///
/// \param weight  dense and row-major; Conv [Cout, Cin/groups, ...] and Linear [Cout, Cin] are pruned along axis 1,
///                ConvTranspose [Cin, Cout/groups, ...] along axis 0
/// \param shape   its dimensions
/// \param mask    as many elements, 1 = kept; untouched if the status is not ok
/// \return bad_option if `axis` is not below the number of dimensions; empty; size_mismatch (index = size found);
///         not_finite with the index
/// \note O(n), no allocation. Source: AMCT's selective pruning ("M4N2")
inline Status mask24(std::span<const float> weight, std::span<const std::size_t> shape, std::size_t axis,
                     std::span<std::uint8_t> mask) noexcept {
  const Status known =
      check_option(axis < shape.size(), "axis", static_cast<double>(axis), "below the number of dimensions");
  if (!known.ok()) return known;
  std::size_t outer = 1;
  std::size_t inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::size_t length = shape[axis];
  if (weight.empty()) return {StatusCode::empty};
  if (weight.size() != outer * length * inner) return {StatusCode::size_mismatch, weight.size()};
  if (mask.size() != weight.size()) return {StatusCode::size_mismatch, mask.size()};
  if (const Status status = check_finite(weight); !status) return status;
  for (std::size_t row = 0; row < outer * inner; ++row) {
    const std::size_t first = row / inner * length * inner + row % inner;
    sparse24::mask_row(&weight[first], &mask[first], length, inner);
  }
  return {};
}

/// A mask as AMCT's record keeps it (`selective_mask`): eight elements a byte, the first in the highest bit, completed
/// by zeros to whole words of eight bytes, the first byte of a word the lowest. So 1,0,1,0,0,1,1,0 is one word, 166.
/// Any element that is not 0 counts as 1. An empty mask has no words. O(n).
[[nodiscard]] inline std::vector<std::int64_t> pack_mask(std::span<const std::uint8_t> mask) {
  std::vector<std::uint64_t> words(sparse24::words(mask.size()));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) words[i / sparse24::kWordBits] |= std::uint64_t{1} << sparse24::position(i);
  }
  return {words.begin(), words.end()};
}

/// The reverse. Bits behind the mask are ignored.
/// \return size_mismatch (index = number of words) if the words are not as many as the mask needs; `mask` is untouched
inline Status unpack_mask(std::span<const std::int64_t> words, std::span<std::uint8_t> mask) noexcept {
  const std::size_t needed = sparse24::words(mask.size());
  if (words.size() != needed) return {StatusCode::size_mismatch, words.size()};
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const auto word = static_cast<std::uint64_t>(words[i / sparse24::kWordBits]);
    mask[i] = static_cast<std::uint8_t>(word >> sparse24::position(i) & 1U);
  }
  return {};
}

}  // namespace amct
