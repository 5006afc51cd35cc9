// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>

namespace amct::graph {

/// A constant with its axes in another order, as ONNX Transpose does it: axis i of the result is axis order[i].
/// \pre order is a permutation of the axes
[[nodiscard]] inline Tensor permuted(const Tensor& tensor, const std::vector<std::int64_t>& order) {
  const std::size_t rank = tensor.shape().rank();
  std::vector<std::int64_t> dims(rank);
  std::vector<std::size_t> step(rank);  // of the source along each axis of the result
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(order[i]);
    dims[i] = tensor.shape()[axis];
    step[i] = static_cast<std::size_t>(tensor.shape().count(axis + 1, rank));
  }
  Tensor result(tensor.type(), Shape(std::move(dims)));
  const std::size_t width = size_of(tensor.type());
  std::vector<std::int64_t> position(rank, 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); ++to) {
    std::memcpy(result.raw().data() + to * width, tensor.raw().data() + from * width, width);
    for (std::size_t i = rank; i-- > 0;) {
      from += step[i];
      if (++position[i] < result.shape()[i]) break;
      from -= step[i] * static_cast<std::size_t>(position[i]);
      position[i] = 0;
    }
  }
  return result;
}

}  // namespace amct::graph
