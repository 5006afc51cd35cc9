// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Mistakes in the scale of inputs, which show where the network first normalizes: BatchNormalization knows mean and
/// deviation of what it read in training.

namespace amct::flow {

/// What of the first BatchNormalization counts as far from training.
struct ScaleLimits {
  double spread = 4.0;  ///< a deviation this many times that of training, or as small a part of it
  double shift = 3.0;   ///< a mean this many deviations of training away
};

/// An input that makes the first BatchNormalization read other values than in training.
struct ScaleMistake {
  std::string input{}, batch_norm{};
  std::size_t channels = 0;
  double spread = 0.0;  ///< deviation of what it reads, over that of training: median over the channels
  double shift = 0.0;   ///< distance of the means, in deviations of training: median over the channels
  double least = 0.0, greatest = 0.0, mean = 0.0, deviation = 0.0;  ///< of the input
};

namespace detail {

/// Mean and population deviation.
struct Moments {
  double mean = 0.0, deviation = 0.0;
};

/// Sums of values, of which there is at least one in the end.
class MomentSums {
 public:
  void add(double value) noexcept {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  [[nodiscard]] Moments moments() const noexcept {
    const double n = static_cast<double>(count_);
    const double mean = sum_ / n;
    return {mean, std::sqrt(std::max(0.0, squares_ / n - mean * mean))};
  }

 private:
  double sum_ = 0.0, squares_ = 0.0;
  std::size_t count_ = 0;
};

[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The BatchNormalization behind the first layer that reads an input: behind operators with one reader each. Null if
/// the network does not begin in this way.
[[nodiscard]] inline const graph::Node* first_batch_norm(const graph::Uses& uses, graph::ValueId input) {
  constexpr std::size_t kMostBefore = 8;
  graph::ValueId value = input;
  for (std::size_t i = 0; i < kMostBefore && value != graph::kNoValue && uses.has_single_use(value); ++i) {
    const graph::Node* node = uses.consumers(value).front();
    if (node->op_type == "BatchNormalization") return node->input(0) == value ? node : nullptr;
    if (node->outputs.size() != 1 || node->captured != 0) return nullptr;
    value = node->outputs.front();
  }
  return nullptr;
}

/// The part of a network that one value needs, with all of its inputs.
[[nodiscard]] inline graph::Graph part_for(const graph::Graph& network, graph::ValueId value) {
  std::set<graph::ValueId> needed{value};
  std::vector<const graph::Node*> nodes;
  for (auto node = network.nodes.rbegin(); node != network.nodes.rend(); ++node) {
    const bool makes =
        std::any_of(node->outputs.begin(), node->outputs.end(), [&](graph::ValueId id) { return needed.contains(id); });
    if (!makes) continue;
    nodes.push_back(&*node);
    needed.insert(node->inputs.begin(), node->inputs.end());
  }
  graph::Graph part;
  part.opset = network.opset;
  part.domains = network.domains;
  part.inputs = network.inputs;
  part.outputs = {value};
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) part.nodes.push_back(**node);
  for (std::size_t v = 0; v < network.values.size(); ++v) {
    const graph::Value& known = network.values[v];
    const bool used = needed.contains(static_cast<graph::ValueId>(v));
    part.values.push_back(used ? known : graph::Value{.name = known.name, .type = known.type});
  }
  return part;
}

/// Moments of each channel, axis 1 of a float32 tensor.
[[nodiscard]] inline std::vector<Moments> channel_moments(const Tensor& tensor) {
  const auto& shape = tensor.shape();
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto inner = static_cast<std::size_t>(shape.count(2, shape.rank()));
  std::vector<MomentSums> sums(channels);
  const auto values = tensor.data<float>();
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / inner % channels].add(static_cast<double>(values[i]));
  std::vector<Moments> moments;
  for (const auto& sum : sums) moments.push_back(sum.moments());
  return moments;
}

/// Spread and shift of what a BatchNormalization reads against its running mean and variance.
inline void compare_with_training(const std::vector<Moments>& found, const Tensor& mean, const Tensor& variance,
                                  ScaleMistake& result) {
  std::vector<double> spreads;
  std::vector<double> shifts;
  for (std::size_t c = 0; c < found.size(); ++c) {
    const double trained = std::sqrt(static_cast<double>(variance.data<float>()[c]));
    const double spread = found[c].deviation / trained;
    const double shift = std::abs(found[c].mean - static_cast<double>(mean.data<float>()[c])) / trained;
    // A dead channel says nothing, and NaN, which calibration refuses, has no place in an order.
    if (!(trained > 0.0) || !std::isfinite(spread) || !std::isfinite(shift)) continue;
    spreads.push_back(spread);
    shifts.push_back(shift);
  }
  result.channels = spreads.size();
  if (spreads.empty()) return;
  result.spread = median(std::move(spreads));
  result.shift = median(std::move(shifts));
}

inline void describe_input(const Tensor& input, ScaleMistake& result) {
  const Tensor numbers = cast(input, ElementType::float64);
  MomentSums sums;
  result.least = std::numeric_limits<double>::infinity();
  result.greatest = -result.least;
  for (const double value : numbers.data<double>()) {
    result.least = std::min(result.least, value);
    result.greatest = std::max(result.greatest, value);
    sums.add(value);
  }
  const Moments moments = sums.moments();
  result.mean = moments.mean;
  result.deviation = moments.deviation;
}

[[nodiscard]] inline bool is_float32(const Tensor* tensor, std::size_t size) {
  return tensor != nullptr && tensor->type() == ElementType::float32 && tensor->size() == size;
}

}  // namespace detail

/// How far the first BatchNormalization of an input reads from what it read in training; empty if the network does not
/// begin with one (a chain of at most 8 layers with one reader each), as when it is folded already. Runs the network up
/// to there.
/// \param input   index among graph.inputs
/// \param inputs  one batch, one tensor a graph input
/// \throws Error of the interpreter
[[nodiscard]] inline std::optional<ScaleMistake> compare_scale(const graph::Graph& network, const exec::OpSet& ops,
                                                               std::size_t input, const std::vector<Tensor>& inputs) {
  constexpr std::size_t kMean = 3;
  constexpr std::size_t kVariance = 4;
  const graph::Uses uses(network);
  const graph::Node* norm = detail::first_batch_norm(uses, network.inputs.at(input));
  if (norm == nullptr || inputs.at(input).size() == 0) return std::nullopt;
  const graph::Graph part = detail::part_for(network, norm->inputs[0]);
  const Tensor read = exec::Interpreter(part, ops).run(inputs).front();
  if (read.type() != ElementType::float32 || read.shape().rank() < 2 || read.size() == 0) return std::nullopt;
  const auto channels = static_cast<std::size_t>(read.shape()[1]);
  const Tensor* mean = uses.constant(norm->input(kMean));
  const Tensor* variance = uses.constant(norm->input(kVariance));
  if (!detail::is_float32(mean, channels) || !detail::is_float32(variance, channels)) return std::nullopt;
  ScaleMistake result{.input = network.value(network.inputs[input]).name, .batch_norm = norm->name};
  detail::compare_with_training(detail::channel_moments(read), *mean, *variance, result);
  detail::describe_input(inputs[input], result);
  return result;
}

/// The inputs whose scale cannot be that of training. A model whose BatchNormalization is folded shows nothing.
/// \throws Error of the interpreter
[[nodiscard]] inline std::vector<ScaleMistake> check_scale(const graph::Graph& network, const exec::OpSet& ops,
                                                           const std::vector<Tensor>& inputs,
                                                           const ScaleLimits& limits = {}) {
  std::vector<ScaleMistake> mistakes;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    auto found = compare_scale(network, ops, i, inputs);
    if (!found || found->channels == 0) continue;
    const bool fits =
        found->spread <= limits.spread && found->spread * limits.spread >= 1.0 && found->shift <= limits.shift;
    if (!fits) mistakes.push_back(std::move(*found));
  }
  return mistakes;
}

/// A sentence with the numbers.
[[nodiscard]] inline std::string describe(const ScaleMistake& mistake) {
  const auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return std::string(text);
  };
  return "BatchNormalization \"" + mistake.batch_norm + "\" reads values that spread " + number(mistake.spread) +
         " times as far as in training, with means " + number(mistake.shift) + " deviations away (medians over " +
         std::to_string(mistake.channels) + " channels); input \"" + mistake.input + "\" holds " +
         number(mistake.least) + " to " + number(mistake.greatest) + ", mean " + number(mistake.mean) + ", deviation " +
         number(mistake.deviation) + ": is it scaled and normalized as in training?";
}

}  // namespace amct::flow
