// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <amct/kernel/epilogue_run.hpp>
#include <amct/kernel/packed4.hpp>
#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/row_block.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/stages.hpp>
#include <amct/kernel/tile_kernel.hpp>

/// \file
/// How a product is cut into parts, and a part into jobs of a tile kernel.

namespace amct::kernel {

template <class... Stages>
inline constexpr bool kStartsWithBias = false;
template <class... Rest>
inline constexpr bool kStartsWithBias<AddBias, Rest...> = true;

/// The bias that an epilogue starts with, or none.
template <class... Stages>
[[nodiscard]] std::span<const std::int32_t> leading_bias(const Epilogue<Stages...>& epilogue) noexcept {
  if constexpr (kStartsWithBias<Stages...>) return std::get<0>(epilogue.stages()).bias;
  return {};
}

/// Panels as tile kernels read them: where they lie, or unpacked from 4 bits.
class PanelReader {
 public:
  explicit PanelReader(const PackedWeights& weights) : weights_(weights) {
    if (is_packed()) codes_.resize((kMostTilePanels * step()) / sizeof(CacheLine) + simd::kTileRows);
  }

  /// The first of `count` panels; valid until the next call.
  [[nodiscard]] const std::int8_t* read(std::size_t first, std::size_t count) {
    if (!is_packed()) return weights_.panel(first);
    auto* const codes = reinterpret_cast<std::int8_t*>(codes_.data()->bytes);
    kernel::unpack4({weights_.panel(first), count * weights_.panel_stride()}, {codes, count * step()}, Traffic::cached);
    return codes;
  }
  /// Bytes from a panel to the next.
  [[nodiscard]] std::size_t step() const noexcept { return weights_.panel_stride() * (is_packed() ? 2 : 1); }

 private:
  [[nodiscard]] bool is_packed() const noexcept { return weights_.storage() == PackedWeights::Storage::codes4; }

  const PackedWeights& weights_;
  std::vector<CacheLine> codes_;
};

/// A rectangle of the result, in rows and panels.
struct ProductPart {
  std::size_t first_row = 0, rows = 0, first_panel = 0, panels = 0;
};

/// A product cut into parts, blocks of rows that fit the second cache. How it is cut changes no bit of the result.
class ProductSplit {
 public:
  ProductSplit(std::size_t rows, const PackedWeights& weights, const TileKernel& kernel) noexcept
      : rows_(rows), panels_(weights.panels()) {
    const std::size_t row_bytes =
        std::max<std::size_t>(1, weights.groups() * PackedWeights::kGroup * kernel.code_bytes);
    const std::size_t most = std::clamp(kBlockBytes / row_bytes, kernel.rows, 2 * kernel.rows);
    height_ = even(rows, most, kernel.row_step);
    job_rows_ = even(std::min(height_, std::max<std::size_t>(1, rows)), kernel.rows, kernel.row_step);
    const std::size_t row_work = PackedWeights::kPanel * row_bytes;
    const std::size_t most_across = std::max<std::size_t>(1, kEnough / std::max<std::size_t>(1, blocks()));
    width_ = std::max({kFewPanels, (panels_ + most_across - 1) / most_across, kWork / (row_work * height_)});
    width_ = std::min((width_ + kernel.panels - 1) / kernel.panels * kernel.panels, std::max<std::size_t>(1, panels_));
    together_ = std::max<std::size_t>(1, kWork / (row_work * height_ * width_));
  }

  [[nodiscard]] std::size_t parts() const noexcept { return blocks() * across(); }
  /// Parts that are worth a thread's time.
  [[nodiscard]] std::size_t together() const noexcept { return together_; }
  /// The most rows of a job of a tile kernel.
  [[nodiscard]] std::size_t job_rows() const noexcept { return job_rows_; }
  /// The most rows of a part.
  [[nodiscard]] std::size_t height() const noexcept { return height_; }
  [[nodiscard]] ProductPart part(std::size_t index) const noexcept {
    const std::size_t row = index / across() * height_;
    const std::size_t panel = index % across() * width_;
    return {row, std::min(height_, rows_ - row), panel, std::min(width_, panels_ - panel)};
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{192} << 10;
  static constexpr std::size_t kEnough = 8;                   ///< parts that keep a few threads busy
  static constexpr std::size_t kFewPanels = 8;                ///< below, copying rows takes a noticeable time
  static constexpr std::size_t kWork = std::size_t{1} << 21;  ///< multiplications that are worth a thread's time

  /// The size of parts that are at most `most` and about even, in whole steps.
  [[nodiscard]] static std::size_t even(std::size_t size, std::size_t most, std::size_t step) noexcept {
    const std::size_t parts = std::max<std::size_t>(1, (size + most - 1) / most);
    return std::max<std::size_t>(1, ((size + parts - 1) / parts + step - 1) / step) * step;
  }
  [[nodiscard]] std::size_t blocks() const noexcept { return (rows_ + height_ - 1) / height_; }
  [[nodiscard]] std::size_t across() const noexcept { return (panels_ + width_ - 1) / width_; }

  std::size_t rows_, panels_;
  std::size_t height_ = 1;
  std::size_t job_rows_ = 1;
  std::size_t width_ = 1;
  std::size_t together_ = 1;
};

/// What all parts of a product share.
template <RowSource Rows, class E, class T>
class IntegerProduct;

template <RowSource Rows, class... Stages, class T>
class IntegerProduct<Rows, Epilogue<Stages...>, T> {
 public:
  using E = Epilogue<Stages...>;

