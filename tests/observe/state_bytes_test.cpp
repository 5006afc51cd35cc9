// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/state_bytes.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::StateReader;
using amct::StateWriter;
using Bytes = std::vector<std::byte>;

enum class Colour : std::uint8_t { red, blue };

struct Point {
  float x = 0.0F;
  std::vector<std::uint32_t> path;
};

template <class Archive, amct::LikeConst<Point> P>
void transfer(Archive& bytes, P& point) {
  bytes(point.x, point.path);
}

template <class... T>
Bytes written(const T&... values) {
  StateWriter writer;
  writer(values...);
  return writer.take();
}

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

}  // namespace

TEST_CASE("numbers are little-endian without padding, counts have 64 bits") {
  CHECK(written(std::uint32_t{0x01020304}, true, Colour::blue) == bytes({4, 3, 2, 1, 1, 1}));
  CHECK(written(std::size_t{258}) == bytes({2, 1, 0, 0, 0, 0, 0, 0}));
  CHECK(written(1.0F, std::int32_t{-2}) == bytes({0, 0, 0x80, 0x3F, 0xFE, 0xFF, 0xFF, 0xFF}));
  CHECK(written(std::vector<std::uint16_t>{1, 2}) == bytes({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0}));
}

TEST_CASE("what was written is read back, types of a user's own too") {
  const Point point{-0.0F, {7, 8, 9}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Bytes all = written(point, nan, Colour::blue, false);
  StateReader reader(all);
  Point read;
  double real = 0.0;
  Colour colour = Colour::red;
  bool flag = true;
  reader(read, real, colour, flag);
  CHECK(reader.at_end());
  CHECK(std::signbit(read.x));
  CHECK(read.path == point.path);
  CHECK(real != real);
  CHECK(colour == Colour::blue);
  CHECK_FALSE(flag);
}

TEST_CASE("bytes that end anywhere make the reader fail, and nothing is read beyond") {
  const Bytes all = written(Point{1.0F, {1, 2, 3}}, std::uint64_t{5});
  for (std::size_t size = 0; size < all.size(); ++size) {
    StateReader reader{std::span<const std::byte>(all).first(size)};
    Point point;
    std::uint64_t last = 1;
    reader(point, last);
    CHECK_FALSE(reader.ok());
    CHECK(last == 0);
  }
  StateReader reader(all);
  Point point;
  reader(point);
  CHECK(reader.ok());
  CHECK_FALSE(reader.at_end());
  CHECK(reader.rest().size() == 8);
}

TEST_CASE("a count beyond the bytes is refused without taking memory for it") {
  Bytes huge = written(std::numeric_limits<std::uint64_t>::max());
  std::vector<float> values{1.0F};
  StateReader reader(huge);
  reader(values);
  CHECK_FALSE(reader.ok());
  CHECK(values.empty());
}

TEST_CASE("a bool is 0 or 1") {
  const Bytes two = bytes({2});
  bool flag = true;
  StateReader reader(two);
  reader(flag);
  CHECK_FALSE(reader.ok());
  CHECK_FALSE(flag);
}
