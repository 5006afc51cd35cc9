// SPDX-License-Identifier: Apache-2.0
// xtensor's expressions, compiled with -O3 -march=native, on xsimd where that is installed.
#include <array>

#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include "peers/peers.hpp"

namespace bench {
namespace {

template <class T>
auto view(std::span<T> values) {
  return xt::adapt(values.data(), values.size(), xt::no_ownership(), std::array<std::size_t, 1>{values.size()});
}

Work quantize(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  const float inverse = 1.0F / affine.scale;
  const auto offset = static_cast<float>(affine.offset);
  return [=] {
    auto to = view(codes);
    xt::noalias(to) = xt::cast<std::int8_t>(xt::clip(xt::rint(view(x) * inverse) + offset, -128.0F, 127.0F));
  };
}

Work dequantize(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  const auto offset = static_cast<float>(affine.offset);
  return [=] {
    auto to = view(x);
    xt::noalias(to) = (xt::cast<float>(view(codes)) - offset) * affine.scale;
  };
}

Work fake_quantize(std::span<const float> x, std::span<float> y, amct::Affine affine) {
  const float inverse = 1.0F / affine.scale;
  const auto offset = static_cast<float>(affine.offset);
  return [=] {
    auto to = view(y);
    xt::noalias(to) = xt::clip(xt::rint(view(x) * inverse), -128.0F - offset, 127.0F - offset) * affine.scale;
  };
}

Work requantize(std::span<const std::int32_t> acc, std::span<std::int8_t> codes, float multiplier,
                std::int32_t offset) {
  const auto zero = static_cast<float>(offset);
  return [=] {
    auto to = view(codes);
    xt::noalias(to) =
        xt::cast<std::int8_t>(xt::clip(xt::rint(xt::cast<float>(view(acc)) * multiplier) + zero, -128.0F, 127.0F));
  };
}

[[maybe_unused]] const bool kEntered = enter({.name = "xtensor",
                                              .quantize = quantize,
                                              .dequantize = dequantize,
                                              .fake_quantize = fake_quantize,
                                              .requantize = requantize});

}  // namespace
}  // namespace bench
