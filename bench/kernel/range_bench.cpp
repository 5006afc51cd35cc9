// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/range.hpp>

#include <span>

#include "contests.hpp"
#include "peers/peers.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

/// Ours also finds out whether all values are finite; the peers do not.
void run_min_max(const Size& size) {
  run(Contest<float, float>{.benchmark = "min_max",
                            .size = size,
                            .bytes_per_element = 4,
                            .fill = fill_normal,
                            .ours = direct([](std::span<const float> x, std::span<float> ends) {
                              amct::ValueRange range;
                              if (!range.extend(x)) return;
                              ends[0] = range.min;
                              ends[1] = range.max;
                            }),
                            .peers = peers_with<>(&Peer::min_max),
                            .limits = limit_entrants<float, float>(Traffic::read, size.is_past_caches()),
                            .outputs = 2});
}

}  // namespace

void run_range() {
  for (const Size& size : {kL1, kL2, kStatistics}) run_min_max(size);
}

}  // namespace bench
