// SPDX-License-Identifier: Apache-2.0
#include <amct/config/om.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

namespace {

using amct::OmScope;
using support::contains;

/// Two graphs: a fused addition and a convolution with its quantization nodes, and an operator without attributes.
const char* const kOm = R"({"attr":[],"name":"net","version":1,"graph":[
  {"name":"g","op":[
    {"name":"add_fused","type":"Eltwise",
     "attr":[{"key":"other","value":{"i":1}},
             {"key":"_datadump_original_op_names","value":{"list":{"val_type":1,"s":["add_1","add_1.quant","relu_2"]}}}],
     "input_desc":[{"dtype":"DT_INT16","shape":{}},{"dtype":"DT_INT8"}]},
    {"name":"conv1","type":"Conv2D",
     "attr":[{"key":"_datadump_original_op_names","value":{"list":{"val_type":1}}}],
     "input_desc":[{"dtype":"DT_INT16"},{"dtype":"DT_INT8"},{"dtype":"DT_INT32"}]},
    {"name":"conv1.quant","type":"AscendQuant","input_desc":[{"dtype":"DT_FLOAT16"}]}]},
  {"op":[{"name":"softmax","type":"SoftmaxV2","input_desc":[{"dtype":"DT_FLOAT16"}]},
         {"name":"fc","type":"MatMulV2","input_desc":[{"dtype":"INT4"}]}]}]})";

std::vector<amct::OmOperator> operators(const char* text = kOm) {
  amct::Diagnostics out;
  auto result = amct::read_om(support::config(text), "net.om.json", out);
  CHECK(out.all().empty());
  return result;
}

}  // namespace

TEST_CASE("K41: operators of a mapping file, their original layers and input widths") {
  const auto read = operators();
  REQUIRE(read.size() == 4);  // a node of quantization is no layer
  CHECK(read[0].type == "Eltwise");
  CHECK(read[0].layers == std::vector<std::string>{"add_1", "relu_2"});
  CHECK(read[0].input_bits == std::vector<std::optional<int>>{16, 8});
  CHECK(read[1].layers == std::vector<std::string>{"conv1"});
  CHECK(read[1].input_bits == std::vector<std::optional<int>>{16, 8, std::nullopt});
  CHECK(read[2].input_bits == std::vector<std::optional<int>>{std::nullopt});
  CHECK(read[3].input_bits == std::vector<std::optional<int>>{4});
}

TEST_CASE("K41: widths go to additions, to all layers on request") {
  amct::QuantPlan plan;
  plan.layers = {{.name = "conv1", .op_type = "Conv"},
                 {.name = "add_1", .op_type = "Add", .activations = {{}, {.bits = 12}}},
                 {.name = "softmax", .op_type = "Softmax"},
                 {.name = "add_2", .op_type = "Add"}};
  CHECK(amct::apply_om(plan, operators()) == 1);
  CHECK(plan.find("add_1")->activations[0].bits == 16);
  CHECK(plan.find("add_1")->activations[1].bits == 8);
  CHECK(plan.find("conv1")->activations[0].bits == 8);
  CHECK(amct::apply_om(plan, operators(), OmScope::all) == 2);
  CHECK(plan.find("conv1")->activations[0].bits == 16);
  CHECK(plan.find("softmax")->activations[0].bits == 8);
  CHECK(plan.find("add_2")->activations[0].bits == 8);
}

TEST_CASE("K41: plans of the static graph get num_bits") {
  amct::FxPlan plan;
  plan.layers.push_back(
      {.name = "add_1", .op_type = "Add", .activations = {{.name = "UlqFakeQuantize"}, {.name = "B"}}});
  CHECK(amct::apply_om(plan, operators()) == 1);
  CHECK(plan.layers[0].activations[0].bits() == 16);
  CHECK(support::compact(plan.layers[0].activations[1].args) == R"({"num_bits":8})");
}

TEST_CASE("K41: plans of training get bits too") {
  amct::RetrainPlan plan;
  plan.layers = {{.name = "add_1", .op_type = "Add", .data = {{}, {.bits = 12}}}};
  CHECK(amct::apply_om(plan, operators()) == 1);
  CHECK(plan.layers[0].data[0].bits == 16);
  CHECK(plan.layers[0].data[1].bits == 8);
}

TEST_CASE("the path of a mapping file is relative to the config file") {
  CHECK(amct::om_mapping_path("conf/quant.cfg", "./om/inst.om.json") == "conf/om/inst.om.json");
  CHECK(amct::om_mapping_path("quant.cfg", "inst.om.json") == "inst.om.json");
  CHECK(amct::om_mapping_path("conf/quant.cfg", "/data/inst.om.json") == "/data/inst.om.json");
}

TEST_CASE("what is no mapping file is refused, what is odd in one is passed over") {
  for (const char* text : {"{}", "[]", "1", R"({"graph":{}})", R"({"graph":[{"name":"x"}]})"}) {
    CAPTURE(text);
    amct::Diagnostics out;
    CHECK(amct::read_om(support::config(text), "net.om.json", out).empty());
    CHECK(contains(support::text_of(out), "[config.syntax] net.om.json:1:1 graph: has no list of operators"));
  }
  CHECK(operators(R"({"graph":[7,{"op":[3,{},{"name":"a","attr":5,"input_desc":"x"},{"name":""}]}]})").size() == 1);
}
