// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/stack.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec::ops {

/// How often one If, Loop or Scan of a network runs bodies, with the bodies inside these. A loop that would not end in
/// a sensible time is refused.
inline constexpr std::int64_t kMostBodyRuns = std::int64_t{1} << 20;

namespace detail {

/// Counts the body runs of this thread while the outermost control-flow operator is at work.
class BodyRuns {
 public:
  explicit BodyRuns(const OpContext& context) : context_(context) {
    if (depth()++ == 0) count() = 0;
  }
  BodyRuns(const BodyRuns&) = delete;
  BodyRuns& operator=(const BodyRuns&) = delete;
  ~BodyRuns() { --depth(); }

  /// Runs a body whose results must be at least `outputs` many.
  [[nodiscard]] std::vector<Tensor> run(const char* body, std::vector<const Tensor*> inputs,
                                        std::size_t outputs) const {
    if (++count() > kMostBodyRuns) {
      context_.fail("runs a body more than " + std::to_string(kMostBodyRuns) + " times", ErrorCode::model_unsupported);
    }
    auto results = context_.run_body(body, std::move(inputs));
    if (results.size() < outputs) {
      context_.fail("the body gives " + std::to_string(results.size()) + " values, expected " + std::to_string(outputs),
                    ErrorCode::model_corrupt);
    }
    return results;
  }

 private:
  static std::int64_t& count() noexcept {
    thread_local std::int64_t value = 0;
    return value;
  }
  static int& depth() noexcept {
    thread_local int value = 0;
    return value;
  }

  const OpContext& context_;
};

/// Inputs that are the operator's own, without the captured values.
[[nodiscard]] inline std::size_t own_inputs(const OpContext& context) noexcept {
  return context.inputs.size() - std::min(context.node.captured, context.inputs.size());
}

/// A condition: one boolean.
[[nodiscard]] inline bool truth(const OpContext& context, const Tensor& condition) {
  if (condition.type() != ElementType::boolean || condition.size() != 1) {
    context.fail("the condition is " + std::string(name_of(condition.type())) + to_string(condition.shape()) +
                 ", expected one bool");
  }
  return condition.data<bool>()[0];
}

/// Moves the first results into the outputs.
inline void give_outputs(const OpContext& context, std::vector<Tensor>& results, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, context.outputs.size()); ++i) context.outputs[i] = std::move(results[i]);
}

[[nodiscard]] inline std::vector<const Tensor*> addresses(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> result;
  for (const Tensor& tensor : tensors) result.push_back(&tensor);
  return result;
}

}  // namespace detail

/// ONNX If: the results of one of two bodies.
inline void if_op(const OpContext& context) {
  const detail::BodyRuns bodies(context);
  const bool yes = detail::truth(context, context.input(0));
  auto results = bodies.run(yes ? "then_branch" : "else_branch", {}, context.outputs.size());
  detail::give_outputs(context, results, context.outputs.size());
}

