// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/recurrent.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec::ops {

/// ONNX RNN: h = f(x * W' + h * R' + Wb + Rb).
inline void rnn(const OpContext& context) {
  const Recurrent layer(context, 1, {"Tanh"});
  layer.make_outputs(1);
  for (std::size_t d = 0; d < layer.directions; ++d) {
    const auto recurrence = layer.recurrence(d, 0, layer.hidden);
    auto h = layer.initial_state(5, d);
    layer.run(d, layer.bias(d), h, [&](std::span<float> gates, std::span<const char> active) {
      gemm(layer.batch, layer.hidden, layer.hidden, h.data(), false, recurrence.data(), false, gates.data(), true);
      for (std::size_t b = 0; b < layer.batch; ++b) {
        if (active[b] == 0) continue;
        const auto row = gates.subspan(b * layer.hidden, layer.hidden);
        layer.activate(d, 0, row);
        std::copy_n(row.data(), row.size(), h.data() + b * layer.hidden);
      }
    });
    layer.write_state(1, d, h);
  }
}

inline void add_rnn(OpSet& set) { set.add("RNN", in_float32(rnn)); }

}  // namespace amct::exec::ops
