// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/residual.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "contests.hpp"
#include "kernel/search_candidates.hpp"
#include "peers/plain_loops.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"

namespace bench {
namespace {

using Sums = std::span<double>;

/// Sums in float32 and in another order differ in later digits.
std::string has_near_sums(std::span<const double> got, std::span<const double> want) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(got[i] - want[i]) <= 1e-4 * want[i])) return describe_difference(i, got[i], want[i]);
  }
  return {};
}

}  // namespace

/// The squared error of all candidates of a search.
void run_residual() {
  run(Contest<float, double>{
      .benchmark = "squared_residuals",
      .size = kL2,
      .bytes_per_element = 4,
      .fill = fill_normal,
      .ours = direct([](std::span<const float> x, Sums sums) {
        std::ranges::fill(sums, 0.0);
        amct::add_squared_residuals(x, search_candidates(), sums);
      }),
      .peers = {{"plain loop", direct([all = plain_search_candidates()](std::span<const float> x, Sums sums) {
                   plain::losses(x, all, sums);
                 })}},
      .outputs = search_candidates().size(),
      .peer_agrees = has_near_sums});
}

}  // namespace bench
