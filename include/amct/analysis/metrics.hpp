// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <amct/core/cast.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>

/// \file
/// How far a tensor is from another one that counts as right. Everything is summed in double and in one order, so the
/// numbers depend on the data alone: not on threads, instruction sets, or how the data are cut into pieces.

namespace amct::analysis {

/// The distance of an array from a reference. With no pair at all nothing differs: the initial values.
struct Difference {
  std::size_t count = 0;       ///< pairs of numbers
  std::size_t not_finite = 0;  ///< pairs with a NaN or an infinity that the other number of the pair is not
  /// Cosine of the angle between the two as vectors, -1..1; 1 if both are all zero, 0 if one is.
  double cosine = 1.0;
  /// Signal to quantization noise in dB, 10 log10(sum r^2 / sum (x-r)^2); infinite if nothing differs, minus infinity
  /// if the reference is all zero and the other is not.
  double sqnr = std::numeric_limits<double>::infinity();
  double max_abs = 0.0;       ///< greatest |x - r|
  double mean_abs = 0.0;      ///< mean |x - r|
  std::size_t max_index = 0;  ///< where the greatest stands, counted over all pieces; the first of equals

  /// Every number is the same. Zeros of either sign are.
  [[nodiscard]] bool none() const noexcept { return max_abs == 0.0; }
};

/// Collects the difference of two arrays that come in pieces, such as batches.
///
/// NaN beside NaN, and an infinity beside the same one, count as equal pairs and enter no sum. Any other pair with one
/// of them makes cosine and SQNR NaN and the errors infinite, so that no threshold passes. Numbers beyond 2^230, which
/// only float64 has, count as infinities; below 2^-230 they count as 0 in cosine and SQNR.
class DifferenceMeter {
 public:
  /// Adds elements of any types, as double. O(n).
  /// \return size_mismatch, and nothing is added, if the numbers of elements differ
  Status add(const Tensor& reference, const Tensor& other) noexcept;
  template <class T>
  Status add(std::span<const T> reference, std::span<const T> other) noexcept;

  [[nodiscard]] Difference result() const noexcept;

 private:
  /// Sums of a block of numbers, or of blocks. Blocks keep rounding errors of long sums small.
  struct Sums {
    double reference2 = 0.0, other2 = 0.0, product = 0.0, error2 = 0.0, error = 0.0;

    void add(const Sums& more) noexcept;
  };
  static constexpr std::size_t kBlock = 4096;

  /// Notes a pair that enters no sum. \return whether the two differ
  bool add_odd_pair(double reference, double other, std::size_t index) noexcept;
  template <class T>
  void add_within_block(std::span<const T> reference, std::span<const T> other) noexcept;

  Sums all_;
  Sums block_;
  std::size_t count_ = 0;
  std::size_t not_finite_ = 0;
  double max_abs_ = 0.0;
  std::size_t max_index_ = 0;
};

namespace detail {

/// Numbers that are converted at a time.
inline constexpr std::size_t kPiece = 1024;

/// Elements [first, first + to.size()) as another type.
template <class To>
void read_piece(const Tensor& tensor, std::size_t first, std::span<To> to) noexcept {
  with_element_type(tensor.type(), [&]<class From>() {
    const auto from = tensor.data<From>().subspan(first, to.size());
    std::transform(from.begin(), from.end(), to.begin(), amct::detail::cast_element<To, From>);
  });
}

/// Calls `visit(first pieces, second pieces)` over two tensors of equal size.
template <class T, class Visit>
void for_each_piece(const Tensor& first, const Tensor& second, const Visit& visit) noexcept {
  std::array<T, kPiece> a;
  std::array<T, kPiece> b;
  for (std::size_t at = 0; at < first.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, first.size() - at);
    const std::span<T> piece_a(a.data(), count);
    const std::span<T> piece_b(b.data(), count);
    read_piece(first, at, piece_a);
    read_piece(second, at, piece_b);
    visit(std::span<const T>(piece_a), std::span<const T>(piece_b));
  }
}

[[nodiscard]] inline bool holds_integers(const Tensor& tensor) noexcept {
  const ElementType type = tensor.type();
  return type != ElementType::float32 && type != ElementType::float64 && type != ElementType::float16 &&
         type != ElementType::boolean;
}

}  // namespace detail

AMCT_EXACT_BEGIN

