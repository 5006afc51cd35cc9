// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Which precision each layer of a network gets: a search over numbers, free of networks and files.

namespace amct::flow {

/// One precision that layers can have.
struct PrecisionLevel {
  std::string name{};  ///< "A8W8", "A16W8", "float"
  double cost = 0.0;   ///< of the layers at this level, in any unit
  double noise = 0.0;  ///< what they add to the noise of the network's result
};

/// Layers that change their precision together; usually one.
struct PrecisionChoice {
  std::vector<std::string> layers{};
  std::vector<PrecisionLevel> levels{};  ///< from the cheapest to the most precise
};

/// The level of each choice.
using Levels = std::vector<std::size_t>;

/// The cost of all layers together.
[[nodiscard]] inline double cost_of(const std::vector<PrecisionChoice>& choices, const Levels& levels) {
  double cost = 0.0;
  for (std::size_t c = 0; c < choices.size(); ++c) cost += choices[c].levels[levels[c]].cost;
  return cost;
}
/// The noise of all layers together, as if each made its own: powers of independent noise add up.
[[nodiscard]] inline double noise_of(const std::vector<PrecisionChoice>& choices, const Levels& levels) {
  double noise = 0.0;
  for (std::size_t c = 0; c < choices.size(); ++c) noise += choices[c].levels[levels[c]].noise;
  return noise;
}

/// One layer, or group, raised to another level.
struct PrecisionStep {
  std::size_t choice = 0;
  std::size_t level = 0;

  friend bool operator==(const PrecisionStep&, const PrecisionStep&) = default;
};

/// The way from all layers at their cheapest level to as precise as they can be: at each place the step that takes away
/// the most noise for its cost. Steps that take no noise away are left to the end, cheapest first. A step may skip
/// levels. O(steps * levels).
/// \param most_cost  steps that would lead beyond it are left out
[[nodiscard]] inline std::vector<PrecisionStep> greedy_way(const std::vector<PrecisionChoice>& choices,
                                                           double most_cost = std::numeric_limits<double>::infinity()) {
  Levels levels(choices.size(), 0);
  double cost = cost_of(choices, levels);
  std::vector<PrecisionStep> way;
  while (true) {
    std::optional<PrecisionStep> best;
    std::pair<double, double> best_worth;  // noise taken away for the cost; then minus the cost
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const auto& now = choices[c].levels[levels[c]];
      for (std::size_t l = levels[c] + 1; l < choices[c].levels.size(); ++l) {
        const auto& then = choices[c].levels[l];
        if (cost - now.cost + then.cost > most_cost) continue;
        const double more = std::max(then.cost - now.cost, std::numeric_limits<double>::min());
        const std::pair worth{std::max(now.noise - then.noise, 0.0) / more, -more};
        if (best && worth <= best_worth) continue;
        best = {c, l};
        best_worth = worth;
      }
    }
    if (!best) return way;
    cost += choices[best->choice].levels[best->level].cost - choices[best->choice].levels[levels[best->choice]].cost;
    levels[best->choice] = best->level;
    way.push_back(*best);
  }
}

/// The levels after the first `count` steps of a way.
[[nodiscard]] inline Levels after_steps(std::size_t choices, const std::vector<PrecisionStep>& way, std::size_t count) {
  Levels levels(choices, 0);
  for (std::size_t s = 0; s < count; ++s) levels[way[s].choice] = way[s].level;
  return levels;
}

/// Finds cheap levels that satisfy, with at most `most_trials` questions.
///
/// First the shortest satisfying beginning of the greedy way: doubling steps, then halving. Then layers are lowered
/// again where the network does not need them, those first that save the most.
/// \param satisfies  tries levels out; each is asked at most once
/// \return empty if nothing tried satisfies
[[nodiscard]] inline std::optional<Levels> cheapest_levels(const std::vector<PrecisionChoice>& choices,
                                                           std::size_t most_trials,
                                                           const std::function<bool(const Levels&)>& satisfies) {
  const auto way = greedy_way(choices);
  const auto at = [&](std::size_t count) { return after_steps(choices.size(), way, count); };
  std::size_t trials = 0;
  const auto may_ask = [&] { return trials < most_trials; };
  const auto ask = [&](const Levels& levels) { return ++trials, satisfies(levels); };

  if (!may_ask()) return std::nullopt;
  if (ask(at(0))) return at(0);
  std::size_t low = 0;  // does not satisfy
  std::size_t high = 0;
  for (std::size_t count = 1; high == 0 && low < way.size() && may_ask(); count *= 2) {
    count = std::min(count, way.size());
    (ask(at(count)) ? high : low) = count;
  }
  if (high == 0) return std::nullopt;
  while (high - low > 1 && may_ask()) {
    const std::size_t middle = low + (high - low) / 2;
    (ask(at(middle)) ? high : low) = middle;
  }

  Levels best = at(high);
  std::vector<std::size_t> raised;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    if (best[c] > 0) raised.push_back(c);
  }
  const auto saved = [&](std::size_t c) { return choices[c].levels[best[c]].cost - choices[c].levels[0].cost; };
  std::stable_sort(raised.begin(), raised.end(), [&](std::size_t a, std::size_t b) { return saved(a) > saved(b); });
  for (const std::size_t c : raised) {
    if (c == way[high - 1].choice && way[high - 1].level == best[c]) continue;  // without it the last step is missing
    for (std::size_t level = 0; level < best[c] && may_ask(); ++level) {
      if (choices[c].levels[level].cost >= choices[c].levels[best[c]].cost) continue;
      Levels lower = best;
      lower[c] = level;
      if (!ask(lower)) continue;
      best = lower;
      break;
    }
  }
  return best;
}

}  // namespace amct::flow
