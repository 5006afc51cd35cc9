// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "exec/naive_window.hpp"
#include "exec/run_op.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

/// Codes from 0 to 255 (or from -128 to 127), different for each seed.
template <class T>
Tensor some_codes(Shape shape, std::uint32_t seed) {
  Tensor tensor(element_type_of<T>, std::move(shape));
  for (T& code : tensor.data<T>()) {
    seed = seed * 1664525U + 1013904223U;
    code = static_cast<T>(seed >> 24U);
  }
  return tensor;
}

/// Codes minus zero points, one or by the first axis, as whole floats.
template <class T>
Tensor centred_floats(const Tensor& codes, const std::vector<int>& zeros) {
  Tensor result(ElementType::float32, codes.shape());
  const std::size_t inner = codes.size() / (zeros.size() == 1 ? 1 : zeros.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    result.data<float>()[i] = static_cast<float>(codes.data<T>()[i] - zeros[zeros.size() == 1 ? 0 : i / inner]);
  }
  return result;
}

}  // namespace

TEST_CASE("ConvInteger by hand") {
  const Tensor x = typed<std::uint8_t>({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensor w = typed<std::uint8_t>({1, 1, 2, 2}, {1, 1, 1, 1});
  const Tensor zero = Tensor::scalar<std::uint8_t>(1);
  check_typed<std::int32_t>(run_op("ConvInteger", {x, w, zero}), {1, 1, 2, 2}, {12, 16, 24, 28});
  check_typed<std::int32_t>(run_op("ConvInteger", {x, w, zero}, {{"pads", Ints{1, 1, 1, 1}}}), {1, 1, 4, 4},
                            {1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9});
}

TEST_CASE("ConvInteger with groups, strides, dilations, pads and zero points agrees with the definition") {
  const NaiveConv geometry{.stride = {2, 1}, .dilation = {1, 2}, .pad_begin = {1, 2}, .pad_end = {0, 1}, .groups = 2};
  const Tensor x = some_codes<std::uint8_t>({2, 4, 6, 7}, 1);
  const Tensor w = some_codes<std::int8_t>({6, 2, 3, 2}, 2);
  const std::vector<std::int8_t> zeros{1, -2, 3, -4, 5, 127};
  const Tensor expected = naive_conv(centred_floats<std::uint8_t>(x, {77}),
                                     centred_floats<std::int8_t>(w, {zeros.begin(), zeros.end()}), nullptr, geometry);
  const Tensor y = run_op("ConvInteger", {x, w, Tensor::scalar<std::uint8_t>(77), typed<std::int8_t>({6}, zeros)},
                          geometry.attributes());
  const auto whole = values(expected);
  check_typed<std::int32_t>(y, expected.shape(), {whole.begin(), whole.end()});
}

TEST_CASE("ConvInteger is exact at depths beyond 256") {
  const Tensor x = some_codes<std::uint8_t>({1, 300, 1, 1}, 3);
  const Tensor w = some_codes<std::uint8_t>({2, 300, 1, 1}, 4);
  std::vector<std::int32_t> expected(2, 0);
  for (std::size_t o = 0; o < 2; ++o) {
    for (std::size_t c = 0; c < 300; ++c) {
      expected[o] += x.data<std::uint8_t>()[c] * w.data<std::uint8_t>()[o * 300 + c];
    }
  }
  check_typed<std::int32_t>(run_op("ConvInteger", {x, w}), {1, 2, 1, 1}, expected);
}

TEST_CASE("ConvInteger is exact modulo 2^32 where sums are longer than int32") {
  constexpr std::int64_t kChannels = 40000;
  Tensor x(ElementType::uint8, {1, 2 * kChannels, 1, 2});
  Tensor w(ElementType::uint8, {2, kChannels, 1, 1});
  for (auto* tensor : {&x, &w}) {
    const auto codes = tensor->data<std::uint8_t>();
    std::fill(codes.begin(), codes.end(), std::uint8_t{255});
  }
  x.data<std::uint8_t>()[1] = 0;      // first channel, second pixel
  w.data<std::uint8_t>()[40000] = 0;  // first channel of the second group
  const auto sum = [](std::int64_t channels) { return static_cast<std::int32_t>(channels * 255 * 255); };
  check_typed<std::int32_t>(run_op("ConvInteger", {x, w}, {{"group", std::int64_t{2}}}), {1, 2, 1, 2},
                            {sum(kChannels), sum(kChannels - 1), sum(kChannels - 1), sum(kChannels - 1)});
}

TEST_CASE("Padding of ConvInteger is the zero point, also where all weights have one of their own") {
  // Differences of weights and zero points beyond int8 take another way than those within.
  const NaiveConv geometry{.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}, .groups = 1};
  const Tensor x = some_codes<std::int8_t>({1, 3, 4, 5}, 3);
  const Tensor w = some_codes<std::uint8_t>({5, 3, 3, 3}, 4);
  for (const int zero : {0, 128, 255}) {
    CAPTURE(zero);
    const Tensor expected =
        naive_conv(centred_floats<std::int8_t>(x, {-77}), centred_floats<std::uint8_t>(w, {zero}), nullptr, geometry);
    const Tensor y =
        run_op("ConvInteger", {x, w, Tensor::scalar<std::int8_t>(-77), Tensor::scalar(static_cast<std::uint8_t>(zero))},
               geometry.attributes());
    const auto whole = values(expected);
    check_typed<std::int32_t>(y, expected.shape(), {whole.begin(), whole.end()});
  }
}

TEST_CASE("Depthwise ConvInteger") {
  const NaiveConv geometry{.stride = {2, 1}, .dilation = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}, .groups = 7};
  const Tensor x = some_codes<std::uint8_t>({2, 7, 5, 6}, 5);
  const Tensor w = some_codes<std::int8_t>({7, 1, 3, 3}, 6);
  const Tensor expected =
      naive_conv(centred_floats<std::uint8_t>(x, {200}), centred_floats<std::int8_t>(w, {0}), nullptr, geometry);
  const Tensor y = run_op("ConvInteger", {x, w, Tensor::scalar<std::uint8_t>(200)}, geometry.attributes());
  const auto whole = values(expected);
  check_typed<std::int32_t>(y, expected.shape(), {whole.begin(), whole.end()});
}

