// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/evaluator.hpp>

#include "data_folder.hpp"
#include "metric_command.hpp"
#include "temporary_folder.hpp"

namespace runner {

/// What automatic calibration asks of data and metric; an amct::flow::Evaluator.
class AutoEvaluator {
 public:
  /// \param budget  how much of the metric may be lost
  AutoEvaluator(double budget, amct::ProgressSink progress) : progress_(std::move(progress)), budget_(budget) {}
  AutoEvaluator(const AutoEvaluator&) = delete;
  AutoEvaluator& operator=(const AutoEvaluator&) = delete;
  virtual ~AutoEvaluator() = default;

  virtual void calibration(const amct::flow::CalibrationRun& run) = 0;
  virtual double evaluate(const amct::flow::EvaluatedNetwork& network) = 0;
  /// What the number is called in tables.
  [[nodiscard]] virtual std::string metric_name() const = 0;

  [[nodiscard]] amct::flow::MetricVerdict metric_eval(double original, double changed) const {
    return {original - changed <= budget_, original - changed};
  }

 protected:
  amct::ProgressSink progress_;

 private:
  double budget_;
};

/// Data in folders, and one of three metrics: top-1 with labels, a program's number, or how many samples have the best
/// class that they have in the float network.
class DataEvaluator final : public AutoEvaluator {
 public:
  struct Parts {
    DataFolder calibration;
    DataFolder evaluation;
    std::string labels_file{};  ///< empty: those of the list of files, if it has any
    MetricCommand metric{};
  };
  /// \throws amct::Error data_format if labels do not fit the samples
  DataEvaluator(Parts parts, double budget, amct::ProgressSink progress);

  void calibration(const amct::flow::CalibrationRun& run) override;
  double evaluate(const amct::flow::EvaluatedNetwork& network) override;
  [[nodiscard]] std::string metric_name() const override;

 private:
  [[nodiscard]] double measure_outputs(const amct::flow::EvaluatedNetwork& network);
  [[nodiscard]] double count_classes(const amct::flow::EvaluatedNetwork& network);
  /// Calls `use(batch, outputs, samples that count)` for all batches.
  template <class Use>
  void run_all(const amct::flow::EvaluatedNetwork& network, const Use& use);

  Parts parts_;
  std::vector<std::int64_t> labels_;
  std::size_t networks_ = 0;                                ///< that were evaluated, the float one first
  std::optional<std::vector<std::int64_t>> float_classes_;  ///< of the first network, where there are no labels
};

/// A program of the user's for everything, as AMCT's `--evaluator` has it (docs/auto-calibration.md). It is called with
/// `{action}` "data" to write calibration data to the folder `{data}` and print how many batches these are, and with
/// "evaluate" to print the metric of the ONNX file `{model}`.
class CommandEvaluator final : public AutoEvaluator {
 public:
  /// \param inputs  of the network, with the element types that it wants
  /// \throws amct::Error of the command and of the files that it writes
  CommandEvaluator(MetricCommand command, std::vector<std::pair<std::string, amct::ElementType>> inputs, double budget,
                   amct::ProgressSink progress);

  [[nodiscard]] std::size_t batches() const noexcept { return files_.size(); }
  void calibration(const amct::flow::CalibrationRun& run) override;
  double evaluate(const amct::flow::EvaluatedNetwork& network) override;
  [[nodiscard]] std::string metric_name() const override { return "metric"; }

 private:
  void find_files(double announced);

  MetricCommand command_;
  std::vector<std::pair<std::string, amct::ElementType>> inputs_;
  TemporaryFolder folder_;
  std::vector<std::vector<std::filesystem::path>> files_;  ///< by batch and input
};

}  // namespace runner
