// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/cell_activation.hpp>

/// \file
/// What RNN, GRU and LSTM share: their inputs and outputs in both layouts, and the walk through the steps of both
/// directions. Each of them adds what its cell does in one step.

namespace amct::exec {

/// A recurrent layer as its node describes it. Inputs: X [steps, batch, inputs], W [directions, gates * hidden,
/// inputs], R [directions, gates * hidden, hidden], B [directions, 2 * gates * hidden], sequence_lens [batch],
/// initial_h [directions, batch, hidden]; with layout 1 the batch comes first in X, Y and the states.
class Recurrent {
 public:
  std::size_t steps, batch, inputs, hidden, directions, gates;
  std::vector<CellActivation> activations;  ///< those of the forward direction first
  float clip;                               ///< bound of what goes into an activation; infinite for none
  std::vector<std::size_t> lengths;         ///< steps of each row of the batch

  /// \param gates        gates of the cell, side by side in W, R and B
  /// \param activations  of one direction, if the node does not say
  Recurrent(const OpContext& context, std::size_t gate_count, const std::vector<std::string_view>& default_activations)
      : gates(gate_count), context_(context) {
    const Shape& x = context.floats(0).shape();
    const Shape& r = context.floats(2).shape();
    if (x.rank() != 3 || r.rank() != 3) {
      context.fail("X " + to_string(x) + " and R " + to_string(r) + " must have 3 axes");
    }
    batch_first_ = context.node.attribute_or<std::int64_t>("layout", 0) != 0;
    steps = static_cast<std::size_t>(x[batch_first_ ? 1 : 0]);
    batch = static_cast<std::size_t>(x[batch_first_ ? 0 : 1]);
    inputs = static_cast<std::size_t>(x[2]);
    hidden = static_cast<std::size_t>(context.node.attribute_or<std::int64_t>("hidden_size", r[2]));
    read_direction();
    const auto most = static_cast<std::size_t>(kMostElements);
    if (hidden == 0 || hidden > most / gates || hidden != static_cast<std::size_t>(r[2])) {
      context.fail("hidden_size is " + std::to_string(hidden) + ", expected that of R " + to_string(r));
    }
    require(1, {directions, gates * hidden, inputs});
    require(2, {directions, gates * hidden, hidden});
    if (context.has(3)) require(3, {directions, 2 * gates * hidden});
    if (batch != 0 && std::max<std::size_t>(1, steps) > most / (gates * hidden) / batch) {
      context.fail("the gates of all steps have more than 2^29 elements");
    }
    activations = read_activations(context, directions, default_activations);
    const auto* bound = context.node.attribute<float>("clip");
    clip = bound == nullptr ? std::numeric_limits<float>::infinity() : *bound;
    if (!(clip >= 0.0F)) context.fail("clip is " + std::to_string(clip) + ", expected a positive number");
    read_lengths();
  }

  /// Refuses an input of another shape.
  void require(std::size_t index, std::initializer_list<std::size_t> dims) const {
    std::vector<std::int64_t> expected;
    for (const std::size_t dim : dims) expected.push_back(static_cast<std::int64_t>(dim));
    const Shape& shape = context_.input(index).shape();
    if (shape.dims() == expected) return;
    context_.fail("input " + std::to_string(index) + " is " + to_string(shape) + ", expected " +
                  to_string(Shape(std::move(expected))));
  }

  [[nodiscard]] bool runs_backward(std::size_t direction) const noexcept { return reverse_ || direction == 1; }

  /// An activation of a direction, applied to clipped values.
  void activate(std::size_t direction, std::size_t index, std::span<float> x) const {
    if (clip < std::numeric_limits<float>::infinity()) {
      for (float& value : x) value = std::clamp(value, -clip, clip);
    }
    activations[direction * (activations.size() / directions) + index].apply(x);
  }

  /// The part of an optional input that belongs to a direction; zeros if it is not given.
  [[nodiscard]] std::vector<float> parameters(std::size_t index, std::size_t direction, std::size_t count) const {
    if (!context_.has(index)) return std::vector<float>(count, 0.0F);
    const auto all = context_.floats(index).data<float>().subspan(direction * count, count);
    return {all.begin(), all.end()};
  }

  /// The biases of a direction, that of W plus that of R: [gates * hidden].
  [[nodiscard]] std::vector<float> bias(std::size_t direction) const {
    auto both = parameters(3, direction, 2 * gates * hidden);
    for (std::size_t i = 0; i < gates * hidden; ++i) both[i] += both[gates * hidden + i];
    both.resize(gates * hidden);
    return both;
  }

  /// The rows [first, first + count) of R of a direction, transposed: [hidden, count].
  [[nodiscard]] std::vector<float> recurrence(std::size_t direction, std::size_t first, std::size_t count) const {
    const float* rows = context_.floats(2).data<float>().data() + (direction * gates * hidden + first) * hidden;
    std::vector<float> result(hidden * count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < hidden; ++j) result[j * count + i] = rows[i * hidden + j];
    }
    return result;
  }

