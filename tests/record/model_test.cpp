// SPDX-License-Identifier: Apache-2.0
#include <amct/record/model.hpp>

#include <string>

#include <doctest/doctest.h>

namespace {

const auto& kRules = amct::rules_of(amct::Flavour::pytorch);

amct::RecordModel model() {
  amct::RecordModel result;
  result.layers["conv1"] = {.info = {.name = "conv1", .kind = amct::LayerKind::conv2d}, .output_channels = 8};
  result.layers["conv2"] = {.info = {.name = "conv2", .kind = amct::LayerKind::conv2d}, .output_channels = 8};
  result.unquantized["relu1"] = "flavour pytorch does not quantize Relu";
  result.nodes = {"conv1", "conv2", "relu1", "bn1"};
  return result;
}
amct::LayerRecord layer(std::string name) {
  return {.name = std::move(name), .scale_d = 0.1F, .offset_d = 0, .scale_w = {0.1F}, .offset_w = {0}};
}

}  // namespace

TEST_CASE("a known layer is checked with its facts") {
  CHECK(amct::check_record(layer("conv1"), kRules, model()).empty());
  auto record = layer("conv1");
  record.scale_w.assign(7, 0.1F);
  record.offset_w.assign(7, 0);
  CHECK(amct::check_record(record, kRules, model()).size() == 1);
}

TEST_CASE("an unknown layer is refused with the names that look like it") {
  const auto found = amct::check_record(layer("conv3"), kRules, model());
  REQUIRE(found.size() == 1);
  CHECK(found[0].field == "key");
  CHECK(found[0].message == "the network has no layer of this name, did you mean \"conv1\" or \"conv2\"?");
  CHECK(amct::check_record(layer("zzz"), kRules, model())[0].message == "the network has no layer of this name");
}

TEST_CASE("a node that is not quantized is refused with the reason") {
  const auto found = amct::check_record(layer("relu1"), kRules, model());
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "the layer cannot be quantized: flavour pytorch does not quantize Relu");
}

TEST_CASE("a tensor of a node that is no layer may have data factors") {
  amct::LayerRecord tensor{.name = "relu1:0", .scale_d = 0.1F, .offset_d = 0};
  CHECK(amct::check_record(tensor, kRules, model()).empty());
  tensor.name = "relu2:0";
  CHECK(amct::check_record(tensor, kRules, model()).size() == 1);
}

TEST_CASE("nodes of prune records must exist") {
  const auto node = [](const char* name) { return amct::PruneNode{.name = name}; };
  amct::PruneRecord record{.producers = {node("conv1")}, .consumers = {node("bn1"), node("bn2")}};
  const auto found = amct::check_record(record, kRules, model());
  REQUIRE(found.size() == 1);
  CHECK(found[0].field == "consumer[1].name");
  CHECK(found[0].message == "got \"bn2\", which the network does not have, did you mean \"bn1\"?");
}
