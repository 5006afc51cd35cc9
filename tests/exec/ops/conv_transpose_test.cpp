// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/conv_transpose.hpp>

#include <doctest/doctest.h>

#include "exec/naive_window.hpp"
#include "exec/run_op.hpp"

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
  check_refused(kShape, "output_padding does not fit", "ConvTranspose", {x, w}, {{"output_padding", Ints{1}}});
  check_refused(kShape, "the output would be empty", "ConvTranspose", {x, w}, {{"pads", Ints{2, 0, 2, 0}}});
  check_refused(kUnsupported, "output_shape is not supported", "ConvTranspose", {x, w}, {{"output_shape", Ints{4, 4}}});
  check_refused(kUnsupported, "auto_pad SAME_UPPER is not supported", "ConvTranspose", {x, w},
                {{"auto_pad", std::string("SAME_UPPER")}});
}
