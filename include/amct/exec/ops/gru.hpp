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

/// The cells of a GRU in one direction, all rows of the batch. Gates are z (update), r (reset) and the new state; the
/// reset gate acts on the old state before its product with R, or behind it with linear_before_reset.
class GruCells {
 public:
  GruCells(const OpContext& context, const Recurrent& layer, std::size_t direction)
      : layer_(layer),
        direction_(direction),
        n_(layer.hidden),
        reset_last_(context.node.attribute_or<std::int64_t>("linear_before_reset", 0) != 0),
        early_(layer.recurrence(direction, 0, early_gates() * n_)),
        late_(layer.recurrence(direction, 2 * n_, n_)),
        bias_(layer.bias(direction)),
        late_bias_(n_, 0.0F),
        recurrent_(layer.batch * early_gates() * n_),
        state_(layer.batch * n_, 0.0F) {
    if (!reset_last_) return;
    const auto both = layer.parameters(3, direction, 6 * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      bias_[2 * n_ + i] = both[2 * n_ + i];
      late_bias_[i] = both[5 * n_ + i];
    }
  }

  /// What is added to the gates beside both products.
  [[nodiscard]] std::span<const float> bias() const noexcept { return bias_; }

  /// One step of the active rows.
  void step(std::span<float> gates, std::span<const char> active, std::span<float> h) {
    const std::size_t width = early_gates() * n_;
    gemm(layer_.batch, width, n_, h.data(), false, early_.data(), false, recurrent_.data(), false);
    for (std::size_t b = 0; b < layer_.batch; ++b) {
      if (active[b] == 0) continue;
      open_gates(gates.subspan(b * 3 * n_, 3 * n_), std::span(recurrent_).subspan(b * width, width),
                 h.subspan(b * n_, n_), std::span(state_).subspan(b * n_, n_));
    }
    if (!reset_last_) {
      std::vector<float> product(layer_.batch * n_);
      gemm(layer_.batch, n_, n_, state_.data(), false, late_.data(), false, product.data(), false);
      state_.swap(product);
    }
    for (std::size_t b = 0; b < layer_.batch; ++b) {
      if (active[b] == 0) continue;
      const auto update = gates.subspan(b * 3 * n_, n_);
      const auto fresh = gates.subspan((b * 3 + 2) * n_, n_);
      for (std::size_t i = 0; i < n_; ++i) fresh[i] += state_[b * n_ + i];
      layer_.activate(direction_, 1, fresh);
      float* const row = h.data() + b * n_;
      for (std::size_t i = 0; i < n_; ++i) row[i] = (1.0F - update[i]) * fresh[i] + update[i] * row[i];
    }
  }

 private:
  /// Gates whose product with R comes first: z and r, and the new state's with linear_before_reset.
  [[nodiscard]] std::size_t early_gates() const noexcept { return reset_last_ ? 3 : 2; }

  /// The gates z and r of a row, and what r leaves of the old state (or of its product with R).
  void open_gates(std::span<float> gates, std::span<const float> recurrent, std::span<const float> h,
                  std::span<float> state) const {
    for (std::size_t i = 0; i < 2 * n_; ++i) gates[i] += recurrent[i];
    layer_.activate(direction_, 0, gates.first(2 * n_));
    const auto reset = gates.subspan(n_, n_);
    for (std::size_t i = 0; i < n_; ++i) {
      state[i] = reset[i] * (reset_last_ ? recurrent[2 * n_ + i] + late_bias_[i] : h[i]);
    }
  }

  const Recurrent& layer_;
  std::size_t direction_;
  std::size_t n_;
  bool reset_last_;
  std::vector<float> early_, late_;       ///< R of the early gates and of the new state, transposed
  std::vector<float> bias_, late_bias_;   ///< the latter belongs to the product that is reset
  std::vector<float> recurrent_, state_;  ///< products of a step
};

AMCT_EXACT_END

}  // namespace detail

/// ONNX GRU in both forms of the reset gate, with all activations and both layouts.
inline void gru(const OpContext& context) {
  const Recurrent layer(context, 3, {"Sigmoid", "Tanh"});
  layer.make_outputs(1);
  for (std::size_t d = 0; d < layer.directions; ++d) {
    detail::GruCells cells(context, layer, d);
    auto h = layer.initial_state(5, d);
    layer.run(d, cells.bias(), h,
              [&](std::span<float> gates, std::span<const char> active) { cells.step(gates, active, h); });
    layer.write_state(1, d, h);
  }
}

inline void add_gru(OpSet& set) { set.add("GRU", in_float32(gru)); }

}  // namespace amct::exec::ops
