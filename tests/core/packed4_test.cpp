// SPDX-License-Identifier: Apache-2.0
#include <amct/core/packed4.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::pack4;
using amct::Packed4Layout;
using amct::pair4;
using amct::unpack4;

using Bytes = std::vector<std::int8_t>;

static_assert(pair4(3, 6) == 99 && pair4(-5, 5) == 91 && pair4(0, -7) == -112);
static_assert(pair4(-8, -1) == -8 && pair4(7, 7) == 119);
static_assert(amct::low4(-112) == 0 && amct::high4(-112) == -7);
static_assert(amct::low4(-8) == -8 && amct::high4(-8) == -1);
static_assert(amct::packed4_size(0) == 0 && amct::packed4_size(1) == 1 && amct::packed4_size(4) == 2);
static_assert(Packed4Layout{2, 3, 5}.codes() == 30 && Packed4Layout{2, 3, 5}.bytes() == 20);

/// Packs and unpacks at compile time.
constexpr bool comes_back() {
  constexpr std::array<std::int8_t, 5> kCodes{-8, 7, 0, -1, 3};
  std::array<std::int8_t, 3> bytes{};
  std::array<std::int8_t, 5> codes{};
  pack4(kCodes, bytes);
  unpack4(bytes, codes);
  return codes == kCodes && bytes == std::array<std::int8_t, 3>{0x78, -16, 3};
}
static_assert(comes_back());

Bytes packed(const Bytes& codes, const Packed4Layout& layout) {
  Bytes bytes(layout.bytes(), 0x55);
  pack4(codes, bytes, layout);
  return bytes;
}

Bytes unpacked(const Bytes& bytes, const Packed4Layout& layout) {
  Bytes codes(layout.codes(), 0x55);
  unpack4(bytes, codes, layout);
  return codes;
}

}  // namespace

TEST_CASE("every pair of codes makes a byte of its own and comes back") {
  std::vector<bool> seen(256);
  for (int low = -8; low <= 7; ++low) {
    for (int high = -8; high <= 7; ++high) {
      const std::int8_t byte = pair4(static_cast<std::int8_t>(low), static_cast<std::int8_t>(high));
      CHECK(static_cast<std::uint8_t>(byte) == (low & 15) + 16 * (high & 15));
      CHECK(amct::low4(byte) == low);
      CHECK(amct::high4(byte) == high);
      seen[static_cast<std::uint8_t>(byte)] = true;
    }
  }
  CHECK(seen == std::vector<bool>(256, true));
}

TEST_CASE("AMCT's own packing along the last and the first axis") {
  CHECK(packed({3, 6, -5, 5, -2, 1, -4, 4}, {2, 4, 1}) == Bytes{99, 91, 30, 76});
  CHECK(packed({0, -2, -7, -5, 3, -4, 0, -3}, {1, 4, 2}) == Bytes{-112, -66, 3, -36});
  CHECK(packed({7, 2, -1, -5, -2, -8, 1, 5, -3, -5, -7, 3, -2, 1, -6, 4, -1, 3}, {3, 6, 1}) ==
        Bytes{39, -65, -114, 81, -67, 57, 30, 74, 63});
  const Bytes deep{-4, 3,  1,  1, -6, 5,  -7, -1, -2, -2, 4,  -2, -1, 5,  2, 4, 7,  -6, -5, -3, -5, -7, -3, 3,
                   7,  -8, -4, 1, 5,  -5, -8, -5, 6,  -1, -5, -4, 5,  -8, 7, 0, -8, -7, -7, 3,  6,  -3, 0,  0};
  const Bytes expected{-4, 83,   33,  65, 122,  -91,  -71,  -33, -66, -98, -44, 62,
                       87, -120, 124, 1,  -123, -101, -104, 59,  102, -33, 11,  12};
  CHECK(packed(deep, {1, 4, 12}) == expected);
  CHECK(unpacked(expected, {1, 4, 12}) == deep);
}

TEST_CASE("an odd row ends with a high nibble of 0") {
  CHECK(packed({-1, -8, -4, 5, 2, 3}, {2, 3, 1}) == Bytes{-113, 12, 37, 3});
  CHECK(unpacked({-113, 12, 37, 3}, {2, 3, 1}) == Bytes{-1, -8, -4, 5, 2, 3});
  CHECK(packed({-1}, {1, 1, 1}) == Bytes{15});
  CHECK(unpacked({-1}, {1, 1, 1}) == Bytes{-1});
}

TEST_CASE("no code gives no byte") {
  pack4({}, {});
  unpack4({}, {});
  CHECK(packed({}, {2, 0, 3}).empty());
  CHECK(packed({}, {0, 4, 3}).empty());
}

TEST_CASE("random tensors come back from every layout") {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const Packed4Layout layout{random() % 4, random() % 9, random() % 5};
    Bytes codes(layout.codes());
    for (auto& code : codes) code = static_cast<std::int8_t>(static_cast<int>(random() % 16) - 8);
    REQUIRE(unpacked(packed(codes, layout), layout) == codes);
  }
}
