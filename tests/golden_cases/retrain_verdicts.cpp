// SPDX-License-Identifier: Apache-2.0
// Easy retrain configs that AMCT accepts, with the full config it makes of them, and those that it refuses.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <amct/config/retrain_config.hpp>
#include <amct/config/retrain_json.hpp>
#include <amct/config/retrain_resolve.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/config_text.hpp>

#include "golden_cases/config_network.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using OrderedJson = nlohmann::ordered_json;
using Findings = std::vector<std::string>;

constexpr const char* kFile = "easy.cfg";

/// The full config that we make of an easy one. \throws amct::Error if it is refused
amct::ConfigValue create(const std::string& text, const ConfigNetwork& network) {
  const amct::FlavourRules& rules = amct::rules_of(amct::Flavour::pytorch);
  constexpr auto kMode = amct::RetrainMode::quantize;
  amct::Diagnostics out;
  const auto value = amct::protobuf::parse_cfg(text, kFile, amct::protobuf::CfgSchema::retrain_pytorch);
  const auto config = amct::read_retrain_config(value, kFile, network.layers, network.nodes, rules, kMode, out);
  const auto plan = amct::resolve_retrain(config, network.layers, rules, kMode, kFile, out);
  out.throw_if_errors();
  return amct::to_retrain_json(plan, rules);
}

/// Every refusal names the file, and what is wrong in it.
Findings check_message(const amct::Error& error) {
  Findings findings;
  if (error.where().file != kFile) findings.push_back(std::string("does not name the file: ") + error.what());
  if (error.where().line == 0 && error.code() != amct::ErrorCode::config_layer) {
    findings.push_back(std::string("does not name the line: ") + error.what());
  }
  return findings;
}

Findings compare(const OrderedJson& test, const ConfigNetwork& network) {
  const bool expected = test.at("accepted").get<bool>();
  try {
    const std::string text = amct::json_yaml::json_text(create(test.at("cfg").get<std::string>(), network));
    if (!expected) return {"was accepted"};
    if (!test.contains("result") || test.at("result").is_null()) return {};
    return OrderedJson::parse(text) == test.at("result") ? Findings{} : Findings{"another config: " + text};
  } catch (const amct::Error& error) {
    return expected ? Findings{std::string("was refused: ") + error.what()} : check_message(error);
  }
}

void run_retrain_verdicts(const std::filesystem::path& file, Report& report) {
  std::ifstream stream(file);
  const OrderedJson tests = OrderedJson::parse(stream);
  for (const auto& test : tests) {
    if (test.at("api") != "qat") continue;
    std::string net = test.at("net").get<std::string>();
    net[0] = static_cast<char>(std::tolower(net[0]));
    const auto model = file.parent_path() / "e2e" / ("ptq_" + net + "_default") / "float.onnx";
    report.judge("qat config " + test.at("name").get<std::string>(), compare(test, config_network(model)));
  }
}

const Registered kRegistered{"config_verdicts", run_retrain_verdicts};

}  // namespace

}  // namespace golden
