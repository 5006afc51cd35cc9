// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <amct/analysis/metrics.hpp>
#include <amct/config/value.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/execution.hpp>
#include <amct/interop/dump_folder.hpp>

#include "labels.hpp"
#include "metric_command.hpp"
#include "network.hpp"

namespace runner {

/// One network in one mode, and how good it was on the batches so far.
class EvalRun {
 public:
  /// \param output  name of the output with the scores; empty: the first
  /// \throws amct::Error model_shape if the network has no such output, and those of Network::in_mode
  EvalRun(std::string model, std::shared_ptr<const Network> network, amct::flow::Mode mode, const std::string& output);

  /// Outputs are written to a folder, for a program that measures them. \throws amct::Error io_write
  void keep_outputs(const std::string& folder);

  /// Runs one batch whose first `samples` samples count.
  void run(std::size_t batch, const std::vector<amct::Tensor>& inputs, std::size_t samples);
  /// The scores of the last batch that was run.
  [[nodiscard]] const amct::Tensor& scores() const noexcept { return scores_; }
  /// Compares the last batch with its labels. \throws amct::Error of count_hits
  void compare_labels(std::span<const std::int64_t> labels);
  /// Compares the last batch with the same one of another run. \throws amct::Error model_shape for other sizes
  void compare_run(const EvalRun& reference);
  /// Runs a program on the outputs that were kept.
  void measure(const MetricCommand& command, const std::string& labels);

  [[nodiscard]] const Network& network() const noexcept { return *network_; }
  [[nodiscard]] const std::string& model() const noexcept { return model_; }
  [[nodiscard]] amct::flow::Mode mode() const noexcept { return execution_.mode(); }
  /// "m.onnx" and a mode if it is not float.
  [[nodiscard]] std::string name() const;

  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  /// In percent; empty if nothing was compared.
  [[nodiscard]] std::optional<double> top1() const { return percent(hits_.top1, labelled_); }
  [[nodiscard]] std::optional<double> top5() const { return percent(hits_.top5, labelled_); }
  /// Samples with the same best class as in the reference, in percent; empty if the outputs are no scores.
  [[nodiscard]] std::optional<double> same_class() const { return percent(same_, decided_); }
  [[nodiscard]] std::optional<amct::analysis::Difference> difference() const;
  [[nodiscard]] std::optional<double> metric() const noexcept { return metric_; }
  /// All of these for a file.
  [[nodiscard]] amct::ConfigValue to_config() const;

 private:
  static std::optional<double> percent(std::size_t part, std::size_t all) {
    if (all == 0) return std::nullopt;
    return 100.0 * static_cast<double>(part) / static_cast<double>(all);
  }

  std::string model_;
  std::shared_ptr<const Network> network_;
  amct::flow::Execution execution_;
  std::size_t output_ = 0;
  std::optional<amct::interop::DumpWriter> kept_;
  std::string folder_;
  amct::Tensor scores_;
  std::size_t samples_ = 0;  ///< of the last batch
  double seconds_ = 0.0;
  TopHits hits_;
  std::size_t labelled_ = 0, same_ = 0, decided_ = 0;
  bool compared_ = false;
  amct::analysis::DifferenceMeter meter_;
  std::optional<double> metric_;
};

/// The first `samples` of a batch of `size`; tensors with another first axis stay as they are.
[[nodiscard]] amct::Tensor first_samples(amct::Tensor tensor, std::size_t size, std::size_t samples);

}  // namespace runner
