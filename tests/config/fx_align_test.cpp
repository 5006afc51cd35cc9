// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_align.hpp>

#include <string>

#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_resolve.hpp>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

namespace {

const amct::FlavourRules& kRules = amct::rules_of(amct::Flavour::hotwheels);

/// The heart of attention: k is reshaped and transposed before the product, whose result is reshaped for a Linear
/// layer.
const amct::Network kNetwork{
    {"reshape", "/reshape", "Reshape", {"k"}, {"r"}},
    {"transpose", "/transpose", "Transpose", {"r"}, {"t"}},
    {"matmul", "/matmul", "MatMul", {"q", "t"}, {"m"}},
    {"flatten", "/flatten", "Flatten", {"m"}, {"f"}},
    {"fc", "/fc", "Gemm", {"f"}, {"y"}},
    {"last", "/last", "Reshape", {"y"}, {"z"}},
};

amct::LayerTable layers() {
  amct::LayerTable table;
  for (const amct::NetworkNode& node : kNetwork) {
    table.push_back({.name = node.name,
                     .kind = node.op_type == "Gemm" ? amct::LayerKind::linear : amct::LayerKind::other,
                     .op_type = node.op_type,
                     .activation_inputs = static_cast<int>(node.inputs.size())});
  }
  return table;
}

amct::FxPlan plan(const char* easy, bool aligned = true) {
  const amct::LayerTable table = layers();
  const std::vector<std::string> nodes;
  const amct::NetworkNames names(table, nodes);
  amct::Diagnostics out;
  amct::FxPlan result =
      amct::resolve_fx(amct::read_fx_easy(support::config(easy), "f", table, names, kRules, out), table, kRules, out);
  if (aligned) amct::align_no_command_layers(result, kNetwork);
  return result;
}

std::string check(const amct::FxPlan& plan) {
  amct::Diagnostics out;
  amct::check_network(kNetwork, amct::network_quantization(plan, layers(), kRules), kRules, "f", out);
  return support::text_of(out);
}

}  // namespace

TEST_CASE("layers that move data take the quantizer of the layer behind them, along a chain") {
  CHECK_FALSE(check(plan("{}", false)).empty());
  const amct::FxPlan aligned = plan("{}");
  CHECK(check(aligned).empty());
  CHECK(aligned.find("reshape")->activations.at(0).name == "LuqActivationFakeQuantize");
  CHECK(aligned.find("reshape")->activations.at(0).text("object_layer", "") == "reshape");
  CHECK(aligned.find("transpose")->activations.at(0).flag("with_offset", true) == false);
  CHECK(aligned.find("flatten")->activations.at(0).name == "UlqFakeQuantize");
  CHECK(aligned.find("last")->activations.at(0).name == "UlqFakeQuantize");
}

TEST_CASE("layers that the config names, and those before a float layer, stay as they are") {
  const amct::FxPlan named = plan(
      R"({"override_layer_types":[{"layer_type":"Transpose","activation_quant_params":{"quantizer":"UlqFakeQuantize"}}]})");
  CHECK(named.find("transpose")->activations.at(0).name == "UlqFakeQuantize");
  CHECK(named.find("reshape")->activations.at(0).name == "UlqFakeQuantize");
  CHECK(support::contains(check(named), "Layer matmul should have consistent quantizer"));
  const amct::FxPlan skipped = plan(R"({"skip_layers":["matmul"]})");
  CHECK(skipped.find("transpose")->activations.at(0).name == "UlqFakeQuantize");
}
