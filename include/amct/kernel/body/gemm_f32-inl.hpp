// SPDX-License-Identifier: Apache-2.0
// Vector body of kernel/gemm_f32.hpp; the reference is kernel/reference/gemm_f32.hpp.
//
// A tile of the result stays in registers while k runs over a block. The right factor is read where it lies, or from a
// copy of a block of it that stays in the caches.

namespace amct::kernel::AMCT_ARCH_NAMESPACE {

using namespace amct::simd::AMCT_ARCH_NAMESPACE;

/// Rows and vectors of the largest tile: with the operands it fills the registers, of which AVX2 has 16, others 32.
inline constexpr std::size_t kTileRows = kLanes == 8 ? 4 : 8;
inline constexpr std::size_t kTileVectors = 3;
/// Vectors of a tile of one or two rows, which needs more of them to hide the latency of the sums.
inline constexpr std::size_t kFlatVectors = 4;

/// Steps of k, one chain, and columns in the copy of the right factor. Its rows are an odd number of cache lines apart,
/// so that they spread over all sets of the cache.
inline constexpr std::size_t kDepthBlock = kChain;
inline constexpr std::size_t kColumnBlock = 96;
inline constexpr std::size_t kCopyRow = kColumnBlock + 16;
/// Rows of the left factor whose block stays in the second cache while columns run.
inline constexpr std::size_t kRowBlock = 96;
/// From so many rows on the copy pays.
inline constexpr std::size_t kCopiedRows = 24;

/// What one tile reads and writes.
struct GemmTile {
  std::size_t depth;
  const float* a;
  std::size_t a_row, a_step;
  const float* b;
  const std::size_t* b_rows;  ///< where row k of the right factor stands
  bool continues;             ///< what is in c is part of the sums
  bool is_later_chain;        ///< it is added in the end, else the sums start with it
  const float* bias;          ///< what is added to the sums of the first row last; null: nothing
  float* c;
  std::size_t c_row;
};

template <std::size_t kRows, std::size_t kVectors>
[[gnu::noinline]] void multiply_tile(const GemmTile& shared) noexcept {
  const GemmTile tile = shared;  // a copy that no store can change, so that it stays in registers
  F sum[kRows][kVectors];
  const float* a[kRows];
  unroll<kRows>([&](auto i) AMCT_VLAMBDA {
    a[i] = tile.a + i * tile.a_row;
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA {
      const bool loads = tile.continues && !tile.is_later_chain;
      sum[i][v] = loads ? load(tile.c + i * tile.c_row + v * kLanes) : set(0.0F);
    });
  });
  const std::size_t* const end = tile.b_rows + tile.depth;
  const std::size_t a_step = tile.a_step;
  std::size_t at = 0;
  for (const std::size_t* row = tile.b_rows; row != end; ++row, at += a_step) {
    const float* const b = tile.b + *row;
    F right[kVectors];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { right[v] = load(b + v * kLanes); });
    unroll<kRows>([&](auto i) AMCT_VLAMBDA {
      const F left = set(a[i][at]);
      unroll<kVectors>([&](auto v) AMCT_VLAMBDA { sum[i][v] = fused_add(left, right[v], sum[i][v]); });
    });
  }
  if (tile.is_later_chain) {
    unroll<kRows>([&](auto i) AMCT_VLAMBDA {
      unroll<kVectors>([&](auto v)
                           AMCT_VLAMBDA { sum[i][v] = add(load(tile.c + i * tile.c_row + v * kLanes), sum[i][v]); });
    });
  }
  if (tile.bias != nullptr) {
    unroll<kRows>([&](auto i) AMCT_VLAMBDA {
      const F bias = set(tile.bias[i]);
      unroll<kVectors>([&](auto v) AMCT_VLAMBDA { sum[i][v] = add(sum[i][v], bias); });
    });
  }
  unroll<kRows>([&](auto i) AMCT_VLAMBDA {
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { store(tile.c + i * tile.c_row + v * kLanes, sum[i][v]); });
  });
}

template <std::size_t kRows>
void multiply_tile(const GemmTile& tile, std::size_t vectors) noexcept {
  if (vectors == 1) return multiply_tile<kRows, 1>(tile);
  if (vectors == 2) return multiply_tile<kRows, 2>(tile);
  if (vectors == 3) return multiply_tile<kRows, 3>(tile);
  if constexpr (kRows <= 2) multiply_tile<kRows, kFlatVectors>(tile);
}