  IntegerProduct(const Rows& rows, const PackedWeights& weights, const E& epilogue, bool is_wide,
                 const ResultRows<T>& c, const TileKernel& kernel = tile_kernel<typename Rows::Code>(simd::active()))
      : rows_(rows),
        weights_(weights),
        epilogue_(epilogue),
        kernel_(kernel),
        split_(rows.rows(), weights, kernel_),
        is_wide_(is_wide),
        start_((weights.panels() + 1) * PackedWeights::kPanel, 0),
        run_(epilogue, weights.columns()),
        c_(c) {
    if (is_wide_) return;
    const auto bias = leading_bias(epilogue);
    for (std::size_t column = 0; column < weights.columns(); ++column) {
      const std::int64_t added = bias.empty() ? 0 : amct::detail::of_column(bias, column);
      start_[column] = static_cast<std::int32_t>(added - zero_point() * weights.sum(column));  // modulo 2^32
    }
  }

  [[nodiscard]] const ProductSplit& split() const noexcept { return split_; }

  /// Computes consecutive parts on this thread.
  void compute(std::size_t first, std::size_t count) const {
    RowBlock<Rows> block(rows_, kernel_, split_.height());
    PanelReader panels(weights_);
    if (kernel_.begin != nullptr) kernel_.begin();
    for (std::size_t index = first; index < first + count; ++index) {
      const ProductPart part = split_.part(index);
      if (index == first || part.first_panel == 0) block.fill(part.first_row, part.rows);
      if constexpr (WideEpilogueTo<E, T>) {
        if (is_wide_) {
          compute_wide(part, block, panels);
          continue;
        }
      }
      compute_narrow(part, block, panels);
    }
    if (kernel_.end != nullptr) kernel_.end();
  }

 private:
  static constexpr std::size_t kFirstStage = kStartsWithBias<Stages...> ? 1 : 0;

  /// What converted codes of 0.0 are.
  [[nodiscard]] std::int64_t zero_point() const noexcept { return std::int64_t{rows_.zero_point()} + kernel_.shift; }

  /// Calls work(job, row, panel) for jobs that cover a part; rows and panels count from those of the whole product.
  template <class Work>
  void for_each_job(const ProductPart& part, const RowBlock<Rows>& block, PanelReader& panels, std::int32_t* sums,
                    const Work& work) const {
    const std::size_t end = part.first_panel + part.panels;
    for (std::size_t panel = part.first_panel; panel < end; panel += kernel_.panels) {
      TileJob job;
      job.row_step = block.step();
      job.panel_count = std::min(kernel_.panels, end - panel);
      job.panels = panels.read(panel, job.panel_count);
      job.panel_step = panels.step();
      job.groups = weights_.groups();
      job.start = start_.data() + panel * PackedWeights::kPanel;
      job.sums = sums;
      for (std::size_t row = 0; row < part.rows; row += split_.job_rows()) {
        job.rows = block.data() + row * block.step();
        job.count = std::min(split_.job_rows(), part.rows - row);
        work(job, part.first_row + row, panel);
      }
    }
  }

