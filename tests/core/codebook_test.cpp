// SPDX-License-Identifier: Apache-2.0
#include <amct/core/codebook.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using amct::Codebook;
using amct::codebook_from_centroids;
using amct::nearest_level;

namespace {

std::size_t nearest_by_distance(const std::vector<float>& levels, float x) {
  std::size_t best = 0;
  const auto distance = [&](std::size_t i) {
    return std::fabs(static_cast<double>(levels[i]) - static_cast<double>(x));
  };
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (distance(i) < distance(best)) best = i;
  }
  return best;
}

}  // namespace

TEST_CASE("the nearest level is that of comparing all distances") {
  const std::vector<std::vector<float>> books{{0.0F}, {-1.0F, 1.0F}, {-3.0F, -0.5F, 0.25F, 0.25F, 2.0F}};
  for (const auto& levels : books) {
    for (int i = -64; i <= 64; ++i) {
      const float x = static_cast<float>(i) / 16.0F;
      CAPTURE(x);
      CHECK(nearest_level(levels, x) == nearest_by_distance(levels, x));
    }
  }
}

TEST_CASE("of equally near and of equal levels the first is taken") {
  const std::vector<float> levels{-1.0F, 1.0F, 1.0F, 3.0F};
  CHECK(nearest_level(levels, 0.0F) == 0);
  CHECK(nearest_level(levels, 1.0F) == 1);
  CHECK(nearest_level(levels, 1.5F) == 1);
  CHECK(nearest_level(levels, 2.0F) == 1);
  CHECK(nearest_level(std::vector<float>(16, 0.0F), 5.0F) == 0);
  CHECK(nearest_level(std::vector<float>(16, 0.0F), 0.0F) == 0);
}

TEST_CASE("infinities and the largest floats find the ends") {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> levels{-kMax, 0.0F, kMax};
  CHECK(nearest_level(levels, -kInf) == 0);
  CHECK(nearest_level(levels, kInf) == 2);
  CHECK(nearest_level(levels, kMax) == 2);
  CHECK(nearest_level(levels, 1.0F) == 1);
}

TEST_CASE("levels are INT8 multiples of the scale of the centroids' range") {
  const Codebook book = codebook_from_centroids(std::vector<double>{-0.5, 0.1, 1.27});
  CHECK(book.scale == 1.27F / 127.0F);
  CHECK(book.params == std::vector<std::int32_t>{-50, 10, 127});
  for (std::size_t i = 0; i < 3; ++i) CHECK(book.levels[i] == static_cast<float>(book.params[i]) * book.scale);
}

TEST_CASE("centroids whose negative end is larger use -128") {
  const Codebook book = codebook_from_centroids(std::vector<double>{-1.28, 0.5});
  CHECK(book.scale == 1.28F / 128.0F);
  CHECK(book.params == std::vector<std::int32_t>{-128, 50});
}

TEST_CASE("centroids that are zero or tiny give scale 1 and levels 0") {
  for (const double value : {0.0, 1e-9}) {
    const Codebook book = codebook_from_centroids(std::vector<double>{-value, 0.0, value});
    CHECK(book.scale == 1.0F);
    CHECK(book.params == std::vector<std::int32_t>(3, 0));
    CHECK(book.levels == std::vector<float>(3, 0.0F));
  }
}

TEST_CASE("close centroids may share a level") {
  const Codebook book = codebook_from_centroids(std::vector<double>{0.0, 0.001, 1.0});
  CHECK(book.params == std::vector<std::int32_t>{0, 0, 127});
}