  /// The initial states [batch, hidden] of a direction; zeros if the input is not given.
  [[nodiscard]] std::vector<float> initial_state(std::size_t index, std::size_t direction) const {
    std::vector<float> state(batch * hidden, 0.0F);
    if (!context_.has(index)) return state;
    if (batch_first_) require(index, {batch, directions, hidden});
    else require(index, {directions, batch, hidden});
    const auto all = context_.floats(index).data<float>();
    for (std::size_t b = 0; b < batch; ++b) {
      std::copy_n(all.data() + state_row(direction, b), hidden, state.data() + b * hidden);
    }
    return state;
  }

  /// Makes the outputs that the node wants: Y and `states` final states.
  void make_outputs(std::size_t states) const {
    const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    if (context_.wants_output(0)) {
      Tensor& y = context_.make_output(0, ElementType::float32,
                                       batch_first_ ? Shape{size(batch), size(steps), size(directions), size(hidden)}
                                                    : Shape{size(steps), size(directions), size(batch), size(hidden)});
      std::fill_n(y.data<float>().data(), y.size(), 0.0F);  // behind the end of short rows
    }
    for (std::size_t i = 1; i <= states; ++i) {
      if (!context_.wants_output(i)) continue;
      (void)context_.make_output(i, ElementType::float32,
                                 batch_first_ ? Shape{size(batch), size(directions), size(hidden)}
                                              : Shape{size(directions), size(batch), size(hidden)});
    }
  }

  /// Writes final states [batch, hidden] of a direction into an output, if wanted.
  void write_state(std::size_t output, std::size_t direction, std::span<const float> state) const {
    if (!context_.wants_output(output)) return;
    float* all = context_.outputs[output].data<float>().data();
    for (std::size_t b = 0; b < batch; ++b) {
      std::copy_n(state.data() + b * hidden, hidden, all + state_row(direction, b));
    }
  }

  /// Runs a direction through all steps, leaves the last hidden states in `h` [batch, hidden] and writes Y.
  ///
  /// \param fused_bias  what is added to the gates before a step, [gates * hidden]
  /// \param step        step(gates, active): takes X * W' + fused_bias as [batch, gates * hidden], which it may change,
  ///                    and updates the rows of `h` that are active; the others have no more steps
  template <class Step>
  void run(std::size_t direction, std::span<const float> fused_bias, std::vector<float>& h, const Step& step) const {
    const std::size_t width = gates * hidden;
    std::vector<float> projected(steps * batch * width);
    gemm(steps * batch, width, inputs, context_.floats(0).data<float>().data(), false,
         context_.floats(1).data<float>().data() + direction * width * inputs, true, projected.data(), false);
    std::vector<float> now(batch * width, 0.0F);
    std::vector<char> active(batch);
    const auto time_of = [&](std::size_t s, std::size_t b) {
      return runs_backward(direction) ? lengths[b] - 1 - s : s;
    };
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::size_t b = 0; b < batch; ++b) {
        active[b] = s < lengths[b] ? 1 : 0;
        if (active[b] == 0) continue;
        const float* row = projected.data() + row_of(time_of(s, b), b) * width;
        std::transform(row, row + width, fused_bias.begin(), now.data() + b * width, std::plus<>());
      }
      step(std::span(now), std::span<const char>(active));
      if (!context_.wants_output(0)) continue;
      float* y = context_.outputs[0].data<float>().data();
      for (std::size_t b = 0; b < batch; ++b) {
        if (active[b] != 0) std::copy_n(h.data() + b * hidden, hidden, y + y_row(time_of(s, b), direction, b) * hidden);
      }
    }
  }

 private:
  void read_direction() {
    const auto name = context_.node.attribute_or<std::string>("direction", "forward");
    if (name != "forward" && name != "reverse" && name != "bidirectional") {
      context_.fail("direction is \"" + name + "\", expected forward, reverse or bidirectional");
    }
    directions = name == "bidirectional" ? 2 : 1;
    reverse_ = name == "reverse";
  }

  void read_lengths() {
    lengths.assign(batch, steps);
    if (!context_.has(4)) return;
    const auto given = context_.integers(4);
    require(4, {batch});
    for (std::size_t b = 0; b < batch; ++b) {
      if (given[b] < 0 || given[b] > static_cast<std::int64_t>(steps)) {
        context_.fail("sequence_lens has " + std::to_string(given[b]) + ", expected 0 to " + std::to_string(steps));
      }
      lengths[b] = static_cast<std::size_t>(given[b]);
    }
  }

  /// Places of a row of X, Y and the states, by rows except for the states.
  [[nodiscard]] std::size_t row_of(std::size_t time, std::size_t b) const noexcept {
    return batch_first_ ? b * steps + time : time * batch + b;
  }
  [[nodiscard]] std::size_t y_row(std::size_t time, std::size_t direction, std::size_t b) const noexcept {
    return batch_first_ ? (b * steps + time) * directions + direction : (time * directions + direction) * batch + b;
  }
  [[nodiscard]] std::size_t state_row(std::size_t direction, std::size_t b) const noexcept {
    return (batch_first_ ? b * directions + direction : direction * batch + b) * hidden;
  }

  const OpContext& context_;
  bool batch_first_ = false;
  bool reverse_ = false;
};

}  // namespace amct::exec
