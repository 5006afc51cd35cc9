// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/sort_keys.hpp>

namespace amct::exec::ops {

namespace detail {

/// A rectangle with its corners in order.
struct Box {
  float top, left, bottom, right;

  [[nodiscard]] float area() const noexcept { return (bottom - top) * (right - left); }
};

/// \param values  two opposite corners as y, x, y, x; or if `centred` the centre x, y, the width and the height
[[nodiscard]] inline Box read_box(const float* values, bool centred) noexcept {
  if (centred) {
    const float half_width = values[2] / 2.0F;
    const float half_height = values[3] / 2.0F;
    return {values[1] - half_height, values[0] - half_width, values[1] + half_height, values[0] + half_width};
  }
  return {std::min(values[0], values[2]), std::min(values[1], values[3]), std::max(values[0], values[2]),
          std::max(values[1], values[3])};
}

/// True if the boxes share more than this part of the area they cover together.
[[nodiscard]] inline bool overlaps(const Box& a, const Box& b, float threshold) noexcept {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0.0F && width > 0.0F)) return false;
  const float both = a.area() + b.area() - height * width;
  return both > 0.0F && height * width / both > threshold;
}

/// Limits of a NonMaxSuppression.
struct Suppression {
  std::size_t most;    ///< boxes a class
  float overlap;       ///< that two boxes may have
  const float* score;  ///< that a box must exceed; null for any
};

/// The boxes of one class that stay, best first.
[[nodiscard]] inline std::vector<std::size_t> suppress(std::span<const Box> boxes, std::span<const float> scores,
                                                       const Suppression& limits) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (limits.score == nullptr || scores[i] > *limits.score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sort_key(scores[a]) > sort_key(scores[b]); });
  std::vector<std::size_t> kept;
  for (const std::size_t box : order) {
    if (kept.size() == limits.most) break;
    const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](std::size_t other) {
      return overlaps(boxes[box], boxes[other], limits.overlap);
    });
    if (!suppressed) kept.push_back(box);
  }
  return kept;
}

}  // namespace detail

/// ONNX NonMaxSuppression: of boxes [N, B, 4] with scores [N, classes, B], those that no better one of their class
/// overlaps too much. Rows of image, class and box; the best of each class first.
inline void non_max_suppression(const OpContext& context) {
  const Tensor& boxes = context.floats(0);
  const Tensor& scores = context.floats(1);
  const Shape& b = boxes.shape();
  const Shape& s = scores.shape();
  if (b.rank() != 3 || b[2] != 4 || s.rank() != 3 || s[0] != b[0] || s[2] != b[1]) {
    context.fail("boxes " + to_string(b) + " and scores " + to_string(s) + ", expected [N,B,4] and [N,classes,B]");
  }
  const auto most = context.scalar_or<std::int64_t>(2, 0);
  const float least_score = context.scalar_or<float>(4, 0.0F);
  const detail::Suppression limits{static_cast<std::size_t>(std::max<std::int64_t>(0, most)),
                                   context.scalar_or<float>(3, 0.0F), context.has(4) ? &least_score : nullptr};
  const bool centred = context.node.attribute_or<std::int64_t>("center_point_box", 0) != 0;

  const auto count = static_cast<std::size_t>(b[1]);
  std::vector<detail::Box> image(count);
  std::vector<std::int64_t> rows;
  for (std::int64_t n = 0; n < b[0]; ++n) {
    const float* const first = boxes.data<float>().data() + static_cast<std::size_t>(n) * count * 4;
    for (std::size_t i = 0; i < count; ++i) image[i] = detail::read_box(first + 4 * i, centred);
    for (std::int64_t c = 0; c < s[1]; ++c) {
      const auto of_class = scores.data<float>().subspan(static_cast<std::size_t>(n * s[1] + c) * count, count);
      for (const std::size_t box : detail::suppress(image, of_class, limits)) {
        rows.insert(rows.end(), {n, c, static_cast<std::int64_t>(box)});
      }
    }
  }
  const auto output = context.make_output<std::int64_t>({static_cast<std::int64_t>(rows.size() / 3), 3});
  std::copy(rows.begin(), rows.end(), output.begin());
}

inline void add_non_max_suppression(OpSet& set) { set.add("NonMaxSuppression", non_max_suppression); }

}  // namespace amct::exec::ops
