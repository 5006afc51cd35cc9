// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/create.hpp>
#include <amct/config/read_classic_json.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

#include "golden_cases/config_network.hpp"
#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

const amct::FlavourRules& kRules = amct::rules_of(amct::Flavour::pytorch);

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What the run asked for where it has no easy.cfg: the notes say it, or it took all batches that are there.
amct::CreateArguments arguments_of(const std::filesystem::path& run) {
  const Json notes = read_json(run / "notes.json");
  std::uint32_t batches = 0;
  for (const auto& file : std::filesystem::directory_iterator(run)) {
    if (file.path().filename().string().starts_with("calib_")) ++batches;
  }
  return {.batch_num = notes.value("batch_num", batches)};
}

/// The config.json of the run as amct creates it.
std::string created(const std::filesystem::path& run, const ConfigNetwork& network, amct::Diagnostics& found) {
  std::optional<amct::EasyConfig> definition;
  if (std::filesystem::exists(run / "easy.cfg")) {
    definition = amct::protobuf::read_calibration_cfg(run / "easy.cfg", kRules, found);
  }
  const amct::CreateArguments arguments = definition ? amct::CreateArguments{} : arguments_of(run);
  const auto plan = amct::create_config(arguments, definition, network.layers, network.nodes, kRules, found);
  return amct::json_yaml::json_text(amct::to_classic_json(plan, kRules));
}

/// The config.json of the run, read into a plan and written again.
std::string rewritten(const std::filesystem::path& file, const ConfigNetwork& network, amct::Diagnostics& found) {
  const auto plan = amct::from_classic_json(amct::json_yaml::read_json(file), network.layers, network.nodes, kRules,
                                            file.string(), found);
  return amct::json_yaml::json_text(amct::to_classic_json(plan, kRules));
}

void compare(const std::string& what, const std::string& ours, const std::string& theirs,
             std::vector<std::string>& findings) {
  if (ours == theirs) return;
  std::size_t at = 0;
  while (at < ours.size() && at < theirs.size() && ours[at] == theirs[at]) ++at;
  findings.push_back(what + " differs at byte " + std::to_string(at));
}

/// Runs whose config is made of an easy config of the calibration family.
bool is_calibration(const std::string& name) {
  for (const char* prefix : {"ptq_", "dmq_", "adaround_", "autocal_", "rnn_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// LSTM or GRU and Linear, as the rnn_* runs have them; these runs hold no float.onnx.
ConfigNetwork rnn_network(const std::string& name) {
  const bool is_lstm = name.starts_with("rnn_LSTM");
  return {.layers = {{.name = "rnn",
                      .kind = is_lstm ? amct::LayerKind::lstm : amct::LayerKind::gru,
                      .op_type = is_lstm ? "LSTM" : "GRU"},
                     {.name = "fc", .kind = amct::LayerKind::linear, .op_type = "Gemm"}},
          .nodes = {"rnn", "fc"}};
}

void run_config_files(const std::filesystem::path& run, Report& report) {
  const std::string folder = run.filename().string();
  if (!is_calibration(folder)) return;
  const std::string where = "config.json of e2e/" + folder;
  const ConfigNetwork network = folder.starts_with("rnn_") ? rnn_network(folder) : config_network(run / "float.onnx");
  std::vector<std::string> findings;
  amct::Diagnostics found;
  const std::string ours = created(run, network, found);
  if (!std::filesystem::exists(run / "config.json")) {  // AMCT refused it
    if (!found.has_errors()) findings.emplace_back("the easy config is accepted; AMCT refuses it");
    return report.judge(where, findings);
  }
  // Automatic calibration changes its config.json at the end.
  const bool changed = std::filesystem::exists(run / "config_before.json");
  compare("what is created", ours, read_all(run / (changed ? "config_before.json" : "config.json")), findings);
  compare("what is read and written", rewritten(run / "config.json", network, found), read_all(run / "config.json"),
          findings);
  if (found.has_errors()) findings.push_back(text_of(found));
  report.judge(where, findings);
}

const Registered kRegistered{"e2e", run_config_files};

}  // namespace

}  // namespace golden
