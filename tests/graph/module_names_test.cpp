// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/module_names.hpp>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;
using support::floats;
using support::GraphBuilder;
using support::whole_numbers;

TEST_CASE("The module path is the node's path without the operator, containers told once") {
  CHECK(module_path("/layer1/layer1.0/conv1/Conv") == "layer1.0.conv1");
  CHECK(module_path("/features/features.1/conv/conv.0/conv.0.0/Conv") == "features.1.conv.0.0");
  CHECK(module_path("/blocks.0/attn/qkv/MatMul") == "blocks.0.attn.qkv");
  CHECK(module_path("/conv1/Conv") == "conv1");
  CHECK(module_path("/layer1/layer10/Conv") == "layer1.layer10");
  CHECK(module_path("/Add") == "");
  CHECK(module_path("Conv_0") == "");
  CHECK(module_path("conv/Conv") == "");
  CHECK(module_path("//Conv") == "");
  CHECK(module_path("") == "");
}

TEST_CASE("A weight tells its module") {
  CHECK(module_of_weight("layer1.0.conv1.weight") == "layer1.0.conv1");
  CHECK(module_of_weight(".weight") == "");
  CHECK(module_of_weight("onnx::Conv_77") == "");
}

namespace {

/// A residual block with names as torch 1.13 gives them, a layer of an old exporter, and one that is used twice.
Graph block() {
  return GraphBuilder()
      .input("x", {1, 2, 4, 4})
      .initializer("onnx::Conv_1", whole_numbers({2, 2, 1, 1}, 1))
      .initializer("fc.weight", whole_numbers({2, 2}, 2))
      .initializer("fc.bias", floats({2}, {1, 2}))
      .initializer("head.weight", whole_numbers({2, 2}, 3))
      .initializer("tied.weight", whole_numbers({2, 2}, 4))
      .constant("two", Tensor::scalar(2.0F))
      .node("Conv", "/layer1/layer1.0/conv1/Conv", {"x", "onnx::Conv_1"}, "a")
      .node("Relu", "/layer1/layer1.0/relu/Relu", {"a"}, "b")
      .node("Relu", "/layer1/layer1.0/relu/Relu_1", {"b"}, "c")
      .node("Add", "/layer1/layer1.0/Add", {"c", "x"}, "d")
      .node("Transpose", "/fc/Transpose", {"fc.weight"}, "t")
      .node("MatMul", "/fc/MatMul", {"d", "t"}, "e")
      .node("Add", "/fc/Add", {"fc.bias", "e"}, "f")
      .node("Sigmoid", "/act/Sigmoid", {"f"}, "g")
      .node("Mul", "/act/Mul", {"f", "g"}, "h")
      .node("Gemm", "Gemm_12", {"h", "head.weight"}, "i")
      .node("Gemm", "Gemm_13", {"i", "tied.weight"}, "j")
      .node("Gemm", "Gemm_14", {"j", "tied.weight"}, "k")
      .node("Mul", "/Mul", {"k", "two"}, "y")
      .output("y")
      .build();
}

std::string message(const std::string& name) {
  const ModuleNames names(block());
  const auto error = support::error_of([&] { (void)names.resolve(name); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::config_layer);
  CHECK(error->where().layer == name);
  return error->message();
}

}  // namespace

TEST_CASE("The key of a layer is its module where that means it alone") {
  const ModuleNames names(block());
  CHECK(names.key("/layer1/layer1.0/conv1/Conv") == "layer1.0.conv1");
  CHECK(names.key("/fc/MatMul") == "fc");
  CHECK(names.key("/fc/Add") == "/fc/Add");
  CHECK(names.key("/act/Mul") == "act");
  CHECK(names.key("Gemm_12") == "head");
  CHECK(names.key("Gemm_13") == "Gemm_13");
  CHECK(names.key("/layer1/layer1.0/relu/Relu_1") == "/layer1/layer1.0/relu/Relu_1");
  CHECK(names.key("/layer1/layer1.0/Add") == "/layer1/layer1.0/Add");
  CHECK(names.key("/Mul") == "/Mul");
  CHECK(names.key("no node") == "no node");
  CHECK(names.keys() == std::map<std::string, std::string>{{"/layer1/layer1.0/conv1/Conv", "layer1.0.conv1"},
                                                           {"/fc/MatMul", "fc"},
                                                           {"/act/Mul", "act"},
                                                           {"Gemm_12", "head"}});
}

TEST_CASE("A user may give node name, module path or weight prefix, with or without DataParallel's prefix") {
  const ModuleNames names(block());
  CHECK(names.resolve("/fc/MatMul") == "/fc/MatMul");
  CHECK(names.resolve("/fc/Add") == "/fc/Add");
  CHECK(names.resolve("fc") == "/fc/MatMul");
  CHECK(names.resolve("layer1.0.conv1") == "/layer1/layer1.0/conv1/Conv");
  CHECK(names.resolve("module.layer1.0.conv1") == "/layer1/layer1.0/conv1/Conv");
  CHECK(names.resolve("head") == "Gemm_12");
  const ModuleNames parallel(
      GraphBuilder().input("x").input("w").node("Conv", "/module/conv1/Conv", {"x", "w"}, "y").output("y").build());
  CHECK(parallel.resolve("conv1") == "/module/conv1/Conv");
}

TEST_CASE("Ambiguous names are refused with the candidates, unknown ones with the nearest") {
  CHECK(message("tied") == "may be any of \"Gemm_13\", \"Gemm_14\"; give the node's name");
  CHECK(message("layer1.0.relu") ==
        "may be any of \"/layer1/layer1.0/relu/Relu\", \"/layer1/layer1.0/relu/Relu_1\"; give the node's name");
  CHECK(support::contains(message("layer1.0.conv2"),
                          "there is no such layer in the model, did you mean \"layer1.0.conv1\""));
  CHECK(message("") == "there is no such layer in the model");
  CHECK(support::contains(message("layer1"), "there is no such layer"));
  CHECK(support::contains(message("two"), "there is no such layer"));
}

TEST_CASE("A key never is the name of another node, and node names come first") {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .initializer("q.weight", whole_numbers({2, 2}, 1))
                          .node("MatMul", "q", {"x", "q.weight"}, "a")
                          .node("Relu", "/q/Relu", {"a"}, "y")
                          .output("y")
                          .build();
  const ModuleNames names(graph);
  CHECK(names.keys().empty());
  CHECK(names.resolve("q") == "q");
}
