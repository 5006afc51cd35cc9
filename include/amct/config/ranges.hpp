// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <amct/config/plan.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/float_text.hpp>

/// \file
/// Ranges of calibration parameters, for every file that holds some.
///
/// `refuse(field, got, expected)` is called for each value that is out of its range. Fields go by their names in easy
/// configs (search_range_start, beta_range_end); a bit width is "num_bits" whatever the file calls it.

namespace amct {

/// "4, 6, 7 or 8"; four or more in a row as "8..16".
[[nodiscard]] inline std::string list_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (last - i < 3) last = i;
    if (i > 0) text += last + 1 == numbers.size() ? " or " : ", ";
    text += std::to_string(numbers[i]);
    if (last > i) text += ".." + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

namespace detail {

[[nodiscard]] inline bool is_one_of(std::span<const int> numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// Ends of an IFMR search range.
template <class Refuse>
void check_search_range(const ActivationPlan& plan, const FlavourRules& rules, Refuse&& refuse) {
  const auto inside = [&](double value) {
    return rules.search_open ? value > rules.search_lowest && value < rules.search_highest
                             : value >= rules.search_lowest && value <= rules.search_highest;
  };
  const std::string allowed =
      rules.search_open ? "above " + decimal_text(rules.search_lowest)
                        : "from " + decimal_text(rules.search_lowest) + " to " + decimal_text(rules.search_highest);
  if (!inside(plan.search_start)) refuse("search_range_start", decimal_text(plan.search_start), allowed);
  if (!inside(plan.search_end)) {
    refuse("search_range_end", decimal_text(plan.search_end), allowed);
  } else if (!(plan.search_start < plan.search_end)) {
    refuse("search_range_end", decimal_text(plan.search_end),
           "above search_range_start, which is " + decimal_text(plan.search_start));
  }
}

template <class Refuse>
void check_search_step(const ActivationPlan& plan, Refuse&& refuse) {
  const std::string got = decimal_text(plan.search_step);
  const double range = plan.search_end - plan.search_start;
  if (!(plan.search_step > 0.0)) return refuse("search_step", got, "above 0");
  if (!(range > 0.0)) return;
  // AMCT compares decimals: 0.6 does not exceed 1.3 - 0.7, which is less in binary.
  constexpr double kRounding = 1e-12;
  constexpr double kMostCandidates = 10000.0;
  if (!(plan.search_step <= range + kRounding * plan.search_end)) {
    refuse("search_step", got,
           "at most search_range_end - search_range_start, which is " + decimal_text(std::round(range * 1e9) / 1e9));
  } else if (!(range / plan.search_step <= kMostCandidates)) {
    refuse("search_step", got, "a step that gives at most 10000 candidates; the search would appear to hang");
  }
}

}  // namespace detail

template <class Refuse>
void check_ifmr(const ActivationPlan& plan, const FlavourRules& rules, Refuse&& refuse) {
  const auto check_percentile = [&](const char* field, double value) {
    if (!(value > 0.5 && value <= 1.0)) refuse(field, decimal_text(value), "above 0.5, at most 1");
  };
  check_percentile("max_percentile", plan.max_percentile);
  check_percentile("min_percentile", plan.min_percentile);
  detail::check_search_range(plan, rules, refuse);
  detail::check_search_step(plan, refuse);
}

template <class Refuse>
void check_hfmg(const ActivationPlan& plan, Refuse&& refuse) {
  const auto bins = plan.num_of_bins;
  if (bins != 1024 && bins != 2048 && bins != 4096 && bins != 8192) {
    refuse("num_of_bins", std::to_string(bins), "1024, 2048, 4096 or 8192");
  }
}

template <class Refuse>
void check_ranges(const ActivationPlan& plan, const FlavourRules& rules, Refuse&& refuse) {
  if (!detail::is_one_of(rules.activation_bits, plan.bits)) {
    refuse("num_bits", std::to_string(plan.bits), list_text(rules.activation_bits));
  }
  if (plan.algorithm == ActivationAlgorithm::hfmg) return check_hfmg(plan, refuse);
  check_ifmr(plan, rules, refuse);
}

namespace detail {

/// AdaRound; any number of iterations will do, 0 too.
template <class Refuse>
void check_ada_round(const WeightPlan& plan, Refuse&& refuse) {
  const auto check_fraction = [&](const char* field, double value) {
    if (!(value > 0.0 && value < 1.0)) refuse(field, decimal_text(value), "above 0 and below 1");
  };
  check_fraction("reg_param", plan.reg_param);
  check_fraction("warm_start", plan.warm_start);
  if (!(plan.beta_end > 0.0)) {
    refuse("beta_range_end", decimal_text(plan.beta_end), "above 0");
  } else if (!(plan.beta_start > plan.beta_end)) {
    refuse("beta_range_start", decimal_text(plan.beta_start),
           "above beta_range_end, which is " + decimal_text(plan.beta_end));
  }
}

template <class Refuse>
void check_snq(const WeightPlan& plan, Refuse&& refuse) {
  if (plan.max_iteration < 500 || plan.max_iteration > 2000) {
    refuse("max_iteration", std::to_string(plan.max_iteration), "500 to 2000");
  }
  if (!(plan.min_distance >= 1e-10 && plan.min_distance <= 1e-3)) {
    refuse("min_distance", decimal_text(plan.min_distance), "from 1e-10 to 0.001");
  }
  const auto& init = plan.init_algo;
  if (init != "uniform" && init != "gaussian" && init != "d2sampling") {
    refuse("init_algo", '"' + init + '"', "\"uniform\", \"gaussian\" or \"d2sampling\"");
  }
  if (plan.bits != 4) refuse("num_bits", std::to_string(plan.bits), "4 for SNQ");
}

}  // namespace detail

template <class Refuse>
void check_ranges(const WeightPlan& plan, const FlavourRules& rules, Refuse&& refuse) {
  switch (plan.algorithm) {
    case WeightAlgorithm::none: return;
    case WeightAlgorithm::snq: return detail::check_snq(plan, refuse);
    case WeightAlgorithm::ada: detail::check_ada_round(plan, refuse); break;
    case WeightAlgorithm::arq: break;
  }
  if (!detail::is_one_of(rules.weight_bits, plan.bits)) {
    refuse("num_bits", std::to_string(plan.bits), list_text(rules.weight_bits));
  }
}

template <class Refuse>
void check_migration_strength(double strength, Refuse&& refuse) {
  if (!(strength >= 0.2 && strength <= 0.8)) {
    refuse("migration_strength", decimal_text(strength), "from 0.2 to 0.8");
  }
}

template <class Refuse>
void check_ranges(const BatchNormUpdate& update, Refuse&& refuse) {
  if (update.iterations == 0) refuse("bn_update_iterations", "0", "at least 1");
  if (!(update.momentum > 0.0 && update.momentum <= 1.0)) {
    refuse("bn_momentum", decimal_text(update.momentum), "above 0, at most 1");
  }
}

}  // namespace amct
