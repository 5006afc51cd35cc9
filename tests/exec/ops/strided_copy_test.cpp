// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/ops/strided_copy.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace amct;
using exec::CopyAxis;

namespace {

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 2654435761U) >> 7U);
  return data;
}

void copy_one_by_one(const std::byte* from, std::byte* to, std::span<const CopyAxis> axes, std::size_t width) {
  if (axes.empty()) {
    for (std::size_t i = 0; i < width; ++i) to[i] = from[i];
    return;
  }
  for (std::size_t i = 0; i < axes[0].size; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    copy_one_by_one(from + at * axes[0].from, to + at * axes[0].to, axes.subspan(1), width);
  }
}

/// Copies from the position `start` of a source, by strided_copy and by plain loops.
void check_copy(const std::vector<CopyAxis>& axes, std::size_t width, std::size_t start = 0) {
  std::string text = "width " + std::to_string(width);
  std::ptrdiff_t from_end = static_cast<std::ptrdiff_t>(start + width);
  std::ptrdiff_t to_end = static_cast<std::ptrdiff_t>(width);
  for (const CopyAxis& axis : axes) {
    text += " (" + std::to_string(axis.size) + ' ' + std::to_string(axis.from) + ' ' + std::to_string(axis.to) + ')';
    const auto last = static_cast<std::ptrdiff_t>(axis.size) - 1;
    if (axis.from > 0) from_end += last * axis.from;
    to_end += last * axis.to;
  }
  CAPTURE(text);
  const auto source = numbered(static_cast<std::size_t>(from_end));
  std::vector<std::byte> expected(static_cast<std::size_t>(to_end));
  auto actual = expected;
  copy_one_by_one(source.data() + start, expected.data(), axes, width);
  exec::strided_copy(source.data() + start, actual.data(), axes, width);
  CHECK(actual == expected);
}

/// The axes of a transposition of [a, b, c] elements.
std::vector<CopyAxis> transposition(std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t c, const std::string& order,
                                    std::ptrdiff_t width) {
  const std::ptrdiff_t sizes[] = {a, b, c};
  const std::ptrdiff_t steps[] = {b * c * width, c * width, width};
  std::vector<CopyAxis> axes(3);
  std::ptrdiff_t step = width;
  for (std::size_t i = 3; i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[i] - '0');
    axes[i] = {static_cast<std::size_t>(sizes[axis]), steps[axis], step};
    step *= sizes[axis];
  }
  return axes;
}

}  // namespace

TEST_CASE("byte_steps are those of a dense tensor") {
  CHECK(exec::byte_steps({2, 3, 4}, 2) == std::vector<std::ptrdiff_t>{24, 8, 2});
  CHECK(exec::byte_steps({}, 4).empty());
}

TEST_CASE("Transpositions of all sizes, orders and widths") {
  for (const std::ptrdiff_t width : {1, 2, 4, 8, 16, 12}) {
    for (const char* const order : {"012", "021", "102", "120", "201", "210"}) {
      check_copy(transposition(2, 3, 5, order, width), static_cast<std::size_t>(width));
      check_copy(transposition(17, 4, 35, order, width), static_cast<std::size_t>(width));
      check_copy(transposition(1, 33, 18, order, width), static_cast<std::size_t>(width));
    }
  }
}

TEST_CASE("A copy that several threads share is the same") {
  for (const char* const order : {"012", "021", "102", "120", "201", "210"}) {
    check_copy(transposition(3, 301, 401, order, 4), 4);
    check_copy(transposition(40, 1000, 9, order, 4), 4);
  }
  check_copy({{1 << 20, 1, 1}}, 1);
}

TEST_CASE("Steps may repeat, reverse and leave gaps") {
  for (const std::size_t width : {std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{20}}) {
    const auto w = static_cast<std::ptrdiff_t>(width);
    check_copy({{7, 0, w}}, width);
    check_copy({{1500, 0, w}}, width);
    check_copy({{5, 0, 3 * w}}, width);
    check_copy({{3, 0, 6 * w}, {6, w, w}}, width);
    check_copy({{9, -w, w}}, width, 8 * width);
    check_copy({{4, -5 * w, 5 * w}, {5, w, w}}, width, 15 * width);
    check_copy({{4, 7 * w, 9 * w}, {3, 2 * w, w}}, width);
    check_copy({{4, 3 * w, 8 * w}, {3, w, 2 * w}}, width);
    check_copy({{1, 99, 99}, {2, w, w}, {1, -99, 99}}, width);
  }
}

TEST_CASE("The order in which axes are given does not matter") {
  check_copy({{4, 4, 60}, {3, 80, 20}, {5, 16, 4}}, 4);
  check_copy({{5, 16, 4}, {4, 4, 60}, {3, 80, 20}}, 4);
}

TEST_CASE("An empty axis copies nothing, no axes one element") {
  std::byte target{7};
  const std::byte source{9};
  const CopyAxis empty{0, 1, 1};
  exec::strided_copy(&source, &target, {&empty, 1}, 1);
  CHECK(target == std::byte{7});
  exec::strided_copy(&source, &target, {}, 1);
  CHECK(target == std::byte{9});
}

TEST_CASE("fill_elements repeats an element") {
  const auto element = numbered(4);
  std::vector<std::byte> target(20);
  exec::fill_elements(target, element);
  for (std::size_t i = 0; i < target.size(); ++i) CHECK(target[i] == element[i % 4]);
  exec::fill_elements({}, element);
}
