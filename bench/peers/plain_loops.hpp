// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "peers/integer_layer.hpp"

/// \file
/// The obvious loops of operations that no library offers, compiled with -O3 -march=native.

namespace bench::plain {

/// A clip range and its scale; as amct::ScaleCandidate.
struct Candidate {
  float low, high, scale;
};

void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes);
void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes);
void quantize4(std::span<const float> x, std::span<std::int8_t> bytes, float scale);
void dequantize4(std::span<const std::int8_t> bytes, std::span<float> x, float scale);

/// The k-th smallest and the k-th largest value, by std::nth_element on a copy.
void tails(std::span<const float> x, std::span<float> two, std::size_t k);

/// Adds to the counts of equal bins of [low, high].
void histogram(std::span<const float> x, std::span<std::uint64_t> counts, float low, float high);

/// AMCT's loss of each candidate: clip, divide, round, multiply, compare with the value that was not clipped.
void losses(std::span<const float> x, std::span<const Candidate> candidates, std::span<double> sums);

/// The same with every step in double, which decides whether a search found the right winner.
void losses_in_double(std::span<const float> x, std::span<const Candidate> candidates, std::span<double> sums);

/// Accumulators of a layer without the bias, which decide whether a layer is right.
void accumulate(std::span<const std::int8_t> codes, const IntegerLayer& layer, std::span<std::int32_t> sums);

}  // namespace bench::plain
