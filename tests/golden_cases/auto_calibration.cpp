// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/float_text.hpp>
#include <amct/flow/auto_calibrate.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/interop/npy.hpp>
#include <amct/json_yaml/auto_calibration_files.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"
#include "golden_cases/whole_run.hpp"
#include "support/ops.hpp"

namespace golden {

namespace {

/// The evaluator of AMCT's runs: minus the largest difference from the float output; the threshold is in notes.json.
struct LargestDifference {
  const std::filesystem::path& run;
  double threshold;
  amct::Tensor original{};

  void calibration(const amct::flow::CalibrationRun& take) const {
    auto batches = batches_of(run);
    for (std::size_t i = 0; i < batches.size(); ++i) take(batches.load(i));
  }
  double evaluate(const amct::flow::EvaluatedNetwork& network) {
    const auto output = network.run({amct::interop::read_npy(run / "test_input.npy")}).at(0);
    if (original.size() == 0) original = output;
    return -static_cast<double>(largest_difference(output, original));
  }
  [[nodiscard]] amct::flow::MetricVerdict metric_eval(double before, double after) const {
    return {before - after <= threshold, before - after};
  }
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// AMCT's record file holds one JSON object behind the other.
std::vector<nlohmann::ordered_json> objects_of(std::string text) {
  for (std::size_t at = 0; (at = text.find("}{", at)) != std::string::npos;) text.replace(at, 2, "},{");
  return nlohmann::ordered_json::parse('[' + text + ']').get<std::vector<nlohmann::ordered_json>>();
}

std::vector<std::string> compare_ranking(const amct::flow::AutoCalibration& found, const std::filesystem::path& run) {
  const Json theirs = read_json(run / "accuracy_based_auto_calibration_ranking_information.json");
  if (theirs.size() != found.ranking.size()) return {"number of ranked layers"};
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const auto& ours = found.ranking[i];
    const auto similarity = theirs[i][1].get<double>();
    if (theirs[i][0] != ours.layer) findings.push_back("rank " + std::to_string(i) + " is " + ours.layer);
    if (!(std::fabs(similarity - ours.similarity) <= 1e-6)) {
      findings.push_back("similarity of " + ours.layer + ": " + amct::shortest_text(ours.similarity));
    }
  }
  return findings;
}

/// Our text with AMCT's numbers in it, which differ in the last digits, must be AMCT's text.
std::vector<std::string> compare_texts(const amct::flow::AutoCalibration& found, const std::filesystem::path& run) {
  std::vector<std::string> findings;
  auto ranking = found.ranking;
  const std::string their_ranking = text_of(run / "accuracy_based_auto_calibration_ranking_information.json");
  const Json similarities = Json::parse(their_ranking);
  for (std::size_t i = 0; i < ranking.size(); ++i) ranking[i].similarity = similarities[i][1].get<double>();
  if (amct::json_yaml::ranking_text(ranking) != their_ranking) findings.emplace_back("text of the ranking");

  auto trials = found.trials;
  const std::string their_trials = text_of(run / "accuracy_based_auto_calibration_record.json");
  const auto objects = objects_of(their_trials);
  if (objects.size() != trials.size()) return {std::to_string(trials.size()) + " trials"};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto loss = objects[i]["metric_eval"][1].get<double>();
    if (!(std::fabs(trials[i].verdict.loss - loss) <= 1e-6)) findings.push_back("loss of trial " + std::to_string(i));
    trials[i].verdict.loss = loss;
  }
  if (amct::json_yaml::trials_text(trials) != their_trials) findings.emplace_back("text of the trials");

  const auto final_config = run / "accuracy_based_auto_calibration_final_config.json";
  if (std::filesystem::exists(final_config) != found.chosen.has_value()) return {"what was chosen"};
  if (!found.chosen) return findings;
  const auto& rules = amct::rules_of(amct::Flavour::pytorch);
  const bool equal = amct::json_yaml::json_text(amct::to_classic_json(found.plan, rules)) == text_of(final_config);
  if (!equal) findings.emplace_back("final config");
  return findings;
}

void run_auto_calibration(const std::filesystem::path& run, Report& report) {
  const std::string name = "e2e/" + run.filename().string();
  if (!run.filename().string().starts_with("autocal_")) return;
  amct::EasyConfig config;
  config.batch_num = 2;
  auto prepared = amct::flow::prepare(amct::onnx::import_model(run / "float.onnx"), config, support::ops());
  LargestDifference evaluator{run, read_json(run / "notes.json").at("threshold_on_max_abs_error").get<double>()};
  const auto found = amct::flow::auto_calibrate(prepared, support::ops(), evaluator);
  report.judge(name + " ranking", compare_ranking(found, run));
  report.judge(name + " files", compare_texts(found, run));
  if (!found.chosen) return;
  report.judge(name + " record", compare_records(found.record, amct::protobuf::read_record(run / "record.txt")));
  prepared.plan = found.plan;
  report.judge(name + " models", compare_files(prepared, found.record, run));
}

const Registered kRegistered{"e2e", run_auto_calibration};

}  // namespace

}  // namespace golden
