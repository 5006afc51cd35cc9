// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <amct/kernel/packed_weights.hpp>
#include <amct/kernel/tile_job.hpp>

namespace amct::kernel::reference {

/// A tile of an integer product whose codes are T, as they are. The sum modulo 2^32 is what int64 would give, cut.
template <class T>
void multiply(const TileJob& job) noexcept {
  for (std::size_t i = 0; i < job.count; ++i) {
    for (std::size_t column = 0; column < job.panel_count * PackedWeights::kPanel; ++column) {
      const std::int8_t* const weights = job.panels + column / PackedWeights::kPanel * job.panel_step +
                                         column % PackedWeights::kPanel * PackedWeights::kGroup;
      std::int32_t& result = job.sums[i * kSumStep + column];
      std::int64_t sum = job.continues ? result : job.start[column];
      for (std::size_t step = 0; step < job.groups * PackedWeights::kGroup; ++step) {
        T code;
        std::memcpy(&code, job.rows + i * job.row_step + step * sizeof(T), sizeof code);
        const std::size_t group = step / PackedWeights::kGroup;
        sum += std::int64_t{code} * weights[group * PackedWeights::kGroupBytes + step % PackedWeights::kGroup];
      }
      result = static_cast<std::int32_t>(sum);
    }
  }
}

}  // namespace amct::kernel::reference
