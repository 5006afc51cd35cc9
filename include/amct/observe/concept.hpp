// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/status.hpp>

namespace amct {

/// Watches batches of values and proposes a scale and offset for them.
///
/// - `observe(batch)` takes in one batch or refuses it (NaN, Inf, empty) and is then unchanged;
/// - `ready()` tells whether enough was seen;
/// - `compute(range)` gives the quantization of what was seen; pre: at least one batch. One run of statistics serves
///   several code ranges. Check the result with is_usable: a range beyond float32 gives an infinite scale;
/// - `merge(other)` takes in what another observer with the same options has seen, as if behind the own batches;
/// - `state()` gives all that was seen as plain data, and `restore(state)` goes on from there;
/// - `reset()` forgets all batches.
///
/// Options out of their range are refused by observe() with StatusCode::bad_option, naming the option.
template <class O>
concept Observer = requires(O observer, const O seen, std::span<const float> batch, CodeRange range,
                            typename O::State state) {
  typename O::Options;
  requires std::constructible_from<O, typename O::Options>;
  requires std::copyable<typename O::State>;
  { observer.observe(batch) } -> std::same_as<Status>;
  { seen.ready() } -> std::same_as<bool>;
  { seen.compute(range) } -> std::same_as<Affine>;
  { observer.merge(seen) } -> std::same_as<Status>;
  { seen.state() } -> std::convertible_to<typename O::State>;
  observer.restore(state);
  observer.reset();
};

}  // namespace amct