inline void DifferenceMeter::Sums::add(const Sums& more) noexcept {
  reference2 += more.reference2;
  other2 += more.other2;
  product += more.product;
  error2 += more.error2;
  error += more.error;
}

inline bool DifferenceMeter::add_odd_pair(double reference, double other, std::size_t index) noexcept {
  if (reference == other || (std::isnan(reference) && std::isnan(other))) return false;
  if (not_finite_++ == 0) max_index_ = index;
  return true;
}

template <class T>
void DifferenceMeter::add_within_block(std::span<const T> reference, std::span<const T> other) noexcept {
  constexpr double kGreatest = 0x1p230;
  Sums sums = block_;  // locals, since the compiler must think that the data may be the members
  double greatest = max_abs_;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const auto r = static_cast<double>(reference[i]);
    const auto x = static_cast<double>(other[i]);
    if (!(std::fabs(r) <= kGreatest) || !(std::fabs(x) <= kGreatest)) {
      if (add_odd_pair(r, x, count_ + i)) greatest = std::numeric_limits<double>::infinity();
      continue;
    }
    const double error = std::fabs(x - r);
    sums.add({r * r, x * x, r * x, error * error, error});
    if (error > greatest) {
      greatest = error;
      max_index_ = count_ + i;
    }
  }
  block_ = sums;
  max_abs_ = greatest;
  count_ += reference.size();
}

template <class T>
Status DifferenceMeter::add(std::span<const T> reference, std::span<const T> other) noexcept {
  if (reference.size() != other.size()) {
    return {StatusCode::size_mismatch, reference.size(), static_cast<double>(other.size())};
  }
  for (std::size_t at = 0; at < reference.size();) {
    const std::size_t count = std::min(kBlock - count_ % kBlock, reference.size() - at);
    add_within_block(reference.subspan(at, count), other.subspan(at, count));
    at += count;
    if (count_ % kBlock != 0) continue;
    all_.add(block_);
    block_ = {};
  }
  return {};
}

inline Difference DifferenceMeter::result() const noexcept {
  Sums sums = all_;
  sums.add(block_);
  Difference result{.count = count_, .not_finite = not_finite_, .max_abs = max_abs_, .max_index = max_index_};
  if (count_ == 0) return result;
  if (not_finite_ > 0) {
    result.cosine = std::numeric_limits<double>::quiet_NaN();
    result.sqnr = result.cosine;
    result.mean_abs = result.max_abs;
    return result;
  }
  result.mean_abs = sums.error / static_cast<double>(count_);
  constexpr double kLeast = 0x1p-460;
  const bool no_reference = sums.reference2 < kLeast;
  const bool no_other = sums.other2 < kLeast;
  if (no_reference || no_other) {
    result.cosine = no_reference == no_other ? 1.0 : 0.0;
  } else {
    result.cosine = std::clamp(sums.product / std::sqrt(sums.reference2 * sums.other2), -1.0, 1.0);
  }
  if (sums.error2 >= kLeast) result.sqnr = 10.0 * std::log10(sums.reference2 / sums.error2);
  return result;
}

AMCT_EXACT_END

inline Status DifferenceMeter::add(const Tensor& reference, const Tensor& other) noexcept {
  if (reference.size() != other.size()) {
    return {StatusCode::size_mismatch, reference.size(), static_cast<double>(other.size())};
  }
  detail::for_each_piece<double>(reference, other,
                                 [this](std::span<const double> a, std::span<const double> b) { (void)add(a, b); });
  return {};
}

/// The greatest |x - r| of two tensors of integer codes, exactly; 0 for empty ones. Codes are seen as int64.
/// \return empty if one of the tensors holds no integers, or the sizes differ
[[nodiscard]] inline std::optional<std::uint64_t> max_code_difference(const Tensor& reference,
                                                                      const Tensor& other) noexcept {
  if (!detail::holds_integers(reference) || !detail::holds_integers(other)) return std::nullopt;
  if (reference.size() != other.size()) return std::nullopt;
  std::uint64_t greatest = 0;
  detail::for_each_piece<std::int64_t>(
      reference, other, [&](std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
          const auto low = static_cast<std::uint64_t>(std::min(a[i], b[i]));
          greatest = std::max(greatest, static_cast<std::uint64_t>(std::max(a[i], b[i])) - low);
        }
      });
  return greatest;
}

}  // namespace amct::analysis
