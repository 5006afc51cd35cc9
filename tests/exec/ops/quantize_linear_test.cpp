// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "exec/run_output.hpp"
#include "exec/typed.hpp"

using namespace amct;
using namespace support;

namespace {

template <class T>
Tensor one(T value) {
  return Tensor::scalar(value);
}

}  // namespace

TEST_CASE("QuantizeLinear rounds halves to even, adds the zero point and saturates") {
  const Tensor x = floats({8}, {0, 1, 3, 5, -3, 1000, -1000, 2.5F});
  check_typed<std::uint8_t>(run_op("QuantizeLinear", {x, one(2.0F), one<std::uint8_t>(128)}), {8},
                            {128, 128, 130, 130, 126, 255, 0, 129});
  check_typed<std::uint8_t>(run_op("QuantizeLinear", {x, one(2.0F)}), {8}, {0, 0, 2, 2, 0, 255, 0, 1});
  check_typed<std::int8_t>(run_op("QuantizeLinear", {x, one(2.0F), one<std::int8_t>(-1)}), {8},
                           {-1, -1, 1, 1, -3, 127, -128, 0});
  check_typed<std::int16_t>(run_op("QuantizeLinear", {x, one(0.01F), one<std::int16_t>(0)}), {8},
                            {0, 100, 300, 500, -300, 32767, -32768, 250});
  check_typed<std::uint16_t>(run_op("QuantizeLinear", {x, one(0.01F), one<std::uint16_t>(40000)}), {8},
                             {40000, 40100, 40300, 40500, 39700, 65535, 0, 40250});
}

TEST_CASE("QuantizeLinear takes int32 and gives the zero point for NaN") {
  check_typed<std::int8_t>(
      run_op("QuantizeLinear", {typed<std::int32_t>({3}, {-7, 7, 300}), one(2.0F), one<std::int8_t>(0)}, {}, 10), {3},
      {-4, 4, 127});
  const float inf = std::numeric_limits<float>::infinity();
  check_typed<std::uint8_t>(run_op("QuantizeLinear", {floats({3}, {NAN, inf, -inf}), one(2.0F), one<std::uint8_t>(7)}),
                            {3}, {7, 255, 0});
}

TEST_CASE("QuantizeLinear by an axis") {
  const Tensor x = floats({1, 2, 3}, {1, 2, 3, 10, 20, 30});
  const Tensor scales = floats({2}, {1, 10});
  const Tensor zeros = typed<std::uint8_t>({2}, {5, 100});
  check_typed<std::uint8_t>(run_op("QuantizeLinear", {x, scales, zeros}), {1, 2, 3}, {6, 7, 8, 101, 102, 103});
  check_typed<std::uint8_t>(run_op("QuantizeLinear", {x, scales}, {{"axis", -2}}), {1, 2, 3}, {1, 2, 3, 1, 2, 3});
  check_typed<std::uint8_t>(run_op("QuantizeLinear", {x, floats({3}, {1, 2, 3})}, {{"axis", 2}}), {1, 2, 3},
                            {1, 1, 1, 10, 10, 10});
  check_refused(kShape, "axis 3 is outside", "QuantizeLinear", {x, scales, zeros}, {{"axis", 3}});
}

TEST_CASE("DequantizeLinear gives (code - zero point) * scale") {
  check_tensor(run_op("DequantizeLinear", {typed<std::uint8_t>({3}, {0, 128, 255}), one(0.5F), one<std::uint8_t>(128)}),
               {3}, {-64, 0, 63.5F});
  check_tensor(run_op("DequantizeLinear", {typed<std::int8_t>({2}, {-128, 127}), one(2.0F)}), {2}, {-256, 254});
  check_tensor(run_op("DequantizeLinear", {typed<std::uint16_t>({2}, {0, 65535}), one(1.0F), one<std::uint16_t>(1)}),
               {2}, {-1, 65534});
  check_tensor(run_op("DequantizeLinear", {typed<std::int32_t>({2}, {1 << 30, -3}), one(0.25F)}), {2},
               {268435456, -0.75F});
  check_tensor(run_op("DequantizeLinear",
                      {typed<std::int8_t>({2, 2}, {1, 2, 3, 4}), floats({2}, {1, 0}), typed<std::int8_t>({2}, {0, 1})}),
               {2, 2}, {1, 0, 3, 0});
  check_tensor(
      run_op("DequantizeLinear", {typed<std::int32_t>({2, 2}, {1, 2, 3, 4}), floats({2}, {1, 10})}, {{"axis", 0}}),
      {2, 2}, {1, 2, 30, 40});
}

TEST_CASE("Quantization of halves and of nothing") {
  const Tensor half = typed<Half>({1}, {to_half(0.5F)});
  const Tensor back = run_op("DequantizeLinear", {typed<std::int8_t>({1}, {3}), half});
  CHECK(back.type() == ElementType::float16);
  CHECK(to_float(values<Half>(back)[0]) == 1.5F);
  CHECK(run_op("QuantizeLinear", {floats({0, 2}, {}), floats({2}, {1, 1})}).size() == 0);
  CHECK(run_op("DequantizeLinear", {typed<std::int8_t>({0}, {}), one(1.0F)}).size() == 0);
}

TEST_CASE("DynamicQuantizeLinear finds scale and zero point") {
  const auto check = [](const std::vector<float>& x, const std::vector<std::uint8_t>& codes, float scale,
                        std::uint8_t zero) {
    const auto length = static_cast<std::int64_t>(x.size());
    const auto output = [&](std::size_t index) {
      return run_output(index, 3, "DynamicQuantizeLinear", {floats({length}, x)});
    };
    check_typed<std::uint8_t>(output(0), {length}, codes);
    check_tensor(output(1), {}, {scale});
    check_typed<std::uint8_t>(output(2), {}, {zero});
  };
  check({0, 2, -3, -2.5F, 1.34F, 0.5F}, {153, 255, 0, 26, 221, 179}, 5.0F / 255.0F, 153);
  check({-1, -2.1F, -1.3F, -2.5F, -3.34F, -4}, {191, 121, 172, 96, 42, 0}, 4.0F / 255.0F, 255);
  check({1, 2.1F, 4}, {64, 134, 255}, 4.0F / 255.0F, 0);
  check({0, 0}, {0, 0}, 1.0F, 0);
  check({}, {}, 1.0F, 0);
  check_refused(kShape, "not finite", "DynamicQuantizeLinear", {floats({1}, {NAN})});
  check_refused(kShape, "too far", "DynamicQuantizeLinear", {floats({2}, {3e38F, -3e38F})});
}
