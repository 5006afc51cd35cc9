// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <amct/core/fp_environment.hpp>
#include <amct/core/parallel.hpp>
#include <amct/kernel/reference/gemm_f32.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/vec.hpp>

#define AMCT_KERNEL_BODY <amct/kernel/body/gemm_f32-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct {

namespace kernel {

/// One part of a product, on the active instruction set and this thread.
template <class Right>
void gemm_f32(const GemmPart& part, std::size_t depth, const StridedMatrix& a, const Right& b,
              const GemmResult& c) noexcept {
  AMCT_DISPATCH(gemm_f32(part, depth, a, b, c))
}

/// A product cut into parts of enough work to hand to a thread. How it is cut changes no bit of the result.
class GemmSplit {
 public:
  GemmSplit(std::size_t rows, std::size_t columns, std::size_t depth) noexcept : rows_(rows), columns_(columns) {
    const std::size_t deep = std::max<std::size_t>(1, depth);
    const std::size_t column_work = std::max<std::size_t>(1, rows) * deep;
    width_ = even(columns, std::max(kColumns, kWork / column_work / kColumns * kColumns), kColumns / 2);
    height_ = std::max<std::size_t>(1, rows);
    if (parts_across() < kEnough) {
      height_ = even(rows, std::max(kRows, kWork / (std::max<std::size_t>(1, columns) * deep)), kRows / 4);
    }
    together_ = std::max<std::size_t>(1, kWork / std::max<std::size_t>(1, deep * width_ * height_));
  }

  [[nodiscard]] std::size_t parts() const noexcept { return parts_across() * ((rows_ + height_ - 1) / height_); }
  /// Products of this size that are worth a thread's time.
  [[nodiscard]] std::size_t together() const noexcept { return together_; }
  [[nodiscard]] GemmPart part(std::size_t index) const noexcept {
    const std::size_t row = index / parts_across() * height_;
    const std::size_t column = index % parts_across() * width_;
    return {row, std::min(height_, rows_ - row), column, std::min(width_, columns_ - column)};
  }

 private:
  static constexpr std::size_t kWork = std::size_t{1} << 20;  ///< multiplications that are worth a thread's time
  static constexpr std::size_t kEnough = 8;                   ///< parts that keep a few threads busy
  static constexpr std::size_t kColumns = 96;
  static constexpr std::size_t kRows = 128;

  /// The size of parts that are at most `most` and about even.
  static std::size_t even(std::size_t size, std::size_t most, std::size_t step) noexcept {
    const std::size_t parts = std::max<std::size_t>(1, (size + most - 1) / most);
    return std::max<std::size_t>(1, ((size + parts - 1) / parts + step - 1) / step * step);
  }
  [[nodiscard]] std::size_t parts_across() const noexcept { return (columns_ + width_ - 1) / width_; }

  std::size_t rows_, columns_;
  std::size_t width_ = 1;
  std::size_t height_ = 1;
  std::size_t together_ = 1;
};

}  // namespace kernel

/// C[m, n] = A[m, k] * B[k, n] in float32, for `count` products of the same size. Each element is a sum
/// of chains c = fma(a[i][k], b[k][j], c) over ascending k, kernel::kChain steps each. The first one starts with 0 or
/// with what is in C, the others with 0; the row's bias is added last. The bits are the same on every instruction set
/// and for any number of threads, except those of NaN.
///
/// \param left    left(p) is the StridedMatrix A of product p
/// \param right   right(p) is its B: a StridedMatrix, best with columns side by side, or a WindowMatrix
/// \param result  result(p) is its GemmResult
/// \pre  no C overlaps an A, a B or another C
/// \note O(count m n k), no allocation. Large products are split over threads.
template <class Left, class Right, class Result>
void gemm_f32(std::size_t count, std::size_t m, std::size_t n, std::size_t k, const Left& left, const Right& right,
              const Result& result) noexcept {
  const kernel::GemmSplit split(m, n, k);
  const std::size_t parts = split.parts();
  parallel_for(count * parts, split.together(), [&](std::size_t first, std::size_t together) {
    in_default_fp_environment([&] {
      std::size_t p = first / parts;
      std::size_t part = first % parts;
      for (std::size_t i = 0; i < together; ++i) {
        kernel::gemm_f32(split.part(part), k, left(p), right(p), result(p));
        if (++part == parts) ++p, part = 0;
      }
    });
  });
}

/// The same for one product.
template <class Right>
void gemm_f32(std::size_t m, std::size_t n, std::size_t k, const StridedMatrix& a, const Right& b,
              const GemmResult& c) noexcept {
  gemm_f32(
      1, m, n, k, [&](std::size_t) { return a; }, [&](std::size_t) { return b; }, [&](std::size_t) { return c; });
}

}  // namespace amct
