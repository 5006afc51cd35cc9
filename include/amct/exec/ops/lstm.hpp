// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/exact.hpp>
#include <amct/exec/blas.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/recurrent.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec::ops {

namespace detail {

AMCT_EXACT_BEGIN

/// The cell of an LSTM in one direction.
class LstmCell {
 public:
  LstmCell(const OpContext& context, const Recurrent& layer, std::size_t direction)
      : layer_(layer),
        direction_(direction),
        coupled_(context.node.attribute_or<std::int64_t>("input_forget", 0) != 0),
        peephole_(layer.parameters(7, direction, 3 * layer.hidden)) {}

  /// One step of one row.
  /// \param gates  what goes into the gates i, o, f and c; used up
  void step(std::span<float> gates, std::span<float> h, std::span<float> c) const {
    const std::size_t n = layer_.hidden;
    const auto in = gates.first(n);
    const auto out = gates.subspan(n, n);
    const auto forget = gates.subspan(2 * n, n);
    const auto fresh = gates.subspan(3 * n, n);
    for (std::size_t i = 0; i < n; ++i) {
      in[i] += peephole_[i] * c[i];
      forget[i] += peephole_[2 * n + i] * c[i];
    }
    layer_.activate(direction_, 0, in);
    if (!coupled_) layer_.activate(direction_, 0, forget);
    layer_.activate(direction_, 1, fresh);
    for (std::size_t i = 0; i < n; ++i) {
      if (coupled_) forget[i] = 1.0F - in[i];
      c[i] = forget[i] * c[i] + in[i] * fresh[i];
      out[i] += peephole_[n + i] * c[i];
      h[i] = c[i];
    }
    layer_.activate(direction_, 0, out);
    layer_.activate(direction_, 2, h);
    for (std::size_t i = 0; i < n; ++i) h[i] *= out[i];
  }

 private:
  const Recurrent& layer_;
  std::size_t direction_;
  bool coupled_;                 ///< the forget gate is 1 - i
  std::vector<float> peephole_;  ///< of the gates i, o and f
};

AMCT_EXACT_END

}  // namespace detail

/// ONNX LSTM with peepholes, all activations, coupled gates and both layouts.
inline void lstm(const OpContext& context) {
  const Recurrent layer(context, 4, {"Sigmoid", "Tanh", "Tanh"});
  const std::size_t n = layer.hidden;
  if (context.has(7)) layer.require(7, {layer.directions, 3 * n});
  layer.make_outputs(2);
  for (std::size_t d = 0; d < layer.directions; ++d) {
    const detail::LstmCell cell(context, layer, d);
    const auto recurrence = layer.recurrence(d, 0, 4 * n);
    auto h = layer.initial_state(5, d);
    auto c = layer.initial_state(6, d);
    layer.run(d, layer.bias(d), h, [&](std::span<float> gates, std::span<const char> active) {
      gemm(layer.batch, 4 * n, n, h.data(), false, recurrence.data(), false, gates.data(), true);
      for (std::size_t b = 0; b < layer.batch; ++b) {
        if (active[b] == 0) continue;
        cell.step(gates.subspan(b * 4 * n, 4 * n), std::span(h).subspan(b * n, n), std::span(c).subspan(b * n, n));
      }
    });
    layer.write_state(1, d, h);
    layer.write_state(2, d, c);
  }
}

inline void add_lstm(OpSet& set) { set.add("LSTM", in_float32(lstm)); }

}  // namespace amct::exec::ops