TEST_CASE("QLinearConv requantizes each channel") {
  const Tensor x = typed<std::uint8_t>({1, 1, 2}, {10, 20});
  const Tensor w = typed<std::int8_t>({2, 1, 1}, {3, -3});
  const auto run = [&](const Tensor& scale_w, const Tensor& scale_y, const Tensor& zero_y,
                       const std::optional<Tensor>& bias) {
    return run_op("QLinearConv", {x, floats({}, {0.5F}), Tensor::scalar<std::uint8_t>(10), w, scale_w,
                                  typed<std::int8_t>({1}, {0}), scale_y, zero_y, bias});
  };
  // accumulators 0 30 | 0 -30
  check_typed<std::uint8_t>(run(floats({1}, {2}), floats({}, {1}), Tensor::scalar<std::uint8_t>(128), std::nullopt),
                            {1, 2, 2}, {128, 158, 128, 98});
  check_typed<std::uint8_t>(run(floats({2}, {2, 1}), floats({}, {0.5F}), Tensor::scalar<std::uint8_t>(128),
                                typed<std::int32_t>({2}, {1, -1})),
                            {1, 2, 2}, {130, 190, 127, 97});
  check_typed<std::int8_t>(run(floats({1}, {2}), floats({}, {0.1F}), Tensor::scalar<std::int8_t>(-1), std::nullopt),
                           {1, 2, 2}, {-1, 127, -1, -128});
}

TEST_CASE("What does not fit an integer convolution is refused") {
  const Tensor x = some_codes<std::uint8_t>({1, 2, 4}, 1);
  const Tensor w = some_codes<std::uint8_t>({1, 2, 1}, 2);
  const Tensor one = floats({}, {1});
  const Tensor zero = Tensor::scalar<std::uint8_t>(0);
  check_refused(kUnsupported, "input 0 is float32, expected int8 or uint8", "ConvInteger", {one, w});
  check_refused(kShape, "do not fit", "ConvInteger", {x, some_codes<std::uint8_t>({1, 3, 1}, 2)});
  check_refused(kShape, "zero points are [2], expected one or 1", "ConvInteger",
                {x, w, typed<std::uint8_t>({2}, {0, 0})});
  check_refused(kShape, "the bias has 2 values, expected 1", "QLinearConv",
                {x, one, zero, w, one, zero, one, zero, typed<std::int32_t>({2}, {0, 0})});
  check_refused(kUnsupported, "input 8 is float32, expected int32", "QLinearConv",
                {x, one, zero, w, one, zero, one, zero, floats({1}, {0})});
  check_refused(kShape, "expected a positive number", "QLinearConv",
                {x, one, zero, w, one, zero, floats({}, {-1}), zero});
}
