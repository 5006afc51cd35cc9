// SPDX-License-Identifier: Apache-2.0
// Configs of whole runs: quantization-aware training, pruning, both, distillation, KV caches, automatic pruning.
// config.json is made again byte for byte; where the run has none, its easy config must be accepted.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/distill_config.hpp>
#include <amct/config/distill_json.hpp>
#include <amct/config/kv_cache.hpp>
#include <amct/config/kv_cache_json.hpp>
#include <amct/config/prune_config.hpp>
#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/graph/network.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/config_text.hpp>

#include "golden_cases/config_network.hpp"
#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"
#include "support/text_file.hpp"

namespace golden {

namespace {

using amct::protobuf::CfgSchema;
using Findings = std::vector<std::string>;

const amct::FlavourRules& rules() { return amct::rules_of(amct::Flavour::pytorch); }

/// The easy config of a run; null if it has none.
amct::ConfigValue easy_config(const std::filesystem::path& run, const char* name, CfgSchema schema) {
  const auto file = run / name;
  return std::filesystem::exists(file) ? amct::protobuf::read_cfg(file, schema) : amct::ConfigValue{};
}

amct::RetrainPlan retrain_plan(const std::filesystem::path& run, const char* name, amct::RetrainMode mode) {
  const ConfigNetwork network = config_network(run / "float.onnx");
  const std::string file = (run / name).string();
  amct::Diagnostics out;
  const auto config = amct::read_retrain_config(easy_config(run, name, CfgSchema::retrain_pytorch), file,
                                                network.layers, network.nodes, rules(), mode, out);
  auto plan = amct::resolve_retrain(config, network.layers, rules(), mode, file, out);
  out.throw_if_errors();
  return plan;
}

/// The config that we write is theirs, and reading it gives the plan back.
template <class Plan, class Write, class Read>
Findings compare_file(const std::filesystem::path& file, const Plan& plan, Write write, Read read) {
  Findings findings;
  if (amct::json_yaml::json_text(write(plan)) != support::read_text(file)) findings.push_back("config.json differs");
  amct::Diagnostics out;
  const Plan back = read(amct::json_yaml::read_json(file), file.string(), out);
  if (!text_of(out).empty()) findings.push_back(text_of(out));
  if (back != plan) findings.push_back("config.json does not give the plan back");
  return findings;
}

Findings compare_retrain(const std::filesystem::path& run) {
  if (!std::filesystem::exists(run / "config.json")) {
    try {
      static_cast<void>(retrain_plan(run, "easy.cfg", amct::RetrainMode::quantize));
      return {"was accepted"};
    } catch (const amct::Error& error) {
      const bool names_place = error.where().line > 0 && !error.where().layer.empty();
      return names_place ? Findings{} : Findings{std::string("names no place: ") + error.what()};
    }
  }
  const auto layers = config_network(run / "float.onnx").layers;
  return compare_file(
      run / "config.json", retrain_plan(run, "easy.cfg", amct::RetrainMode::quantize),
      [](const auto& plan) { return amct::to_retrain_json(plan, rules()); },
      [&](const auto& value, const auto& file, auto& out) {
        return amct::from_retrain_json(value, layers, rules(), file, out);
      });
}

/// Runs without config.json: the plan survives our own file.
Findings check_pruning(const std::filesystem::path& run, amct::RetrainMode mode) {
  const auto plan = retrain_plan(run, "easy.cfg", mode);
  const auto layers = config_network(run / "float.onnx").layers;
  amct::Diagnostics out;
  const auto back = amct::from_retrain_json(amct::to_retrain_json(plan, rules()), layers, rules(), "config.json", out);
  Findings findings;
  if (!text_of(out).empty()) findings.push_back(text_of(out));
  if (back != plan) findings.push_back("the plan does not come back");
  try {
    static_cast<void>(retrain_plan(run, "easy.cfg", amct::RetrainMode::quantize));
    findings.push_back("was accepted with pruning off");
  } catch (const amct::Error& error) {
    if (error.where().field != "prune_config") findings.push_back(std::string("another refusal: ") + error.what());
  }
  return findings;
}

Findings compare_distill(const std::filesystem::path& run) {
  const ConfigNetwork tables = config_network(run / "float.onnx");
  const auto network = amct::graph::network_of(amct::onnx::import_model(run / "float.onnx"));
  const std::string file = (run / "easy.cfg").string();
  amct::Diagnostics out;
  const auto config = amct::read_distill_config(easy_config(run, "easy.cfg", CfgSchema::distill), file, tables.layers,
                                                network, rules(), out);
  const auto plan = amct::resolve_distill(config, tables.layers, network, rules(), file, out);
  out.throw_if_errors();
  return compare_file(
      run / "config.json", plan, [](const auto& made) { return amct::to_distill_json(made, rules()); },
      [&](const auto& value, const auto& path, auto& found) {
        return amct::from_distill_json(value, tables.layers, network, rules(), path, found);
      });
}

/// These runs give their network as weights only: three Linear layers, of which k and v are cached.
Findings compare_kv_cache(const std::filesystem::path& run) {
  amct::LayerTable layers;
  for (const char* name : {"k", "v", "q"}) layers.push_back({.name = name, .kind = amct::LayerKind::linear});
  const std::string file = (run / "easy.cfg").string();
  amct::Diagnostics out;
  auto config = amct::read_kv_cache_config(easy_config(run, "easy.cfg", CfgSchema::kv_cache), file, rules(), out);
  if (!std::filesystem::exists(file)) config.quant_layers = {{"k", {}}, {"v", {}}};
  const auto plan = amct::resolve_kv_cache(config, layers, {}, file, out);
  out.throw_if_errors();
  return compare_file(
      run / "config.json", plan, [](const auto& made) { return amct::to_kv_cache_json(made); },
      [&](const auto& value, const auto& path, auto& found) {
        return amct::from_kv_cache_json(value, layers, rules(), path, found);
      });
}

/// search.cfg says what notes.json does, and AMCT's answer, output.cfg, is a config that prunes.
Findings check_auto_prune(const std::filesystem::path& run) {
  const Json notes = read_json(run / "notes.json");
  amct::Diagnostics out;
  const auto config =
      amct::read_auto_prune(easy_config(run, "search.cfg", CfgSchema::auto_prune), (run / "search.cfg").string(), out);
  out.throw_if_errors();
  Findings findings;
  if (config.compress_ratio != notes.at("compress_ratio") || config.max_prune_ratio != notes.at("max_prune_ratio") ||
      config.ascend_optimized != notes.at("ascend").get<bool>()) {
    findings.push_back("search.cfg reads as another search");
  }
  const auto plan = retrain_plan(run, "output.cfg", amct::RetrainMode::prune);
  const auto pruned = std::count_if(plan.layers.begin(), plan.layers.end(), [](const auto& layer) {
    return layer.prune_enabled && std::holds_alternative<amct::FilterPrune>(*layer.prune);
  });
  if (pruned < 2) findings.push_back("output.cfg prunes fewer than two layers");
  return findings;
}

std::optional<Findings> compare(const std::filesystem::path& run) {
  const std::string name = run.filename().string();
  const auto is = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (is("qat_")) return compare_retrain(run);
  if (is("prune_") || is("selective_")) return check_pruning(run, amct::RetrainMode::prune);
  if (is("compressed_")) return check_pruning(run, amct::RetrainMode::compress);
  if (is("distill_")) return compare_distill(run);
  if (is("kv_")) return compare_kv_cache(run);
  if (is("autoprune_")) return check_auto_prune(run);
  return std::nullopt;
}

void run_retrain_config_files(const std::filesystem::path& run, Report& report) {
  const auto findings = compare(run);
  if (findings) report.judge("config of " + run.filename().string(), *findings);
}

const Registered kRegistered{"e2e", run_retrain_config_files};

}  // namespace

}  // namespace golden
