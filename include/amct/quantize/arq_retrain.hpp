// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// ARQ in training: the scales follow the weights in every step, and the gradient passes straight through.
///
/// `forward(w, y)` is Arq::calibrate and Arq::forward on the weights of this step, with the layout given to
/// `calibrate(w, layout)`. `backward` copies upstream: nothing is masked, since ARQ clips no weight, and the scales
/// receive no gradient, so there are no parameters. The weights themselves are never overwritten.
///
/// Degenerate data as in Arq: a channel of zeros has scale 1 and codes 0; empty data, NaN, Inf and a range beyond
/// float32 are refused and leave the scales of the step before. O(n) a step.
/// Source: AMCT's `arq_retrain`, which is straight-through estimation (Bengio et al. 2013).
template <BitWidth B = Int8>
class ArqRetrain {
 public:
  using Bits = B;
  using Options = ArqOptions;

  explicit ArqRetrain(Options options = {}) noexcept : arq_(options) {}

  /// Takes the layout, and the scales of the weight as it is.
  Status calibrate(std::span<const float> weight, const ChannelLayout& layout) {
    const Status status = arq_.calibrate(weight, layout);
    if (status.ok()) layout_ = layout;
    return status;
  }
  /// `result` may be `weight`. A size other than the calibrated one is refused.
  Status forward(std::span<const float> weight, std::span<float> result) {
    if (result.size() != weight.size()) return {StatusCode::size_mismatch, result.size()};
    if (const Status status = arq_.calibrate(weight, layout_); !status) return status;
    arq_.fake_quantize(weight, result);
    return {};
  }
  /// `gradient` may be `upstream`.
  Status backward(std::span<const float> weight, std::span<const float> upstream, std::span<float> gradient) const {
    if (upstream.size() != weight.size()) return {StatusCode::size_mismatch, upstream.size()};
    if (gradient.size() != weight.size()) return {StatusCode::size_mismatch, gradient.size()};
    if (gradient.data() != upstream.data()) std::ranges::copy(upstream, gradient.begin());
    return {};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const { return {}; }
  [[nodiscard]] QuantParams params() const { return arq_.params(); }
  [[nodiscard]] RecordExtras extras() const { return {}; }

  /// The scales and codes of the last step.
  [[nodiscard]] const Arq<B>& arq() const noexcept { return arq_; }

 private:
  Arq<B> arq_;
  ChannelLayout layout_;
};

static_assert(WeightQuantizer<ArqRetrain<>> && TrainableQuantizer<ArqRetrain<>>);

}  // namespace amct
