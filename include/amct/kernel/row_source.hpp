// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

/// \file
/// Where an integer product takes its activations from: rows of codes, which a source lays out a block at a time. A
/// matrix is CodeRows; a convolution copies windows of an image.

namespace amct {

/// Types of activations: int8 codes, their unsigned view, and codes of 9 to 16 bits.
template <class T>
concept ActivationCode = std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t> || std::same_as<T, std::int16_t>;

/// The smallest and the largest code that can occur; tighter limits allow longer sums in int32.
struct CodeLimits {
  std::int32_t min = 0;
  std::int32_t max = 0;

  /// All values of a type.
  template <ActivationCode T>
  [[nodiscard]] static constexpr CodeLimits of() noexcept {
    return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  }
  /// The largest |code - zero_point|.
  [[nodiscard]] constexpr std::int64_t largest(std::int32_t zero_point) const noexcept {
    const std::int64_t below = std::int64_t{zero_point} - min;
    const std::int64_t above = std::int64_t{max} - zero_point;
    return std::max({below, above, -below, -above});
  }
};

/// Codes of a run rounded up to whole groups of four: the length of a run within a row of a source.
[[nodiscard]] constexpr std::size_t padded_run(std::size_t run_length) noexcept { return (run_length + 3) / 4 * 4; }

/// Rows of `runs()` runs of `run_length()` codes, in the order of the weights (WeightLayout).
///
/// `copy(first, count, to, stride)` writes rows first .. first + count - 1, `stride` elements apart. Run r of a row
/// starts at its element r * padded_run(run_length()); what pads a run may be left unwritten, since the weights are 0
/// there. Padding of an image is its zero point. Called from several threads at once; must not throw.
template <class S>
concept RowSource = ActivationCode<typename S::Code> && requires(const S& source, std::size_t n, typename S::Code* to) {
  { source.rows() } -> std::convertible_to<std::size_t>;
  { source.runs() } -> std::convertible_to<std::size_t>;
  { source.run_length() } -> std::convertible_to<std::size_t>;
  { source.zero_point() } -> std::convertible_to<std::int32_t>;
  { source.limits() } -> std::convertible_to<CodeLimits>;
  source.copy(n, n, to, n);
};

/// One whose rows are one run each and lie in memory as they are, all the same step apart, so that no copy of them is
/// needed first.
template <class S>
concept ContiguousRows = RowSource<S> && requires(const S& source, std::size_t row) {
  { source.row(row) } -> std::same_as<const typename S::Code*>;
};

/// The rows of a matrix [rows, depth], `step` elements apart; also the pixels of a channels-last image for a
/// convolution with a window of 1.
template <ActivationCode T>
class CodeRows {
 public:
  using Code = T;

  constexpr CodeRows(const T* data, std::size_t rows, std::size_t depth, std::size_t step, std::int32_t zero_point = 0,
                     CodeLimits limits = CodeLimits::of<T>()) noexcept
      : data_(data), rows_(rows), depth_(depth), step_(step), zero_point_(zero_point), limits_(limits) {}

  [[nodiscard]] constexpr std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] constexpr std::size_t runs() const noexcept { return 1; }
  [[nodiscard]] constexpr std::size_t run_length() const noexcept { return depth_; }
  [[nodiscard]] constexpr std::int32_t zero_point() const noexcept { return zero_point_; }
  [[nodiscard]] constexpr CodeLimits limits() const noexcept { return limits_; }
  [[nodiscard]] constexpr const T* row(std::size_t index) const noexcept { return data_ + index * step_; }

  void copy(std::size_t first, std::size_t count, T* to, std::size_t stride) const noexcept {
    for (std::size_t i = 0; i < count; ++i) std::copy_n(row(first + i), depth_, to + i * stride);
  }

 private:
  const T* data_;
  std::size_t rows_, depth_, step_;
  std::int32_t zero_point_;
  CodeLimits limits_;
};

/// Where a product goes: rows of T, `row` elements apart.
template <class T>
struct ResultRows {
  T* data = nullptr;
  std::size_t row = 0;
};

}  // namespace amct
