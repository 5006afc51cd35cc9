// SPDX-License-Identifier: Apache-2.0
#include <amct/config/create.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

const LayerTable kLayers = {{.name = "conv1", .kind = LayerKind::conv2d, .op_type = "Conv"},
                            {.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"}};
const std::vector<std::string> kNodes = {"conv1", "relu", "fc"};
const FlavourRules& kRules = rules_of(Flavour::pytorch);

}  // namespace

TEST_CASE("without a definition the arguments make the config") {
  Diagnostics out;
  const QuantPlan plan =
      create_config({.skip_layers = std::vector<std::string>{"f*"}, .batch_num = 3U, .activation_offset = false},
                    std::nullopt, kLayers, kNodes, kRules, out);
  CHECK(out.all().empty());
  CHECK(plan.batch_num == 3);
  CHECK_FALSE(plan.activation_offset);
  CHECK_FALSE(plan.find("conv1")->activations.at(0).asymmetric);
  CHECK_FALSE(plan.find("fc")->enabled);
  const QuantPlan defaults = create_config({}, std::nullopt, kLayers, kNodes, kRules, out);
  CHECK(defaults.batch_num == 1);
  CHECK(defaults.activation_offset);
  CHECK(defaults.find("fc")->enabled);
}

TEST_CASE("bad arguments are errors") {
  Diagnostics out;
  (void)create_config({.skip_layers = std::vector<std::string>{"nothere"}, .batch_num = 0U}, std::nullopt, kLayers,
                      kNodes, kRules, out);
  REQUIRE(out.all().size() == 2);
  CHECK(out.all()[0].where.field == "skip_layers");
  CHECK(out.all()[1].where.field == "batch_num");
}

TEST_CASE("K16: beside a definition, arguments are ignored with a warning each") {
  EasyConfig definition{.file = "quant.cfg", .batch_num = 2U};
  Diagnostics out;
  const QuantPlan plan =
      create_config({.skip_layers = std::vector<std::string>{"nothere"}, .batch_num = 3U, .activation_offset = false},
                    definition, kLayers, kNodes, kRules, out);
  CHECK(plan.batch_num == 2);
  CHECK(plan.activation_offset);
  CHECK(plan.find("fc")->enabled);
  REQUIRE(out.all().size() == 3);
  std::string fields;
  for (const auto& finding : out.all()) {
    CHECK_FALSE(finding.is_error);
    CHECK(finding.where.file == "quant.cfg");
    fields += finding.where.field + ' ';
  }
  CHECK(fields == "skip_layers batch_num activation_offset ");
  Diagnostics quiet;
  (void)create_config({}, definition, kLayers, kNodes, kRules, quiet);
  CHECK(quiet.all().empty());
}
