// SPDX-License-Identifier: Apache-2.0
// Eigen's expressions, compiled with -O3 -march=native.
#include <Eigen/Core>

#include "peers/peers.hpp"

namespace bench {
namespace {

template <class T>
using Array = Eigen::Array<T, Eigen::Dynamic, 1>;

template <class T>
Eigen::Map<const Array<T>> view(std::span<const T> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

template <class T>
Eigen::Map<Array<T>> view(std::span<T> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

Work quantize(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  const float inverse = 1.0F / affine.scale;
  const auto offset = static_cast<float>(affine.offset);
  return [=] { view(codes) = ((view(x) * inverse).rint() + offset).max(-128.0F).min(127.0F).cast<std::int8_t>(); };
}

Work dequantize(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  const auto offset = static_cast<float>(affine.offset);
  return [=] { view(x) = (view(codes).cast<float>() - offset) * affine.scale; };
}

void fake_quantize_row(std::span<const float> x, std::span<float> y, amct::Affine affine) {
  const float inverse = 1.0F / affine.scale;
  const auto offset = static_cast<float>(affine.offset);
  view(y) = (view(x) * inverse).rint().max(-128.0F - offset).min(127.0F - offset) * affine.scale;
}

Work fake_quantize(std::span<const float> x, std::span<float> y, amct::Affine affine) {
  return [=] { fake_quantize_row(x, y, affine); };
}

Work fake_quantize_channels(std::span<const float> x, std::span<float> y, std::span<const amct::Affine> rows) {
  const std::size_t columns = x.size() / rows.size();
  return [=] {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      fake_quantize_row(x.subspan(r * columns, columns), y.subspan(r * columns, columns), rows[r]);
    }
  };
}

Work requantize(std::span<const std::int32_t> acc, std::span<std::int8_t> codes, float multiplier,
                std::int32_t offset) {
  const auto zero = static_cast<float>(offset);
  return [=] {
    view(codes) = ((view(acc).cast<float>() * multiplier).rint() + zero).max(-128.0F).min(127.0F).cast<std::int8_t>();
  };
}

Work requantize_channels(std::span<const std::int32_t> acc, std::span<std::int8_t> codes,
                         std::span<const std::int32_t> bias, std::span<const float> multipliers, std::int32_t offset) {
  const std::size_t columns = bias.size();
  const auto zero = static_cast<float>(offset);
  return [=] {
    for (std::size_t first = 0; first < acc.size(); first += columns) {
      const auto sums = view(acc.subspan(first, columns)) + view(bias);
      const auto rounded = (sums.cast<float>() * view(multipliers)).rint() + zero;
      view(codes.subspan(first, columns)) = rounded.max(-128.0F).min(127.0F).cast<std::int8_t>();
    }
  };
}

Work min_max(std::span<const float> x, std::span<float> ends) {
  return [=] {
    ends[0] = view(x).minCoeff();
    ends[1] = view(x).maxCoeff();
  };
}

[[maybe_unused]] const bool kEntered = enter({.name = "Eigen",
                                              .quantize = quantize,
                                              .dequantize = dequantize,
                                              .fake_quantize = fake_quantize,
                                              .fake_quantize_channels = fake_quantize_channels,
                                              .requantize = requantize,
                                              .requantize_channels = requantize_channels,
                                              .min_max = min_max});

}  // namespace
}  // namespace bench
