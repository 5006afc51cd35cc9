// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "exec/naive_window.hpp"
#include "exec/run_op.hpp"
#include "kernel/paths_agree.hpp"

using namespace amct;
using namespace support;

namespace {

void check_against_naive(const Shape& input, const Shape& weight, const NaiveConv& geometry) {
  CAPTURE(to_string(input));
  CAPTURE(to_string(weight));
  const Tensor x = whole_numbers(input, 1);
  const Tensor w = whole_numbers(weight, 2);
  const Tensor b = whole_numbers({weight[0]}, 3);
  const Tensor with_bias = naive_conv(x, w, &b, geometry);
  check_tensor(run_op("Conv", {x, w, b}, geometry.attributes()), with_bias.shape(), values(with_bias));
  const Tensor without = naive_conv(x, w, nullptr, geometry);
  check_tensor(run_op("Conv", {x, w}, geometry.attributes()), without.shape(), values(without));
}

/// Values whose products and sums are rounded at every step.
Tensor uneven(const Shape& shape, std::uint32_t seed) {
  Tensor tensor = whole_numbers(shape, seed);
  for (float& value : tensor.data<float>()) value = value * 0.37F + 0.011F * static_cast<float>(++seed % 17U);
  return tensor;
}

/// A convolution over two axes with a padding of 1: chains of 128 fused operations an element, and the bias.
std::vector<float> fused_chains(const Tensor& x, const Tensor& w, const Tensor& bias, std::int64_t stride,
                                std::int64_t groups) {
  std::vector<float> result;
  const auto rows = (x.shape()[2] + 2 - w.shape()[2]) / stride + 1;
  const auto columns = (x.shape()[3] + 2 - w.shape()[3]) / stride + 1;
  for (std::int64_t n = 0; n < x.shape()[0]; ++n) {
    for (std::int64_t o = 0; o < w.shape()[0]; ++o) {
      for (const auto& at : naive::positions({rows, columns})) {
        float sum = 0.0F;
        float chain = 0.0F;
        int steps = 0;
        for (std::int64_t c = 0; c < w.shape()[1]; ++c) {
          for (const auto& k : naive::positions({w.shape()[2], w.shape()[3]})) {
            const Ints from{at[0] * stride + k[0] - 1, at[1] * stride + k[1] - 1};
            const std::int64_t channel = o / (w.shape()[0] / groups) * w.shape()[1] + c;
            const float value = naive::inside(from, naive::spatial(x.shape()))
                                    ? x.data<float>()[naive::offset(x.shape(), n, channel, from)]
                                    : 0.0F;
            chain = std::fma(w.data<float>()[naive::offset(w.shape(), o, c, k)], value, chain);
            if (++steps % 128 != 0) continue;
            sum = steps == 128 ? chain : sum + chain;
            chain = 0.0F;
          }
        }
        if (steps % 128 != 0) sum = steps < 128 ? chain : sum + chain;
        result.push_back(sum + bias.data<float>()[static_cast<std::size_t>(o)]);
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("A convolution has the bits of its chains of fused operations on every path") {
  struct Case {
    Shape input, weight;
    std::int64_t stride, groups;
  };
  const Case cases[] = {{{2, 3, 11, 13}, {5, 3, 3, 3}, 1, 1},  {{1, 24, 9, 7}, {30, 24, 3, 3}, 1, 1},
                        {{1, 3, 17, 20}, {26, 3, 3, 3}, 2, 1}, {{2, 6, 12, 14}, {6, 1, 3, 3}, 1, 6},
                        {{1, 5, 13, 40}, {10, 1, 3, 3}, 2, 5}, {{2, 8, 6, 6}, {12, 2, 3, 3}, 1, 4},
                        {{3, 30, 4, 5}, {28, 30, 1, 1}, 1, 1}};
  for (const Case& c : cases) {
    const Tensor x = uneven(c.input, 1);
    const Tensor w = uneven(c.weight, 2);
    const Tensor bias = uneven({c.weight[0]}, 3);
    const auto expected = fused_chains(x, w, bias, c.stride, c.groups);
    CAPTURE(to_string(c.weight));
    on_every_path([&] {
      const Tensor y = run_op("Conv", {x, w, bias},
                              {{"strides", Ints{c.stride, c.stride}}, {"pads", Ints{1, 1, 1, 1}}, {"group", c.groups}});
      CHECK(values(y) == expected);
    });
  }
}

TEST_CASE("No images and no channels are convolutions too") {
  const Tensor w = whole_numbers({2, 3, 3, 3}, 1);
  check_tensor(run_op("Conv", {Tensor(ElementType::float32, {0, 3, 5, 5}), w}), {0, 2, 3, 3}, {});
  check_tensor(run_op("Conv", {Tensor(ElementType::float32, {1, 0, 3, 3}), Tensor(ElementType::float32, {2, 0, 3, 3}),
                               floats({2}, {5, 6})}),
               {1, 2, 1, 1}, {5, 6});
}

TEST_CASE("A small convolution by hand") {
  const Tensor x = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor w = floats({1, 1, 2, 2}, {1, 0, 0, -1});
  check_tensor(run_op("Conv", {x, w}), {1, 1, 2, 2}, {-4, -4, -4, -4});
  check_tensor(run_op("Conv", {x, w, floats({1}, {0.5F})}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 0, 1}}}),
               {1, 1, 2, 2}, {-1.5F, 0.5F, -3.5F, 6.5F});
}

TEST_CASE("Convolutions of one to three axes agree with the definition") {
  check_against_naive({2, 3, 11}, {4, 3, 3}, {.stride = {1}, .dilation = {1}, .pad_begin = {0}, .pad_end = {0}});
  check_against_naive({2, 3, 7, 6}, {4, 3, 3, 2},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}});
  check_against_naive({2, 3, 4, 5, 6}, {2, 3, 2, 3, 3},
                      {.stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_begin = {0, 0, 0}, .pad_end = {0, 0, 0}});
}

