// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>

namespace amct::exec::ops {

/// ONNX BatchNormalization in inference form.
inline void batch_normalization(const OpContext& context) {
  const Tensor& x = context.floats(0);
  if (context.node.attribute_or<std::int64_t>("training_mode", 0) != 0) {
    context.fail("training_mode is not supported", ErrorCode::model_unsupported);
  }
  if (x.shape().rank() < 2) context.fail("input " + to_string(x.shape()) + " has no channel axis");
  const auto channels = static_cast<std::size_t>(x.shape()[1]);
  for (std::size_t i = 1; i <= 4; ++i) {
    if (context.floats(i).size() != channels) context.fail("a parameter does not have one value a channel");
  }
  const float epsilon = context.node.attribute_or<float>("epsilon", 1e-5F);
  const auto gamma = context.floats(1).data<float>();
  const auto beta = context.floats(2).data<float>();
  const auto mean = context.floats(3).data<float>();
  const auto variance = context.floats(4).data<float>();
  const auto inner = static_cast<std::size_t>(x.shape().count(2, x.shape().rank()));
  const auto from = x.data<float>();
  const auto y = context.make_output(x.shape());
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.shape()[0]) * channels; ++row) {
    const std::size_t c = row % channels;
    const float factor = gamma[c] / std::sqrt(variance[c] + epsilon);
    for (std::size_t i = row * inner; i < (row + 1) * inner; ++i) y[i] = (from[i] - mean[c]) * factor + beta[c];
  }
}

/// ONNX Softmax along one axis (opset 13), or over everything from that axis on (before opset 13).
inline void softmax_along(const OpContext& context, const Shape& shape, std::size_t axis, std::size_t last) {
  const auto from = context.floats(0).data<float>();
  const auto y = context.make_output(shape);
  const auto length = static_cast<std::size_t>(shape.count(axis, last));
  const auto inner = static_cast<std::size_t>(shape.count(last, shape.rank()));
  if (from.empty()) return;
  for (std::size_t outer = 0; outer < from.size() / (length * inner); ++outer) {
    for (std::size_t i = 0; i < inner; ++i) {
      const std::size_t first = outer * length * inner + i;
      float top = from[first];
      for (std::size_t j = 1; j < length; ++j) top = std::max(top, from[first + j * inner]);
      double sum = 0.0;
      for (std::size_t j = 0; j < length; ++j) {
        y[first + j * inner] = std::exp(from[first + j * inner] - top);
        sum += static_cast<double>(y[first + j * inner]);
      }
      for (std::size_t j = 0; j < length; ++j) y[first + j * inner] /= static_cast<float>(sum);
    }
  }
}

inline void softmax(const OpContext& context) {
  const Shape& shape = context.floats(0).shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", -1), shape.rank());
  softmax_along(context, shape, axis, axis + 1);
}

inline void softmax_11(const OpContext& context) {
  const Shape& shape = context.floats(0).shape();
  const std::size_t axis = context.axis(context.node.attribute_or<std::int64_t>("axis", 1), shape.rank());
  softmax_along(context, shape, axis, shape.rank());
}

/// ONNX ReduceMean with axes as an attribute (opset 11 to 17).
inline void reduce_mean(const OpContext& context) {
  const Tensor& x = context.floats(0);
  const std::size_t rank = x.shape().rank();
  const auto* axes = context.node.attribute<std::vector<std::int64_t>>("axes");
  std::vector<char> reduced(rank, axes == nullptr ? 1 : 0);
  if (axes != nullptr) {
    for (const auto axis : *axes) reduced[context.axis(axis, rank)] = 1;
  }
  const bool keep = context.node.attribute_or<std::int64_t>("keepdims", 1) != 0;
  std::vector<std::int64_t> dims;
  std::vector<std::size_t> stride(rank, 0);  // of the result along each axis of the input
  std::size_t step = 1;
  std::int64_t count = 1;
  for (std::size_t axis = rank; axis-- > 0;) {
    if (reduced[axis] != 0) {
      count *= x.shape()[axis];
      if (keep) dims.insert(dims.begin(), 1);
    } else {
      stride[axis] = step;
      step *= static_cast<std::size_t>(x.shape()[axis]);
      dims.insert(dims.begin(), x.shape()[axis]);
    }
  }
  std::vector<double> sums(step, 0.0);
  const auto from = x.data<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t rest = i;
    std::size_t target = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(x.shape()[axis]);
      target += (rest % extent) * stride[axis];
      rest /= extent;
    }
    sums[target] += static_cast<double>(from[i]);
  }
  const auto y = context.make_output(Shape(std::move(dims)));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(sums[i] / static_cast<double>(count));
}

}  // namespace amct::exec::ops