/// ONNX Loop: runs its body until the trip count is reached or, if a condition is given, until the body says so.
/// Without either it would not end and is refused by kMostBodyRuns.
inline void loop(const OpContext& context) {
  const detail::BodyRuns bodies(context);
  const std::size_t own = detail::own_inputs(context);
  const std::size_t carried = own > 2 ? own - 2 : 0;
  const std::int64_t trips = own > 0 ? context.scalar_or<std::int64_t>(0, std::numeric_limits<std::int64_t>::max()) : 0;
  const bool has_condition = own > 1 && context.has(1);
  bool go_on = !has_condition || detail::truth(context, context.input(1));

  std::vector<const Tensor*> state(carried);  // the carried values, in the inputs at first
  for (std::size_t i = 0; i < carried; ++i) state[i] = &context.input(2 + i);
  std::vector<Tensor> results;
  std::vector<Stack> scans(context.outputs.size() > carried ? context.outputs.size() - carried : 0);
  for (std::int64_t trip = 0; trip < trips && go_on; ++trip) {
    const Tensor number = Tensor::scalar(trip);
    const Tensor condition = Tensor::scalar(true);
    std::vector<const Tensor*> inputs{&number, &condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    results = bodies.run("body", std::move(inputs), 1 + carried + scans.size());
    for (std::size_t i = 0; i < carried; ++i) state[i] = &results[1 + i];
    for (std::size_t i = 0; i < scans.size(); ++i) {
      if (context.wants_output(carried + i)) scans[i].push(context, results[1 + carried + i]);
    }
    go_on = !has_condition || detail::truth(context, results[0]);
  }
  for (std::size_t i = 0; i < scans.size(); ++i) {
    if (!context.wants_output(carried + i)) continue;
    if (results.empty()) scans[i].expect_declared(context, 1 + carried + i);
    context.outputs[carried + i] = scans[i].finish();
  }
  for (std::size_t i = 0; i < std::min(carried, context.outputs.size()); ++i) {
    if (results.empty()) context.outputs[i] = *state[i];
    else context.outputs[i] = std::move(results[1 + i]);
  }
}

namespace detail {

/// A Scan as its node describes it.
struct ScanPlan {
  std::size_t states, scans;                             ///< inputs of each kind
  std::vector<std::int64_t> axes{}, out_axes{};          ///< of the scanned inputs and outputs
  std::vector<std::int64_t> backward{}, out_backward{};  ///< 1: from the last slice to the first
};

/// An attribute with one entry for each of `count` things, 0 if it is not there.
[[nodiscard]] inline std::vector<std::int64_t> entries(const OpContext& context, const char* name, std::size_t count) {
  auto values = context.node.attribute_or<std::vector<std::int64_t>>(name, std::vector<std::int64_t>(count, 0));
  if (values.size() != count) {
    context.fail(std::string(name) + " has " + std::to_string(values.size()) + " entries, expected " +
                 std::to_string(count));
  }
  return values;
}

/// \param own  inputs of the node that are states or scanned
[[nodiscard]] inline ScanPlan read_scan(const OpContext& context, std::size_t own, const char* directions) {
  const auto scans = context.node.attribute_or<std::int64_t>("num_scan_inputs", 0);
  if (scans < 1 || scans > static_cast<std::int64_t>(own)) {
    context.fail("num_scan_inputs is " + std::to_string(scans) + " of " + std::to_string(own) + " inputs");
  }
  ScanPlan plan{.states = own - static_cast<std::size_t>(scans), .scans = static_cast<std::size_t>(scans)};
  if (context.outputs.size() < plan.states) context.fail("has too few outputs for its states");
  const std::size_t stacked = context.outputs.size() - plan.states;
  plan.axes = entries(context, "scan_input_axes", plan.scans);
  plan.backward = entries(context, directions, plan.scans);
  plan.out_axes = entries(context, "scan_output_axes", stacked);
  plan.out_backward = entries(context, "scan_output_directions", stacked);
  return plan;
}

/// Runs the body over one sequence.
/// \param inputs  initial states, then what is scanned
/// \param steps   steps to take, or less than 0 for all; the results of the others are 0
/// \return the final states, then the stacked outputs
[[nodiscard]] inline std::vector<Tensor> scan_sequence(const OpContext& context, const BodyRuns& bodies,
                                                       const ScanPlan& plan, const std::vector<const Tensor*>& inputs,
                                                       std::int64_t steps) {
  std::int64_t length = -1;
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < plan.scans; ++i) {
    const Shape& shape = inputs[plan.states + i]->shape();
    axes.push_back(context.axis(plan.axes[i], shape.rank()));
    if (length >= 0 && shape[axes[i]] != length) {
      context.fail("sequences of " + std::to_string(length) + " and " + std::to_string(shape[axes[i]]) +
                   " steps are scanned together");
    }
    length = shape[axes[i]];
  }
  const std::int64_t end = steps < 0 ? length : steps;
  if (end > length) {
    context.fail("sequence_lens has " + std::to_string(end) + ", expected 0 to " + std::to_string(length));
  }
  std::vector<const Tensor*> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(plan.states));
  std::vector<Tensor> results;
  std::vector<Stack> stacks(plan.out_axes.size());
  for (std::int64_t step = 0; step < end; ++step) {
    std::vector<Tensor> slices;
    for (std::size_t i = 0; i < plan.scans; ++i) {
      slices.push_back(slice_at(*inputs[plan.states + i], axes[i], plan.backward[i] != 0 ? end - 1 - step : step));
    }
    auto body_inputs = state;
    for (const Tensor& slice : slices) body_inputs.push_back(&slice);
    results = bodies.run("body", std::move(body_inputs), plan.states + stacks.size());
    for (std::size_t i = 0; i < plan.states; ++i) state[i] = &results[i];
    for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i].push(context, results[plan.states + i]);
  }
  std::vector<Tensor> finals;
  for (std::size_t i = 0; i < plan.states; ++i) finals.push_back(*state[i]);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (end == 0) stacks[i].expect_declared(context, plan.states + i);
    stacks[i].pad(context, static_cast<std::size_t>(length));
    const std::size_t axis = context.axis(plan.out_axes[i], stacks[i].slice_rank() + 1);
    finals.push_back(stacks[i].finish(axis, plan.out_backward[i] != 0));
  }
  return finals;
}

}  // namespace detail

