// SPDX-License-Identifier: Apache-2.0
#include <amct/config/network_names.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

const LayerTable kLayers = {{.name = "conv", .kind = LayerKind::conv2d, .op_type = "Conv"},
                            {.name = "up", .kind = LayerKind::conv_transpose2d, .op_type = "ConvTranspose"},
                            {.name = "fc", .kind = LayerKind::linear, .op_type = "Gemm"}};
const std::vector<std::string> kNodes = {"conv", "relu", "up", "fc"};

std::vector<Finding> fusion_findings(const std::vector<std::string>& names, Flavour flavour = Flavour::pytorch) {
  Diagnostics out;
  check_skip_fusion(
      names, NetworkNames(kLayers, kNodes), rules_of(flavour),
      [](std::size_t i) { return Where{.line = static_cast<int>(i) + 1, .field = "skip_fusion_layers"}; }, out);
  return out.all();
}

}  // namespace

TEST_CASE("names are those of nodes; layers are the quantizable ones") {
  const NetworkNames names(kLayers, kNodes);
  CHECK(names.layer("fc") == &kLayers[2]);
  CHECK(names.layer("relu") == nullptr);
  CHECK(names.has("relu"));
  CHECK_FALSE(names.has("Relu"));
}

TEST_CASE("a required name that is missing is reported with the nearest ones") {
  const NetworkNames names(kLayers, kNodes);
  Diagnostics out;
  CHECK(names.require("relu", {}, out));
  CHECK(out.all().empty());
  CHECK_FALSE(names.require("rely", {.field = "skip_layers"}, out));
  REQUIRE(out.all().size() == 1);
  CHECK(out.all()[0].code == ErrorCode::config_layer);
  CHECK(out.all()[0].message == "there is no layer \"rely\" in the model, did you mean \"relu\"?");
}

TEST_CASE("fusion can be skipped for convolutions only, transposed ones where the flavour folds into them") {
  CHECK(fusion_findings({"conv", "relu"}).empty());
  const auto fc = fusion_findings({"conv", "fc"});
  REQUIRE(fc.size() == 1);
  CHECK(fc[0].where.line == 2);
  CHECK(fc[0].message == "\"fc\" is a Linear layer, expected a Conv1d, Conv2d or Conv3d layer");
  CHECK(fusion_findings({"up"}).size() == 1);
  CHECK(fusion_findings({"up"}, Flavour::tensorflow).empty());
  CHECK(fusion_findings({"x"}).size() == 1);
  CHECK(fusion_findings({"conv", "conv"}).size() == 1);
}
