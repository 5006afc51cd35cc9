// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/scale_search.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "contests.hpp"
#include "kernel/search_candidates.hpp"
#include "peers/plain_loops.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

/// The index of the winner and its sum of squared residuals.
using Winner = std::span<double>;

void set_winner(Winner winner, std::span<const double> sums) {
  const auto least = std::ranges::min_element(sums);
  winner[0] = static_cast<double>(least - sums.begin());
  winner[1] = *least;
}

void search_by_plain_loop(std::span<const float> x, Winner winner) {
  std::vector<double> sums(search_candidates().size());
  plain::losses(x, plain_search_candidates(), sums);
  set_winner(winner, sums);
}

/// The sum may differ in later digits.
std::string has_same_winner(std::span<const double> got, std::span<const double> want) {
  return got[0] == want[0] ? std::string() : describe_difference(0, got[0], want[0]);
}

/// With double precision the same candidate must win.
std::string has_true_winner(std::span<const float> x, std::span<const double> winner) {
  std::vector<double> sums(search_candidates().size());
  plain::losses_in_double(x, plain_search_candidates(), sums);
  double exact[2];
  set_winner(exact, sums);
  return has_same_winner(winner, exact);
}

void run_search(const Size& size, int threads) {
  run(Contest<float, double>{.benchmark = "scale_search",
                             .size = size,
                             .bytes_per_element = 4,
                             .fill = fill_normal,
                             .ours = direct([](std::span<const float> x, Winner winner) {
                               const amct::ScaleChoice best = amct::find_best_scale(x, search_candidates());
                               winner[0] = static_cast<double>(best.index);
                               winner[1] = best.residual;
                             }),
                             .threads = threads,
                             .peers = {{"plain loop", direct(search_by_plain_loop)}},
                             .limits = limit_entrants<float, double>(Traffic::read, size.is_past_caches()),
                             .outputs = 2,
                             .peer_agrees = has_same_winner,
                             .reference_check = has_true_winner});
}

}  // namespace

void run_scale_search() {
  for (const Size& size : {kL2, kStatistics}) run_search(size, 1);
  run_search(kStatistics, 2);
}

}  // namespace bench
