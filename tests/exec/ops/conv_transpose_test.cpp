// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>

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
  const Tensor b = whole_numbers({weight[1] * geometry.groups}, 3);
  const Tensor with_bias = naive_conv_transpose(x, w, &b, geometry);
  check_tensor(run_op("ConvTranspose", {x, w, b}, geometry.attributes()), with_bias.shape(), values(with_bias));
  const Tensor without = naive_conv_transpose(x, w, nullptr, geometry);
  check_tensor(run_op("ConvTranspose", {x, w}, geometry.attributes()), without.shape(), values(without));
}

}  // namespace

TEST_CASE("A small transposed convolution by hand") {
  const Tensor x = floats({1, 1, 2}, {1, 2});
  const Tensor w = floats({1, 1, 3}, {1, 10, 100});
  check_tensor(run_op("ConvTranspose", {x, w}), {1, 1, 4}, {1, 12, 120, 200});
  check_tensor(run_op("ConvTranspose", {x, w, floats({1}, {0.5F})}, {{"strides", Ints{2}}}), {1, 1, 5},
               {1.5F, 10.5F, 102.5F, 20.5F, 200.5F});
  check_tensor(
      run_op("ConvTranspose", {x, w}, {{"strides", Ints{2}}, {"pads", Ints{1, 0}}, {"output_padding", Ints{1}}}),
      {1, 1, 5}, {10, 102, 20, 200, 0});
}

TEST_CASE("Transposed convolutions of one to three axes agree with the definition") {
  check_against_naive({2, 3, 5}, {3, 2, 3}, {.stride = {1}, .dilation = {1}, .pad_begin = {0}, .pad_end = {0}});
  check_against_naive({2, 3, 4, 5}, {3, 2, 3, 2},
                      {.stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}});
  check_against_naive({2, 2, 3, 2, 4}, {2, 3, 2, 3, 2},
                      {.stride = {1, 2, 1}, .dilation = {1, 1, 2}, .pad_begin = {0, 1, 0}, .pad_end = {1, 0, 1}});
}

TEST_CASE("Strides, dilations, uneven pads and output_padding agree with the definition") {
  check_against_naive(
      {1, 2, 4, 5}, {2, 3, 3, 2},
      {.stride = {2, 3}, .dilation = {2, 1}, .pad_begin = {1, 0}, .pad_end = {2, 1}, .output_padding = {1, 2}});
  check_against_naive({1, 2, 6}, {2, 1, 4},
                      {.stride = {3}, .dilation = {2}, .pad_begin = {2}, .pad_end = {3}, .output_padding = {2}});
}

TEST_CASE("Groups agree with the definition") {
  check_against_naive({2, 4, 3, 4}, {4, 3, 2, 2},
                      {.stride = {2, 1}, .dilation = {1, 1}, .pad_begin = {1, 0}, .pad_end = {0, 1}, .groups = 2});
  check_against_naive({1, 3, 3, 3}, {3, 1, 3, 3},
                      {.stride = {2, 2},
                       .dilation = {1, 1},
                       .pad_begin = {1, 1},
                       .pad_end = {1, 1},
                       .groups = 3,
                       .output_padding = {1, 1}});
}

