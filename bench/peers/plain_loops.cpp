// SPDX-License-Identifier: Apache-2.0
// What a compiler makes of the obvious loops with -O3 -march=native.
#include "peers/plain_loops.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "peers/peers.hpp"

namespace bench {
namespace {

float clamped(float value, float low, float high) { return std::min(std::max(value, low), high); }

std::int8_t to_code(float rounded) { return static_cast<std::int8_t>(clamped(rounded, -128.0F, 127.0F)); }

// The loops take their spans by value: through a closure, whose members a store of int8 might change, g++ does not
// vectorize them.

void quantize_row(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  const float inverse = 1.0F / affine.scale;
  const auto offset = static_cast<float>(affine.offset);
  for (std::size_t i = 0; i < x.size(); ++i) codes[i] = to_code(std::nearbyint(x[i] * inverse) + offset);
}

void dequantize_row(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(codes[i] - affine.offset) * affine.scale;
}

void fake_quantize_row(std::span<const float> x, std::span<float> y, amct::Affine affine) {
  const float inverse = 1.0F / affine.scale;
  const auto offset = static_cast<float>(affine.offset);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = clamped(std::nearbyint(x[i] * inverse), -128.0F - offset, 127.0F - offset) * affine.scale;
  }
}

void requantize_row(std::span<const std::int32_t> acc, std::span<std::int8_t> codes, float multiplier, float offset) {
  for (std::size_t i = 0; i < acc.size(); ++i) {
    codes[i] = to_code(std::nearbyint(static_cast<float>(acc[i]) * multiplier) + offset);
  }
}

void requantize_columns(std::span<const std::int32_t> acc, std::span<std::int8_t> codes,
                        std::span<const std::int32_t> bias, std::span<const float> multipliers, float offset) {
  for (std::size_t c = 0; c < bias.size(); ++c) {
    codes[c] = to_code(std::nearbyint(static_cast<float>(acc[c] + bias[c]) * multipliers[c]) + offset);
  }
}

void find_min_max(std::span<const float> x, std::span<float> ends) {
  float low = x[0];
  float high = x[0];
  for (const float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  ends[0] = low;
  ends[1] = high;
}

Work quantize(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  return [=] { quantize_row(x, codes, affine); };
}

Work dequantize(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  return [=] { dequantize_row(codes, x, affine); };
}

Work fake_quantize(std::span<const float> x, std::span<float> y, amct::Affine affine) {
  return [=] { fake_quantize_row(x, y, affine); };
}

Work quantize_channels(std::span<const float> x, std::span<std::int8_t> codes, std::span<const amct::Affine> rows) {
  return [=, columns = x.size() / rows.size()] {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      quantize_row(x.subspan(r * columns, columns), codes.subspan(r * columns, columns), rows[r]);
    }
  };
}

Work fake_quantize_channels(std::span<const float> x, std::span<float> y, std::span<const amct::Affine> rows) {
  return [=, columns = x.size() / rows.size()] {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      fake_quantize_row(x.subspan(r * columns, columns), y.subspan(r * columns, columns), rows[r]);
    }
  };
}

Work requantize(std::span<const std::int32_t> acc, std::span<std::int8_t> codes, float multiplier,
                std::int32_t offset) {
  return [=] { requantize_row(acc, codes, multiplier, static_cast<float>(offset)); };
}

Work requantize_channels(std::span<const std::int32_t> acc, std::span<std::int8_t> codes,
                         std::span<const std::int32_t> bias, std::span<const float> multipliers, std::int32_t offset) {
  return [=, columns = bias.size()] {
    for (std::size_t first = 0; first < acc.size(); first += columns) {
      requantize_columns(acc.subspan(first, columns), codes.subspan(first, columns), bias, multipliers,
                         static_cast<float>(offset));
    }
  };
}

Work min_max(std::span<const float> x, std::span<float> ends) {
  return [=] { find_min_max(x, ends); };
}

[[maybe_unused]] const bool kEntered = enter({.name = "plain loop",
                                              .quantize = quantize,
                                              .dequantize = dequantize,
                                              .fake_quantize = fake_quantize,
                                              .quantize_channels = quantize_channels,
                                              .fake_quantize_channels = fake_quantize_channels,
                                              .requantize = requantize,
                                              .requantize_channels = requantize_channels,
                                              .min_max = min_max});

/// The error of one value, every step in T.
template <class T>
T residual(float x, const plain::Candidate& c) {
  const T clipped = std::min(std::max(static_cast<T>(x), static_cast<T>(c.low)), static_cast<T>(c.high));
  return std::nearbyint(clipped / static_cast<T>(c.scale)) * static_cast<T>(c.scale) - static_cast<T>(x);
}

template <class T>
void sum_losses(std::span<const float> x, std::span<const plain::Candidate> candidates, std::span<double> sums) {
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    double sum = 0.0;
    for (const float value : x) {
      const T r = residual<T>(value, candidates[c]);
      sum += r * r;
    }
    sums[c] = sum;
  }
}

