// SPDX-License-Identifier: Apache-2.0
#include <amct/config/kv_cache.hpp>

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

Outcome resolve(const std::string& text) {
  Diagnostics out;
  const auto config = read_kv_cache_config(support::config(text), "f", rules_of(Flavour::pytorch), out);
  Outcome outcome;
  outcome.plan = resolve_kv_cache(config, kLayers, {"q", "k", "conv", "relu"}, "f", out);
  outcome.findings = support::text_of(out);
  return outcome;
}

std::string with(const std::string& setting) {
  return resolve(R"({"kv_cache_quant_config": {"quant_layers": ["k"], "calibration_config": )" + setting + "}}")
      .findings;
}

}  // namespace

TEST_CASE("Listed layers are calibrated with AMCT's defaults, in the order of the model") {
  const auto [plan, findings] = resolve(R"({"kv_cache_quant_config": {"quant_layers": ["k", "q"]}})");
  CHECK(findings.empty());
  CHECK(plan == KvCachePlan{.layers = {{.name = "q"}, {.name = "k"}}});
}

TEST_CASE("Settings come from the layer, or are common") {
  const auto [plan, findings] = resolve(R"({"batch_num": 2, "activation_offset": false,
    "kv_cache_quant_config": {"quant_layers": ["q", "k"],
      "calibration_config": {"hfmg_quantize": {"num_of_bins": 1024, "quant_granularity": "per_channel"}}},
    "override_layers_configs": [{"layer_name": "k", "kv_data_quant_config": {"ifmr_quantize":
      {"search_range_start": 0.8, "search_range_end": 1.2, "search_step": 0.02, "max_percentile": 0.99,
       "min_percentile": 0.98, "asymmetric": true}}}]})");
  CHECK(findings.empty());
  CHECK(plan.batch_num == 2);
  CHECK_FALSE(plan.activation_offset);
  CHECK(plan.layers.at(0) ==
        KvCacheLayer{.name = "q",
                     .data = {.algorithm = ActivationAlgorithm::hfmg, .asymmetric = false, .num_of_bins = 1024},
                     .per_channel = true});
  CHECK(plan.layers.at(1) == KvCacheLayer{.name = "k",
                                          .data = {.max_percentile = 0.99,
                                                   .min_percentile = 0.98,
                                                   .search_start = 0.8,
                                                   .search_end = 1.2,
                                                   .search_step = 0.02}});
}

TEST_CASE("Only Linear layers that exist can be listed, each once") {
  const auto listed = [](const std::string& names) {
    return resolve("{\"kv_cache_quant_config\":\n{\"quant_layers\": [" + names + "]}}").findings;
  };
  CHECK(contains(listed(R"("zz")"), "f:2:19 kv_cache_quant_config.quant_layers: there is no layer \"zz\""));
  CHECK(contains(listed(R"("conv")"),
                 "layer \"conv\" is of type Conv2d and cannot be quantized here, expected a Linear"));
  CHECK(contains(listed(R"("relu")"), "layer \"relu\" cannot be quantized here"));
  CHECK(contains(listed(R"("k", "k")"), "f:2:24 kv_cache_quant_config.quant_layers: layer \"k\" is repeated"));
  CHECK(contains(listed(""), "no layer is given to quantize"));
  CHECK(contains(resolve("{}").findings, "no layer is given to quantize"));
}

TEST_CASE("An override belongs to a listed layer") {
  const auto findings = resolve(R"({"kv_cache_quant_config": {"quant_layers": ["k"]},
                                    "override_layers_configs": [{"layer_name": "q"}]})")
                            .findings;
  CHECK(contains(findings, "f:2:80 override_layers_configs.layer_name: layer \"q\" is not among the quant_layers"));
}

TEST_CASE("Parameters have the ranges of calibration configs") {
  CHECK(with(R"({"ifmr_quantize": {"search_step": 0.6, "max_percentile": 1.0}})").empty());
  CHECK(contains(with(R"({"ifmr_quantize": {"search_step": 0.61}})"),
                 "calibration_config.ifmr_quantize.search_step: got 0.61"));
  CHECK(contains(with(R"({"ifmr_quantize": {"min_percentile": 0.5}})"), "min_percentile: got 0.5, expected above 0.5"));
  CHECK(
      contains(with(R"({"ifmr_quantize": {"search_range_start": 0}})"), "search_range_start: got 0, expected above 0"));
  CHECK(contains(with(R"({"hfmg_quantize": {"num_of_bins": 512}})"), "got 512, expected 1024, 2048, 4096 or 8192"));
  CHECK(contains(with(R"({"hfmg_quantize": {"search_step": 1}})"), "search_step: is not a known parameter"));
  CHECK(contains(with(R"({"ifmr_quantize": {"quant_granularity": "x"}})"), "expected per_tensor or per_channel"));
  CHECK(contains(with(R"({"ifmr_quantize": {}, "hfmg_quantize": {}})"), "is a second algorithm"));
  CHECK(contains(resolve(R"({"batch_num": 0})").findings, "batch_num: got 0, expected at least 1"));
}
