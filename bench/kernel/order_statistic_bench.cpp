// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/order_statistic.hpp>

#include <span>

#include <amct/observe/ifmr.hpp>

#include "contests.hpp"
#include "peers/plain_loops.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {

/// The percentile 0.999999 from both ends.
void run_order_statistic() {
  const std::size_t k = amct::ifmr::rank(0.999999, kStatistics.elements);
  run(Contest<float, float>{.benchmark = "percentiles",
                            .size = kStatistics,
                            .bytes_per_element = 4,
                            .fill = fill_normal,
                            .ours = direct([k](std::span<const float> x, std::span<float> two) {
                              const amct::Tails found = amct::tails(x, k, k);
                              two[0] = found.low;
                              two[1] = found.high;
                            }),
                            .peers = {{"std::nth_element", direct([k](std::span<const float> x, std::span<float> two) {
                                         plain::tails(x, two, k);
                                       })}},
                            .limits = limit_entrants<float, float>(Traffic::read, true),
                            .outputs = 2});
}

}  // namespace bench
