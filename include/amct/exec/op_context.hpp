// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// One execution of one node: what an operator reads and where it puts its results.
struct OpContext {
  const graph::Node& node;
  std::span<const Tensor* const> inputs;  ///< null where an optional input is not given
  std::span<Tensor> outputs;

  /// Refuses to run; the message gets the name of the node.
  [[noreturn]] void fail(const std::string& message, ErrorCode code = ErrorCode::model_shape) const {
    throw Error(code, {.layer = node.name, .field = node.op_type}, message);
  }
  [[nodiscard]] bool has(std::size_t index) const noexcept { return index < inputs.size() && inputs[index] != nullptr; }
  [[nodiscard]] const Tensor& input(std::size_t index) const {
    if (!has(index)) fail("input " + std::to_string(index) + " is missing", ErrorCode::model_corrupt);
    return *inputs[index];
  }
  /// An input that must be float32.
  [[nodiscard]] const Tensor& floats(std::size_t index) const {
    const Tensor& tensor = input(index);
    if (tensor.type() != ElementType::float32) {
      fail("input " + std::to_string(index) + " is " + name_of(tensor.type()) + ", expected float32",
           ErrorCode::model_unsupported);
    }
    return tensor;
  }
  /// A float32 input of one element, or a default if it is not given.
  [[nodiscard]] float scalar_or(std::size_t index, float otherwise) const {
    if (!has(index)) return otherwise;
    const Tensor& tensor = floats(index);
    if (tensor.size() != 1)
      fail("input " + std::to_string(index) + " is " + to_string(tensor.shape()) + ", expected one value");
    return tensor.data<float>()[0];
  }
  /// An input of integers such as axes, sizes or pads, none so large that sums and products of a few could overflow.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t index) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    const Tensor wide = input(index).cast(ElementType::int64);
    const auto data = wide.data<std::int64_t>();
    for (const std::int64_t value : data) {
      if (value < -kMost || value > kMost)
        fail("input " + std::to_string(index) + " has the value " + std::to_string(value));
    }
    return {data.begin(), data.end()};
  }
  /// Gives output 0 its shape and returns its elements. Refuses more than 2^29 of them (2 GiB): a network with odd
  /// sizes gets a message and not all memory of the machine.
  [[nodiscard]] std::span<float> make_output(Shape shape) const {
    constexpr std::int64_t kMostElements = std::int64_t{1} << 29;
    std::int64_t elements = 1;
    for (const std::int64_t dim : shape) {
      if (dim < 0 || (dim > 0 && elements > kMostElements / dim)) {
        fail("the output would be " + to_string(shape) + ", expected at most 2^29 elements; try smaller batches");
      }
      elements *= dim;
    }
    outputs[0] = Tensor(ElementType::float32, std::move(shape));
    return outputs[0].data<float>();
  }
  /// An axis counted from the end if negative, checked against `rank`.
  [[nodiscard]] std::size_t axis(std::int64_t value, std::size_t rank) const {
    const auto signed_rank = static_cast<std::int64_t>(rank);
    if (value < -signed_rank || value >= signed_rank) {
      fail("axis " + std::to_string(value) + " is outside a tensor of " + std::to_string(rank) + " axes");
    }
    return static_cast<std::size_t>(value < 0 ? value + signed_rank : value);
  }
};

/// An operator: reads the context's inputs, fills its outputs.
using Op = void (*)(const OpContext&);

}  // namespace amct::exec