std::vector<std::int16_t> with_channels_last(const IntegerLayer& layer) {
  const std::size_t area = layer.shape.kernel * layer.shape.kernel;
  const std::size_t depth = layer.shape.group_channels_in();
  std::vector<std::int16_t> moved(layer.weights.size());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    moved[(i / (depth * area) * area + i % area) * depth + i / area % depth] = layer.weights[i];
  }
  return moved;
}

/// What the kernel sees of a group at one place, without the offset, so that padding is zero.
void gather(std::span<const std::int8_t> codes, const IntegerShape& shape, std::size_t y, std::size_t x,
            std::size_t group, std::span<std::int16_t> patch) {
  const std::size_t depth = shape.group_channels_in();
  std::ranges::fill(patch, std::int16_t{0});
  for (std::size_t tap = 0; tap < shape.kernel * shape.kernel; ++tap) {
    const std::size_t row = y * shape.stride + tap / shape.kernel - shape.padding;  // wraps above the image
    const std::size_t column = x * shape.stride + tap % shape.kernel - shape.padding;
    if (row >= shape.height || column >= shape.width) continue;
    const auto pixel = codes.subspan((row * shape.width + column) * shape.channels_in + group * depth, depth);
    for (std::size_t c = 0; c < depth; ++c) {
      patch[tap * depth + c] = static_cast<std::int16_t>(pixel[c] - IntegerLayer::kInputOffset);
    }
  }
}

std::int32_t dot(std::span<const std::int16_t> a, std::span<const std::int16_t> b) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

namespace plain {

void pack4(std::span<const std::int8_t> codes, std::span<std::int8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::int8_t>((codes[2 * i] & 0xF) | codes[2 * i + 1] << 4);
  }
}

void unpack4(std::span<const std::int8_t> bytes, std::span<std::int8_t> codes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    codes[2 * i] = static_cast<std::int8_t>(static_cast<std::int8_t>(bytes[i] << 4) >> 4);
    codes[2 * i + 1] = static_cast<std::int8_t>(bytes[i] >> 4);
  }
}

void quantize4(std::span<const float> x, std::span<std::int8_t> bytes, float scale) {
  const float inverse = 1.0F / scale;
  const auto code = [&](float value) {
    return static_cast<std::int8_t>(clamped(std::nearbyint(value * inverse), -8.0F, 7.0F));
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::int8_t>((code(x[2 * i]) & 0xF) | code(x[2 * i + 1]) << 4);
  }
}

void dequantize4(std::span<const std::int8_t> bytes, std::span<float> x, float scale) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    x[2 * i] = static_cast<float>(static_cast<std::int8_t>(bytes[i] << 4) >> 4) * scale;
    x[2 * i + 1] = static_cast<float>(bytes[i] >> 4) * scale;
  }
}

void tails(std::span<const float> x, std::span<float> two, std::size_t k) {
  std::vector<float> copy(x.begin(), x.end());
  const auto rank = static_cast<std::ptrdiff_t>(k);
  std::nth_element(copy.begin(), copy.begin() + rank - 1, copy.end());
  two[0] = copy[k - 1];
  std::nth_element(copy.begin() + rank, copy.end() - rank, copy.end());
  two[1] = copy[copy.size() - k];
}

void histogram(std::span<const float> x, std::span<std::uint64_t> counts, float low, float high) {
  const auto bins = static_cast<float>(counts.size());
  for (const float value : x) {
    if (value < low || value > high) continue;
    const auto bin = static_cast<std::size_t>((value - low) * bins / (high - low));
    ++counts[std::min(bin, counts.size() - 1)];
  }
}

void losses(std::span<const float> x, std::span<const Candidate> candidates, std::span<double> sums) {
  sum_losses<float>(x, candidates, sums);
}

void losses_in_double(std::span<const float> x, std::span<const Candidate> candidates, std::span<double> sums) {
  sum_losses<double>(x, candidates, sums);
}

void accumulate(std::span<const std::int8_t> codes, const IntegerLayer& layer, std::span<std::int32_t> sums) {
  const IntegerShape& shape = layer.shape;
  const std::size_t per_group = shape.channels_out / shape.groups;
  const std::vector<std::int16_t> weights = with_channels_last(layer);
  std::vector<std::int16_t> patch(shape.terms());
  std::size_t i = 0;
  for (std::size_t y = 0; y < shape.height_out(); ++y) {
    for (std::size_t x = 0; x < shape.width_out(); ++x) {
      for (std::size_t group = 0; group < shape.groups; ++group) {
        gather(codes, shape, y, x, group, patch);
        for (std::size_t c = group * per_group; c < (group + 1) * per_group; ++c) {
          sums[i++] = dot(patch, std::span(weights).subspan(c * shape.terms(), shape.terms()));
        }
      }
    }
  }
}

}  // namespace plain
}  // namespace bench
