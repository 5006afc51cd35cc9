// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/precision_search.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace amct::flow;

namespace {

PrecisionChoice choice(std::vector<PrecisionLevel> levels) { return {.layers = {"l"}, .levels = std::move(levels)}; }

/// Three layers: the second has much noise and is cheap to raise, the first is dear, the third gains nothing.
std::vector<PrecisionChoice> three() {
  return {choice({{"A8W8", 10, 0.5}, {"A16W8", 20, 0.1}, {"float", 40, 0}}),
          choice({{"A8W8", 1, 0.8}, {"A16W8", 2, 0.7}, {"float", 4, 0}}),
          choice({{"A8W8", 5, 0.1}, {"A16W8", 10, 0.1}})};
}

}  // namespace

TEST_CASE("The greedy way takes away the most noise for its cost, and may skip levels") {
  const auto way = greedy_way(three());
  const std::vector<PrecisionStep> expected{{1, 2}, {0, 1}, {0, 2}, {2, 1}};
  CHECK(way == expected);
  CHECK(after_steps(3, way, 2) == Levels{1, 2, 0});
  CHECK(after_steps(3, way, 0) == Levels{0, 0, 0});
  CHECK(cost_of(three(), {1, 2, 0}) == 29.0);
  CHECK(noise_of(three(), {1, 2, 0}) == doctest::Approx(0.2));
}

TEST_CASE("A latency budget leaves out the steps that do not fit and goes on with others") {
  CHECK(greedy_way(three(), 16.5).empty());
  const std::vector<PrecisionStep> cheapest{{1, 1}};
  CHECK(greedy_way(three(), 18.0) == cheapest);
  const std::vector<PrecisionStep> cheap{{1, 2}};
  CHECK(greedy_way(three(), 19.0) == cheap);
  const std::vector<PrecisionStep> without_first{{1, 2}, {2, 1}};
  CHECK(greedy_way(three(), 28.0) == without_first);
}

TEST_CASE("Noise that is infinite or grows with the bits does no harm") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto way =
      greedy_way({choice({{"A8W8", 1, inf}, {"A16W8", 2, 0.5}}), choice({{"A8W8", 1, 0.1}, {"A16W8", 2, 9}})});
  const std::vector<PrecisionStep> expected{{0, 1}, {1, 1}};
  CHECK(way == expected);
}

TEST_CASE("Whatever satisfies as it stands is not raised") {
  std::size_t trials = 0;
  const auto found = cheapest_levels(three(), 10, [&](const Levels&) { return ++trials, true; });
  CHECK(found == Levels{0, 0, 0});
  CHECK(trials == 1);
}

TEST_CASE("Nothing is found if nothing satisfies, and the number of trials is kept") {
  std::vector<Levels> asked;
  const auto never = [&](const Levels& levels) { return asked.push_back(levels), false; };
  CHECK_FALSE(cheapest_levels(three(), 10, never));
  CHECK(asked.back() == Levels{2, 2, 1});  // as precise as can be was tried
  asked.clear();
  CHECK_FALSE(cheapest_levels(three(), 2, never));
  CHECK(asked.size() == 2);
  CHECK_FALSE(cheapest_levels(three(), 0, never));
}

TEST_CASE("Layers that the way raised without need are lowered again") {
  // Only the first layer matters, although the measured noise says otherwise.
  const auto found = cheapest_levels(three(), 20, [](const Levels& levels) { return levels[0] >= 1; });
  CHECK(found == Levels{1, 0, 0});
}

TEST_CASE("On random networks the result satisfies, was asked for, and costs no more than a uniform choice") {
  std::mt19937 random(5);
  const auto draw = [&](std::uint32_t n) { return static_cast<double>(random() % n + 1); };
  for (int round = 0; round < 200; ++round) {
    std::vector<PrecisionChoice> choices;
    for (int c = 0; c < 8; ++c) {
      const double cost = draw(100);
      const double noise = draw(1000);
      choices.push_back(choice({{"A8W8", cost, noise}, {"A16W8", 2 * cost, noise / draw(50)}, {"float", 4 * cost, 0}}));
    }
    const double allowed = noise_of(choices, Levels(8, 0)) * static_cast<double>(random() % 100) / 100.0;
    std::vector<Levels> asked;
    const auto satisfies = [&](const Levels& levels) {
      asked.push_back(levels);
      return noise_of(choices, levels) <= allowed;
    };
    const auto found = cheapest_levels(choices, 200, satisfies);
    REQUIRE(found);
    CHECK(noise_of(choices, *found) <= allowed);
    CHECK(std::count(asked.begin(), asked.end(), *found) == 1);
    if (noise_of(choices, Levels(8, 1)) <= allowed) CHECK(cost_of(choices, *found) <= cost_of(choices, Levels(8, 1)));
  }
}