TEST_CASE("Strides, dilations and uneven pads agree with the definition") {
  check_against_naive({1, 2, 13}, {3, 2, 3}, {.stride = {2}, .dilation = {3}, .pad_begin = {1}, .pad_end = {4}});
  check_against_naive({1, 2, 9, 8}, {3, 2, 3, 2},
                      {.stride = {2, 3}, .dilation = {2, 1}, .pad_begin = {1, 0}, .pad_end = {3, 2}});
  check_against_naive({1, 2, 5, 6, 7}, {3, 2, 2, 3, 2},
                      {.stride = {2, 1, 3}, .dilation = {1, 2, 2}, .pad_begin = {0, 2, 1}, .pad_end = {1, 0, 3}});
}

TEST_CASE("Groups and depthwise convolutions agree with the definition") {
  check_against_naive({2, 4, 5, 5}, {6, 2, 3, 3},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}, .groups = 2});
  check_against_naive({2, 3, 6, 5}, {3, 1, 3, 3},
                      {.stride = {2, 1}, .dilation = {1, 2}, .pad_begin = {1, 2}, .pad_end = {0, 1}, .groups = 3});
  check_against_naive({1, 3, 6, 5}, {6, 1, 2, 2},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}, .groups = 3});
  check_against_naive({2, 4, 9}, {4, 1, 3},
                      {.stride = {1}, .dilation = {1}, .pad_begin = {1}, .pad_end = {1}, .groups = 4});
}

TEST_CASE("A kernel of one element agrees with the definition, with and without strides, pads and groups") {
  check_against_naive({2, 3, 4, 5}, {2, 3, 1, 1},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}});
  check_against_naive({2, 3, 4, 5}, {2, 3, 1, 1},
                      {.stride = {2, 2}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}});
  check_against_naive({2, 3, 4, 5}, {2, 3, 1, 1},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {1, 0}, .pad_end = {0, 2}});
  check_against_naive({2, 4, 4, 5}, {6, 2, 1, 1},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}, .groups = 2});
  check_against_naive({2, 4, 4, 5}, {4, 1, 1, 1},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}, .groups = 4});
}

TEST_CASE("A single input channel without groups agrees with the definition") {
  check_against_naive({2, 1, 6, 6}, {3, 1, 3, 3},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}});
}

TEST_CASE("auto_pad SAME puts the odd element behind or in front") {
  const Tensor x = floats({1, 1, 5}, {1, 2, 3, 4, 5});
  const Tensor w = floats({1, 1, 2}, {1, 1});
  const auto same = [&](const char* where) {
    return run_op("Conv", {x, w}, {{"auto_pad", std::string(where)}, {"strides", Ints{2}}});
  };
  check_tensor(same("SAME_UPPER"), {1, 1, 3}, {3, 7, 5});
  check_tensor(same("SAME_LOWER"), {1, 1, 3}, {1, 5, 9});
}

