// SPDX-License-Identifier: Apache-2.0
#include "fuzz/config.hpp"

#include <string>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/distill_config.hpp>
#include <amct/config/distill_json.hpp>
#include <amct/config/easy_config.hpp>
#include <amct/config/fx_checks.hpp>
#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_json.hpp>
#include <amct/config/fx_resolve.hpp>
#include <amct/config/kv_cache.hpp>
#include <amct/config/kv_cache_json.hpp>
#include <amct/config/network.hpp>
#include <amct/config/network_checks.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/om.hpp>
#include <amct/config/prune_config.hpp>
#include <amct/config/read_classic_json.hpp>
#include <amct/config/read_easy_config.hpp>
#include <amct/config/resolve.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/quantize/builtin.hpp>

#include "fuzz/fuzz.hpp"

namespace fuzz {

namespace {

const amct::LayerTable kLayers = {
    {.name = "conv1", .kind = amct::LayerKind::conv2d, .op_type = "Conv", .packs_int4 = false},
    {.name = "layer1.0.conv2", .kind = amct::LayerKind::conv2d, .op_type = "Conv", .depthwise = true},
    {.name = "up", .kind = amct::LayerKind::conv_transpose2d, .op_type = "ConvTranspose"},
    {.name = "pool", .kind = amct::LayerKind::avg_pool2d, .op_type = "AveragePool"},
    {.name = "add", .kind = amct::LayerKind::other, .op_type = "Add", .activation_inputs = 2},
    {.name = "scores", .kind = amct::LayerKind::other, .op_type = "MatMul", .activation_inputs = 2},
    {.name = "k", .kind = amct::LayerKind::linear, .op_type = "MatMul"},
    {.name = "fc", .kind = amct::LayerKind::linear, .op_type = "Gemm"},
};

const amct::Network kNetwork = {
    {"conv1", "/conv1/Conv", "Conv", {"x"}, {"a"}},     {"relu1", "/relu1/Relu", "Relu", {"a"}, {"b"}},
    {"layer1.0.conv2", "/c2", "Conv", {"b"}, {"c"}},    {"add", "/Add", "Add", {"b", "c"}, {"d"}},
    {"up", "/up", "ConvTranspose", {"d"}, {"e"}},       {"pool", "/pool", "AveragePool", {"e"}, {"f"}},
    {"scores", "/MatMul", "MatMul", {"f", "f"}, {"g"}}, {"k", "/k/MatMul", "MatMul", {"g"}, {"h"}},
    {"flatten", "/Flatten", "Flatten", {"h"}, {"i"}},   {"fc", "/fc/Gemm", "Gemm", {"i"}, {"y"}},
};

const std::vector<std::string>& nodes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& node : kNetwork) all.push_back(node.name);
    return all;
  }();
  return names;
}

/// \param read   value, diagnostics -> plan
/// \param write  plan -> value
template <class Plan, class Read, class Write>
void round_trip(const Plan& plan, const amct::Diagnostics& found, const Read& read, const Write& write) {
  if (found.has_errors()) return;
  const std::string written = amct::json_yaml::json_text(write(plan));
  amct::Diagnostics again;
  const auto second = read(amct::json_yaml::parse_json(written, "written"), again);
  if (again.has_errors()) accepts([&] { again.throw_if_errors(); });
  require(!again.has_errors(), "a full config that was written is accepted");
  require(amct::json_yaml::json_text(write(second)) == written, "a full config is written the same again");
}

}  // namespace

void check_full_config(const amct::ConfigValue& value, const amct::FlavourRules& rules) {
  const auto classic = [&](const amct::ConfigValue& json, amct::Diagnostics& out) {
    return amct::from_classic_json(json, kLayers, nodes(), rules, "fuzzed", out);
  };
  const auto retrain = [&](const amct::ConfigValue& json, amct::Diagnostics& out) {
    return amct::from_retrain_json(json, kLayers, rules, "fuzzed", out);
  };
  const auto distill = [&](const amct::ConfigValue& json, amct::Diagnostics& out) {
    return amct::from_distill_json(json, kLayers, kNetwork, rules, "fuzzed", out);
  };
  const auto kv_cache = [&](const amct::ConfigValue& json, amct::Diagnostics& out) {
    return amct::from_kv_cache_json(json, kLayers, rules, "fuzzed", out);
  };
  const auto run = [&](const auto& read, const auto& write) {
    amct::Diagnostics out;
    const auto plan = read(value, out);
    round_trip(plan, out, read, write);
  };
  run(classic, [&](const auto& plan) { return amct::to_classic_json(plan, rules); });
  run(retrain, [&](const auto& plan) { return amct::to_retrain_json(plan, rules); });
  run(distill, [&](const auto& plan) { return amct::to_distill_json(plan, rules); });
  run(kv_cache, [&](const auto& plan) { return amct::to_kv_cache_json(plan); });
}

