// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/arena.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// Runs the bodies of a control-flow node.
class BodyRunner {
 public:
  virtual ~BodyRunner() = default;
  /// Runs the body that is the attribute `name`.
  /// \param inputs  its formal inputs followed by the captured values
  [[nodiscard]] virtual std::vector<Tensor> run(std::string_view name, std::span<const Tensor* const> inputs) const = 0;
};

/// Elements of the largest tensor that is computed: 2^29 (2 GiB of float32). A network with odd sizes gets a message
/// and not all memory of the machine.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 29;

/// One execution of one node: what an operator reads and where it puts its results.
struct OpContext {
  const graph::Node& node;
  std::int64_t opset;                     ///< version of the node's domain
  std::span<const Tensor* const> inputs;  ///< null where an optional input is not given; captured values come last
  std::span<Tensor> outputs;
  std::span<Tensor* const> dying{};    ///< the inputs that nobody reads after this node, else null; may be empty
  Arena* arena = nullptr;              ///< where the memory of results comes from, if not from the system
  const BodyRunner* bodies = nullptr;  ///< of control-flow operators

  /// Refuses to run; the message gets the name of the node.
  [[noreturn]] void fail(const std::string& message, ErrorCode code = ErrorCode::model_shape) const {
    throw Error(code, {.layer = node.name, .field = node.op_type}, message);
  }
  /// Refuses what ONNX allows and this library does not do.
  [[noreturn]] void unsupported(const std::string& message) const { fail(message, ErrorCode::model_unsupported); }

  [[nodiscard]] bool has(std::size_t index) const noexcept { return index < inputs.size() && inputs[index] != nullptr; }
  [[nodiscard]] bool wants_output(std::size_t index) const noexcept {
    return index < node.outputs.size() && node.outputs[index] != graph::kNoValue;
  }
  [[nodiscard]] const Tensor& input(std::size_t index) const {
    if (!has(index)) fail("input " + std::to_string(index) + " is missing", ErrorCode::model_corrupt);
    return *inputs[index];
  }
  /// An input that must have this element type.
  [[nodiscard]] const Tensor& input(std::size_t index, ElementType type) const {
    const Tensor& tensor = input(index);
    if (tensor.type() != type) {
      unsupported("input " + std::to_string(index) + " is " + name_of(tensor.type()) + ", expected " + name_of(type));
    }
    return tensor;
  }
  /// An input that must be float32.
  [[nodiscard]] const Tensor& floats(std::size_t index) const { return input(index, ElementType::float32); }

  /// The elements of an input that must be of type T.
  template <TensorElement T>
  [[nodiscard]] std::span<const T> data(std::size_t index) const {
    return input(index, element_type_of<T>).template data<T>();
  }
  /// An input of one element of type T, or a default if it is not given.
  template <TensorElement T>
  [[nodiscard]] T scalar_or(std::size_t index, T otherwise) const {
    if (!has(index)) return otherwise;
    const auto values = data<T>(index);
    if (values.size() != 1) {
      fail("input " + std::to_string(index) + " is " + to_string(input(index).shape()) + ", expected one value");
    }
    return values[0];
  }
  /// An input of integers such as axes, sizes or pads, none so large that sums and products of a few could overflow.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t index) const {
    const Tensor wide = cast(input(index), ElementType::int64);
    return moderate("input " + std::to_string(index), wide.data<std::int64_t>());
  }
  /// Integers that are an attribute in old opsets and an input in new ones; empty if neither is given.
  [[nodiscard]] std::vector<std::int64_t> integers(const char* attribute, std::size_t index) const {
    if (const auto* values = node.attribute<std::vector<std::int64_t>>(attribute)) return moderate(attribute, *values);
    return has(index) ? integers(index) : std::vector<std::int64_t>{};
  }

  /// Gives an output its type and shape, uninitialised. Refuses more than kMostElements.
  [[nodiscard]] Tensor& make_output(std::size_t index, ElementType type, Shape shape) const {
    if (index >= outputs.size()) fail("has no output " + std::to_string(index), ErrorCode::model_corrupt);
    std::int64_t room = kMostElements;  // shared by the axes that are not empty, so that no product overflows
    for (const std::int64_t dim : shape) {
      if (dim < 0 || dim > room) {
        fail("the output would be " + to_string(shape) + ", expected at most 2^29 elements; try smaller batches");
      }
      if (dim > 0) room /= dim;
    }
    const auto bytes = shape.size() * size_of(type);
    outputs[index] =
        arena == nullptr ? Tensor(type, std::move(shape)) : Tensor(type, std::move(shape), arena->take(bytes));
    return outputs[index];
  }
  /// Gives output 0 its shape and returns its elements.
  template <TensorElement T = float>
  [[nodiscard]] std::span<T> make_output(Shape shape) const {
    return make_output(0, element_type_of<T>, std::move(shape)).template data<T>();
  }
  /// Makes output 0 of the type and shape of input `index`, in the same memory if nobody reads that input later. For
  /// operators whose result at each position depends on the input at that position alone. Read the input's elements
  /// through the returned pair, since the input itself is empty then.
  template <TensorElement T = float>
  [[nodiscard]] std::pair<std::span<const T>, std::span<T>> make_output_over(std::size_t index) const {
    const Tensor& tensor = input(index, element_type_of<T>);
    if (index < dying.size() && dying[index] != nullptr) {
      outputs[0] = std::move(*dying[index]);
      const auto elements = outputs[0].template data<T>();
      return {elements, elements};
    }
    const auto result = make_output<T>(tensor.shape());
    return {tensor.data<T>(), result};
  }
  /// Input `index` as output 0, moved if nobody reads it later, else copied; reshape it freely.
  Tensor& pass_on(std::size_t index) const {
    const Tensor& tensor = input(index);
    if (index < dying.size() && dying[index] != nullptr) return outputs[0] = std::move(*dying[index]);
    Tensor& result = make_output(0, tensor.type(), tensor.shape());
    if (tensor.bytes() != 0) std::memcpy(result.raw().data(), tensor.raw().data(), tensor.bytes());
    return result;
  }

  /// An axis counted from the end if negative, checked against `rank`.
  [[nodiscard]] std::size_t axis(std::int64_t value, std::size_t rank) const {
    const auto signed_rank = static_cast<std::int64_t>(rank);
    if (value < -signed_rank || value >= signed_rank) {
      fail("axis " + std::to_string(value) + " is outside a tensor of " + std::to_string(rank) + " axes");
    }
    return static_cast<std::size_t>(value < 0 ? value + signed_rank : value);
  }

  /// Runs a body on its formal inputs; the captured values are added. \throws Error model_corrupt if there is none
  [[nodiscard]] std::vector<Tensor> run_body(std::string_view name, std::vector<const Tensor*> formal_inputs) const {
    if (bodies == nullptr) fail("has no body \"" + std::string(name) + '"', ErrorCode::model_corrupt);
    const auto captured = inputs.last(node.captured);
    formal_inputs.insert(formal_inputs.end(), captured.begin(), captured.end());
    return bodies->run(name, formal_inputs);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> moderate(const std::string& what,
                                                   std::span<const std::int64_t> values) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    for (const std::int64_t value : values) {
      if (value < -kMost || value > kMost) fail(what + " has the value " + std::to_string(value));
    }
    return {values.begin(), values.end()};
  }
};

/// An operator: reads the context's inputs, fills its outputs.
using Op = std::function<void(const OpContext&)>;

}  // namespace amct::exec