  void compute_narrow(const ProductPart& part, const RowBlock<Rows>& block, PanelReader& panels) const {
    alignas(64) std::int32_t sums[kMostTileRows * kSumStep];
    std::vector<std::int64_t> row_sums;
    if (weights_.has_zero_points()) row_sums = sum_rows(part, block, panels);
    for_each_job(part, block, panels, sums, [&](const TileJob& job, std::size_t row, std::size_t panel) {
      kernel_.multiply(job);
      const std::size_t column = panel * PackedWeights::kPanel;
      const std::size_t columns = std::min(job.panel_count * PackedWeights::kPanel, weights_.columns() - column);
      if (!row_sums.empty()) {
        for (std::size_t i = 0; i < job.count; ++i) {
          subtract_zero_points(row_sums[row - part.first_row + i], column, columns, sums + i * kSumStep);
        }
      }
      run_.apply({sums, kSumStep, row, job.count, column, columns}, c_);
    });
  }

  /// Weights with zero points were multiplied as they are: row_sum times the zero point too much.
  template <class Sum>
  void subtract_zero_points(std::int64_t row_sum, std::size_t first_column, std::size_t columns,
                            Sum* sums) const noexcept {
    for (std::size_t j = 0; j < columns; ++j) {
      sums[j] = static_cast<Sum>(std::int64_t{sums[j]} - row_sum * weights_.zero_point(first_column + j));
    }
  }

  /// The sum of each row of a part, as converted, by the panel of ones.
  [[nodiscard]] std::vector<std::int64_t> sum_rows(const ProductPart& part, const RowBlock<Rows>& block,
                                                   PanelReader& panels) const {
    std::vector<std::int64_t> row_sums(part.rows);
    std::int64_t wide[kMostTileRows * kSumStep];
    alignas(64) std::int32_t sums[kMostTileRows * kSumStep];
    for_each_job({part.first_row, part.rows, weights_.panels(), 1}, block, panels, sums,
                 [&](const TileJob& job, std::size_t row, std::size_t) {
                   multiply_wide(job, wide);
                   for (std::size_t i = 0; i < job.count; ++i) row_sums[row - part.first_row + i] = wide[i * kSumStep];
                 });
    return row_sums;
  }

  /// A job in int64: in pieces of the depth whose sums fit int32.
  void multiply_wide(const TileJob& whole, std::int64_t* sums) const noexcept {
    // 2^24 a group at most for int16, 2^17 for bytes; whole tiles of AMX.
    constexpr std::size_t kPiece = sizeof(typename Rows::Code) == 2 ? 112 : 16320;
    constexpr std::int32_t kZeros[kSumStep] = {};
    std::fill_n(sums, kMostTileRows * kSumStep, 0);
    for (std::size_t first = 0; first < whole.groups; first += kPiece) {
      TileJob job = whole;
      job.start = kZeros;
      job.rows += first * PackedWeights::kGroup * kernel_.code_bytes;
      job.panels += first * PackedWeights::kGroupBytes;
      job.groups = std::min(kPiece, whole.groups - first);
      kernel_.multiply(job);
      for (std::size_t i = 0; i < job.count; ++i) {
        for (std::size_t j = 0; j < job.panel_count * PackedWeights::kPanel; ++j) {
          sums[i * kSumStep + j] += job.sums[i * kSumStep + j];
        }
      }
    }
  }

  void compute_wide(const ProductPart& part, const RowBlock<Rows>& block, PanelReader& panels) const {
    alignas(64) std::int32_t sums[kMostTileRows * kSumStep];
    std::int64_t wide[kMostTileRows * kSumStep];
    std::vector<std::int64_t> row_sums(part.rows, 0);
    if (weights_.has_zero_points()) row_sums = sum_rows(part, block, panels);
    for_each_job(part, block, panels, sums, [&](const TileJob& job, std::size_t row, std::size_t panel) {
      multiply_wide(job, wide);
      const std::size_t column = panel * PackedWeights::kPanel;
      const std::size_t columns = std::min(job.panel_count * PackedWeights::kPanel, weights_.columns() - column);
      for (std::size_t i = 0; i < job.count; ++i) {
        std::int64_t* const row_of_sums = wide + i * kSumStep;
        subtract_zero_points(row_sums[row - part.first_row + i], column, columns, row_of_sums);
        for (std::size_t j = 0; j < columns; ++j) {
          const std::int64_t sum = row_of_sums[j] - zero_point() * weights_.sum(column + j);
          c_.data[(row + i) * c_.row + column + j] = epilogue_(sum, {row + i, column + j});
        }
      }
    });
  }

  const Rows& rows_;
  const PackedWeights& weights_;
  const E& epilogue_;
  TileKernel kernel_;
  ProductSplit split_;
  bool is_wide_;
  std::vector<std::int32_t> start_;  ///< what sums of a column start with; a panel of zeros for the ones
  EpilogueRun<E, T, kFirstStage> run_;
  ResultRows<T> c_;
};

}  // namespace amct::kernel