void check_easy_calibration(const amct::ConfigValue& value, const amct::FlavourRules& rules) {
  amct::Diagnostics out;
  const auto config = amct::easy_config(value, "fuzzed", out);
  const auto plan = amct::resolve(config, kLayers, nodes(), rules, out);
  round_trip(
      plan, out,
      [&](const amct::ConfigValue& json, amct::Diagnostics& again) {
        return amct::from_classic_json(json, kLayers, nodes(), rules, "written", again);
      },
      [&](const auto& one) { return amct::to_classic_json(one, rules); });
}

void check_easy_retrain(const amct::ConfigValue& value, const amct::FlavourRules& rules) {
  for (const auto mode : {amct::RetrainMode::quantize, amct::RetrainMode::prune, amct::RetrainMode::compress}) {
    amct::Diagnostics out;
    const auto config = amct::read_retrain_config(value, "fuzzed", kLayers, nodes(), rules, mode, out);
    const auto plan = amct::resolve_retrain(config, kLayers, rules, mode, "fuzzed", out);
    round_trip(
        plan, out,
        [&](const amct::ConfigValue& json, amct::Diagnostics& again) {
          return amct::from_retrain_json(json, kLayers, rules, "written", again);
        },
        [&](const auto& one) { return amct::to_retrain_json(one, rules); });
  }
}

void check_easy_distill(const amct::ConfigValue& value, const amct::FlavourRules& rules) {
  amct::Diagnostics out;
  const auto config = amct::read_distill_config(value, "fuzzed", kLayers, kNetwork, rules, out);
  const auto plan = amct::resolve_distill(config, kLayers, kNetwork, rules, "fuzzed", out);
  round_trip(
      plan, out,
      [&](const amct::ConfigValue& json, amct::Diagnostics& again) {
        return amct::from_distill_json(json, kLayers, kNetwork, rules, "written", again);
      },
      [&](const auto& one) { return amct::to_distill_json(one, rules); });
}

void check_easy_kv_cache(const amct::ConfigValue& value, const amct::FlavourRules& rules) {
  amct::Diagnostics out;
  const auto config = amct::read_kv_cache_config(value, "fuzzed", rules, out);
  const auto plan = amct::resolve_kv_cache(config, kLayers, nodes(), "fuzzed", out);
  round_trip(
      plan, out,
      [&](const amct::ConfigValue& json, amct::Diagnostics& again) {
        return amct::from_kv_cache_json(json, kLayers, rules, "written", again);
      },
      [&](const auto& one) { return amct::to_kv_cache_json(one); });
}

void check_om(const amct::ConfigValue& value) {
  amct::Diagnostics out;
  const auto operators = amct::read_om(value, "fuzzed", out);
  amct::QuantPlan plan;
  for (const auto& layer : kLayers) plan.layers.push_back({.name = layer.name, .kind = layer.kind});
  require(amct::apply_om(plan, operators) <= kLayers.size(), "a mapping file sets layers of the plan");
}

void check_fx(const amct::ConfigValue& value, bool easy) {
  const auto& rules = amct::rules_of(amct::Flavour::hotwheels);
  const amct::NetworkNames names(kLayers, nodes());
  const auto read = [&](const amct::ConfigValue& json, amct::Diagnostics& again) {
    return amct::from_fx_json(json, "written", kLayers, names, rules, again);
  };
  amct::Diagnostics out;
  const amct::FxPlan plan =
      easy ? amct::resolve_fx(amct::read_fx_easy(value, "fuzzed", kLayers, names, rules, out), kLayers, rules, out)
           : read(value, out);
  round_trip(plan, out, read, [](const auto& one) { return amct::to_fx_json(one); });
  static const amct::QuantizerRegistry registry = amct::builtin_registry();
  amct::check_fx_plan(plan, rules, registry, "fuzzed", out);
  amct::check_network(kNetwork, amct::network_quantization(plan, kLayers, rules), rules, "fuzzed", out);
}

void check_auto_prune(const amct::ConfigValue& value) {
  amct::Diagnostics out;
  static_cast<void>(amct::read_auto_prune(value, "fuzzed", out));
}

}  // namespace fuzz
