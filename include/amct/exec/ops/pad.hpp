// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/strided_copy.hpp>

namespace amct::exec::ops {

namespace detail {

/// How a Pad turns one axis of the input into one of the result: some positions are cut off, others added.
struct PadAxis {
  std::int64_t cut;    ///< removed in front
  std::int64_t kept;   ///< taken over
  std::int64_t front;  ///< added in front
  std::int64_t size;   ///< of the result
};

[[nodiscard]] inline std::vector<PadAxis> pad_axes(const OpContext& context, const std::vector<std::int64_t>& pads,
                                                   const Shape& shape) {
  const std::size_t rank = shape.rank();
  if (pads.size() != 2 * rank) {
    context.fail("pads has " + std::to_string(pads.size()) + " entries, expected " + std::to_string(2 * rank));
  }
  std::vector<PadAxis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t begin = pads[i];
    const std::int64_t end = pads[rank + i];
    const std::int64_t cut = std::max<std::int64_t>(0, -begin);
    const std::int64_t kept = shape[i] - cut - std::max<std::int64_t>(0, -end);
    if (kept < 0) context.fail("pads would remove more than there is");
    axes.push_back({cut, kept, std::max<std::int64_t>(0, begin), shape[i] + begin + end});
  }
  return axes;
}

/// The kept position that shows at `position` of the result, in front of or behind them: the nearest, or mirrored at
/// the first and last one as often as it takes.
[[nodiscard]] inline std::int64_t shown_position(std::int64_t position, std::int64_t kept, bool reflect) noexcept {
  if (!reflect || kept == 1) return std::clamp<std::int64_t>(position, 0, kept - 1);
  const std::int64_t period = 2 * (kept - 1);
  const std::int64_t phase = (position % period + period) % period;
  return std::min(phase, period - phase);
}

/// An axis of a border that repeats the input, with its steps in bytes.
struct BorderAxis {
  PadAxis pad;
  std::ptrdiff_t from, to;
};

/// Fills the axes from `depth` on: first where the input lands, then the border with copies of that.
inline void repeat_border(const std::vector<BorderAxis>& axes, std::size_t depth, bool reflect, const std::byte* from,
                          std::byte* to) {
  const auto& [pad, from_step, to_step] = axes[depth];
  std::byte* const inside = to + pad.front * to_step;
  if (depth + 1 == axes.size()) {
    std::memcpy(inside, from, static_cast<std::size_t>(pad.kept * to_step));
  } else {
    for (std::int64_t i = 0; i < pad.kept; ++i) {
      repeat_border(axes, depth + 1, reflect, from + i * from_step, inside + i * to_step);
    }
  }
  for (std::int64_t i = 0; i < pad.size; ++i) {
    if (i == pad.front) i += pad.kept;
    if (i == pad.size) break;
    const std::int64_t shown = shown_position(i - pad.front, pad.kept, reflect);
    std::memcpy(to + i * to_step, inside + shown * to_step, static_cast<std::size_t>(to_step));
  }
}

/// The element of a constant border: an input since opset 11, before that an attribute.
[[nodiscard]] inline Tensor border_element(const OpContext& context, ElementType type) {
  if (!context.has(2)) return amct::cast(Tensor::scalar(context.node.attribute_or<float>("value", 0.0F)), type);
  const Tensor& border = context.input(2, type);
  if (border.size() != 1) context.fail("input 2 is " + to_string(border.shape()) + ", expected one value");
  return border;
}

}  // namespace detail

/// ONNX Pad with a border that is constant, repeats the edge or reflects. Negative pads remove positions, before
/// others are added.
inline void pad(const OpContext& context) {
  const Tensor& x = context.input(0);
  const auto mode = context.node.attribute_or<std::string>("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    context.fail("mode is \"" + mode + "\", expected constant, edge or reflect");
  }
  const auto pads = detail::pad_axes(context, context.integers(context.opset < 2 ? "paddings" : "pads", 1), x.shape());
  std::vector<std::int64_t> dims;
  for (const auto& axis : pads) {
    if (mode != "constant" && axis.kept == 0 && axis.size != 0) context.fail("there is no element to repeat");
    dims.push_back(axis.size);
  }
  Tensor& y = context.make_output(0, x.type(), Shape(std::move(dims)));
  if (y.size() == 0) return;

  const std::size_t width = size_of(x.type());
  const auto from_steps = byte_steps(x.shape(), width);
  const auto to_steps = byte_steps(y.shape(), width);
  const std::byte* from = x.raw().data();
  for (std::size_t i = 0; i < pads.size(); ++i) from += pads[i].cut * from_steps[i];
  if (mode == "constant") {
    fill_elements(y.raw(), detail::border_element(context, x.type()).raw());
    std::byte* to = y.raw().data();
    std::vector<CopyAxis> axes;
    for (std::size_t i = 0; i < pads.size(); ++i) {
      to += pads[i].front * to_steps[i];
      axes.push_back({static_cast<std::size_t>(pads[i].kept), from_steps[i], to_steps[i]});
    }
    return strided_copy(from, to, axes, width);
  }
  std::vector<detail::BorderAxis> axes;  // those of size 1 can be left out, which also keeps the recursion shallow
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (pads[i].size != 1) axes.push_back({pads[i], from_steps[i], to_steps[i]});
  }
  if (axes.empty()) axes.push_back({{0, 1, 0, 1}, 0, static_cast<std::ptrdiff_t>(width)});
  detail::repeat_border(axes, 0, mode == "reflect", from, y.raw().data());
}

inline void add_pad(OpSet& set) { set.add("Pad", pad); }

}  // namespace amct::exec::ops
