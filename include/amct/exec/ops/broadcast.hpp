// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <amct/core/parallel.hpp>
#include <amct/exec/op_context.hpp>

namespace amct::exec {

/// The shape two operands give together by numpy's rules.
[[nodiscard]] inline Shape broadcast_shape(const OpContext& context, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from_a = i + a.rank() >= rank ? a[i + a.rank() - rank] : 1;
    const std::int64_t from_b = i + b.rank() >= rank ? b[i + b.rank() - rank] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      context.fail("shapes " + to_string(a) + " and " + to_string(b) + " cannot be broadcast");
    }
    dims[i] = from_a == 1 ? from_b : from_a;
  }
  return Shape(std::move(dims));
}

/// The shape of the second operand as numpy's rules need it. Before opset 7 its axes stood at the attribute `axis` of
/// the first operand, by default at its end; without the attribute `broadcast` both shapes were equal.
[[nodiscard]] inline Shape second_operand_shape(const OpContext& context, const Shape& a, const Shape& b) {
  const auto* axis = context.node.attribute<std::int64_t>("axis");
  if (context.opset >= 7 || axis == nullptr || b.rank() == 0) return b;
  const std::size_t first = context.axis(*axis, a.rank());
  if (first + b.rank() > a.rank()) {
    context.fail("shape " + to_string(b) + " at axis " + std::to_string(*axis) + " does not fit " + to_string(a));
  }
  std::vector<std::int64_t> dims = b.dims();
  dims.resize(a.rank() - first, 1);
  return Shape(std::move(dims));
}

/// Elements of cheap operations that a thread takes at once.
inline constexpr std::size_t kElementGrain = std::size_t{1} << 16;

/// How N operands meet in the elements of a result to which they are broadcast: in rows, as long as possible, in which
/// each operand has consecutive elements or a single one.
template <std::size_t N>
class BroadcastRows {
 public:
  using Offsets = std::array<std::size_t, N>;

  /// \pre every shape can be broadcast to `result`
  BroadcastRows(const Shape& result, const std::array<Shape, N>& operands) {
    Offsets size;
    size.fill(1);
    for (std::size_t i = 1; i <= result.rank(); ++i) {
      const auto extent = static_cast<std::size_t>(result[result.rank() - i]);
      Axis axis{extent, {}};
      for (std::size_t k = 0; k < N; ++k) {
        const Shape& shape = operands[k];
        const auto own = i <= shape.rank() ? static_cast<std::size_t>(shape[shape.rank() - i]) : 1;
        axis.step[k] = own == 1 ? 0 : size[k];
        size[k] *= own;
      }
      if (extent != 1) append(axis);
    }
    if (axes_.empty()) axes_.push_back({1, {}});
    for (std::size_t i = 1; i < axes_.size(); ++i) rows_ *= axes_[i].extent;
  }

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// Elements of a row.
  [[nodiscard]] std::size_t length() const noexcept { return axes_[0].extent; }
  /// Whether an operand has a single element for a whole row.
  [[nodiscard]] bool is_repeated(std::size_t operand) const noexcept { return axes_[0].step[operand] == 0; }

  /// Calls visit(first element of the result, first element of each operand, count) for all rows, or pieces of them,
  /// maybe on several threads.
  /// \param grain  elements that a thread takes at once
  template <class Visit>
  void for_each(const Visit& visit, std::size_t grain = kElementGrain) const {
    if (length() == 0) return;
    if (rows_ == 1) {
      parallel_for(length(), grain, [&](std::size_t first, std::size_t count) {
        Offsets offsets;
        for (std::size_t k = 0; k < N; ++k) offsets[k] = axes_[0].step[k] * first;
        visit(first, offsets, count);
      });
      return;
    }
    parallel_for(rows_, std::max<std::size_t>(1, grain / length()),
                 [&](std::size_t first, std::size_t count) { for_some(first, count, visit); });
  }

  /// The same in order on this thread.
  template <class Visit>
  void for_each_in_order(const Visit& visit) const {
    if (length() != 0 && rows_ != 0) for_some(0, rows_, visit);
  }

 private:
  struct Axis {
    std::size_t extent;
    Offsets step;
  };

  /// Adds an axis outside the last one, or lengthens that if all operands go on as they did.
  void append(const Axis& axis) {
    bool goes_on = !axes_.empty();
    for (std::size_t k = 0; k < N && goes_on; ++k) goes_on = axis.step[k] == axes_.back().step[k] * axes_.back().extent;
    if (goes_on) {
      axes_.back().extent *= axis.extent;
    } else {
      axes_.push_back(axis);
    }
  }

  template <class Visit>
  void for_some(std::size_t first, std::size_t count, const Visit& visit) const {
    std::vector<std::size_t> position(axes_.size(), 0);
    Offsets offsets{};
    for (std::size_t i = 1, rest = first; i < axes_.size(); ++i) {
      position[i] = rest % axes_[i].extent;
      rest /= axes_[i].extent;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += position[i] * axes_[i].step[k];
    }
    for (std::size_t row = first; row < first + count; ++row) {
      visit(row * length(), offsets, length());
      for (std::size_t i = 1; i < axes_.size(); ++i) {
        for (std::size_t k = 0; k < N; ++k) offsets[k] += axes_[i].step[k];
        if (++position[i] < axes_[i].extent) break;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= axes_[i].step[k] * axes_[i].extent;
        position[i] = 0;
      }
    }
  }

  std::vector<Axis> axes_;  ///< from the innermost out
  std::size_t rows_ = 1;
};

/// Calls visit(i, index_a, index_b) for each element i of `result`, to which both operands are broadcast, in order.
template <class Visit>
void for_each_broadcast(const Shape& result, const Shape& a, const Shape& b, Visit&& visit) {
  const BroadcastRows<2> rows(result, {a, b});
  const std::size_t step_a = rows.is_repeated(0) ? 0 : 1;
  const std::size_t step_b = rows.is_repeated(1) ? 0 : 1;
  rows.for_each_in_order([&](std::size_t first, const auto& from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) visit(first + i, from[0] + i * step_a, from[1] + i * step_b);
  });
}

}  // namespace amct::exec
