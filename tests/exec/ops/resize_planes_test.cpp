// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/resize_planes.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/graph_builder.hpp"

using namespace amct;
using exec::AxisTaps;

namespace {

exec::ResizeAxis axis_of(std::int64_t input, std::int64_t output) {
  const auto length = static_cast<float>(output);
  return {.input = input, .output = output, .length = length, .scale = length / static_cast<float>(input)};
}

std::vector<AxisTaps> taps_of(const Shape& from, const Shape& to, char kind) {
  std::vector<AxisTaps> taps;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    const auto axis = axis_of(from[i], to[i]);
    taps.push_back(kind == 'n'   ? exec::nearest_taps(axis, exec::NearestMode::floor)
                   : kind == 'l' ? exec::linear_taps(axis)
                                 : exec::cubic_taps(axis, -0.5F, false));
  }
  return taps;
}

/// One element of the result as the sum over all combinations of taps.
double element(const Tensor& x, const std::vector<AxisTaps>& taps, const std::vector<std::size_t>& place,
               std::size_t axis = 0, std::size_t offset = 0) {
  if (axis == place.size()) return static_cast<double>(x.data<float>()[offset]);
  const AxisTaps& own = taps[axis];
  double sum = 0.0;
  for (std::size_t k = 0; k < own.count; ++k) {
    const std::size_t i = place[axis] * own.count + k;
    const double weight = own.weights.empty() ? 1.0 : static_cast<double>(own.weights[i]);
    sum += weight *
           element(x, taps, place, axis + 1,
                   offset * static_cast<std::size_t>(x.shape()[axis]) + static_cast<std::size_t>(own.positions[i]));
  }
  return sum;
}

void check_resized(const Shape& from, const Shape& to, char kind) {
  CAPTURE(to_string(from));
  CAPTURE(to_string(to));
  CAPTURE(kind);
  const Tensor x = support::whole_numbers(from, 5);
  const auto taps = taps_of(from, to, kind);
  Tensor y(ElementType::float32, to);
  if (kind == 'n') exec::pick_planes(x.raw(), from, taps, y.raw(), to, 4);
  else exec::interpolate_planes(x.data<float>(), from, taps, y.data<float>(), to);
  std::vector<std::size_t> place(to.rank(), 0);
  double worst = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(y.data<float>()[i]) - element(x, taps, place)));
    for (std::size_t axis = to.rank(); axis-- > 0;) {
      if (++place[axis] < static_cast<std::size_t>(to[axis])) break;
      place[axis] = 0;
    }
  }
  CHECK(worst <= (kind == 'n' ? 0.0 : 1e-5));
}

}  // namespace

TEST_CASE("Resizing along any axes is the sum over the taps of all of them") {
  const std::vector<std::pair<Shape, Shape>> cases{
      {{5}, {8}},
      {{2, 3, 4, 5}, {2, 3, 8, 10}},
      {{2, 3, 9, 33}, {2, 3, 4, 12}},
      {{1, 2, 3, 40}, {1, 2, 9, 5}},
      {{1, 2, 40, 3}, {1, 2, 5, 9}},
      {{2, 4, 5, 11}, {2, 7, 3, 11}},
      {{2, 3, 4, 2, 3}, {2, 3, 2, 5, 4}},
      {{3, 1, 4}, {5, 1, 4}},
      {{2, 1, 1}, {2, 3, 1}},
      {{3, 2}, {3, 2}},
  };
  for (const auto& [from, to] : cases) {
    for (const char kind : {'n', 'l', 'c'}) check_resized(from, to, kind);
  }
}

TEST_CASE("Planes that several threads share are the same") {
  check_resized({50, 16, 16}, {50, 40, 40}, 'n');
  check_resized({50, 16, 16}, {50, 40, 40}, 'l');
}

TEST_CASE("Picking moves elements of every width") {
  const Shape from{2, 3};
  const Shape to{4, 5};
  const auto taps = taps_of(from, to, 'n');
  for (const std::size_t width : {std::size_t{1}, std::size_t{2}, std::size_t{8}, std::size_t{12}}) {
    std::vector<std::byte> x(6 * width);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::byte>(i);
    std::vector<std::byte> y(20 * width);
    exec::pick_planes(x, from, taps, y, to, width);
    bool same = true;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto row = static_cast<std::size_t>(taps[0].positions[i / width / 5]);
      const auto column = static_cast<std::size_t>(taps[1].positions[i / width % 5]);
      same = same && y[i] == x[(row * 3 + column) * width + i % width];
    }
    CHECK(same);
  }
}
