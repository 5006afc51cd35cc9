// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>

namespace amct {

/// The scale and offset of a tensor, or of each of its channels, and the codes they belong to.
struct QuantParams {
  std::vector<Affine> channels;
  CodeRange range;
};

/// A number, or an array of numbers, that training changes, and the gradient that backward() adds to.
struct Parameter {
  const char* name = "";
  std::span<float> value;
  std::span<float> gradient;
};

/// What a record of a layer holds besides scales and offsets, as plain data. Empty where a quantizer has none.
struct RecordExtras {
  std::vector<std::int32_t> cluster;  ///< NUQ: the INT8 levels in use
  std::vector<float> centroids;       ///< SNQ and LNQ: real values of the codes
  std::vector<std::int32_t> params;   ///< SNQ: the INT8 images of the centroids
  std::optional<float> clip_max;      ///< ULQ, LUQ and LNQ: learned clips
  std::optional<float> clip_min;
};

/// Replaces values by those that a quantized network would see.
///
/// - `Bits` is the width of its codes;
/// - `forward(x, y)` writes the fake-quantized values, or refuses data without touching y (StatusCode::not_ready before
///   anything was calibrated); y may be x;
/// - `params()` and `extras()` are what a record is made of; pre: calibrated, or given in the options. For non-uniform
///   quantizers the codes of params() are those of the INT8 images of their levels.
template <class Q>
concept Quantizer = requires(Q quantizer, const Q ready, std::span<const float> x, std::span<float> y) {
  typename Q::Options;
  requires BitWidth<typename Q::Bits>;
  requires std::constructible_from<Q, typename Q::Options>;
  { quantizer.forward(x, y) } -> std::same_as<Status>;
  { ready.params() } -> std::same_as<QuantParams>;
  { ready.extras() } -> std::same_as<RecordExtras>;
};

/// A quantizer of activations: `calibrate(batch)` takes in one batch of values. Batches behind the last one that it
/// needs are accepted and left out.
template <class Q>
concept ActivationQuantizer = Quantizer<Q> && requires(Q quantizer, std::span<const float> batch) {
  { quantizer.calibrate(batch) } -> std::same_as<Status>;
};

/// A quantizer of weights: `calibrate(weight, layout)` takes the weight and how its channels lie.
template <class Q>
concept WeightQuantizer = Quantizer<Q> && requires(Q quantizer, std::span<const float> weight, ChannelLayout layout) {
  { quantizer.calibrate(weight, layout) } -> std::same_as<Status>;
};

/// A quantizer that can be trained: `backward(x, upstream, gradient)` writes the gradient of x and adds those of the
/// parameters to what `parameters()` gives, views into the quantizer; pre: x is what forward() saw last.
template <class Q>
concept TrainableQuantizer = Quantizer<Q> &&
    requires(Q quantizer, std::span<const float> x, std::span<float> gradient) {
  { quantizer.backward(x, x, gradient) } -> std::same_as<Status>;
  { quantizer.parameters() } -> std::same_as<std::vector<Parameter>>;
};

}  // namespace amct
