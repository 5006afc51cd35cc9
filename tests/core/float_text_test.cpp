// SPDX-License-Identifier: Apache-2.0
#include <amct/core/float_text.hpp>

#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

using amct::decimal_text;
using amct::decimal_value;
using amct::shortest_text;

TEST_CASE("a float is shown as short as possible, always with a point or an exponent") {
  CHECK(shortest_text(1.0F) == "1.0");
  CHECK(shortest_text(0.027267225F) == "0.027267225");
  CHECK(shortest_text(0.1F) == "0.1");
  CHECK(shortest_text(100000.0F) == "100000.0");
  CHECK(shortest_text(123.456F) == "123.456");
  CHECK(shortest_text(-0.5F) == "-0.5");
  CHECK(shortest_text(0.0F) == "0.0");
  CHECK(shortest_text(-0.0F) == "-0.0");
  CHECK(shortest_text(16777216.0F) == "16777216.0");
  CHECK(shortest_text(0.0798481479F) == "0.07984815");
}

TEST_CASE("exponents are used below 1e-4 and from 1e16 on") {
  CHECK(shortest_text(1e-4F) == "0.0001");
  CHECK(shortest_text(0.00012345F) == "0.00012345");
  CHECK(shortest_text(9.7405136e-05F) == "9.7405136e-05");
  CHECK(shortest_text(1e-5F) == "1e-05");
  CHECK(shortest_text(-1e-5F) == "-1e-05");
  CHECK(shortest_text(1e15F) == "1000000000000000.0");
  CHECK(shortest_text(1e16F) == "1e+16");
  CHECK(shortest_text(0x1p-23F) == "1.1920929e-07");
  CHECK(shortest_text(std::numeric_limits<float>::max()) == "3.4028235e+38");
}

TEST_CASE("values that are not finite have Python's names") {
  CHECK(shortest_text(std::numeric_limits<float>::quiet_NaN()) == "nan");
  CHECK(shortest_text(std::numeric_limits<float>::infinity()) == "inf");
  CHECK(shortest_text(-std::numeric_limits<float>::infinity()) == "-inf");
}

TEST_CASE("the text reads back to the same bits") {
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += 65521) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(value)) continue;
    const std::string text = shortest_text(value);
    float back = 0.0F;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), back);
    CAPTURE(text);
    REQUIRE(parsed.ptr == text.data() + text.size());
    REQUIRE(std::bit_cast<std::uint32_t>(back) == bits);
    REQUIRE(text.find_first_of(".e") != std::string::npos);
  }
}

TEST_CASE("a float parameter arrives as the decimal that was written") {
  CHECK(decimal_value(0.01F) == 0.01);
  CHECK(decimal_value(0.7F) == 0.7);
  CHECK(decimal_value(1.3F) == 1.3);
  CHECK(decimal_value(0.999999F) == 0.999999);
  CHECK(decimal_value(-0.1F) == -0.1);
  CHECK(decimal_value(0.0F) == 0.0);
  CHECK(decimal_value(1e30F) == 1e30);
  CHECK(std::isnan(decimal_value(std::numeric_limits<float>::quiet_NaN())));
  CHECK(decimal_value(-std::numeric_limits<float>::infinity()) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("doubles in messages are as short as possible") {
  CHECK(decimal_text(0.5) == "0.5");
  CHECK(decimal_text(1e-8) == "1e-08");
  CHECK(decimal_text(1.0) == "1");
  CHECK(decimal_text(-0.1) == "-0.1");
}

TEST_CASE("doubles are shown in the same way") {
  CHECK(shortest_text(0.999999) == "0.999999");
  CHECK(shortest_text(20.0) == "20.0");
  CHECK(shortest_text(0.1) == "0.1");
  CHECK(shortest_text(0.1 + 0.2) == "0.30000000000000004");
  CHECK(shortest_text(1e-10) == "1e-10");
  CHECK(shortest_text(-1e300) == "-1e+300");
}

TEST_CASE("K10: nine significant digits, as the commercial releases write them") {
  CHECK(amct::digits9_text(0.0798481479F) == "0.0798481479");
  CHECK(amct::digits9_text(0.00297622895F) == "0.00297622895");
  CHECK(amct::digits9_text(1.0F) == "1");
  CHECK(amct::digits9_text(1e-5F) == "9.99999975e-06");
  CHECK(amct::digits9_text(-0.5F) == "-0.5");
  CHECK(amct::digits9_text(std::numeric_limits<float>::infinity()) == "inf");
  CHECK(amct::digits9_text(std::numeric_limits<float>::quiet_NaN()) == "nan");
}
