// SPDX-License-Identifier: Apache-2.0
#include <amct/config/kv_cache_json.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const LayerTable kLayers{
    {.name = "q", .kind = LayerKind::linear}, {.name = "k", .kind = LayerKind::linear}, {.name = "conv"}};

struct Outcome {
  KvCachePlan plan{};
  std::string findings{};
};

Outcome read(const std::string& text) {
  Diagnostics out;
  Outcome outcome;
  outcome.plan = from_kv_cache_json(support::config(text), kLayers, rules_of(Flavour::pytorch), "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

std::string with(const std::string& members) {
  return read(R"({"k": {"kv_data_quant_config": {)" + members + "}}}").findings;
}

}  // namespace

TEST_CASE("A plan is written in AMCT's order and read back") {
  KvCachePlan plan{.batch_num = 2, .activation_offset = false};
  plan.layers.push_back({.name = "q", .data = {.asymmetric = false}, .per_channel = true});
  plan.layers.push_back({.name = "k", .data = {.algorithm = ActivationAlgorithm::hfmg, .num_of_bins = 1024}});
  const std::string text = support::compact(to_kv_cache_json(plan));
  CHECK(
      text ==
      R"({"batch_num":2,"activation_offset":false,)"
      R"("q":{"kv_data_quant_config":{"act_algo":"ifmr","max_percentile":0.999999,"min_percentile":0.999999,)"
      R"("search_range":[0.7,1.3],"search_step":0.01,"quant_granularity":1}},)"
      R"("k":{"kv_data_quant_config":{"act_algo":"hfmg","num_of_bins":1024,"asymmetric":true,"quant_granularity":0}}})");
  const auto back = read(text);
  CHECK(back.findings.empty());
  CHECK(back.plan == plan);
}

TEST_CASE("Missing members take their defaults") {
  const auto [plan, findings] = read(R"({"activation_offset": false, "k": {}})");
  CHECK(findings.empty());
  CHECK(plan == KvCachePlan{.activation_offset = false, .layers = {{.name = "k", .data = {.asymmetric = false}}}});
}

TEST_CASE("What does not fit is refused with its place") {
  CHECK(contains(read(R"({"batch_num": 0, "k": {}})").findings, "batch_num: got 0, expected at least 1"));
  CHECK(contains(read(R"({"conv": {}})").findings, "layer \"conv\" is of type Conv2d"));
  CHECK(contains(read(R"({"zz": {}})").findings, "zz: is neither a parameter nor a layer"));
  CHECK(contains(read("{}").findings, "no layer is given to quantize"));
  CHECK(contains(with(R"("act_algo": "foo")"),
                 "layer \"k\" kv_data_quant_config.act_algo: got \"foo\", expected ifmr or hfmg"));
  CHECK(contains(with(R"("search_range": [0.7])"), "search_range: got a list, expected a list of two numbers"));
  CHECK(
      contains(with(R"("search_range": [0, 1.3])"), "f:1:50 layer \"k\" kv_data_quant_config.search_range[0]: got 0"));
  CHECK(contains(with(R"("quant_granularity": 2)"), "got 2, expected 0 (per tensor) or 1 (per channel)"));
  CHECK(contains(with(R"("act_algo": "hfmg", "num_of_bins": 1000)"), "num_of_bins: got 1000"));
  CHECK(contains(with(R"("x": 1)"), "kv_data_quant_config.x: is not a known parameter"));
  CHECK(contains(read(R"({"k": {"kv_data_quant_config": 3}})").findings, "got 3, expected an object"));
}
