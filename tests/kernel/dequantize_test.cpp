// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/dequantize.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "kernel/paths_agree.hpp"
#include "kernel/streamed.hpp"

namespace {

template <class T>
std::vector<float> values_of(const std::vector<T>& codes, amct::Affine affine) {
  std::vector<float> x(codes.size(), 99.0F);
  amct::dequantize(std::span<const T>(codes), std::span<float>(x), affine);
  return x;
}

}  // namespace

TEST_CASE("a value is the distance of its code from the offset times the scale") {
  CHECK(values_of<std::int8_t>({-128, -1, 0, 1, 127}, {0.5F, 0}) == std::vector<float>{-64, -0.5F, 0, 0.5F, 63.5F});
  CHECK(values_of<std::int8_t>({-128, -14, 127}, {0.5F, -14}) == std::vector<float>{-57, 0, 70.5F});
}

TEST_CASE("differences beyond int8 and int16 are exact") {
  CHECK(values_of<std::int8_t>({-128, 127}, {1.0F, 127}) == std::vector<float>{-255, 0});
  CHECK(values_of<std::int8_t>({-128, 127}, {1.0F, -128}) == std::vector<float>{0, 255});
  CHECK(values_of<std::int16_t>({-32768, 32767}, {1.0F, 32767}) == std::vector<float>{-65535, 0});
  CHECK(values_of<std::int16_t>({-32768, 32767}, {1.0F, -32768}) == std::vector<float>{0, 65535});
}

TEST_CASE("the product is rounded once to float32") {
  CHECK(values_of<std::int8_t>({127}, {0.1F, -128}) == std::vector<float>{255.0F * 0.1F});
  CHECK(values_of<std::int8_t>({3}, {0x1p-23F, 0}) == std::vector<float>{0x1.8p-22F});
}

TEST_CASE("the code of the offset is a positive zero at all lengths") {
  for (std::size_t size = 0; size <= 67; ++size) {
    const auto x = values_of(std::vector<std::int8_t>(size, 127), {0.1F, 127});
    CAPTURE(size);
    CHECK(x == std::vector<float>(size, 0.0F));
    for (const float value : x) CHECK_FALSE(std::signbit(value));
  }
}

TEST_CASE_TEMPLATE("every path dequantizes to the bits of the reference", T, std::int8_t, std::int16_t) {
  for (const amct::Affine affine : {amct::Affine{0.03F, -7}, {1.0F, 0}, {3e-6F, 127}, {0.5F, 90000}}) {
    for_lengths_and_offsets([&](std::size_t length, std::size_t offset) {
      std::vector<T> all(length + offset);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<T>(i * 2654435761U >> 7U);
      const auto codes = std::span<const T>(all).subspan(offset);
      std::vector<float> want(length);
      amct::kernel::reference::dequantize(codes, std::span(want), always(affine));
      on_every_path([&] {
        std::vector<float> got(length);
        amct::dequantize(codes, std::span(got), affine);
        CHECK(same_bits(got, want));
      });
    });
  }
}

TEST_CASE_TEMPLATE("values that bypass the caches are those of the reference, and no more", T, std::int8_t,
                   std::int16_t) {
  std::vector<T> codes(kMostStreamed + 64);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<T>(i * 2654435761U >> 7U);
  for (const amct::Affine affine : {amct::Affine{0.03F, -7}, {3e-6F, 127}, {0.5F, -600000}}) {
    CAPTURE(affine.offset);
    std::vector<float> want;
    for (const T code : codes) want.push_back(static_cast<float>(code - affine.offset) * affine.scale);
    check_streamed(codes, want, [&](std::span<const T> in, std::span<float> out) {
      amct::kernel::dequantize(in, out, affine, amct::simd::Traffic::streamed);
    });
  }
}
