// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include <amct/kernel/column_arrays.hpp>
#include <amct/kernel/epilogue.hpp>
#include <amct/kernel/map.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/vector_stages.hpp>
#include <amct/simd/dispatch.hpp>
#include <amct/simd/vec.hpp>

namespace amct::kernel {

/// A rectangle of int32 sums in memory: rows `step` elements apart, and where in the result it stands.
struct SumTile {
  const std::int32_t* sums = nullptr;  ///< aligned to 64 bytes
  std::size_t step = 0;                ///< a multiple of 16; each row can be read up to a multiple of 16 columns
  std::size_t first_row = 0, rows = 0;
  std::size_t first_column = 0, columns = 0;
};

namespace reference {

/// The stages from kFirst on, one element after the other.
template <std::size_t kFirst, class E, class T>
void apply_epilogue(const E& epilogue, const SumTile& tile, const ResultRows<T>& c) noexcept {
  for (std::size_t i = 0; i < tile.rows; ++i) {
    for (std::size_t j = 0; j < tile.columns; ++j) {
      const Place at{tile.first_row + i, tile.first_column + j};
      c.data[at.row * c.row + at.column] = epilogue.template apply_from<kFirst>(tile.sums[i * tile.step + j], at);
    }
  }
}

}  // namespace reference

}  // namespace amct::kernel

#define AMCT_KERNEL_BODY <amct/kernel/body/epilogue-inl.hpp>
#include <amct/simd/for_each_arch.hpp>

namespace amct::kernel {

template <class E, class T, std::size_t kFirst = 0>
class EpilogueRun;

/// An epilogue with its parameters laid out for the vector bodies, for one call: make it once, apply it to tile after
/// tile, from any thread. Stages before kFirst are left out: the sums have them already.
template <class... Stages, class T, std::size_t kFirst>
requires EpilogueTo<Epilogue<Stages...>, T>
class EpilogueRun<Epilogue<Stages...>, T, kFirst> {
 public:
  /// `columns` counts all columns of the result. The epilogue must live as long. Allocates.
  EpilogueRun(const Epilogue<Stages...>& epilogue, std::size_t columns)
      : epilogue_(epilogue),
        arrays_(columns),
        vectors_(vectors(epilogue, arrays_, std::make_index_sequence<kCount>{})) {}
  EpilogueRun(const EpilogueRun&) = delete;
  EpilogueRun& operator=(const EpilogueRun&) = delete;

  /// Computes a rectangle of the result on this thread. Call it under in_default_fp_environment.
  void apply(const SumTile& tile, const ResultRows<T>& c) const noexcept {
    if constexpr (kHasVectors) {
      constexpr std::int32_t kMost = sizeof(T) == 1 ? kMostOffset16 : kMostOffset;
      const bool in_reach =
          std::apply([](const auto&... stage) { return (stage.is_in_reach(kMost) && ...); }, vectors_);
      if (in_reach) {
        AMCT_DISPATCH_VECTOR(apply_epilogue(vectors_, tile, c))
      }
    }
    reference::apply_epilogue<kFirst>(epilogue_, tile, c);
  }

 private:
  static constexpr std::size_t kCount = sizeof...(Stages) - kFirst;
  static constexpr bool kHasVectors = have_vector_stages<Stages...>();

  template <std::size_t... k>
  static auto vectors(const Epilogue<Stages...>& epilogue, ColumnArrays& arrays, std::index_sequence<k...>) {
    if constexpr (kHasVectors) {
      // Braces, so that they are made in their order.
      return std::tuple{VectorStage<std::tuple_element_t<kFirst + k, std::tuple<Stages...>>>(
          std::get<kFirst + k>(epilogue.stages()), arrays)...};
    } else {
      return std::tuple<>{};
    }
  }

  const Epilogue<Stages...>& epilogue_;
  ColumnArrays arrays_;
  decltype(vectors(std::declval<const Epilogue<Stages...>&>(), std::declval<ColumnArrays&>(),
                   std::make_index_sequence<kCount>{})) vectors_;
};

}  // namespace amct::kernel