/// As many rows as one tile takes, of those that are left.
[[nodiscard]] inline std::size_t multiply_rows(const GemmTile& tile, std::size_t rows, std::size_t vectors) noexcept {
  if (rows >= kTileRows) {
    multiply_tile<kTileRows>(tile, vectors);
    return kTileRows;
  }
  if (rows >= 4 && kTileRows > 4) {
    multiply_tile<4>(tile, vectors);
    return 4;
  }
  if (rows >= 2) {
    multiply_tile<2>(tile, vectors);
    return 2;
  }
  multiply_tile<1>(tile, vectors);
  return 1;
}

/// A strip of columns, at most as wide as a tile. One whose last vector is not full is computed in a tile of its own
/// memory, unless what is behind it in the result will be overwritten.
inline void multiply_strip(GemmTile tile, std::size_t rows, std::size_t columns, bool may_spill = false) noexcept {
  constexpr std::size_t kWidest = kFlatVectors * kLanes;
  const std::size_t vectors = (columns + kLanes - 1) / kLanes;
  float own[kTileRows * kWidest];
  float* const result = tile.c;
  const std::size_t result_row = tile.c_row;
  const bool is_full = may_spill || columns == vectors * kLanes;
  for (std::size_t i = 0; i < rows;) {
    const std::size_t most = std::min(rows - i, kTileRows);
    tile.c = result + i * result_row;
    if (!is_full) {
      if (tile.continues) {
        for (std::size_t r = 0; r < most; ++r) {
          float* const row = own + r * kWidest;
          std::fill_n(row + (vectors - 1) * kLanes, kLanes, 0.0F);
          std::copy_n(tile.c + r * result_row, columns, row);
        }
      }
      tile.c = own;
      tile.c_row = kWidest;
    }
    const std::size_t done = multiply_rows(tile, most, vectors);
    if (!is_full) {
      for (std::size_t r = 0; r < done; ++r) std::copy_n(own + r * kWidest, columns, result + (i + r) * result_row);
    }
    i += done;
    tile.a += done * tile.a_row;
    if (tile.bias != nullptr) tile.bias += done;
  }
}

/// Copies kVectors of each row.
template <std::size_t kVectors>
AMCT_VOP void copy_vectors(const float* from, const std::size_t* rows, std::size_t count, float* to) {
  for (std::size_t k = 0; k < count; ++k, to += kCopyRow) {
    const float* const row = from + rows[k];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { store(to + v * kLanes, load(row + v * kLanes)); });
  }
}

/// Copies columns that lie side by side, in whole vectors: up to a vector more is read and written.
inline void copy_columns(const float* from, const std::size_t* rows, std::size_t count, std::size_t columns,
                         float* to) noexcept {
  std::size_t j = 0;
  for (; j + 3 * kLanes < columns; j += 4 * kLanes) copy_vectors<4>(from + j, rows, count, to + j);
  for (; j + kLanes < columns; j += 2 * kLanes) copy_vectors<2>(from + j, rows, count, to + j);
  if (j < columns) copy_vectors<1>(from + j, rows, count, to + j);
}

/// Copies a block of the right factor whose rows are at `rows`.
inline void copy_block(const StridedMatrix& b, std::span<const std::size_t> rows, std::size_t first_column,
                       std::size_t columns, float* to) noexcept {
  const float* const from = b.data + first_column * b.column;
  const std::size_t whole = b.column == 1 ? columns / kLanes * kLanes : 0;
  copy_columns(from, rows.data(), rows.size(), whole, to);
  for (std::size_t j = whole; j < columns; ++j) {
    const float* const column = from + j * b.column;
    for (std::size_t k = 0; k < rows.size(); ++k) to[k * kCopyRow + j] = column[rows[k]];
  }
}

inline void copy_block(const WindowMatrix& b, std::span<const std::size_t> rows, std::size_t first_column,
                       std::size_t columns, float* to) noexcept {
  std::size_t skip = first_column % b.run_length;
  for (std::size_t j = 0, run = first_column / b.run_length; j < columns; ++run, skip = 0) {
    const std::size_t count = std::min(b.run_length - skip, columns - j);
    copy_columns(b.data + b.runs[run] + skip, rows.data(), rows.size(), count, to + j);
    j += count;
  }
}

/// Whether strips of the right factor can be read where they lie.
[[nodiscard]] inline bool is_readable(const StridedMatrix& b) noexcept { return b.column == 1; }
[[nodiscard]] inline bool is_readable(const WindowMatrix&) noexcept { return true; }

inline void find_rows(const StridedMatrix& b, std::size_t first, std::size_t rows, std::size_t* where) noexcept {
  for (std::size_t k = 0; k < rows; ++k) where[k] = (first + k) * b.row;
}
inline void find_rows(const WindowMatrix& b, std::size_t first, std::size_t rows, std::size_t* where) noexcept {
  std::copy_n(b.rows.data() + first, rows, where);
}

