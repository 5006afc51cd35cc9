// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>

/// \file
/// Mistakes in the inputs of a network that show without running it.

namespace amct::flow {

/// Data whose axes are in the other one of the two usual orders.
struct LayoutMistake {
  bool channels_last = false;  ///< the data are NHWC, NCHW is expected; false: the other way round
};

/// Whether a shape that does not fit would fit after moving the channels. The first of 4 axes, the batch, may differ;
/// 3 axes are an image without one. Empty if the shapes agree in these axes, or do not fit either way.
[[nodiscard]] inline std::optional<LayoutMistake> layout_mistake(const Shape& found, const Shape& expected) {
  constexpr std::size_t kImageAxes = 3;
  if (found.rank() < kImageAxes || expected.rank() < kImageAxes) return std::nullopt;
  if (found.rank() > kImageAxes + 1 || expected.rank() > kImageAxes + 1) return std::nullopt;
  const std::vector<std::int64_t> data(found.end() - kImageAxes, found.end());
  const std::vector<std::int64_t> wanted(expected.end() - kImageAxes, expected.end());
  const std::vector<std::int64_t> first{data[2], data[0], data[1]};  // channels moved to the front
  const std::vector<std::int64_t> last{data[1], data[2], data[0]};   // channels moved to the end
  if (data == wanted) return std::nullopt;
  // The channels are the smaller size in most networks' inputs; where both would fit, it decides.
  const bool channels_last = data[2] <= data[0];
  if (first == wanted && (channels_last || last != wanted)) return LayoutMistake{true};
  if (last == wanted) return LayoutMistake{false};
  return std::nullopt;
}

/// What to say about it.
[[nodiscard]] inline std::string describe(const LayoutMistake& mistake) {
  return mistake.channels_last ? "it looks like NHWC where NCHW is expected, so transpose it with (0, 3, 1, 2)"
                               : "it looks like NCHW where NHWC is expected, so transpose it with (0, 2, 3, 1)";
}

/// The one value of all elements, if there are at least two; empty otherwise, and for NaN. O(n), and O(1) for most
/// data.
[[nodiscard]] inline std::optional<double> constant_value(const Tensor& tensor) {
  if (tensor.size() < 2) return std::nullopt;
  return with_element_type(tensor.type(), [&]<class T>() -> std::optional<double> {
    const auto values = tensor.data<T>();
    const T first = values.front();
    const bool same = std::all_of(values.begin(), values.end(), [&](const T& value) { return value == first; });
    if (!same) return std::nullopt;
    const auto number = amct::detail::cast_element<double>(first);
    return number == number ? std::optional(number) : std::nullopt;
  });
}

}  // namespace amct::flow
