// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/strided_copy.hpp>

namespace amct::exec::ops {

namespace detail {

/// Sizes of one image of [N, C, H, W] as blocks: `channels` x (height x block) x (width x block) pixels in space.
struct Blocks {
  std::int64_t batch, channels, height, width, block;
};

[[nodiscard]] inline std::int64_t block_size(const OpContext& context) {
  if (context.input(0).shape().rank() != 4) {
    context.fail("input " + to_string(context.input(0).shape()) + ", expected [N,C,H,W]");
  }
  const auto block = context.node.attribute_or<std::int64_t>("blocksize", 0);
  if (block < 1 || block > 4096) context.fail("blocksize is " + std::to_string(block) + ", expected 1 to 4096");
  return block;
}

/// Copies between depth and space; the steps along a pixel's place in its block are those of the depth side.
inline void move_blocks(const OpContext& context, const Blocks& b, bool to_space, bool channels_first) {
  const Tensor& x = context.input(0);
  const auto width = static_cast<std::ptrdiff_t>(size_of(x.type()));
  const std::int64_t squared = b.block * b.block;
  const Shape depth{b.batch, b.channels * squared, b.height, b.width};
  const Shape space{b.batch, b.channels, b.height * b.block, b.width * b.block};
  Tensor& y = context.make_output(0, x.type(), to_space ? space : depth);

  const std::ptrdiff_t row = b.width * width;  // of the depth side
  const std::ptrdiff_t plane = b.height * row;
  const std::ptrdiff_t line = row * b.block;  // of the space side
  const std::ptrdiff_t image = line * b.height * b.block;
  const std::ptrdiff_t place = channels_first ? plane : plane * b.channels;
  // In the order of the space side: image, channel, row of blocks, row, block, column.
  std::array<CopyAxis, 6> axes{
      CopyAxis{static_cast<std::size_t>(b.batch), plane * squared * b.channels, image * b.channels},
      CopyAxis{static_cast<std::size_t>(b.channels), channels_first ? plane * squared : plane, image},
      CopyAxis{static_cast<std::size_t>(b.height), row, line * b.block},
      CopyAxis{static_cast<std::size_t>(b.block), place * b.block, line},
      CopyAxis{static_cast<std::size_t>(b.width), width, width * b.block},
      CopyAxis{static_cast<std::size_t>(b.block), place, width}};
  if (!to_space) {
    for (CopyAxis& axis : axes) axis = {axis.size, axis.to, axis.from};
  }
  strided_copy(x.raw().data(), y.raw().data(), axes, size_of(x.type()));
}

}  // namespace detail

/// ONNX DepthToSpace: every block x block channels of a pixel become a square of pixels. In mode DCR the square's
/// places are the outer axes of the channel, in mode CRD the inner ones.
inline void depth_to_space(const OpContext& context) {
  const std::int64_t block = detail::block_size(context);
  const Shape& shape = context.input(0).shape();
  const auto mode = context.node.attribute_or<std::string>("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") context.fail("mode is \"" + mode + "\", expected DCR or CRD");
  if (shape[1] % (block * block) != 0) {
    context.fail(std::to_string(shape[1]) + " channels cannot be divided by the square of " + std::to_string(block));
  }
  const detail::Blocks blocks{shape[0], shape[1] / (block * block), shape[2], shape[3], block};
  detail::move_blocks(context, blocks, true, mode == "CRD");
}

/// ONNX SpaceToDepth: the reverse of DepthToSpace in mode DCR.
inline void space_to_depth(const OpContext& context) {
  const std::int64_t block = detail::block_size(context);
  const Shape& shape = context.input(0).shape();
  if (shape[2] % block != 0 || shape[3] % block != 0) {
    context.fail("input " + to_string(shape) + " cannot be divided into squares of " + std::to_string(block));
  }
  detail::move_blocks(context, {shape[0], shape[1], shape[2] / block, shape[3] / block, block}, false, false);
}

inline void add_depth_space(OpSet& set) {
  set.add("DepthToSpace", depth_to_space);
  set.add("SpaceToDepth", space_to_depth);
}

}  // namespace amct::exec::ops
