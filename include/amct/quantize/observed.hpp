// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/status.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/observe/concept.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// Quantizes activations with what an observer found: any observer, any width, any contract, composed at compile time.
/// Observed<Int8, Ifmr> is AMCT's post-training quantization of an activation; Observed<Int8, MinMax, DivideRoundAdd>
/// is torch's FakeQuantize with its MinMaxObserver.
///
/// - calibrate() gives batches to the observer; once it is ready, further batches are left out, as in AMCT;
/// - forward() refuses with StatusCode::not_ready before the first batch, and with unusable_scale a range that float32
/// cannot
///   hold. Until the observer is ready it uses what was seen so far.
/// \note calibrate() costs what the observer's compute() costs, once a batch; forward() is O(n).
template <BitWidth B, Observer O, CodeContract Contract = ReciprocalRoundAdd>
class Observed {
 public:
  using Bits = B;
  using Options = typename O::Options;

  explicit Observed(Options options = {}) : observer_(std::move(options)) {}

  Status calibrate(std::span<const float> batch) {
    const Status status = observer_.observe(batch);
    if (status.code == StatusCode::already_ready) return {};
    if (!status.ok()) return status;
    seen_ = true;
    affine_ = observer_.compute(B::range);
    return {};
  }

  Status forward(std::span<const float> x, std::span<float> y) {
    if (x.size() != y.size()) return {StatusCode::size_mismatch, x.size()};
    if (!seen_) return {StatusCode::not_ready};
    if (!is_usable(affine_)) return {StatusCode::unusable_scale, 0, static_cast<double>(affine_.scale)};
    fake_quantize<Contract>(x, y, affine_, B::range);
    return {};
  }

  /// \pre at least one batch
  [[nodiscard]] QuantParams params() const { return {{affine_}, B::range}; }
  [[nodiscard]] RecordExtras extras() const { return {}; }
  [[nodiscard]] const O& observer() const noexcept { return observer_; }

 private:
  O observer_;
  Affine affine_;
  bool seen_ = false;
};

}  // namespace amct
