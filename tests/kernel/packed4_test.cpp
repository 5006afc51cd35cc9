// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/packed4.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <amct/kernel/dequantize.hpp>

#include "kernel/paths_agree.hpp"

namespace {

using amct::pack4;
using amct::Packed4Layout;
using amct::unpack4;

using Bytes = std::vector<std::int8_t>;

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

namespace {

/// Codes of every value at odd places.
Bytes pattern(std::size_t size) {
  Bytes codes(size);
  for (std::size_t i = 0; i < size; ++i) {
    codes[i] = static_cast<std::int8_t>(static_cast<int>(i * 2654435761U >> 9U & 15U) - 8);
  }
  return codes;
}

}  // namespace

TEST_CASE("every path packs and unpacks arrays of every length like the reference") {
  for_lengths_and_offsets([](std::size_t length, std::size_t offset) {
    const Bytes all = pattern(length + offset);
    const auto codes = std::span(all).subspan(offset);
    Bytes want(amct::packed4_size(length));
    amct::kernel::reference::pack4(codes, want, {1, length, 1});
    on_every_path([&] {
      Bytes bytes(want.size() + 1, 0x55);
      pack4(codes, std::span(bytes).first(want.size()));
      CHECK(bytes.back() == 0x55);
      bytes.pop_back();
      CHECK(same_bits(bytes, want));
      Bytes back(length + 1, 0x55);
      unpack4(bytes, std::span(back).first(length));
      CHECK(back.back() == 0x55);
      CHECK(std::equal(codes.begin(), codes.end(), back.begin()));
    });
  });
}

TEST_CASE_TEMPLATE("every path quantizes to packed codes as quantize and pack4 do", Contract, amct::ReciprocalRoundAdd,
                   amct::DivideAddRound) {
  for (const amct::Affine affine : kAwkwardAffines) {
    for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
      std::vector<float> all(length + offset);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = (static_cast<float>(i % 41) - 20.0F) * affine.scale * 0.5F;
      if (length > 70) all[offset + 66] = std::numeric_limits<float>::quiet_NaN();
      const auto x = std::span<const float>(all).subspan(offset);
      Bytes codes(length);
      amct::quantize<Contract>(x, std::span(codes), affine, amct::Int4::range);
      Bytes want(amct::packed4_size(length));
      pack4(codes, want);
      on_every_path([&] {
        Bytes bytes(want.size());
        amct::quantize4<Contract>(x, bytes, affine);
        CHECK(same_bits(bytes, want));
        std::vector<float> want_values(length);
        amct::dequantize(std::span<const std::int8_t>(codes), std::span(want_values), affine);
        std::vector<float> values(length);
        amct::dequantize4(bytes, values, affine);
        CHECK(same_bits(values, want_values));
      });
    });
  }
}

TEST_CASE("streamed packing gives the same bytes at every alignment") {
  for (std::size_t offset = 0; offset < 66; ++offset) {
    const Bytes codes = pattern(2001);
    Bytes want(1001);
    pack4(codes, want);
    on_every_path([&] {
      Bytes bytes(want.size() + offset + 1, 0x55);
      const auto target = std::span(bytes).subspan(offset, want.size());
      amct::kernel::pack4(codes, target, amct::simd::Traffic::streamed);
      CHECK(std::equal(want.begin(), want.end(), target.begin()));
      CHECK(bytes.back() == 0x55);
      Bytes back(codes.size() + offset + 1, 0x55);
      const auto again = std::span(back).subspan(offset, codes.size());
      amct::kernel::unpack4(want, again, amct::simd::Traffic::streamed);
      CHECK(std::equal(codes.begin(), codes.end(), again.begin()));
      CHECK(back.back() == 0x55);
    });
  }
}

TEST_CASE("halves are packed as their promoted values") {
  std::vector<amct::Half> halves(65536);
  std::vector<float> promoted(halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = {static_cast<std::uint16_t>(i)};
    promoted[i] = to_float(halves[i]);
  }
  Bytes want(halves.size() / 2);
  amct::quantize4(std::span<const float>(promoted), want, {0.25F, -1});
  on_every_path([&] {
    Bytes bytes(want.size());
    amct::quantize4(std::span<const amct::Half>(halves), bytes, {0.25F, -1});
    CHECK(same_bits(bytes, want));
  });
}