TEST_CASE("auto_pad SAME counts the dilation, VALID pads nothing") {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  const Tensor w = floats({1, 1, 3}, {1, 10, 100});
  check_tensor(run_op("Conv", {x, w}, {{"auto_pad", std::string("SAME_UPPER")}, {"dilations", Ints{2}}}), {1, 1, 4},
               {310, 420, 31, 42});
  check_tensor(run_op("Conv", {x, w}, {{"auto_pad", std::string("VALID")}, {"pads", Ints{1, 1}}}), {1, 1, 2},
               {321, 432});
}

TEST_CASE("What does not fit a convolution is refused with the name of the node") {
  const Tensor x = whole_numbers({1, 4, 5, 5}, 1);
  const Tensor w = whole_numbers({2, 4, 3, 3}, 2);
  check_refused(kShape, "input [1,4] and weight [2,4,3,3] do not fit", "Conv", {whole_numbers({1, 4}, 1), w});
  check_refused(kShape, "input [1,4,5] and weight [2,4,3,3] do not fit", "Conv", {whole_numbers({1, 4, 5}, 1), w});
  check_refused(kShape, "input [1,3,5,5] and weight [2,4,3,3] do not fit with 1 groups", "Conv",
                {whole_numbers({1, 3, 5, 5}, 1), w});
  check_refused(kShape, "4 channels cannot be split into 3 groups", "Conv", {x, w}, {{"group", 3}});
  check_refused(kShape, "4 channels cannot be split into 0 groups", "Conv", {x, w}, {{"group", 0}});
  check_refused(kShape, "do not fit with 2 groups", "Conv", {x, whole_numbers({3, 2, 3, 3}, 2)}, {{"group", 2}});
  check_refused(kShape, "the bias has 3 values, expected 2", "Conv", {x, w, whole_numbers({3}, 3)});
  check_refused(kShape, "the kernel is larger than its padded input", "Conv", {x, whole_numbers({2, 4, 6, 3}, 2)});
  check_refused(kShape, "kernel_shape has the entry 0, expected 1 to", "Conv",
                {x, Tensor(ElementType::float32, {2, 4, 0, 3})});
  check_refused(kShape, "kernel_shape is [3,2], but the weight is [2,4,3,3]", "Conv", {x, w},
                {{"kernel_shape", Ints{3, 2}}});
  check_refused(kShape, "auto_pad is BOTH, expected NOTSET, SAME_UPPER", "Conv", {x, w},
                {{"auto_pad", std::string("BOTH")}});
  check_refused(kShape, "strides has 1 entries, expected 2", "Conv", {x, w}, {{"strides", Ints{1}}});
  check_refused(kShape, "strides has the entry 0, expected 1 to", "Conv", {x, w}, {{"strides", Ints{1, 0}}});
  check_refused(kShape, "dilations has the entry -1, expected 1 to", "Conv", {x, w}, {{"dilations", Ints{-1, 1}}});
  check_refused(kShape, "pads has 2 entries, expected 4", "Conv", {x, w}, {{"pads", Ints{1, 1}}});
  check_refused(kShape, "pads has the entry -1, expected 0 to", "Conv", {x, w}, {{"pads", Ints{1, 1, 1, -1}}});
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;  // would overflow what is computed from it
  check_refused(kShape, "strides has the entry 46", "Conv", {x, w}, {{"strides", Ints{1, kHuge}}});
  check_refused(kShape, "the output would be [", "Conv", {x, w}, {{"pads", Ints{16000000, 16000000, 0, 0}}});
  check_refused(kShape, "the padded input would have more than 2^29 elements", "Conv", {x, w},
                {{"dilations", Ints{16000000, 16000000}}, {"pads", Ints{16000000, 16000000, 16000000, 16000000}}});
  check_refused(kShape, "does not fit a window of 4 axes", "Conv",
                {whole_numbers({1, 1, 1, 1, 1, 1}, 1), whole_numbers({1, 1, 1, 1, 1, 1}, 1)});
  check_refused(kUnsupported, "input 1 is int8, expected float32", "Conv",
                {x, Tensor(ElementType::int8, {2, 4, 3, 3})});
  check_refused(kCorrupt, "input 1 is missing", "Conv", {x});
}
