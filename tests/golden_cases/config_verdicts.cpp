// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <amct/config/classic_json.hpp>
#include <amct/config/read_easy_config.hpp>
#include <amct/config/resolve.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

#include "golden_cases/config_network.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// The network that a verdict is about: a, b, c or d of the runs beside the file.
const ConfigNetwork& network_of(const std::filesystem::path& folder, char letter) {
  static std::map<char, ConfigNetwork> all;
  const auto found = all.find(letter);
  if (found != all.end()) return found->second;
  const std::string run = std::string("ptq_") + letter + "_default";
  return all.emplace(letter, config_network(folder / "e2e" / run / "float.onnx")).first->second;
}

struct Outcome {
  std::string refusal{};  ///< empty if accepted
  OrderedJson config{};
};

Outcome create(const std::string& cfg, const ConfigNetwork& network) {
  const auto& rules = amct::rules_of(amct::Flavour::pytorch);
  amct::Diagnostics found;
  Outcome outcome;
  try {
    const auto easy = amct::protobuf::parse_calibration_cfg(cfg, "easy.cfg", rules, found);
    const auto plan = amct::resolve(easy, network.layers, network.nodes, rules, found);
    outcome.config = OrderedJson::parse(amct::json_yaml::json_text(amct::to_classic_json(plan, rules)));
  } catch (const amct::Error& error) {
    outcome.refusal = error.what();
    return outcome;
  }
  outcome.refusal = text_of(found);
  return outcome;
}

void run_ptq_verdicts(const std::filesystem::path& path, Report& report) {
  std::ifstream file(path);
  for (const OrderedJson& verdict : OrderedJson::parse(file)) {
    if (verdict.at("api") != "ptq") continue;
    const auto net = verdict.at("net").get<std::string>();
    const std::string where = "ptq \"" + verdict.at("name").get<std::string>() + "\" on net " + net;
    const char letter = static_cast<char>(net.at(0) - 'A' + 'a');
    const Outcome outcome = create(verdict.at("cfg").get<std::string>(), network_of(path.parent_path(), letter));
    const bool accepted = verdict.at("accepted").get<bool>();
    std::vector<std::string> findings;
    if (outcome.refusal.empty() != accepted) {
      findings.push_back(accepted ? "is refused: " + outcome.refusal : "is accepted");
    } else if (!accepted && outcome.refusal.find("easy.cfg") == std::string::npos) {
      findings.push_back("the message does not name the file: " + outcome.refusal);
    } else if (accepted && verdict.contains("result") && !verdict.at("result").is_null() &&
               outcome.config != verdict.at("result")) {
      findings.push_back("the config differs: " + outcome.config.dump());
    }
    report.judge(where, findings);
  }
}

const Registered kRegistered{"config_verdicts", run_ptq_verdicts};

}  // namespace

}  // namespace golden
