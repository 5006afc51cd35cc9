// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/conv_shape.hpp>

#include <cstddef>
#include <string>

#include <doctest/doctest.h>

namespace {

using amct::ConvShape;
using amct::SpatialSizes;
using amct::StatusCode;
using amct::kernel::kOutside;
using amct::kernel::tap_position;

ConvShape line(std::size_t input, std::size_t kernel, std::size_t stride, std::size_t dilation, std::size_t pad) {
  ConvShape shape;
  shape.input[2] = input;
  shape.kernel[2] = kernel;
  shape.stride[2] = stride;
  shape.dilation[2] = dilation;
  shape.pad_begin[2] = pad;
  return shape;
}

}  // namespace

TEST_CASE("an output has as many positions as windows fit into the padded input") {
  ConvShape shape = line(224, 7, 2, 1, 3);
  REQUIRE(shape.fit_output({0, 0, 3}));
  CHECK(shape.output == SpatialSizes{1, 1, 112});
  shape = line(10, 3, 1, 2, 0);
  REQUIRE(shape.fit_output());
  CHECK(shape.output[2] == 6);
  shape = line(4, 5, 1, 1, 0);
  CHECK(shape.fit_output().code == StatusCode::bad_option);
  CHECK(shape.fit_output({0, 0, 1}).ok());
}

TEST_CASE("a transposed output is as long as the input of the convolution that it reverses") {
  ConvShape shape = line(5, 4, 2, 1, 1);
  shape.is_transposed = true;
  REQUIRE(shape.fit_output({0, 0, 1}));
  CHECK(shape.output[2] == 10);
  REQUIRE(shape.fit_output({0, 0, 1}, {0, 0, 1}));
  CHECK(shape.output[2] == 11);
  shape = line(1, 1, 1, 1, 1);
  shape.is_transposed = true;
  CHECK(shape.fit_output().code == StatusCode::bad_option);
}

TEST_CASE("a kernel element meets the input where strides, dilations and padding put it") {
  const ConvShape shape = line(5, 3, 2, 2, 1);
  CHECK(tap_position(shape, 2, 0, 0) == kOutside);
  CHECK(tap_position(shape, 2, 0, 1) == 1);
  CHECK(tap_position(shape, 2, 1, 2) == kOutside);
  CHECK(tap_position(shape, 2, 1, 1) == 3);
  CHECK(tap_position(shape, 1, 0, 0) == 0);
}

TEST_CASE("transposed, it meets the input at every stride") {
  ConvShape shape = line(3, 3, 2, 1, 1);
  shape.is_transposed = true;
  CHECK(tap_position(shape, 2, 0, 0) == kOutside);  // o + pad = 1 = 2 i + t has no i for t = 0
  CHECK(tap_position(shape, 2, 0, 1) == 0);
  CHECK(tap_position(shape, 2, 1, 0) == 1);
  CHECK(tap_position(shape, 2, 1, 2) == 0);
  CHECK(tap_position(shape, 2, 5, 0) == kOutside);  // i = 3 is behind the input
  CHECK(tap_position(shape, 2, 5, 2) == 2);
}

TEST_CASE("weights stand in the order of ONNX") {
  ConvShape shape = line(1, 5, 1, 1, 0);
  shape.channels_in = 6;
  shape.channels_out = 4;
  shape.groups = 2;
  CHECK(shape.weight_size() == 4 * 3 * 5);
  CHECK(shape.weight_index(3, 2, 4) == (3 * 3 + 2) * 5 + 4);  // [4, 3, 5]
  shape.is_transposed = true;
  CHECK(shape.weight_size() == 6 * 2 * 5);
  CHECK(shape.weight_index(3, 2, 4) == (5 * 2 + 1) * 5 + 4);  // [6, 2, 5]: input 3 + 2, output 1 of group 1
}

TEST_CASE("a row of the result is a position of an image") {
  ConvShape shape;
  shape.output = {2, 3, 4};
  const auto position = amct::kernel::output_position(shape, 24 + 12 + 8 + 3);
  CHECK(position.image == 1);
  CHECK(position.at == SpatialSizes{1, 2, 3});
}

TEST_CASE("what a shape is good for is seen in it") {
  ConvShape shape;
  shape.channels_in = shape.channels_out = 8;
  CHECK(shape.is_pointwise());
  CHECK(!shape.is_depthwise());
  shape.groups = 8;
  CHECK(shape.is_depthwise());
  shape.channels_out = 16;
  CHECK(!shape.is_depthwise());
  shape.input[1] = 2;
  CHECK(!shape.is_pointwise());
  shape.output[1] = 2;
  CHECK(shape.is_pointwise());
  shape.stride[1] = 2;
  CHECK(!shape.is_pointwise());
}

TEST_CASE("sizes that cannot be are refused by their name") {
  const auto refused = [](auto&& change) {
    ConvShape shape;
    REQUIRE(shape.check());
    change(shape);
    const amct::Status status = shape.check();
    CHECK(status.code == StatusCode::bad_option);
    return std::string(status.name);
  };
  constexpr std::size_t kMuch = std::size_t{1} << 24;
  CHECK(refused([](ConvShape& s) { s.batch = kMuch + 1; }) == "batch");
  CHECK(refused([](ConvShape& s) { s.channels_in = 0; }) == "channels_in");
  CHECK(refused([](ConvShape& s) { s.channels_out = 0; }) == "channels_out");
  CHECK(refused([](ConvShape& s) { s.groups = 0; }) == "groups");
  CHECK(refused([](ConvShape& s) { s.groups = 2; }) == "groups");
  CHECK(refused([](ConvShape& s) { s.input[1] = 0; }) == "input");
  CHECK(refused([](ConvShape& s) { s.output[0] = 0; }) == "output");
  CHECK(refused([](ConvShape& s) { s.kernel[2] = 0; }) == "kernel");
  CHECK(refused([](ConvShape& s) { s.stride[2] = 0; }) == "stride");
  CHECK(refused([](ConvShape& s) { s.dilation[2] = 0; }) == "dilation");
  CHECK(refused([](ConvShape& s) { s.pad_begin[2] = kMuch + 1; }) == "pad_begin");
  CHECK(refused([](ConvShape& s) { s.input = {kMuch, kMuch, 2}; }) == "input");
  CHECK(refused([](ConvShape& s) { s.output = {kMuch, kMuch, 2}; }) == "output");
  CHECK(refused([](ConvShape& s) { s.kernel = {kMuch, kMuch, 2}; }) == "kernel");
  ConvShape shape;
  shape.batch = 0;
  CHECK(shape.check());
}