/// Where a column starts, and how many from there on lie side by side and can be read in whole vectors.
struct ColumnRun {
  const float* data;
  std::size_t columns;
};
[[nodiscard]] inline ColumnRun find_columns(const StridedMatrix& b, std::size_t first, std::size_t columns) noexcept {
  return {b.data + first, columns >= kLanes ? columns / kLanes * kLanes : 0};
}
[[nodiscard]] inline ColumnRun find_columns(const WindowMatrix& b, std::size_t first, std::size_t columns) noexcept {
  const std::size_t skip = first % b.run_length;
  return {b.data + b.runs[first / b.run_length] + skip, std::min(columns, b.run_length - skip)};
}

/// One block of k over a part of the result, reading copies of blocks of the right factor.
template <class Right>
void multiply_copied(GemmTile tile, const GemmPart& part, const Right& b, float* copy) noexcept {
  std::size_t where[kDepthBlock];
  for (std::size_t k = 0; k < tile.depth; ++k) where[k] = k * kCopyRow;
  if (const std::size_t whole = part.columns / kLanes * kLanes; whole != part.columns) {
    for (std::size_t k = 0; k < tile.depth; ++k) store(copy + k * kCopyRow + whole, set(0.0F));  // the last vector
  }
  copy_block(b, {tile.b_rows, tile.depth}, part.first_column, part.columns, copy);
  tile.b_rows = where;
  const std::size_t widest = part.rows < 4 ? kFlatVectors : kTileVectors;
  for (std::size_t i = 0; i < part.rows; i += kRowBlock) {
    const std::size_t rows = std::min(kRowBlock, part.rows - i);
    for (std::size_t j = 0; j < part.columns;) {
      GemmTile strip = tile;
      const std::size_t columns = std::min(part.columns - j, widest * kLanes);
      strip.a += i * tile.a_row;
      strip.b = copy + j;
      if (tile.bias != nullptr) strip.bias += i;
      strip.c += i * tile.c_row + j;
      multiply_strip(strip, rows, columns);
      j += columns;
    }
  }
}

/// Width of the next strip of so many columns: strips of at most `most` vectors, about even, since the sums of a narrow
/// one wait for each other.
[[nodiscard]] inline std::size_t strip_width(std::size_t columns, std::size_t most) noexcept {
  const std::size_t vectors = (columns + kLanes - 1) / kLanes;
  const std::size_t strips = (vectors + most - 1) / most;
  return std::min(columns, (vectors + strips - 1) / strips * kLanes);
}

/// The same, reading the right factor where it lies, but for columns that do not fill a vector and have nothing behind.
template <class Right>
void multiply_in_place(GemmTile tile, const GemmPart& part, bool is_all, const Right& b, float* copy) noexcept {
  const std::size_t widest = part.rows < 4 ? kFlatVectors : kTileVectors;
  for (std::size_t j = 0; j < part.columns;) {
    const ColumnRun run = find_columns(b, part.first_column + j, part.columns - j);
    if (run.columns == 0) {
      tile.c += j;
      const GemmPart rest{part.first_row, part.rows, part.first_column + j, part.columns - j};
      return multiply_copied(tile, rest, b, copy);
    }
    for (const std::size_t end = j + run.columns; j < end;) {
      GemmTile strip = tile;
      const std::size_t columns = strip_width(end - j, widest);
      strip.b = run.data + (run.columns - (end - j));
      strip.c += j;
      const std::size_t touched = (columns + kLanes - 1) / kLanes * kLanes;
      multiply_strip(strip, part.rows, columns, is_all && j + touched <= part.columns);
      j += columns;
    }
  }
}

/// One row of the result, for few rows: each vector of it runs over all of k at once, while those beside it keep the
/// processor busy. A vector that is not full is stored all the same where later ones overwrite what is too much. A bias
/// of -0 changes nothing.
template <std::size_t kVectors>
AMCT_VOP void slide_strip(const WindowMatrix& b, const float* from, const float* a, std::size_t a_step, float bias,
                          float* c) {
  F sum[kVectors];
  unroll<kVectors>([&](auto v) AMCT_VLAMBDA { sum[v] = set(0.0F); });
  for (std::size_t first = 0; first < b.rows.size(); first += kChain) {
    F chain[kVectors];
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { chain[v] = set(0.0F); });
    for (const std::size_t row : b.rows.subspan(first, std::min(kChain, b.rows.size() - first))) {
      const F left = set(*a);
      unroll<kVectors>([&](auto v)
                           AMCT_VLAMBDA { chain[v] = fused_add(left, load(from + row + v * kLanes), chain[v]); });
      a += a_step;
    }
    unroll<kVectors>([&](auto v) AMCT_VLAMBDA { sum[v] = first == 0 ? chain[v] : add(sum[v], chain[v]); });
  }
  unroll<kVectors>([&](auto v) AMCT_VLAMBDA { store(c + v * kLanes, add(sum[v], set(bias))); });
}

