// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/promote.hpp>
#include <amct/kernel/reduce_f32.hpp>

namespace amct::exec::ops {

namespace detail {

/// Scores [N, C, ...] and the classes [N, ...] that are meant.
struct LossInput {
  std::size_t batch, classes, positions;
  Shape target;

  /// Where the score of a class stands.
  [[nodiscard]] std::size_t at(std::size_t sample, std::size_t category) const noexcept {
    return (sample / positions * classes + category) * positions + sample % positions;
  }
  [[nodiscard]] std::size_t samples() const noexcept { return batch * positions; }
};

[[nodiscard]] inline LossInput read_loss_input(const OpContext& context) {
  const Shape& scores = context.floats(0).shape();
  const Shape& target = context.input(1).shape();
  std::vector<std::int64_t> expected = scores.dims();
  if (expected.size() >= 2) expected.erase(expected.begin() + 1);
  if (scores.rank() < 2 || target.dims() != expected) {
    context.fail("scores " + to_string(scores) + " and targets " + to_string(target) + " do not fit");
  }
  return {static_cast<std::size_t>(scores[0]), static_cast<std::size_t>(scores[1]),
          static_cast<std::size_t>(scores.count(2, scores.rank())), target};
}

/// Makes output 0 of log probabilities: -log_prob * weight of each sample, or its sum or mean by the attribute
/// "reduction". A mean is divided by the sum of the weights.
inline void negative_log_likelihood(const OpContext& context, const LossInput& input, std::span<const float> log_prob) {
  const auto reduction = context.node.attribute_or<std::string>("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    context.fail("reduction is \"" + reduction + "\", expected none, sum or mean");
  }
  const auto* ignored = context.node.attribute<std::int64_t>("ignore_index");
  std::span<const float> weights;
  if (context.has(2)) weights = context.floats(2).data<float>();
  if (context.has(2) && weights.size() != input.classes) {
    context.fail(std::to_string(weights.size()) + " weights, expected " + std::to_string(input.classes));
  }
  const Tensor targets = cast(context.input(1), ElementType::int64);
  std::vector<float> losses(input.samples(), 0.0F);
  double sum = 0.0;
  double weight_sum = 0.0;
  for (std::size_t s = 0; s < losses.size(); ++s) {
    const std::int64_t target = targets.data<std::int64_t>()[s];
    if (ignored != nullptr && target == *ignored) continue;
    if (target < 0 || target >= static_cast<std::int64_t>(input.classes)) {
      context.fail("a target is " + std::to_string(target) + ", expected 0 to " + std::to_string(input.classes) +
                   " - 1");
    }
    const auto category = static_cast<std::size_t>(target);
    const float weight = weights.empty() ? 1.0F : weights[category];
    losses[s] = -log_prob[input.at(s, category)] * weight;
    sum += static_cast<double>(losses[s]);
    weight_sum += static_cast<double>(weight);
  }
  if (reduction == "none") {
    std::copy(losses.begin(), losses.end(), context.make_output(input.target).begin());
  } else {
    context.make_output({})[0] = static_cast<float>(reduction == "sum" ? sum : sum / weight_sum);
  }
}

/// The logarithm of the softmax over the classes.
inline void log_softmax(const LossInput& input, std::span<const float> scores, std::span<float> log_prob) {
  std::vector<float> row(input.classes), powers(input.classes);
  for (std::size_t s = 0; s < input.samples(); ++s) {
    for (std::size_t c = 0; c < input.classes; ++c) row[c] = scores[input.at(s, c)];
    const float top = max_f32(row);
    const auto log_sum = static_cast<float>(std::log(exp_f32(row, top, powers)));
    for (std::size_t c = 0; c < input.classes; ++c) log_prob[input.at(s, c)] = row[c] - top - log_sum;
  }
}

}  // namespace detail

/// ONNX NegativeLogLikelihoodLoss of log probabilities, with weights, ignore_index and all reductions.
inline void negative_log_likelihood_loss(const OpContext& context) {
  const detail::LossInput input = detail::read_loss_input(context);
  detail::negative_log_likelihood(context, input, context.floats(0).data<float>());
}

/// ONNX SoftmaxCrossEntropyLoss of scores; the second output is the logarithm of their softmax.
inline void softmax_cross_entropy_loss(const OpContext& context) {
  const detail::LossInput input = detail::read_loss_input(context);
  if (input.classes == 0) context.fail("the scores have no classes");
  Tensor log_prob(ElementType::float32, context.input(0).shape());
  detail::log_softmax(input, context.floats(0).data<float>(), log_prob.data<float>());
  detail::negative_log_likelihood(context, input, log_prob.data<float>());
  if (context.wants_output(1)) context.outputs[1] = std::move(log_prob);
}

inline void add_loss(OpSet& set) {
  set.add("NegativeLogLikelihoodLoss", in_float32(negative_log_likelihood_loss));
  set.add("SoftmaxCrossEntropyLoss", in_float32(softmax_cross_entropy_loss));
}

}  // namespace amct::exec::ops
