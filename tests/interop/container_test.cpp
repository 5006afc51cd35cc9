// SPDX-License-Identifier: Apache-2.0
// What a user writes to pass a container of his own.
#include <amct/interop/container.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/min_max.hpp>

namespace {

/// An image of `channels` interleaved values a pixel, whose rows are `pitch` elements apart.
template <class T>
struct Image {
  T* pixels;
  std::size_t height, width, channels, pitch;
};

}  // namespace

template <class T>
struct amct::interop::Door<Image<T>> {
  using Element = T;
  static std::array<Axis, 3> axes(const Image<T>& image) {
    const auto step = [](std::size_t elements) { return static_cast<std::ptrdiff_t>(elements); };
    return {{{image.height, step(image.pitch)}, {image.width, step(image.channels)}, {image.channels, 1}}};
  }
  static T* data(const Image<T>& image) { return image.pixels; }
};

TEST_CASE("container: a container of the user's own") {
  constexpr std::size_t kHeight = 20;
  constexpr std::size_t kPitch = 100;
  constexpr float kOutside = 1e9F;
  std::vector<float> memory(kHeight * kPitch, kOutside);
  const Image<float> image{memory.data(), kHeight, 32, 3, kPitch};
  const auto value = [](std::size_t y, std::size_t i) {
    return static_cast<float>(i % 3 + 1) * (static_cast<float>((y * 96 + i) % 101) * 0.01F - 0.5F);
  };
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t i = 0; i < 96; ++i) memory[y * kPitch + i] = value(y, i);
  }

  amct::MinMax observer;
  REQUIRE(amct::observe(observer, image));
  CHECK(observer.compute(amct::Int8::range).scale < 0.02F);
  CHECK(amct::tails(image, 1, 1) == amct::Tails{-1.5F, 1.5F});

  amct::Arq<> arq;
  REQUIRE(amct::calibrate(arq, image, 2));
  REQUIRE(arq.channels().size() == 3);
  std::vector<std::int8_t> codes(kHeight * 96);
  const Image<std::int8_t> packed{codes.data(), kHeight, 32, 3, 96};
  amct::quantize(arq, image, packed, 2);
  amct::dequantize(packed, image, arq.channels(), 2);
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t i = 0; i < kPitch; ++i) {
      const float found = memory[y * kPitch + i];
      if (i >= 96) {
        CHECK(found == kOutside);
      } else {
        CHECK(found == static_cast<float>(codes[y * 96 + i]) * arq.channels()[i % 3].scale);
        CHECK(found == doctest::Approx(value(y, i)).epsilon(0.01));
      }
    }
  }

  std::vector<std::int8_t> bytes(kHeight * 48);
  const amct::Affine affine{0.2F, 0};
  amct::quantize4(image, Image<std::int8_t>{bytes.data(), kHeight, 16, 3, 48}, affine, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto code = [&](std::size_t at) {
      return static_cast<std::int8_t>(amct::ReciprocalRoundAdd::code(memory[at], affine, amct::Int4::range));
    };
    CHECK(bytes[i] == amct::pair4(code(i), code(3 + i)));
  }
}
