// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/histogram.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "contests.hpp"
#include "peers/plain_loops.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

using Counts = std::span<std::uint64_t>;

/// A range that holds all values.
constexpr float kLow = -6.0F;
constexpr float kHigh = 6.0F;

void run_bins(std::size_t bins) {
  run(Contest<float, std::uint64_t>{.benchmark = "histogram_" + std::to_string(bins),
                                    .size = kStatistics,
                                    .bytes_per_element = 4,
                                    .fill = fill_normal,
                                    .ours = direct([](std::span<const float> x, Counts counts) {
                                      std::ranges::fill(counts, 0);
                                      amct::add_histogram(x, kLow, kHigh, counts);
                                    }),
                                    .peers = {{"plain loop", direct([](std::span<const float> x, Counts counts) {
                                                 std::ranges::fill(counts, 0);
                                                 plain::histogram(x, counts, kLow, kHigh);
                                               })}},
                                    .limits = limit_entrants<float, std::uint64_t>(Traffic::read, true),
                                    .outputs = bins,
                                    .peer_agrees = is_identical<std::uint64_t>});
}

}  // namespace

void run_histogram() {
  for (const std::size_t bins : {2048, 8192}) run_bins(bins);
}

}  // namespace bench
