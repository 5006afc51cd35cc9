// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include <amct/core/packed4.hpp>
#include <amct/kernel/packed4.hpp>
#include <amct/kernel/row_source.hpp>

namespace amct {

/// Where the weights of a product stand: code k of run r of column c is codes[c * column_step + r * run_step +
/// k * code_step]. A column is an output channel; runs are the taps of a convolution, and their codes its input
/// channels.
struct WeightLayout {
  std::size_t columns = 0;
  std::size_t runs = 1;
  std::size_t run_length = 0;
  std::size_t column_step = 0;
  std::size_t run_step = 0;
  std::size_t code_step = 1;

  /// [K, N], as MatMul has it.
  [[nodiscard]] static constexpr WeightLayout matrix(std::size_t depth, std::size_t columns) noexcept {
    return {.columns = columns, .run_length = depth, .column_step = 1, .code_step = columns};
  }
  /// [N, K], as Gemm has it with transB.
  [[nodiscard]] static constexpr WeightLayout transposed(std::size_t columns, std::size_t depth) noexcept {
    return {.columns = columns, .run_length = depth, .column_step = depth, .code_step = 1};
  }
  /// [output channels, input channels, taps], as Conv has it: a run for each tap.
  [[nodiscard]] static constexpr WeightLayout convolution(std::size_t outputs, std::size_t inputs,
                                                          std::size_t taps) noexcept {
    return {.columns = outputs,
            .runs = taps,
            .run_length = inputs,
            .column_step = inputs * taps,
            .run_step = 1,
            .code_step = taps};
  }

  [[nodiscard]] constexpr std::size_t depth() const noexcept { return runs * run_length; }
  [[nodiscard]] constexpr std::size_t offset(std::size_t column, std::size_t run, std::size_t k) const noexcept {
    return column * column_step + run * run_step + k * code_step;
  }
};

namespace kernel {

/// The first column whose sums, with its bias, are not proven to fit int32; the number of columns if all are.
/// \param absolute_sums  sum |w| of each column
/// \param largest        the largest |x - zero point|
/// \param bias           none, one for all, or one a column
[[nodiscard]] inline std::size_t first_beyond_int32(std::span<const std::int64_t> absolute_sums, std::int64_t largest,
                                                    std::span<const std::int32_t> bias) noexcept {
  for (std::size_t c = 0; c < absolute_sums.size(); ++c) {
    const std::int64_t added = bias.empty() ? 0 : std::abs(std::int64_t{bias[bias.size() == 1 ? 0 : c]});
    if (absolute_sums[c] * largest + added > std::numeric_limits<std::int32_t>::max()) return c;
  }
  return absolute_sums.size();
}

}  // namespace kernel

/// Weights in the one order that every instruction set reads: panels of 16 columns; in a panel, for every four steps of
/// the depth, 16 times four codes. Runs are padded to whole groups of four with zeros. Packed once a layer; also holds
/// what zero points and proofs of range need of each column.
class PackedWeights {
 public:
  static constexpr std::size_t kPanel = 16;  ///< columns of a panel
  static constexpr std::size_t kGroup = 4;   ///< steps of the depth that stand together
  static constexpr std::size_t kGroupBytes = kPanel * kGroup;

  enum class Storage : std::uint8_t { codes8, codes4 };

  PackedWeights() = default;

  /// \param codes        int8 codes; of -8..7 for Storage::codes4, which keeps two a byte
  /// \param zero_points  what weights of 0.0 have as code: none (0), one, or one a column (ONNX integer operators)
  /// \note O(columns * depth); allocates
  PackedWeights(const std::int8_t* codes, const WeightLayout& layout, std::span<const std::int32_t> zero_points = {},
                Storage storage = Storage::codes8) {
    pack(layout, zero_points, storage, 0, [codes](std::size_t at) { return codes[at]; });
  }

  /// Unsigned codes, whose zero points are unsigned too.
  PackedWeights(const std::uint8_t* codes, const WeightLayout& layout, std::span<const std::int32_t> zero_points) {
    pack(layout, zero_points, Storage::codes8, 128,
         [codes](std::size_t at) { return static_cast<std::int8_t>(codes[at] ^ 0x80U); });
  }

  /// Weights of two 4-bit codes a byte (core/packed4.hpp), kept so. `packed` says where neighbours stand; `layout` how
  /// the unpacked, dense tensor is read.
  [[nodiscard]] static PackedWeights from_packed4(std::span<const std::int8_t> bytes, const Packed4Layout& packed,
                                                  const WeightLayout& layout) {
    std::vector<std::int8_t> codes(packed.codes());
    unpack4(bytes, codes, packed);
    return PackedWeights(codes.data(), layout, {}, Storage::codes4);
  }

  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t runs() const noexcept { return runs_; }
  [[nodiscard]] std::size_t run_length() const noexcept { return run_length_; }
  [[nodiscard]] std::size_t depth() const noexcept { return runs_ * run_length_; }
  [[nodiscard]] Storage storage() const noexcept { return storage_; }
  /// Groups of four steps of a padded row.
  [[nodiscard]] std::size_t groups() const noexcept { return groups_; }
  [[nodiscard]] std::size_t panels() const noexcept { return (columns_ + kPanel - 1) / kPanel; }

  /// Whether weights have zero points other than 0. Then there is one more panel, of ones, which sums rows of
  /// activations.
  [[nodiscard]] bool has_zero_points() const noexcept { return !zero_points_.empty(); }
  [[nodiscard]] std::int32_t zero_point(std::size_t column) const noexcept {
    return zero_points_.empty() ? 0 : zero_points_[column];
  }

