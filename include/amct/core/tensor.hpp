// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <amct/core/buffer.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>

namespace amct {

/// An owning dense row-major tensor whose element type is known at run time. Data are aligned to 64 bytes and
/// uninitialised after construction from a shape. Copying copies the data.
class Tensor {
 public:
  Tensor() = default;

  Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)), data_(bytes()) {}

  /// A tensor in memory that is there already, of at least the bytes it needs.
  Tensor(ElementType type, Shape shape, Buffer memory)
      : type_(type), shape_(std::move(shape)), data_(std::move(memory)) {
    assert(data_.capacity() >= bytes());
  }

  /// A tensor filled from a span; the sizes must agree.
  template <TensorElement T>
  Tensor(Shape shape, std::span<const T> values) : Tensor(element_type_of<T>, std::move(shape)) {
    assert(values.size() == size());
    std::copy(values.begin(), values.end(), data<T>().begin());
  }

  /// A scalar (rank 0).
  template <TensorElement T>
  static Tensor scalar(T value) {
    return Tensor(Shape{}, std::span<const T>(&value, 1));
  }

  Tensor(const Tensor& other) : Tensor(other.type_, other.shape_) {
    if (bytes() != 0) std::memcpy(data_.data(), other.data_.data(), bytes());
  }
  Tensor& operator=(const Tensor& other) {
    if (this != &other) *this = Tensor(other);
    return *this;
  }
  /// Leaves `other` empty.
  Tensor(Tensor&& other) noexcept
      : type_(other.type_), shape_(std::exchange(other.shape_, Shape{0})), data_(std::move(other.data_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    type_ = other.type_;
    shape_ = std::exchange(other.shape_, Shape{0});
    data_ = std::move(other.data_);
    return *this;
  }
  ~Tensor() = default;

  [[nodiscard]] ElementType type() const noexcept { return type_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t size() const noexcept { return shape_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return size() * size_of(type_); }

  /// The elements. T must be the element type.
  template <TensorElement T>
  [[nodiscard]] std::span<T> data() noexcept {
    assert(type_ == element_type_of<T>);
    return {reinterpret_cast<T*>(data_.data()), size()};
  }
  template <TensorElement T>
  [[nodiscard]] std::span<const T> data() const noexcept {
    assert(type_ == element_type_of<T>);
    return {reinterpret_cast<const T*>(data_.data()), size()};
  }
  [[nodiscard]] std::span<std::byte> raw() noexcept { return {data_.data(), bytes()}; }
  [[nodiscard]] std::span<const std::byte> raw() const noexcept { return {data_.data(), bytes()}; }

  /// Gives the same elements another shape of equal size.
  void reshape(Shape shape) noexcept {
    assert(shape.size() == size());
    shape_ = std::move(shape);
  }

  /// Hands out the memory and leaves the tensor empty.
  [[nodiscard]] Buffer release() noexcept {
    shape_ = Shape{0};
    return std::move(data_);
  }

 private:
  ElementType type_ = ElementType::float32;
  Shape shape_{0};
  Buffer data_;
};

}  // namespace amct
