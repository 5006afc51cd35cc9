// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/strided_copy.hpp>

namespace amct::exec::ops {

/// ONNX ReverseSequence: of each batch entry the first sequence_lens steps in reverse, the others as they are. One of
/// the first two axes is the batch, the other one time.
inline void reverse_sequence(const OpContext& context) {
  const Tensor& x = context.input(0);
  const Shape& shape = x.shape();
  const auto batch_axis = context.node.attribute_or<std::int64_t>("batch_axis", 1);
  const auto time_axis = context.node.attribute_or<std::int64_t>("time_axis", 0);
  const bool first_two = (batch_axis == 0 && time_axis == 1) || (batch_axis == 1 && time_axis == 0);
  if (shape.rank() < 2 || !first_two) {
    context.fail("axes " + std::to_string(batch_axis) + " and " + std::to_string(time_axis) + " of " +
                 to_string(shape) + " must be 0 and 1");
  }
  const std::int64_t batch = shape[static_cast<std::size_t>(batch_axis)];
  const std::int64_t steps = shape[static_cast<std::size_t>(time_axis)];
  const auto lengths = context.integers(1);
  if (static_cast<std::int64_t>(lengths.size()) != batch) {
    context.fail("sequence_lens has " + std::to_string(lengths.size()) + " entries, expected " + std::to_string(batch));
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > steps) {
      context.fail("a sequence has " + std::to_string(length) + " steps, expected 0 to " + std::to_string(steps));
    }
  }
  Tensor& y = context.make_output(0, x.type(), shape);
  const auto slice = shape.count(2, shape.rank()) * static_cast<std::int64_t>(size_of(x.type()));
  const std::int64_t entry_step = batch_axis == 0 ? steps * slice : slice;
  const std::int64_t time_step = time_axis == 0 ? batch * slice : slice;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t start = static_cast<std::int64_t>(i) * entry_step;
    const std::byte* const from = x.raw().data() + start;
    std::byte* const to = y.raw().data() + start;
    const std::int64_t end = lengths[i] * time_step;
    const CopyAxis bytes{static_cast<std::size_t>(slice), 1, 1};
    const std::array turned{CopyAxis{static_cast<std::size_t>(lengths[i]), -time_step, time_step}, bytes};
    const std::array rest{CopyAxis{static_cast<std::size_t>(steps - lengths[i]), time_step, time_step}, bytes};
    if (lengths[i] != 0) strided_copy(from + end - time_step, to, turned, 1);
    if (lengths[i] != steps) strided_copy(from + end, to + end, rest, 1);
  }
}

inline void add_reverse_sequence(OpSet& set) { set.add("ReverseSequence", reverse_sequence); }

}  // namespace amct::exec::ops