/// ONNX Scan from opset 9 on: runs its body over slices of its inputs, along any axes, forwards or backwards.
inline void scan(const OpContext& context) {
  const detail::BodyRuns bodies(context);
  const std::size_t own = detail::own_inputs(context);
  const detail::ScanPlan plan = detail::read_scan(context, own, "scan_input_directions");
  std::vector<const Tensor*> inputs;
  for (std::size_t i = 0; i < own; ++i) inputs.push_back(&context.input(i));
  auto results = detail::scan_sequence(context, bodies, plan, inputs, -1);
  detail::give_outputs(context, results, results.size());
}

/// ONNX Scan of opset 8: axis 0 of everything is a batch, whose sequences of axis 1 may have lengths of their own.
inline void scan_8(const OpContext& context) {
  const detail::BodyRuns bodies(context);
  const std::size_t own = detail::own_inputs(context);
  const detail::ScanPlan plan = detail::read_scan(context, own == 0 ? 0 : own - 1, "directions");
  std::vector<std::int64_t> lengths;
  if (context.has(0)) lengths = context.integers(0);
  const Shape& first = context.input(1).shape();
  const std::int64_t batch = first.rank() == 0 ? 0 : first[0];
  if (batch == 0) context.unsupported("an empty batch");
  if (context.has(0) && static_cast<std::int64_t>(lengths.size()) != batch) {
    context.fail("sequence_lens has " + std::to_string(lengths.size()) + " entries, expected " + std::to_string(batch));
  }
  std::vector<Stack> stacks(context.outputs.size());
  for (std::int64_t row = 0; row < batch; ++row) {
    std::vector<Tensor> rows;
    for (std::size_t i = 1; i < own; ++i) {
      const Tensor& input = context.input(i);
      if (input.shape().rank() == 0 || input.shape()[0] != batch) {
        context.fail("input " + std::to_string(i) + " is " + to_string(input.shape()) + ", expected a batch of " +
                     std::to_string(batch));
      }
      rows.push_back(slice_at(input, 0, row));
    }
    const std::int64_t steps = context.has(0) ? std::max<std::int64_t>(0, lengths[static_cast<std::size_t>(row)]) : -1;
    const auto results = detail::scan_sequence(context, bodies, plan, detail::addresses(rows), steps);
    for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i].push(context, results[i]);
  }
  for (std::size_t i = 0; i < stacks.size(); ++i) context.outputs[i] = stacks[i].finish();
}

inline void add_control_flow(OpSet& set) {
  set.add("If", if_op);
  set.add("Loop", loop);
  set.add("Scan", 8, scan_8);
  set.add("Scan", 9, scan);
}

}  // namespace amct::exec::ops
