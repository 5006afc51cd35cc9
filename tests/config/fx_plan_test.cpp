// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_plan.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using amct::QuantizerSpec;

TEST_CASE("arguments of a quantizer keep their order; a set one stays where it is") {
  QuantizerSpec spec{.name = "UlqFakeQuantize", .args = support::config(R"({"num_bits":8,"observer":"IFMRObserver"})")};
  spec.set("num_bits", 12);
  spec.set("fixed_min", true);
  CHECK(support::compact(spec.args) == R"({"num_bits":12,"observer":"IFMRObserver","fixed_min":true})");
  CHECK(spec.text("observer", "x") == "IFMRObserver");
  CHECK(spec.text("fixed_min", "x") == "x");
  CHECK(spec.flag("fixed_min", false));
  CHECK_FALSE(spec.flag("num_bits", false));
  CHECK(spec.arg("batch_num") == nullptr);
}

TEST_CASE("bits are those stated, or those of the algorithm") {
  CHECK(QuantizerSpec{.name = "UlqFakeQuantize"}.bits() == 8);
  CHECK(QuantizerSpec{.name = "LnqFakeQuantize"}.bits() == 4);
  CHECK(QuantizerSpec{.name = "UlqFakeQuantize", .args = support::config(R"({"num_bits":16})")}.bits() == 16);
  CHECK(QuantizerSpec{.name = "UlqFakeQuantize", .args = support::config(R"({"num_bits":"16"})")}.bits() == 8);
}

TEST_CASE("a plan finds its layers and names the fields of their quantizers") {
  amct::FxPlan plan;
  plan.layers.push_back({.name = "conv1", .activations = {{.name = "A"}, {.name = "B"}}, .weights = QuantizerSpec{}});
  const amct::FxLayerPlan* const conv = plan.find("conv1");
  REQUIRE(conv != nullptr);
  CHECK(amct::fx_field(*conv, conv->activations[1]) == "activation_quant_params[1]");
  CHECK(amct::fx_field(*conv, *conv->weights) == "weight_quant_params");
  CHECK(plan.find("conv2") == nullptr);
}
