// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace amct {

/// Sizes of a dense row-major tensor, outermost axis first. An empty shape is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  [[nodiscard]] std::size_t rank() const noexcept { return dims_.size(); }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept { return dims_[axis]; }
  [[nodiscard]] std::int64_t& operator[](std::size_t axis) noexcept { return dims_[axis]; }
  [[nodiscard]] const std::vector<std::int64_t>& dims() const noexcept { return dims_; }
  [[nodiscard]] auto begin() const noexcept { return dims_.begin(); }
  [[nodiscard]] auto end() const noexcept { return dims_.end(); }

  /// Number of elements of the axes [first, last); 1 for none.
  [[nodiscard]] std::int64_t count(std::size_t first, std::size_t last) const noexcept {
    std::int64_t product = 1;
    for (std::size_t axis = first; axis < last; ++axis) product *= dims_[axis];
    return product;
  }
  /// Number of elements in all.
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(count(0, rank())); }

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> dims_;
};

/// "[1,28,28]", and "[]" for a scalar.
[[nodiscard]] inline std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis != 0) text += ',';
    text += std::to_string(shape[axis]);
  }
  return text + ']';
}

}  // namespace amct
