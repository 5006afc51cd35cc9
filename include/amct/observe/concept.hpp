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
/// - `reset()` forgets all batches.
template <class O>
concept Observer = requires(O observer, const O seen, std::span<const float> batch, CodeRange range) {
  typename O::Options;
  requires std::constructible_from<O, typename O::Options>;
  { observer.observe(batch) } -> std::same_as<Status>;
  { seen.ready() } -> std::same_as<bool>;
  { seen.compute(range) } -> std::same_as<Affine>;
  observer.reset();
};

}  // namespace amct
