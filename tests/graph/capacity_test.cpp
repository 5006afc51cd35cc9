// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/capacity.hpp>

#include <doctest/doctest.h>

using namespace amct;
using namespace amct::graph;
using Names = std::vector<std::string>;

namespace {

Names operators(const std::string& text) {
  Diagnostics out;
  const Capacity capacity = parse_capacity(text, "capacity.csv", out);
  CHECK(out.all().empty());
  return capacity.data_operators;
}

}  // namespace

TEST_CASE("Lists of ONNX operators, with comments and any of the three separators") {
  CHECK(operators("# mine\n\nNO_WEIGHT_QUANT_ONNX_TYPES=Erf, com.example:Warp ,Sin # more\r\n") ==
        Names{"Erf", "com.example:Warp", "Sin"});
  CHECK(operators("NO_WEIGHT_QUANT_ONNX_TYPES,Erf,Sin") == Names{"Erf", "Sin"});
  CHECK(operators("NO_WEIGHT_QUANT_ONNX_TYPES : Erf\nNO_WEIGHT_QUANT_ONNX_TYPES: Sin\n") == Names{"Erf", "Sin"});
  CHECK(operators("NO_WEIGHT_QUANT_ONNX_TYPES").empty());
  CHECK(operators("NO_WEIGHT_QUANT_ONNX_TYPES=,,").empty());
  CHECK(operators("").empty());
}

TEST_CASE("Types of torch become their operators") {
  CHECK(operators("NO_WEIGHT_QUANT_TYPES=torch.nn.Softmax,nn.Upsample") == Names{"Softmax", "Resize", "Upsample"});
}

TEST_CASE("Unknown types are errors with the nearest name, unknown keys warnings, both with their line") {
  Diagnostics out;
  (void)parse_capacity("\nNO_WEIGHT_QUANT_TYPES=torch.nn.Softmex\nSOMETHING=1\n", "capacity.csv", out);
  REQUIRE(out.all().size() == 2);
  CHECK(out.all()[0].is_error);
  CHECK(out.all()[0].where.line == 2);
  CHECK(out.all()[0].message.find("did you mean \"torch.nn.Softmax\"") != std::string::npos);
  CHECK_FALSE(out.all()[1].is_error);
  CHECK(out.all()[1].where.line == 3);
  CHECK(out.all()[1].where.field == "SOMETHING");
}

TEST_CASE("An operator is meant by its name, or by domain and name") {
  const Capacity capacity{{"Erf", "com.example:Warp"}};
  CHECK(capacity.has(Node{.op_type = "Erf"}));
  CHECK(capacity.has(Node{.op_type = "Erf", .domain = "com.example"}));
  CHECK(capacity.has(Node{.op_type = "Warp", .domain = "com.example"}));
  CHECK_FALSE(capacity.has(Node{.op_type = "Warp"}));
}
