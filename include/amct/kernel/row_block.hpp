// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/tile_kernel.hpp>

namespace amct::kernel {

/// A line of cache as memory of vectors, which aligns them.
struct alignas(64) CacheLine {
  std::byte bytes[64];
};

/// Some rows of a source as a tile kernel wants them.
template <RowSource Rows>
class RowBlock {
 public:
  using Code = typename Rows::Code;

  /// Memory for `most` rows and what the kernel may read behind them.
  RowBlock(const Rows& source, const TileKernel& kernel, std::size_t most)
      : source_(source),
        kernel_(kernel),
        codes_(source.runs() * padded_run(source.run_length())),
        lines_(lines(codes_, kernel)),
        converted_(new CacheLine[(most + kMostTileRows) * lines_]) {
    const bool is_widened = kernel.convert != nullptr && kernel.code_bytes != 1;
    if (is_widened && !ContiguousRows<Rows>) copied_.resize(most * codes_);
  }

  /// Takes rows of the source.
  void fill(std::size_t first, std::size_t count) {
    CodesToConvert job{.rows = count, .count = codes_, .to = row(0), .to_step = step()};
    if constexpr (ContiguousRows<Rows>) {
      if (kernel_.convert != nullptr) {
        job.from = source_.row(first);
        job.from_step =
            count < 2 ? 0 : static_cast<std::size_t>(source_.row(first + 1) - source_.row(first)) * sizeof(Code);
        job.count = source_.run_length();
        return kernel_.convert(job);
      }
    }
    const bool is_widened = !copied_.empty();
    auto* const codes = is_widened ? copied_.data() : reinterpret_cast<Code*>(row(0));
    const std::size_t stride = is_widened ? codes_ : step() / sizeof(Code);
    source_.copy(first, count, codes, stride);
    clear_ends(count);
    if (comes_converted()) return;
    job.from = codes;
    job.from_step = stride * sizeof(Code);
    kernel_.convert(job);
  }

  [[nodiscard]] const std::byte* data() const noexcept { return converted_[0].bytes; }
  /// Bytes from a row to the next.
  [[nodiscard]] std::size_t step() const noexcept { return lines_ * sizeof(CacheLine); }

 private:
  /// Lines of a row; an odd number spreads rows over all sets of the cache.
  [[nodiscard]] static std::size_t lines(std::size_t codes, const TileKernel& kernel) noexcept {
    const std::size_t read = (codes + kernel.row_alignment - 1) / kernel.row_alignment * kernel.row_alignment;
    return (read * kernel.code_bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine) | 1U;
  }

  /// Kernels that read beyond the codes of a row need zeros there.
  void clear_ends(std::size_t count) noexcept {
    const std::size_t beyond = kernel_.row_alignment - 1 - (codes_ + kernel_.row_alignment - 1) % kernel_.row_alignment;
    if (beyond == 0) return;
    for (std::size_t i = 0; i < count; ++i) std::memset(row(i) + codes_, 0, beyond);
  }

  /// Whether the source has codes as the kernel wants them; one of windows may have converted them first.
  [[nodiscard]] bool comes_converted() const noexcept {
    if constexpr (requires { source_.is_flipped(); }) {
      if (source_.is_flipped()) return true;
    }
    return kernel_.convert == nullptr;
  }

  [[nodiscard]] std::byte* row(std::size_t index) noexcept { return converted_[0].bytes + index * step(); }

  const Rows& source_;
  TileKernel kernel_;
  std::size_t codes_;
  std::size_t lines_;
  std::unique_ptr<CacheLine[]> converted_;  ///< not filled: rows that nobody reads the sums of may hold anything
  std::vector<Code> copied_;
};

}  // namespace amct::kernel
