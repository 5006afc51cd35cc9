// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/quant_map.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;

TEST_CASE("Every node of the deployed network names the nodes of the file that it stands for") {
  const auto deployed = support::GraphBuilder()
                            .input("x")
                            .node("AscendQuant", "conv1.quant", {"x"}, "a")
                            .node("Conv", "conv1", {"a"}, "b")
                            .node("AscendDequant", "conv1.dequant", {"b"}, "c")
                            .node("Relu", "relu", {"c"}, "y")
                            .output("y")
                            .build();
  const ConfigValue map = flow::quant_map(deployed, {{"conv1", {"/conv1/Conv", "/bn1/BatchNormalization"}}});
  const auto& operators = *map.find("graph")->list()->at(0).find("op")->list();
  const auto originals = [&](std::size_t i) {
    const ConfigValue& attribute = operators.at(i).find("attr")->list()->at(0);
    CHECK(*attribute.find("key")->text() == "_datadump_original_op_names");
    std::vector<std::string> names;
    for (const auto& name : *attribute.find("value")->find("list")->find("s")->list()) names.push_back(*name.text());
    return names;
  };
  REQUIRE(operators.size() == 4);
  CHECK(*operators[1].find("name")->text() == "conv1");
  CHECK(*operators[1].find("type")->text() == "Conv");
  CHECK(originals(0).empty());
  CHECK(originals(1) == std::vector<std::string>{"/conv1/Conv", "/bn1/BatchNormalization"});
  CHECK(originals(2) == originals(1));
  CHECK(originals(3) == std::vector<std::string>{"relu"});
}

TEST_CASE("A ReQuant stands for its layer and for what it took in, an anti-quant node for none") {
  const auto deployed =
      support::GraphBuilder()
          .input("x")
          .node("Conv", "conv1", {"x"}, "b")
          .node("AscendReQuant", "conv1.requant", {"b"}, "c", {{"took_in", std::vector<std::string>{"relu"}}})
          .node("AscendAntiQuant", "add.anti_quant", {"c"}, "y")
          .output("y")
          .build();
  const ConfigValue map = flow::quant_map(deployed, {{"conv1", {"/conv1/Conv"}}, {"relu", {"/relu/Relu"}}});
  const auto& operators = *map.find("graph")->list()->at(0).find("op")->list();
  const auto names = [&](std::size_t i) {
    return operators.at(i).find("attr")->list()->at(0).find("value")->find("list")->find("s")->list();
  };
  REQUIRE(names(1)->size() == 2);
  CHECK(*names(1)->at(0).text() == "/conv1/Conv");
  CHECK(*names(1)->at(1).text() == "/relu/Relu");
  CHECK(names(2)->empty());
}
