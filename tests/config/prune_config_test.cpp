// SPDX-License-Identifier: Apache-2.0
#include <amct/config/prune_config.hpp>

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

template <class Result>
struct Outcome {
  Result result{};
  std::string findings{};
};

auto read(const std::string& text) {
  Diagnostics out;
  Outcome<std::optional<PruneSetting>> outcome;
  outcome.result = read_prune_config(support::config(text), {.file = "f"}, "prune_config", out);
  outcome.findings = support::text_of(out);
  return outcome;
}
auto read_ratio(const std::string& ratio) {
  return read(R"({"filter_pruner": {"balanced_l2_norm_filter_prune": {"prune_ratio": )" + ratio + "}}}");
}
auto read_full(const std::string& text) {
  Diagnostics out;
  Outcome<std::optional<PruneSetting>> outcome;
  outcome.result = read_regular_prune(support::config(text), {.file = "f"}, "regular_prune_config", out);
  outcome.findings = support::text_of(out);
  return outcome;
}
auto read_auto(const std::string& text) {
  Diagnostics out;
  Outcome<AutoPruneConfig> outcome;
  outcome.result = read_auto_prune(support::config(text), "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

}  // namespace

TEST_CASE("Both pruners of easy configs are read with their defaults") {
  const auto filter = read_ratio("0.25");
  CHECK(filter.findings.empty());
  CHECK(*filter.result == PruneSetting{FilterPrune{.prune_ratio = 0.25, .ascend_optimized = true}});
  const auto selective = read(R"({"n_out_of_m_pruner": {"l1_selective_prune": {"n_out_of_m_type": "M4N2"}}})");
  CHECK(selective.findings.empty());
  CHECK(*selective.result == PruneSetting{SelectivePrune{.update_freq = 0}});
  CHECK_FALSE(read("{}").result.has_value());
}

TEST_CASE("The ratio of channels to prune lies between 0 and 1") {
  for (const char* ratio : {"0.001", "0.999"}) CHECK(read_ratio(ratio).findings.empty());
  for (const char* ratio : {"0", "0.0", "-0.1", "1", "1.5"}) {
    CHECK(contains(read_ratio(ratio).findings, "prune_ratio: got "));
    CHECK(contains(read_ratio(ratio).findings, "expected a number above 0 and below 1"));
  }
  CHECK(contains(read(R"({"filter_pruner": {"balanced_l2_norm_filter_prune": {}}})").findings,
                 "f:1:53 prune_config.filter_pruner.balanced_l2_norm_filter_prune.prune_ratio: is missing"));
}

TEST_CASE("Only one pruner, complete and of a known type, is accepted") {
  CHECK(contains(read(R"({"filter_pruner": {"balanced_l2_norm_filter_prune": {"prune_ratio": 0.5}},
                          "n_out_of_m_pruner": {"l1_selective_prune": {}}})")
                     .findings,
                 "n_out_of_m_pruner: is a second pruner"));
  CHECK(contains(read(R"({"filter_pruner": {}})").findings, "filter_pruner.balanced_l2_norm_filter_prune: is missing"));
  CHECK(contains(read(R"({"n_out_of_m_pruner": {"l1_selective_prune": {"n_out_of_m_type": "M8N4"}}})").findings,
                 "got \"M8N4\", expected M4N2"));
  CHECK(contains(read(R"({"n_out_of_m_pruner": {"l1_selective_prune": {"update_freq": -1}}})").findings,
                 "update_freq: got -1"));
}

TEST_CASE("Settings of full configs come back as they were written") {
  for (const PruneSetting& setting :
       {PruneSetting{FilterPrune{.prune_ratio = 0.3, .ascend_optimized = false}}, PruneSetting{SelectivePrune{7}}}) {
    const auto back = read_full(support::compact(to_regular_prune(setting)));
    CHECK(back.findings.empty());
    CHECK(*back.result == setting);
  }
  CHECK(
      support::compact(to_regular_prune(FilterPrune{.prune_ratio = 0.5})) ==
      R"({"prune_type":"filter_prune","algo":"balanced_l2_norm_filter_prune","prune_ratio":0.5,"ascend_optimized":true})");
  CHECK(support::compact(to_regular_prune(SelectivePrune{})) ==
        R"({"prune_type":"selective_prune","algo":"l1_selective_prune","n_out_of_m_type":"M4N2","update_freq":0})");
}

TEST_CASE("Full configs need a type and the algorithm that goes with it") {
  CHECK(contains(read_full(R"({"prune_type": "x"})").findings, "got \"x\", expected filter_prune or selective_prune"));
  CHECK(contains(read_full(R"({"algo": "l1_selective_prune"})").findings, "prune_type: is missing"));
  CHECK(contains(read_full(R"({"prune_type": "selective_prune", "algo": "balanced_l2_norm_filter_prune"})").findings,
                 "expected l1_selective_prune for prune_type selective_prune"));
}

TEST_CASE("Layers are pruned by what they are") {
  const PruneSetting filter = FilterPrune{.prune_ratio = 0.5};
  const PruneSetting selective = SelectivePrune{};
  const LayerInfo conv{.name = "c"};
  const LayerInfo depthwise{.name = "d", .depthwise = true};
  const LayerInfo transposed{.name = "t", .kind = LayerKind::conv_transpose2d};
  const LayerInfo linear{.name = "l", .kind = LayerKind::linear};
  const LayerInfo conv1d{.name = "o", .kind = LayerKind::conv1d};
  CHECK((can_prune(conv, filter) && can_prune(linear, filter)));
  CHECK((can_prune(conv, selective) && can_prune(linear, selective) && can_prune(transposed, selective)));
  CHECK_FALSE((can_prune(depthwise, filter) || can_prune(transposed, filter) || can_prune(conv1d, filter)));
  CHECK_FALSE(can_prune(conv1d, selective));
}

TEST_CASE("An automatic search is read and checked") {
  const auto full = read_auto(R"({"compress_ratio": 1.5, "ascend_optimized": false, "max_prune_ratio": 0.8,
                                  "test_iteration": 3, "override_prune_cfg": "a.cfg"})");
  CHECK(full.findings.empty());
  CHECK(full.result == AutoPruneConfig{1.5, false, 0.8, 3, "a.cfg"});
  CHECK(read_auto(R"({"compress_ratio": 2})").result == AutoPruneConfig{.compress_ratio = 2.0});

  CHECK(contains(read_auto("{}").findings, "compress_ratio: is missing: a number above 1"));
  CHECK(contains(read_auto(R"({"compress_ratio": 1.0})").findings, "compress_ratio: got 1, expected a number above 1"));
  const auto with = [](const std::string& member) {
    return read_auto(R"({"compress_ratio": 2, )" + member + '}').findings;
  };
  CHECK(with(R"("max_prune_ratio": 1.0)").empty());
  CHECK(contains(with(R"("max_prune_ratio": 0)"), "max_prune_ratio: got 0"));
  CHECK(contains(with(R"("max_prune_ratio": 1.1)"), "expected a number above 0, at most 1"));
  CHECK(contains(with(R"("test_iteration": 0)"), "test_iteration: got 0, expected at least 1"));
  CHECK(contains(with(R"("x": 0)"), "x: is not a known parameter"));
}
