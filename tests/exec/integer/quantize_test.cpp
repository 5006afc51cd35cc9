// SPDX-License-Identifier: Apache-2.0
#include <amct/exec/integer/quantize.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/exec/interpreter.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using namespace amct::exec::integer;

TEST_CASE("Reciprocals of scales lead back to a scale with that reciprocal") {
  std::mt19937 engine(1);
  for (int i = 0; i < 100000; ++i) {
    const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(0x20000000U + engine() % 0x40000000U));
    const volatile float reciprocal = 1.0F / scale;
    const auto found = scale_of_reciprocal(reciprocal);
    REQUIRE(found);
    const volatile float again = 1.0F / *found;
    REQUIRE(again == reciprocal);
  }
  CHECK_FALSE(scale_of_reciprocal(std::nextafter(1.0F, 0.0F)));  // between 1 / 1 and 1 / (1 + 2^-23)
}

TEST_CASE("Values become codes by the number that AscendQuant holds, be it a reciprocal of some scale or not") {
  std::mt19937 engine(2);
  std::normal_distribution<float> normal(0.0F, 100.0F);
  std::vector<float> x(333);
  for (float& value : x) value = normal(engine);
  x[5] = std::nanf("");
  x[6] = -std::numeric_limits<float>::infinity();
  for (const float multiplier : {0.5F, std::nextafter(1.0F, 0.0F), 0.7313F, 3.1F}) {
    CAPTURE(multiplier);
    for (const bool narrow : {false, true}) {
      graph::QuantTarget target{.scale = multiplier, .offset = 7, .range = Int8::range};
      if (narrow) target.lowest = 7, target.highest = 90;
      std::vector<std::int8_t> codes(x.size());
      quantize_reals(x, std::span(codes), target);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const volatile float scaled = x[i] * multiplier;
        const float placed = std::isnan(scaled) ? 7.0F : std::nearbyintf(scaled) + 7.0F;
        const float bounded = std::fmin(std::fmax(placed, narrow ? 7.0F : -128.0F), narrow ? 90.0F : 127.0F);
        REQUIRE(codes[i] == static_cast<std::int8_t>(bounded));
      }
    }
  }
}

TEST_CASE("Clipping values to the bounds of codes is the same as clipping the codes") {
  std::mt19937 engine(3);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  for (int round = 0; round < 200; ++round) {
    graph::QuantTarget target{.scale = std::exp(normal(engine)),
                              .offset = static_cast<std::int32_t>(engine() % 256) - 128,
                              .range = Int8::range};
    const auto first = static_cast<std::int32_t>(engine() % 256) - 128;
    const auto second = static_cast<std::int32_t>(engine() % 256) - 128;
    target.lowest = std::min(first, second);
    target.highest = std::max(first, second);
    const auto bounds = bounds_of_reals(target);
    REQUIRE(bounds);
    std::vector<float> x(50);
    for (float& value : x) value = normal(engine) * 40.0F / target.scale;
    std::vector<std::int8_t> expected(x.size());
    quantize_reals(x, std::span(expected), target);
    for (float& value : x) value = std::clamp(value, (*bounds)[0], (*bounds)[1]);
    target.lowest = target.range.min();
    target.highest = target.range.max();
    std::vector<std::int8_t> codes(x.size());
    quantize_reals(x, std::span(codes), target);
    REQUIRE(codes == expected);
  }
}

TEST_CASE("AscendQuant makes codes of its width, AscendAntiQuant real values again") {
  for (const auto& [type, bits] : {std::pair("INT8", 8), std::pair("INT16", 16)}) {
    const auto graph = support::GraphBuilder()
                           .input("x", {3})
                           .node("AscendQuant", "quant", {"x"}, "q",
                                 {{"scale", 4.0F}, {"offset", -3.0F}, {"dst_type", std::string(type)}})
                           .node("AscendAntiQuant", "anti", {"q"}, "y",
                                 {{"scale", 0.25F}, {"offset", 3.0F}, {"dst_type", std::string(type)}})
                           .output("q")
                           .output("y")
                           .build();
    const auto results = exec::Interpreter(graph, support::integer_ops()).run({support::floats({3}, {0, 1.2F, 100})});
    CHECK(results[0].type() == (bits == 8 ? ElementType::int8 : ElementType::int16));
    CHECK(support::values(results[1]) == std::vector<float>{0, 1.25F, bits == 8 ? 32.5F : 100.0F});
  }
}
