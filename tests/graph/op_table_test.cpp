// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/op_table.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace amct;
using namespace amct::graph;

namespace {

bool same(const ChannelLayout& a, const ChannelLayout& b) {
  return a.groups == b.groups && a.outer == b.outer && a.channels_per_group == b.channels_per_group &&
         a.inner == b.inner;
}

}  // namespace

TEST_CASE("The layer kind follows from operator and rank of the weight") {
  const auto kind = [](const char* op, std::size_t rank) { return layer_kind({.op_type = op}, rank); };
  CHECK(kind("Conv", 3) == LayerKind::conv1d);
  CHECK(kind("Conv", 4) == LayerKind::conv2d);
  CHECK(kind("Conv", 5) == LayerKind::conv3d);
  CHECK(kind("Conv", 2) == std::nullopt);
  CHECK(kind("Conv", 6) == std::nullopt);
  CHECK(kind("ConvTranspose", 3) == LayerKind::conv_transpose1d);
  CHECK(kind("ConvTranspose", 4) == LayerKind::conv_transpose2d);
  CHECK(kind("ConvTranspose", 5) == std::nullopt);
  CHECK(kind("Gemm", 2) == LayerKind::linear);
  CHECK(kind("MatMul", 2) == LayerKind::linear);
  CHECK(kind("MatMul", 3) == std::nullopt);
  CHECK(kind("MatMul", 1) == LayerKind::linear);
  CHECK(kind("Gemm", 1) == std::nullopt);
  CHECK(kind("LSTM", 3) == LayerKind::lstm);
  CHECK(kind("GRU", 3) == LayerKind::gru);
  CHECK(kind("Relu", 2) == std::nullopt);
}

TEST_CASE("Output channels of a weight lie where the operator puts them") {
  CHECK(same(weight_layout({.op_type = "Conv"}, {8, 3, 5, 7}), {1, 1, 8, 105}));
  CHECK(same(weight_layout({.op_type = "MatMul"}, {3, 4}), {1, 3, 4, 1}));
  CHECK(same(weight_layout({.op_type = "Gemm"}, {3, 4}), {1, 3, 4, 1}));
  CHECK(same(weight_layout({.op_type = "Gemm", .attributes = {{"transB", std::int64_t{1}}}}, {4, 3}), {1, 1, 4, 3}));
  CHECK(same(weight_layout({.op_type = "ConvTranspose"}, {3, 64, 3, 3}), {1, 3, 64, 9}));
}

TEST_CASE("A transposed convolution with groups has one channel for each real output channel") {
  const Node node{.op_type = "ConvTranspose", .attributes = {{"group", std::int64_t{2}}}};
  const ChannelLayout layout = weight_layout(node, {4, 2, 1, 1});
  CHECK(same(layout, {2, 2, 2, 1}));
  CHECK(layout.channels() == 4);
  std::vector<std::size_t> channel_of_element(8);
  for_each_run(layout,
               [&](std::size_t channel, std::size_t first, std::size_t) { channel_of_element[first] = channel; });
  CHECK(channel_of_element == std::vector<std::size_t>{0, 1, 0, 1, 2, 3, 2, 3});
}

TEST_CASE("The axis of the channels is there also where it has one index, and a vector has one channel") {
  CHECK(same(weight_layout({.op_type = "MatMul"}, {4, 1}), {1, 4, 1, 1}));
  CHECK(weight_layout({.op_type = "MatMul"}, {4, 1}).channels() == 1);
  CHECK(same(weight_layout({.op_type = "MatMul"}, {4}), {1, 1, 1, 4}));
}

TEST_CASE("Input channels of a weight and of data lie where the operator reads them") {
  const Node grouped{.op_type = "Conv", .attributes = {{"group", std::int64_t{2}}}};
  CHECK(same(weight_input_layout(grouped, {8, 3, 5, 7}), {2, 4, 3, 35}));
  CHECK(weight_input_layout(grouped, {8, 3, 5, 7}).channels() == 6);
  CHECK(same(weight_input_layout({.op_type = "ConvTranspose"}, {6, 4, 3, 3}), {1, 1, 6, 36}));
  CHECK(same(weight_input_layout({.op_type = "MatMul"}, {3, 4}), {1, 1, 3, 4}));
  CHECK(same(weight_input_layout({.op_type = "MatMul"}, {3}), {1, 1, 3, 1}));
  CHECK(same(weight_input_layout({.op_type = "Gemm", .attributes = {{"transB", std::int64_t{1}}}}, {4, 3}),
             {1, 4, 3, 1}));
  CHECK(same(data_input_layout(grouped, {2, 6, 5, 7}), {1, 2, 6, 35}));
  CHECK(same(data_input_layout({.op_type = "ConvTranspose"}, {2, 6, 5}), {1, 2, 6, 5}));
  CHECK(same(data_input_layout({.op_type = "MatMul"}, {2, 5, 3}), {1, 10, 3, 1}));
  CHECK(same(data_input_layout({.op_type = "Gemm"}, {2, 3}), {1, 2, 3, 1}));
}

TEST_CASE("Recurrent layers have a channel for each row of each gate") {
  CHECK(same(weight_layout({.op_type = "LSTM"}, {1, 32, 6}), {1, 1, 32, 6}));
  CHECK(same(weight_layout({.op_type = "GRU"}, {1, 24, 6}), {1, 1, 24, 6}));
}

TEST_CASE("Output scales are shaped to multiply the output of a layer") {
  CHECK(output_scale_shape(LayerKind::conv1d, 4) == Shape{1, 4, 1});
  CHECK(output_scale_shape(LayerKind::conv_transpose1d, 4) == Shape{1, 4, 1});
  CHECK(output_scale_shape(LayerKind::conv2d, 4) == Shape{1, 4, 1, 1});
  CHECK(output_scale_shape(LayerKind::conv_transpose2d, 1) == Shape{1, 1, 1, 1});
  CHECK(output_scale_shape(LayerKind::conv3d, 2) == Shape{1, 2, 1, 1, 1});
  CHECK(output_scale_shape(LayerKind::linear, 1) == Shape{1, 1});
  CHECK(output_scale_shape(LayerKind::avg_pool2d, 1) == Shape{1, 1});
  CHECK(output_scale_shape(LayerKind::linear, 1, 1) == Shape{});
}
