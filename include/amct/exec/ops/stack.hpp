// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/graph/ir.hpp>

/// \file
/// Slices of tensors as Loop and Scan read and collect them.

namespace amct::exec {

/// The slice of a tensor at `index` of `axis`, without that axis.
[[nodiscard]] inline Tensor slice_at(const Tensor& tensor, std::size_t axis, std::int64_t index) {
  const Shape& shape = tensor.shape();
  std::vector<std::int64_t> dims = shape.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  Tensor slice(tensor.type(), Shape(std::move(dims)));
  const auto outer = static_cast<std::size_t>(shape.count(0, axis));
  const std::size_t bytes = static_cast<std::size_t>(shape.count(axis + 1, shape.rank())) * size_of(tensor.type());
  const std::size_t step = static_cast<std::size_t>(shape[axis]) * bytes;
  const std::byte* from = tensor.raw().data() + static_cast<std::size_t>(index) * bytes;
  for (std::size_t i = 0; bytes != 0 && i < outer; ++i) {
    std::memcpy(slice.raw().data() + i * bytes, from + i * step, bytes);
  }
  return slice;
}

/// Tensors of one type and shape that are joined along a new axis.
class Stack {
 public:
  /// Adds a slice. Refuses one that differs from the first, and more than kMostElements in all.
  void push(const OpContext& context, const Tensor& slice) {
    if (count_ == 0) expect(slice.type(), slice.shape());
    if (slice.type() != type_ || slice.shape() != shape_) {
      context.fail("a scanned output is " + std::string(name_of(slice.type())) + to_string(slice.shape()) + " after " +
                   name_of(type_) + to_string(shape_));
    }
    grow(context, 1);
    if (slice.bytes() != 0)
      std::memcpy(bytes_.data() + (count_ - 1) * slice.bytes(), slice.raw().data(), slice.bytes());
  }

  /// Says what slices would be, for the case that none comes.
  void expect(ElementType type, Shape shape) {
    type_ = type;
    shape_ = std::move(shape);
  }
  /// The same from what the body of the node declares its output `index` to be; unknown sizes count as 0.
  void expect_declared(const OpContext& context, std::size_t index) {
    const auto* body = context.node.attribute<graph::Body>("body");
    if (body == nullptr || index >= (*body)->outputs.size()) {
      context.fail("the body has no output " + std::to_string(index), ErrorCode::model_corrupt);
    }
    const graph::Value& value = (*body)->value((*body)->outputs[index]);
    std::vector<std::int64_t> dims;
    std::int64_t elements = 1;
    for (const auto& dim : value.shape.value_or(std::vector<graph::Dim>{})) {
      dims.push_back(dim.size < 0 ? 0 : dim.size);
      if (dim.size > 0 && elements > kMostElements / dim.size) context.fail("a declared output is too large");
      elements *= dims.back() == 0 ? 1 : dims.back();
    }
    expect(value.type, Shape(std::move(dims)));
  }

  /// Adds slices of zeros up to `length` slices.
  void pad(const OpContext& context, std::size_t length) {
    if (length > count_) grow(context, length - count_);
  }

  [[nodiscard]] std::size_t slice_rank() const noexcept { return shape_.rank(); }

  /// The slices along `axis` of the result, the last one first if `backward`.
  [[nodiscard]] Tensor finish(std::size_t axis = 0, bool backward = false) const {
    std::vector<std::int64_t> dims = shape_.dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(count_));
    Tensor result(type_, Shape(std::move(dims)));
    const auto outer = static_cast<std::size_t>(shape_.count(0, axis));
    const std::size_t run = static_cast<std::size_t>(shape_.count(axis, shape_.rank())) * size_of(type_);
    for (std::size_t i = 0; run != 0 && i < count_; ++i) {
      const std::size_t place = backward ? count_ - 1 - i : i;
      for (std::size_t o = 0; o < outer; ++o) {
        std::memcpy(result.raw().data() + (o * count_ + place) * run, bytes_.data() + (i * outer + o) * run, run);
      }
    }
    return result;
  }

 private:
  /// Room for more slices, all zero.
  void grow(const OpContext& context, std::size_t more) {
    const std::size_t size = shape_.size();
    if (size != 0 && count_ + more > static_cast<std::size_t>(kMostElements) / size) {
      context.fail("a scanned output would have more than 2^29 elements");
    }
    count_ += more;
    bytes_.resize(count_ * size * size_of(type_));
  }

  ElementType type_ = ElementType::float32;
  Shape shape_{};
  std::size_t count_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace amct::exec
