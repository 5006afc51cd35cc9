// SPDX-License-Identifier: Apache-2.0
#include <amct/record/factors.hpp>

#include <doctest/doctest.h>

using amct::LayerRecord;

TEST_CASE("names of types give their bits") {
  CHECK(amct::bits_of_type("INT4") == 4);
  CHECK(amct::bits_of_type("INT16") == 16);
  for (const char* name : {"", "INT", "INT1", "INT17", "INT160000000000", "FP16", "int8", "INT8 "}) {
    CAPTURE(name);
    CHECK_FALSE(amct::bits_of_type(name).has_value());
  }
}

TEST_CASE("dst_type speaks for data and weights, else act_type and wts_type, else 8") {
  LayerRecord record;
  CHECK(amct::activation_bits(record) == 8);
  CHECK(amct::weight_bits(record) == 8);
  record.act_type = "INT16";
  record.wts_type = "INT6";
  CHECK(amct::activation_bits(record) == 16);
  CHECK(amct::weight_bits(record) == 6);
  record.dst_type = "INT4";
  CHECK(amct::activation_bits(record) == 4);
  CHECK(amct::weight_bits(record) == 4);
  record.num_bits_w = 8;
  CHECK(amct::weight_bits(record) == 8);
}

TEST_CASE("inputs are read from either layout") {
  const LayerRecord single{.scale_d = 0.5F, .offset_d = -3, .act_type = "INT16"};
  REQUIRE(amct::inputs_of(single).size() == 1);
  CHECK(amct::inputs_of(single)[0].bits == 16);
  CHECK(amct::inputs_of(single)[0].offset == -3);

  const LayerRecord listed{.record_d = {{.scale_d = 0.5F, .offset_d = 1, .index = 1, .num_bits_d = 12},
                                        {.offset_d = 1},
                                        {.scale_d = 0.25F, .index = 0}}};
  const auto inputs = amct::inputs_of(listed);
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].bits == 12);
  CHECK(inputs[0].index == 1);
  CHECK(inputs[1].bits == 8);
  CHECK(inputs[1].offset == 0);
}

TEST_CASE("the range of an input is what its lowest and highest codes stand for") {
  const amct::InputFactors after_relu{.scale = 6.0F / 255.0F, .offset = -128};
  CHECK(after_relu.lowest() == 0.0);
  CHECK(after_relu.highest() == doctest::Approx(6.0));
  const amct::InputFactors narrow{.scale = 1.0F, .offset = 0, .bits = 4};
  CHECK(narrow.lowest() == -8.0);
  CHECK(narrow.highest() == 7.0);
}

TEST_CASE("an entry with nothing but switches has no factors") {
  CHECK_FALSE(amct::has_factors({.name = "a", .skip_fusion = true, .act_type = "INT8"}));
  CHECK(amct::has_factors({.offset_d = 0}));
  CHECK(amct::has_factors({.offset_w = {0}}));
}

TEST_CASE("dead channels have the scale that the flavour gives to zeros") {
  const auto& pytorch = amct::rules_of(amct::Flavour::pytorch);
  const auto& hotwheels = amct::rules_of(amct::Flavour::hotwheels);
  const LayerRecord record{.scale_w = {1.0F, 0.5F, 1.0F, 1.1920929e-7F}};
  CHECK(amct::dead_channels(record, pytorch) == 2);
  CHECK(amct::dead_channels(record, hotwheels) == 1);
  CHECK(amct::dead_channels({.scale_w = {1.0F}}, pytorch) == 0);  // as AveragePool has it
  CHECK(amct::dead_channels({.scale_w = {1.0F}, .wts_type = "INT8"}, pytorch) == 1);
}