inline void slide_strip(std::size_t vectors, const WindowMatrix& b, const float* from, const float* a,
                        std::size_t a_step, float bias, float* c) noexcept {
  switch (vectors) {
    case 1: return slide_strip<1>(b, from, a, a_step, bias, c);
    case 2: return slide_strip<2>(b, from, a, a_step, bias, c);
    case 3: return slide_strip<3>(b, from, a, a_step, bias, c);
    default: return slide_strip<4>(b, from, a, a_step, bias, c);
  }
}

inline void slide(std::size_t first_column, std::size_t columns, const WindowMatrix& b, const float* a,
                  std::size_t a_step, float bias, float* c) noexcept {
  std::size_t skip = first_column % b.run_length;
  for (std::size_t j = 0, run = first_column / b.run_length; j < columns; ++run, skip = 0) {
    const float* from = b.data + b.runs[run] + skip;
    for (const std::size_t end = std::min(columns, j + b.run_length - skip); j < end;) {
      const std::size_t vectors = std::min<std::size_t>(4, (end - j + kLanes - 1) / kLanes);
      const std::size_t count = std::min(end - j, vectors * kLanes);
      if (j + vectors * kLanes <= columns) {
        slide_strip(vectors, b, from, a, a_step, bias, c + j);
      } else {
        float own[4 * kLanes];
        slide_strip(vectors, b, from, a, a_step, bias, own);
        std::copy_n(own, count, c + j);
      }
      j += count;
      from += count;
    }
  }
}

/// Whether the part was computed by sliding over the right factor.
[[nodiscard]] inline bool try_slide(const GemmPart& part, const StridedMatrix& a, const WindowMatrix& b,
                                    const GemmResult& c) noexcept {
  if (part.rows >= 4 || c.accumulate) return false;
  for (std::size_t i = part.first_row; i < part.first_row + part.rows; ++i) {
    slide(part.first_column, part.columns, b, a.data + i * a.row, a.column, c.bias == nullptr ? -0.0F : c.bias[i],
          c.data + i * c.row + part.first_column);
  }
  return true;
}
[[nodiscard]] inline bool try_slide(const GemmPart&, const StridedMatrix&, const StridedMatrix&,
                                    const GemmResult&) noexcept {
  return false;
}

/// Splits a size into blocks of at most `most`, as even as possible in steps of `step`.
[[nodiscard]] inline std::size_t even_block(std::size_t size, std::size_t most, std::size_t step) noexcept {
  const std::size_t blocks = std::max<std::size_t>(1, (size + most - 1) / most);
  return std::min(most, ((size + blocks - 1) / blocks + step - 1) / step * step);
}

template <class Right>
void gemm_f32(const GemmPart& part, std::size_t depth, const StridedMatrix& a, const Right& b,
              const GemmResult& c) noexcept {
  if (try_slide(part, a, b, c)) return;
  alignas(64) float copy[kDepthBlock * kCopyRow];
  const float* const bias = c.accumulate || c.bias == nullptr ? nullptr : c.bias + part.first_row;
  const bool copied = part.rows >= kCopiedRows || !is_readable(b);
  const std::size_t columns = copied ? even_block(part.columns, kColumnBlock, kTileVectors * kLanes) : part.columns;
  for (std::size_t j = 0; j < part.columns; j += columns) {
    const GemmPart block{part.first_row, part.rows, part.first_column + j, std::min(columns, part.columns - j)};
    for (std::size_t k = 0; k == 0 || k < depth; k += kDepthBlock) {
      std::size_t rows[kDepthBlock];
      const std::size_t count = std::min(kDepthBlock, depth - k);
      find_rows(b, k, count, rows);
      const GemmTile tile{.depth = count,
                          .a = a.data + part.first_row * a.row + k * a.column,
                          .a_row = a.row,
                          .a_step = a.column,
                          .b = nullptr,
                          .b_rows = rows,
                          .continues = k != 0 || c.accumulate,
                          .is_later_chain = k != 0,
                          .bias = k + count == depth ? bias : nullptr,
                          .c = c.data + part.first_row * c.row + block.first_column,
                          .c_row = c.row};
      if (copied) {
        multiply_copied(tile, block, b, copy);
      } else {
        multiply_in_place(tile, block, count == depth && !c.accumulate, b, copy);
      }
    }
  }
}

}  // namespace amct::kernel::AMCT_ARCH_NAMESPACE