  /// The first byte of a panel, aligned to 64.
  [[nodiscard]] const std::int8_t* panel(std::size_t index) const noexcept {
    return lines_.data()->bytes + index * panel_stride();
  }
  /// Bytes from a panel to the next.
  [[nodiscard]] std::size_t panel_stride() const noexcept { return panel_lines_ * kGroupBytes; }

  /// The code of a step of a padded row, as it is stored: less 128 for unsigned weights.
  [[nodiscard]] std::int8_t code(std::size_t column, std::size_t step) const noexcept {
    const std::size_t at = step / kGroup * kGroupBytes + column % kPanel * kGroup + step % kGroup;
    const std::int8_t* const bytes = panel(column / kPanel);
    if (storage_ == Storage::codes8) return bytes[at];
    return at % 2 == 0 ? low4(bytes[at / 2]) : high4(bytes[at / 2]);
  }

  /// The sum over a column of its weights, code less zero point; what a zero point of the activations is multiplied by.
  [[nodiscard]] std::int64_t sum(std::size_t column) const noexcept { return sums_[column]; }
  /// The same of their absolute values.
  [[nodiscard]] std::int64_t absolute_sum(std::size_t column) const noexcept { return absolute_sums_[column]; }

  /// A bound of the sums of a column, with activations within `limits`: sum |w| * max |x - zero_point|.
  [[nodiscard]] std::int64_t largest_sum(std::size_t column, CodeLimits limits,
                                         std::int32_t zero_point) const noexcept {
    return absolute_sums_[column] * limits.largest(zero_point);
  }

  /// The first column whose sums, with its bias, are not proven to fit int32; columns() if all are.
  /// \param bias  none, one for all, or one a column
  [[nodiscard]] std::size_t first_beyond_int32(CodeLimits limits, std::int32_t zero_point,
                                               std::span<const std::int32_t> bias = {}) const noexcept {
    return kernel::first_beyond_int32(absolute_sums_, limits.largest(zero_point), bias);
  }
  [[nodiscard]] bool sums_fit_int32(CodeLimits limits, std::int32_t zero_point,
                                    std::span<const std::int32_t> bias = {}) const noexcept {
    return first_beyond_int32(limits, zero_point, bias) == columns_;
  }

 private:
  struct alignas(64) Line {
    std::int8_t bytes[kGroupBytes];
  };
  /// Lines behind the last panel that tiles of AMX may read: 16 groups at once.
  static constexpr std::size_t kSlack = 15;

  template <class CodeAt>
  void pack(const WeightLayout& layout, std::span<const std::int32_t> zero_points, Storage storage, std::int32_t shift,
            const CodeAt& code_at) {
    assert(zero_points.size() <= 1 || zero_points.size() == layout.columns);
    columns_ = layout.columns;
    runs_ = layout.runs;
    run_length_ = layout.run_length;
    storage_ = storage;
    groups_ = runs_ * (padded_run(run_length_) / kGroup);
    panel_lines_ = storage == Storage::codes8 ? groups_ : (groups_ + 1) / 2;
    set_zero_points(zero_points, shift);
    lines_.assign(panel_lines_ * (panels() + (has_zero_points() ? 1 : 0)) + kSlack, Line{});
    sums_.assign(columns_, 0);
    absolute_sums_.assign(columns_, 0);
    for (std::size_t c = 0; c < columns_; ++c) {
      for_each_step([&](std::size_t run, std::size_t k, std::size_t step) {
        const std::int8_t code = code_at(layout.offset(c, run, k));
        const std::int64_t weight = std::int64_t{code} - zero_point(c);
        put(c, step, code);
        sums_[c] += weight;
        absolute_sums_[c] += std::abs(weight);
      });
    }
    if (!has_zero_points()) return;
    for_each_step([&](std::size_t, std::size_t, std::size_t step) { put(panels() * kPanel, step, 1); });
  }

  /// One a column, of the codes as they are stored; none if all are 0.
  void set_zero_points(std::span<const std::int32_t> zero_points, std::int32_t shift) {
    zero_points_.clear();
    for (std::size_t c = 0; c < columns_; ++c) {
      const std::int32_t given = zero_points.empty() ? 0 : zero_points[zero_points.size() == 1 ? 0 : c];
      zero_points_.push_back(given - shift);
    }
    if (std::ranges::all_of(zero_points_, [](std::int32_t z) { return z == 0; })) zero_points_.clear();
  }

  template <class Visit>
  void for_each_step(const Visit& visit) const {
    for (std::size_t run = 0; run < runs_; ++run) {
      for (std::size_t k = 0; k < run_length_; ++k) visit(run, k, run * padded_run(run_length_) + k);
    }
  }

  void put(std::size_t column, std::size_t step, std::int8_t code) noexcept {
    const std::size_t at = step / kGroup * kGroupBytes + column % kPanel * kGroup + step % kGroup;
    std::int8_t* const bytes = lines_.data()->bytes + column / kPanel * panel_stride();
    if (storage_ == Storage::codes8) {
      bytes[at] = code;
    } else {
      assert(code >= -8 && code <= 7);
      std::int8_t& byte = bytes[at / 2];
      byte = at % 2 == 0 ? pair4(code, high4(byte)) : pair4(low4(byte), code);
    }
  }

  std::size_t columns_ = 0;
  std::size_t runs_ = 0;
  std::size_t run_length_ = 0;
  std::size_t groups_ = 0;
  std::size_t panel_lines_ = 0;
  Storage storage_ = Storage::codes8;
  std::vector<Line> lines_;
  std::vector<std::int32_t> zero_points_;
  std::vector<std::int64_t> sums_, absolute_sums_;
};

}  // namespace amct
