// SPDX-License-Identifier: Apache-2.0
#include <amct/config/ranges.hpp>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace amct;

/// The fields that are refused.
template <class Plan>
std::string refused(const Plan& plan, Flavour flavour = Flavour::pytorch) {
  std::string fields;
  check_ranges(plan, rules_of(flavour), [&](std::string_view field, const std::string&, const std::string&) {
    fields += (fields.empty() ? "" : " ") + std::string(field);
  });
  return fields;
}

/// What the message of the only finding says.
template <class Plan>
std::string message(const Plan& plan, Flavour flavour = Flavour::pytorch) {
  std::string text;
  check_ranges(plan, rules_of(flavour), [&](std::string_view, const std::string& got, const std::string& expected) {
    CHECK(text.empty());
    text = "got " + got + ", expected " + expected;
  });
  return text;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("allowed numbers are listed as a person would") {
  CHECK(list_text(std::vector<int>{8}) == "8");
  CHECK(list_text(std::vector<int>{4, 8}) == "4 or 8");
  CHECK(list_text(std::vector<int>{4, 8, 16}) == "4, 8 or 16");
  CHECK(list_text(std::vector<int>{4, 6, 7, 8}) == "4, 6, 7 or 8");
  CHECK(list_text(std::vector<int>{4, 8, 9, 10, 11, 12, 13, 14, 15, 16}) == "4 or 8..16");
  CHECK(list_text(std::vector<int>{}).empty());
}

TEST_CASE("defaults are in range in every flavour") {
  for (const auto& rules : kFlavours) {
    CHECK(refused(ActivationPlan{}, rules.flavour).empty());
    CHECK(refused(ActivationPlan{.algorithm = ActivationAlgorithm::hfmg}, rules.flavour).empty());
    CHECK(refused(WeightPlan{}, rules.flavour).empty());
    CHECK(refused(WeightPlan{.algorithm = WeightAlgorithm::ada}, rules.flavour).empty());
    CHECK(refused(WeightPlan{.algorithm = WeightAlgorithm::snq, .bits = 4}, rules.flavour).empty());
    CHECK(refused(WeightPlan{.algorithm = WeightAlgorithm::none, .bits = 5}, rules.flavour).empty());
  }
}

TEST_CASE("K37: bit widths are those of the flavour") {
  CHECK(message(ActivationPlan{.bits = 12}) == "got 12, expected 4, 8 or 16");
  CHECK(message(ActivationPlan{.bits = 12}, Flavour::hotwheels_dynamic).empty());
  CHECK(message(ActivationPlan{.bits = 7}, Flavour::hotwheels_dynamic) == "got 7, expected 4 or 8..16");
  CHECK(message(ActivationPlan{.bits = 16}, Flavour::mindspore) == "got 16, expected 8");
  CHECK(message(WeightPlan{.bits = 5}) == "got 5, expected 4, 6, 7 or 8");
  CHECK(message(WeightPlan{.bits = 6}, Flavour::hotwheels_dynamic) == "got 6, expected 4 or 8");
  CHECK(message(WeightPlan{.algorithm = WeightAlgorithm::snq, .bits = 8}) == "got 8, expected 4 for SNQ");
}

TEST_CASE("percentiles lie above 0.5 and reach 1") {
  for (const double good : {0.500001, 0.99, 1.0}) {
    CHECK(refused(ActivationPlan{.max_percentile = good, .min_percentile = good}).empty());
  }
  for (const double bad : {0.0, 0.5, 1.000001, -1.0, kNan, kInf}) {
    CHECK(refused(ActivationPlan{.max_percentile = bad}) == "max_percentile");
    CHECK(refused(ActivationPlan{.min_percentile = bad}) == "min_percentile");
  }
}

TEST_CASE("K1: the search range starts above 0 and ends above its start; hotwheels keeps it in 0.7 to 1.3") {
  CHECK(refused(ActivationPlan{.search_start = 0.001, .search_end = 5.0}).empty());
  for (const double bad : {0.0, -0.1, kNan}) {
    CHECK(refused(ActivationPlan{.search_start = bad}).starts_with("search_range_start"));
  }
  CHECK(refused(ActivationPlan{.search_start = 1.0, .search_end = 1.0}) == "search_range_end");
  CHECK(refused(ActivationPlan{.search_start = 1.0, .search_end = 0.9}) == "search_range_end");
  for (const double bad : {kNan, kInf})
    CHECK(refused(ActivationPlan{.search_end = bad}).starts_with("search_range_end"));

  const Flavour hotwheels = Flavour::hotwheels_dynamic;
  CHECK(refused(ActivationPlan{.search_start = 0.7, .search_end = 1.3}, hotwheels).empty());
  CHECK(message(ActivationPlan{.search_start = 0.6}, hotwheels) == "got 0.6, expected from 0.7 to 1.3");
  CHECK(refused(ActivationPlan{.search_end = 1.31}, hotwheels) == "search_range_end");
}

TEST_CASE("the search step lies above 0 and reaches the width of the range in decimal arithmetic") {
  for (const double bad : {0.0, -0.1, kNan, kInf, 0.61, 0.600001}) {
    CHECK(refused(ActivationPlan{.search_step = bad}) == "search_step");
  }
  CHECK(message(ActivationPlan{.search_step = 0.61}) ==
        "got 0.61, expected at most search_range_end - search_range_start, which is 0.6");
  CHECK(refused(ActivationPlan{.search_step = 0.6}).empty());
  static_assert(1.0 - 0.9 < 0.1, "the width in double arithmetic is too small");
  CHECK(refused(ActivationPlan{.search_start = 0.9, .search_end = 1.0, .search_step = 0.1}).empty());
}

TEST_CASE("a search of more than 10000 candidates is refused") {
  CHECK(refused(ActivationPlan{.search_start = 1.0, .search_end = 2.0, .search_step = 1e-4}).empty());
  CHECK(refused(ActivationPlan{.search_start = 1.0, .search_end = 2.0, .search_step = 0.99e-4}) == "search_step");
  CHECK(message(ActivationPlan{.search_end = 1e9}).find("would appear to hang") != std::string::npos);
}

TEST_CASE("HFMG has four numbers of bins") {
  for (const std::uint32_t bins : {0U, 512U, 1000U, 1023U, 1024U, 2048U, 4096U, 8192U, 16384U}) {
    const bool good = bins == 1024 || bins == 2048 || bins == 4096 || bins == 8192;
    CHECK(refused(ActivationPlan{.algorithm = ActivationAlgorithm::hfmg, .num_of_bins = bins}).empty() == good);
  }
  CHECK(refused(ActivationPlan{.algorithm = ActivationAlgorithm::hfmg, .max_percentile = 2.0}).empty());
}

TEST_CASE("AdaRound: fractions between 0 and 1, beta falls but stays above 0, any number of iterations") {
  const auto ada = [](WeightPlan plan) {
    plan.algorithm = WeightAlgorithm::ada;
    return refused(plan);
  };
  for (const double bad : {0.0, 1.0, -0.5, kNan}) {
    CHECK(ada({.reg_param = bad}) == "reg_param");
    CHECK(ada({.warm_start = bad}) == "warm_start");
  }
  for (const double bad : {0.0, -1.0, kNan}) CHECK(ada({.beta_end = bad}) == "beta_range_end");
  CHECK(ada({.beta_start = 2.0}) == "beta_range_start");
  CHECK(ada({.beta_start = kNan}) == "beta_range_start");
  CHECK(ada({.num_iteration = 0}).empty());
}

TEST_CASE("SNQ: bounds of its iterations, distance and start") {
  const auto snq = [](WeightPlan plan) {
    plan.algorithm = WeightAlgorithm::snq;
    plan.bits = 4;
    return refused(plan);
  };
  for (const std::uint32_t good : {500U, 2000U}) CHECK(snq({.max_iteration = good}).empty());
  for (const std::uint32_t bad : {499U, 2001U}) CHECK(snq({.max_iteration = bad}) == "max_iteration");
  for (const double good : {1e-10, 1e-3}) CHECK(snq({.min_distance = good}).empty());
  for (const double bad : {0.9e-10, 1.1e-3, kNan}) CHECK(snq({.min_distance = bad}) == "min_distance");
  for (const char* good : {"uniform", "gaussian", "d2sampling"}) CHECK(snq({.init_algo = good}).empty());
  CHECK(snq({.init_algo = "Uniform"}) == "init_algo");
}

TEST_CASE("migration strength and the update of BatchNormalization") {
  const auto strength_refused = [](double value) {
    bool found = false;
    check_migration_strength(value, [&](std::string_view, const std::string&, const std::string&) { found = true; });
    return found;
  };
  for (const double good : {0.2, 0.5, 0.8}) CHECK_FALSE(strength_refused(good));
  for (const double bad : {0.1, 0.19999, 0.81, kNan}) CHECK(strength_refused(bad));

  const auto update_refused = [](const BatchNormUpdate& update) {
    std::string fields;
    check_ranges(update, [&](std::string_view field, const std::string&, const std::string&) { fields += field; });
    return fields;
  };
  CHECK(update_refused({}).empty());
  CHECK(update_refused({.iterations = 0}) == "bn_update_iterations");
  for (const double bad : {0.0, 1.1, -0.1, kNan}) CHECK(update_refused({.momentum = bad}) == "bn_momentum");
}