TEST_CASE("What does not fit a transposed convolution is refused with the name of the node") {
  const Tensor x = whole_numbers({1, 4, 3, 3}, 1);
  const Tensor w = whole_numbers({4, 2, 2, 2}, 2);
  check_refused(kShape, "input [1,3,3,3] and weight [4,2,2,2] do not fit", "ConvTranspose",
                {whole_numbers({1, 3, 3, 3}, 1), w});
  check_refused(kShape, "input [1,4,3] and weight [4,2,2,2] do not fit", "ConvTranspose",
                {whole_numbers({1, 4, 3}, 1), w});
  check_refused(kShape, "input [1,4] and weight [4,2] do not fit", "ConvTranspose",
                {whole_numbers({1, 4}, 1), whole_numbers({4, 2}, 1)});
  check_refused(kShape, "4 channels cannot be split into 3 groups", "ConvTranspose", {x, w}, {{"group", 3}});
  check_refused(kShape, "the bias has 3 values, expected 4", "ConvTranspose", {x, w, whole_numbers({3}, 3)},
                {{"group", 2}});
  check_refused(kShape, "kernel_shape is [3,3], but the weight is [4,2,2,2]", "ConvTranspose", {x, w},
                {{"kernel_shape", Ints{3, 3}}});
  check_refused(kShape, "output_padding has 1 entries, expected 2", "ConvTranspose", {x, w},
                {{"output_padding", Ints{1}}});
  check_refused(kShape, "output_padding has the entry -1, expected 0 to", "ConvTranspose", {x, w},
                {{"output_padding", Ints{-1, 0}}});
  check_refused(kShape, "output_shape has 3 entries, expected 2", "ConvTranspose", {x, w},
                {{"output_shape", Ints{4, 4, 4}}});
  check_refused(kShape, "output_shape has the entry 0, expected 1 to", "ConvTranspose", {x, w},
                {{"output_shape", Ints{4, 0}}});
  check_refused(kShape, "the output would be empty", "ConvTranspose", {x, w}, {{"pads", Ints{2, 0, 2, 0}}});
  check_refused(kShape, "the output would be [1,2,", "ConvTranspose", {x, w}, {{"output_shape", Ints{16000000, 4096}}});
  check_refused(kShape, "auto_pad is BOTH", "ConvTranspose", {x, w}, {{"auto_pad", std::string("BOTH")}});
}

TEST_CASE("output_shape and auto_pad find the pads") {
  const Tensor x = floats({1, 1, 2}, {1, 2});
  const Tensor w = floats({1, 1, 3}, {1, 10, 100});
  const auto run = [&](Attributes attributes) {
    attributes.push_back({"strides", Ints{2}});
    return run_op("ConvTranspose", {x, w}, attributes);
  };
  // Without pads: 1 10 102 20 200.
  check_tensor(run({{"output_shape", Ints{4}}}), {1, 1, 4}, {10, 102, 20, 200});
  check_tensor(run({{"output_shape", Ints{4}}, {"auto_pad", std::string("SAME_UPPER")}}), {1, 1, 4}, {1, 10, 102, 20});
  check_tensor(run({{"output_shape", Ints{3}}}), {1, 1, 3}, {10, 102, 20});
  check_tensor(run({{"output_shape", Ints{7}}}), {1, 1, 7}, {1, 10, 102, 20, 200, 0, 0});
  check_tensor(run({{"auto_pad", std::string("SAME_UPPER")}}), {1, 1, 4}, {1, 10, 102, 20});
  check_tensor(run({{"auto_pad", std::string("SAME_LOWER")}}), {1, 1, 4}, {10, 102, 20, 200});
  check_tensor(run({{"auto_pad", std::string("VALID")}, {"pads", Ints{1, 1}}}), {1, 1, 5}, {1, 10, 102, 20, 200});
}

TEST_CASE("A transposed convolution has the bits of its definition on every path") {
  Tensor x = whole_numbers({2, 18, 5, 7}, 1);
  Tensor w = whole_numbers({18, 3, 3, 2}, 2);
  for (float& value : x.data<float>()) value = value * 0.37F + 0.01F;
  for (float& value : w.data<float>()) value = value * 0.11F - 0.03F;
  const auto run = [&] {
    return values(run_op("ConvTranspose", {x, w}, {{"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 0, 1}}}));
  };
  // Position [0, 1, 2, 3]: kernel rows 1 at input row 1 (kernel row 3 is outside), columns 0 and 1 at 3 and 2.
  float expected = 0.0F;
  for (const auto& [ky, kx, iy, ix] : {std::array<std::size_t, 4>{1, 0, 1, 3}, {1, 1, 1, 2}}) {
    float product = 0.0F;
    for (std::size_t c = 0; c < 18; ++c) {
      product =
          std::fma(w.data<float>()[((c * 3 + 1) * 3 + ky) * 2 + kx], x.data<float>()[(c * 5 + iy) * 7 + ix], product);
    }
    expected += product;
  }
  const auto all = run();
  REQUIRE(all.size() == 2 * 3 * 10 * 7);
  CHECK(all[(1 * 10 + 2) * 7 + 3] == expected);
  on_every_path([&] { CHECK(run() == all); });
}

TEST_CASE("No images are a transposed convolution too") {
  check_tensor(run_op("ConvTranspose", {Tensor(ElementType::float32, {0, 4, 3, 3}), whole_numbers({4, 2, 2, 2}, 2)}),
               {0, 2, 4, 4}, {});
}
