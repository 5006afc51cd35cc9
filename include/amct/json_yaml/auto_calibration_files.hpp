// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/value.hpp>
#include <amct/core/atomic_file.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/auto_calibrate.hpp>
#include <amct/json_yaml/write_json.hpp>

namespace amct::json_yaml {

/// The ranking as AMCT writes it: a list of [layer, similarity], the most sensitive layer first.
[[nodiscard]] inline std::string ranking_text(const std::vector<flow::LayerSimilarity>& ranking) {
  ConfigValue::List layers;
  for (const auto& layer : ranking) layers.emplace_back(ConfigValue::List{layer.layer, layer.similarity});
  return json_text(ConfigValue(std::move(layers)));
}

/// The trials as AMCT writes them: one JSON object each with `roll_back_config` (false: rolled back) and `metric_eval`
/// ([satisfied, loss]), one behind the other. It is no JSON document if there are several.
[[nodiscard]] inline std::string trials_text(const std::vector<flow::RollBackTrial>& trials) {
  std::string text;
  for (const auto& trial : trials) {
    ConfigValue layers;
    for (const auto& [name, quantized] : trial.quantized) layers.add(name, quantized);
    ConfigValue out;
    out.add("roll_back_config", std::move(layers));
    out.add("metric_eval", ConfigValue::List{trial.verdict.satisfied, trial.verdict.loss});
    text += json_text(out);
  }
  return text;
}

/// Where AMCT writes what automatic calibration found: beside the models, and the trials in the log folder.
struct AutoCalibrationFiles {
  std::filesystem::path ranking, final_config, trials;

  /// \param save_path   folder and beginning of the names of models, as onnx::OutputFiles has it
  /// \param log_folder  AMCT's is amct_log below the working folder
  explicit AutoCalibrationFiles(const std::string& save_path, const std::filesystem::path& log_folder = "amct_log") {
    const auto folder = std::filesystem::path(save_path).parent_path();
    const std::string start = "accuracy_based_auto_calibration_";
    ranking = folder / (start + "ranking_information.json");
    final_config = folder / (start + "final_config.json");
    trials = log_folder / (start + "record.json");
  }
};

/// Writes ranking and trials, and the final config if a quantized network is kept: all of them, or none. A final config
/// of an earlier run is removed if none is kept.
/// \throws Error io_write
inline void write_auto_calibration(const AutoCalibrationFiles& files, const flow::AutoCalibration& found,
                                   const FlavourRules& rules) {
  std::vector<AtomicFile> written;
  written.emplace_back(files.ranking).stream() << ranking_text(found.ranking);
  written.emplace_back(files.trials).stream() << trials_text(found.trials);
  if (found.chosen) written.emplace_back(files.final_config).stream() << json_text(to_classic_json(found.plan, rules));
  for (AtomicFile& file : written) file.finish();
  for (AtomicFile& file : written) file.commit();
  std::error_code ignored;
  if (!found.chosen) std::filesystem::remove(files.final_config, ignored);
}

}  // namespace amct::json_yaml
