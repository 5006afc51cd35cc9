// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/layer_epilogue.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/conv_transpose.hpp>
#include <amct/exec/ops/window.hpp>
#include <amct/kernel/conv_s8.hpp>
#include <amct/kernel/conv_shape.hpp>

namespace amct::exec::integer {

[[nodiscard]] inline SpatialSizes spatial_sizes(const std::array<std::int64_t, 3>& sizes) noexcept {
  return {static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1]), static_cast<std::size_t>(sizes[2])};
}

/// A window over channels-last data.
[[nodiscard]] inline ConvShape conv_shape(const Window& window, std::int64_t batch, std::int64_t channels) noexcept {
  ConvShape shape;
  shape.batch = static_cast<std::size_t>(batch);
  shape.channels_in = shape.channels_out = shape.groups = static_cast<std::size_t>(channels);
  shape.input = spatial_sizes(window.input);
  shape.output = spatial_sizes(window.output);
  shape.kernel = spatial_sizes(window.kernel);
  shape.stride = spatial_sizes(window.stride);
  shape.dilation = spatial_sizes(window.dilation);
  shape.pad_begin = spatial_sizes(window.pad_begin);
  return shape;
}

/// [N, spatial..., C] as ONNX writes it, [N, C, spatial...].
[[nodiscard]] inline Shape channels_first(const OpContext& context, const Shape& shape) {
  if (shape.rank() < 3 || shape.rank() > 5) {
    context.fail("input " + to_string(shape) + " with channels last has " + std::to_string(shape.rank()) +
                 " axes, expected 3 to 5");
  }
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return Shape(std::move(dims));
}
/// The shape of results with channels last.
[[nodiscard]] inline Shape channels_last_shape(const ConvShape& shape, std::size_t spatial) {
  std::vector<std::int64_t> dims{static_cast<std::int64_t>(shape.batch)};
  for (std::size_t axis = 3 - spatial; axis < 3; ++axis) dims.push_back(static_cast<std::int64_t>(shape.output[axis]));
  dims.push_back(static_cast<std::int64_t>(shape.channels_out));
  return Shape(std::move(dims));
}

/// Conv and ConvTranspose of codes by a constant weight, which is packed once.
class ConvLayer {
 public:
  ConvLayer(const graph::Graph& graph, const graph::Node& node)
      : is_transposed_(node.op_type == "IntegerConvTranspose"),
        weight_shape_(weight_of(graph, node).shape()),
        codes_(input_codes(node)),
        epilogue_(graph, node, packed_shape(node).channels_out) {
    check(weights_.pack(packed_shape(node), weight_of(graph, node).data<std::int8_t>()),
          {.layer = node.name, .field = node.op_type});
  }

  void operator()(const OpContext& context) const {
    const Tensor& x = context.input(kCodesInput);
    if (x.type() == ElementType::int16) return run<std::int16_t>(context, x);
    run<std::int8_t>(context, context.input(kCodesInput, ElementType::int8));
  }

 private:
  [[nodiscard]] static const Tensor& weight_of(const graph::Graph& graph, const graph::Node& node) {
    const Tensor* weight = constant_input(graph, node, kWeightInput);
    if (weight == nullptr || weight->type() != ElementType::int8 || weight->shape().rank() < 3 ||
        weight->shape().rank() > 5) {
      LayerEpilogue::refuse(node, "its weight is not a constant int8 tensor of 3 to 5 axes");
    }
    return *weight;
  }

  /// What packing must know: channels, groups and kernel.
  [[nodiscard]] ConvShape packed_shape(const graph::Node& node) const {
    const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(weight_shape_[axis]); };
    const auto groups = node.attribute_or<std::int64_t>("group", 1);
    if (groups < 1 || weight_shape_[0] % groups != 0) {
      LayerEpilogue::refuse(node, "its " + std::to_string(groups) + " groups do not divide its channels");
    }
    ConvShape shape;
    shape.groups = static_cast<std::size_t>(groups);
    shape.channels_in = is_transposed_ ? extent(0) : extent(1) * shape.groups;
    shape.channels_out = is_transposed_ ? extent(1) * shape.groups : extent(0);
    for (std::size_t axis = 2; axis < weight_shape_.rank(); ++axis) {
      shape.kernel[3 - weight_shape_.rank() + axis] = extent(axis);
    }
    shape.is_transposed = is_transposed_;
    return shape;
  }

  /// The sizes of one run.
  [[nodiscard]] ConvShape shape_of(const OpContext& context, const Shape& x) const {
    const Shape plain = channels_first(context, x);
    if (!is_transposed_) {
      const ops::detail::ConvSizes sizes = ops::detail::conv_sizes(context, plain, weight_shape_);
      ConvShape shape = conv_shape(sizes.window, sizes.batch, sizes.channels_in);
      shape.channels_out = static_cast<std::size_t>(sizes.channels_out);
      shape.groups = static_cast<std::size_t>(sizes.groups);
      return shape;
    }
    if (plain.rank() != weight_shape_.rank() || plain[1] != weight_shape_[0]) {
      context.fail("input " + to_string(plain) + " and weight " + to_string(weight_shape_) + " do not fit");
    }
    ConvShape shape = conv_shape(ops::detail::transposed_window(context, plain, weight_shape_), plain[0], plain[1]);
    std::swap(shape.input, shape.output);
    shape.groups = static_cast<std::size_t>(ops::detail::groups_of(context, plain[1]));
    shape.channels_out = static_cast<std::size_t>(weight_shape_[1]) * shape.groups;
    shape.is_transposed = true;
    return shape;
  }

  template <class T>
  void run(const OpContext& context, const Tensor& x) const {
    const ConvShape shape = shape_of(context, x.shape());
    epilogue_.run(context, channels_last_shape(shape, x.shape().rank() - 2), shape.channels_out,
                  [&](const auto& epilogue, const auto& result) {
                    return convolve(shape, weights_, x.data<T>(), codes_.offset, epilogue, result, codes_.limits);
                  });
  }

  bool is_transposed_;
  Shape weight_shape_;
  InputCodes codes_;
  PackedConv weights_;
  LayerEpilogue epilogue_;
};

/// amct:IntegerConv and amct:IntegerConvTranspose, see form.hpp.
inline void add_conv(OpSet& set) {
  for (const char* name : {"amct:IntegerConv", "amct:IntegerConvTranspose"}) {
    set.add_factory(name, 1, [](const graph::Graph& graph, const graph::Node& node) -> Op {
      const auto layer = std::make_shared<const ConvLayer>(graph, node);
      return [layer](const OpContext& context) { (*layer)(context); };
    });
  }
}

}  // namespace amct::exec::integer
