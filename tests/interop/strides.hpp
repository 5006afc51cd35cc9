// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <amct/interop/container_door.hpp>

/// A container that only the tests know: elements anywhere, any number of axes.
template <class T>
struct Strides {
  T* first;
  std::vector<amct::interop::Axis> axes;
};

namespace amct::interop {

template <class T>
struct Door<Strides<T>> {
  using Element = T;
  static auto axes(const Strides<T>& c) { return c.axes; }
  static T* data(const Strides<T>& c) { return c.first; }
};

}  // namespace amct::interop

namespace support {

using Indices = std::vector<std::size_t>;

/// Axes as {size, stride}.
inline std::vector<amct::interop::Axis> axes_of(
    std::initializer_list<std::pair<std::size_t, std::ptrdiff_t>> sizes_and_strides) {
  std::vector<amct::interop::Axis> axes;
  for (const auto& [size, stride] : sizes_and_strides) axes.push_back({size, stride});
  return axes;
}

/// Calls `visit(indices)` for all elements of a shape, the last index fastest.
template <class Visit>
void for_each_index(const Indices& shape, Visit&& visit) {
  if (std::ranges::count(shape, std::size_t{0}) > 0) return;
  Indices at(shape.size());
  for (;;) {
    visit(std::as_const(at));
    std::size_t axis = shape.size();
    while (axis > 0 && ++at[axis - 1] == shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// How the elements of a Stored lie in its memory.
enum class Order { rows, columns, rotated, block, gaps, reversed };
inline constexpr Order kOrders[] = {Order::rows,  Order::columns, Order::rotated,
                                    Order::block, Order::gaps,    Order::reversed};

/// Memory with a container in it.
template <class T>
class Stored {
 public:
  Stored(const Indices& shape, Order order, T fill) : shape_(shape), axes_(shape.size()), fill_(fill) {
    const std::size_t rank = shape.size();
    std::ptrdiff_t step = order == Order::gaps ? 2 : 1;
    for (std::size_t i = 0; i < rank; ++i) {
      std::size_t axis = rank - 1 - i;
      if (order == Order::columns) axis = i;
      if (order == Order::rotated) axis = (i + 1) % rank;
      const bool padded = order == Order::block;
      axes_[axis] = {shape[axis], step};
      if (padded) origin_ += step;
      step *= static_cast<std::ptrdiff_t>(shape[axis] + (padded ? 3 : 0));
    }
    memory_.assign(static_cast<std::size_t>(step) + 1, fill);
    if (order != Order::reversed || step == 0) return;
    origin_ = step - 1;
    for (auto& axis : axes_) axis.stride = -axis.stride;
  }

  [[nodiscard]] const Indices& shape() const { return shape_; }
  [[nodiscard]] Strides<T> view() { return {memory_.data() + origin_, axes_}; }
  [[nodiscard]] T& operator()(const Indices& at) {
    std::ptrdiff_t offset = origin_;
    for (std::size_t i = 0; i < at.size(); ++i) offset += static_cast<std::ptrdiff_t>(at[i]) * axes_[i].stride;
    return memory_[static_cast<std::size_t>(offset)];
  }
  /// The elements in the order of their indices.
  [[nodiscard]] std::vector<T> values() {
    std::vector<T> result;
    for_each_index(shape_, [&](const Indices& at) { result.push_back((*this)(at)); });
    return result;
  }
  /// Gives each element a value by its place in that order.
  template <class Value>
  void set(Value&& value) {
    std::size_t i = 0;
    for_each_index(shape_, [&](const Indices& at) { (*this)(at) = value(i++); });
  }
  /// True if memory between the elements is as it was.
  [[nodiscard]] bool gaps_untouched() const {
    Stored rest = *this;
    rest.set([&](std::size_t) { return fill_; });
    return std::ranges::count(rest.memory_, fill_) == static_cast<std::ptrdiff_t>(rest.memory_.size());
  }

 private:
  Indices shape_;
  std::vector<amct::interop::Axis> axes_;
  std::vector<T> memory_;
  std::ptrdiff_t origin_ = 0;
  T fill_;
};

/// Values that differ from each other and go beyond int8 codes of a scale of 0.05.
inline float number(std::size_t i) { return 0.013F * static_cast<float>(i * 37 % 1117) - 7.0F; }

}  // namespace support
