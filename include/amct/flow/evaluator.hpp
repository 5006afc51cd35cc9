// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// What a user thinks of a changed network beside the original one.
struct MetricVerdict {
  bool satisfied = false;
  double loss = 0.0;  ///< how much was lost; only shown and recorded
};

/// A network that is evaluated: the float one, or a quantized one in float arithmetic on whole numbers (the fake-quant
/// model). Runs one call at a time.
class EvaluatedNetwork {
 public:
  /// \param graph  must outlive the object
  EvaluatedNetwork(const graph::Graph& graph, const exec::OpSet& ops) : graph_(&graph), interpreter_(graph, ops) {}

  /// \param inputs  one tensor a graph input, in their order
  /// \return one tensor a graph output
  [[nodiscard]] std::vector<Tensor> run(const std::vector<Tensor>& inputs) const { return interpreter_.run(inputs); }
  /// In standard ONNX operators, so that it can be written to a file for other programs.
  [[nodiscard]] const graph::Graph& graph() const noexcept { return *graph_; }

 private:
  const graph::Graph* graph_;
  exec::Interpreter interpreter_;
};

/// One network that a search has tried.
struct TrialReport {
  const QuantPlan& plan;
  const Record& record;  ///< factors of the layers that are quantized
  double metric = 0.0;
  MetricVerdict verdict{};
};
/// Gets every trial of a search, in their order, for instance to keep its files. Empty: nobody does.
using TrialSink = std::function<void(const TrialReport&)>;

/// Takes one batch of calibration data, one tensor a graph input.
using CalibrationRun = std::function<void(const std::vector<Tensor>&)>;

/// What a user says of a network for accuracy-based automatic calibration, AMCT's AutoCalibrationEvaluatorBase:
/// - `calibration(run)` calls `run(inputs)` for at least batch_num batches of calibration data, the same in each call;
/// - `evaluate(network)` measures a network; only metric_eval says what is better;
/// - `metric_eval(original, changed)` judges a measurement beside that of the float network.
template <class E>
concept Evaluator = requires(E& evaluator, const CalibrationRun& run, const EvaluatedNetwork& network, double original,
                             double changed) {
  evaluator.calibration(run);
  { evaluator.evaluate(network) } -> std::convertible_to<double>;
  { evaluator.metric_eval(original, changed) } -> std::same_as<MetricVerdict>;
};

}  // namespace amct::flow
