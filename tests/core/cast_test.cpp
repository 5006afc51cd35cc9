// SPDX-License-Identifier: Apache-2.0
#include <amct/core/cast.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

template <class To, class From>
std::vector<To> casted(const std::vector<From>& values) {
  const Tensor tensor(Shape{static_cast<std::int64_t>(values.size())}, std::span<const From>(values));
  const Tensor result = cast(tensor, element_type_of<To>);
  CHECK(result.shape() == tensor.shape());
  const auto data = result.data<To>();
  return {data.begin(), data.end()};
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("Floats go towards zero, to the nearest end beyond an integer type, and NaN to 0") {
  CHECK(casted<std::int8_t>(std::vector<float>{-2.9F, 2.9F, 127.9F, 128, -129, kInf, -kInf, kNan}) ==
        std::vector<std::int8_t>{-2, 2, 127, 127, -128, 127, -128, 0});
  CHECK(casted<std::uint8_t>(std::vector<float>{-0.5F, -1, 255.5F, 256}) == std::vector<std::uint8_t>{0, 0, 255, 255});
  CHECK(casted<std::int64_t>(std::vector<float>{9.3e18F, -9.3e18F}) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  CHECK(casted<std::int32_t>(std::vector<double>{2147483647.5, -2147483648.5}) ==
        std::vector<std::int32_t>{2147483647, std::numeric_limits<std::int32_t>::min()});
}

TEST_CASE("Integers wrap, and bool says whether something is not zero") {
  CHECK(casted<std::uint8_t>(std::vector<std::int32_t>{-1, 256, 300}) == std::vector<std::uint8_t>{255, 0, 44});
  CHECK(casted<bool>(std::vector<float>{0, -0.0F, 0.1F}) == std::vector<bool>{false, false, true});
  CHECK(casted<float>(std::vector<std::int64_t>{16777217}) == std::vector<float>{16777216});
}

TEST_CASE("Halfs are rounded to nearest") {
  const auto halfs = casted<Half>(std::vector<float>{1, 65520, 1.00048828125F});
  CHECK(halfs == std::vector<Half>{{0x3C00}, {0x7C00}, {0x3C00}});
  CHECK(casted<float>(halfs) == std::vector<float>{1, kInf, 1});
  CHECK(casted<std::int16_t>(std::vector<Half>{{0xC100}}) == std::vector<std::int16_t>{-2});  // -2.5
}
