// SPDX-License-Identifier: Apache-2.0
#include <amct/record/check_prune.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using amct::PruneAttribute;
using amct::PruneAttributeType;
using amct::PruneNode;
using amct::PruneRecord;

namespace {

std::string findings(const PruneRecord& record, amct::Flavour flavour = amct::Flavour::pytorch) {
  std::string text;
  for (const auto& finding : amct::check_record(record, amct::rules_of(flavour))) {
    text += (text.empty() ? "" : "\n") + finding.field;
    text += (finding.index == 0 ? "" : '[' + std::to_string(finding.index) + ']') + ": " + finding.message;
  }
  return text;
}
PruneAttribute text(std::string name, std::string value) {
  return {.name = std::move(name), .type = PruneAttributeType::text, .s = std::move(value)};
}
PruneAttribute integer(std::string name, std::int64_t value) {
  return {.name = std::move(name), .type = PruneAttributeType::integer, .i = value};
}
PruneAttribute integers(std::string name, std::vector<std::int64_t> values) {
  return {.name = std::move(name), .type = PruneAttributeType::integers, .ints = std::move(values)};
}
PruneNode node(std::string name) {
  return {.name = std::move(name),
          .attributes = {text("type", "Conv"), integer("begin", 0), integer("end", 8),
                         integers("prune_index", {1, 2, 5, 6})}};
}
PruneRecord pruned() { return {.producers = {node("conv1")}, .consumers = {node("bn"), node("conv2")}}; }
PruneRecord masked(std::vector<std::int64_t> shape, std::vector<std::int64_t> mask) {
  return {.selective_prune = PruneNode{
              .name = "conv1",
              .attributes = {integers("mask_shape", std::move(shape)), integers("selective_mask", std::move(mask))}}};
}

}  // namespace

TEST_CASE("records as AMCT writes them are accepted") {
  CHECK(findings(pruned()) == "");
  CHECK(findings(masked({8, 3, 3, 3}, {-1, -1, -1, 11900667})) == "");
  CHECK(findings(masked({4, 16}, {-1})) == "");
  // as the PyTorch document shows it
  CHECK(findings({.selective_prune =
                      PruneNode{.name = "conv1", .attributes = {integers("mask_shape", {3, 3, 3, 32})}}}) == "");
}

TEST_CASE("a record needs a producer or a mask, a node its name") {
  CHECK(findings({}) == "producer: is missing, expected a producer or selective_prune");
  CHECK(findings({.consumers = {node("bn")}}) == "producer: is missing, expected a producer or selective_prune");
  auto record = pruned();
  record.consumers[1].name.reset();
  CHECK(findings(record) == "consumer[1].name: is missing or empty, expected the name of a node");
}

TEST_CASE("an attribute has a name, a type and a value of this type") {
  const auto with = [](PruneAttribute attribute) {
    auto record = pruned();
    record.producers[0].attributes.push_back(std::move(attribute));
    return findings(record);
  };
  CHECK(with({.name = "x", .type = PruneAttributeType::real, .f = 0.5F}) == "");
  CHECK(with({.name = "x", .type = PruneAttributeType::reals}) == "");
  CHECK(with({.type = PruneAttributeType::real, .f = 0.5F}) == "producer[0].attr[4].name: is missing or empty");
  CHECK(with({.name = "x", .f = 0.5F}) ==
        "producer[0].attr[4].type: \"x\" has no type, expected FLOAT, INT, STRING, FLOATS, INTS or STRINGS");
  CHECK(with({.name = "x", .type = PruneAttributeType::real, .i = 3}) ==
        "producer[0].attr[4]: \"x\" is of type FLOAT but has a value of type INT");
  CHECK(with({.name = "x", .type = PruneAttributeType::real}) ==
        "producer[0].attr[4]: \"x\" is of type FLOAT but has no value");
  CHECK(with(integer("end", 8)) == "producer[0].attr[4].name: got \"end\" a second time");
  CHECK(with(integer("prune_group", 0)) == "producer[0].attr[4].i: \"prune_group\": got 0, expected at least 1");
}

TEST_CASE("ranges of channels") {
  auto record = pruned();
  record.consumers[1].attributes[1].i = 8;
  CHECK(findings(record) == "consumer[1].attr[1].i: got channels 8 to 8, expected 0 <= begin < end");
  record.consumers[1].attributes[1].i = -1;
  CHECK(findings(record) == "consumer[1].attr[1].i: got channels -1 to 8, expected 0 <= begin < end");
  record.consumers[1].attributes.erase(record.consumers[1].attributes.begin() + 1);
  CHECK(findings(record) == "consumer[1]: begin and end must be given together");
  record = pruned();
  record.producers[0].attributes[2] = text("end", "8");
  CHECK(findings(record) ==
        "producer[0].attr[2].type: \"end\" is of type STRING, expected INT\n"
        "producer[0]: begin and end must be given together");
}

TEST_CASE("channels that go are within the range and ascend") {
  auto record = pruned();
  record.producers[0].attributes[3].ints = {1, 8};
  CHECK(findings(record) ==
        "producer[0].attr[3].ints[1]: \"prune_index\": got 8, expected a channel from begin 0 to below end 8");
  record.producers[0].attributes[3].ints = {1, 1};
  CHECK(findings(record) == "producer[0].attr[3].ints[1]: \"prune_index\": got 1 after 1, expected ascending order");
}

TEST_CASE("a mask has a bit a weight") {
  CHECK(findings(masked({8, 3, 3, 3}, {0, 0, 0})) ==
        "selective_prune.attr[1]: \"selective_mask\": got 3 values, expected 4, a bit for each of 216 weights");
  CHECK(findings(masked({8, 0}, {0})) ==
        "selective_prune.attr[0]: \"mask_shape\": expected at least one extent, each at least 1");
  CHECK(findings(masked({1LL << 32, 1LL << 32}, {0})).find("mask_shape") != std::string::npos);
  CHECK(findings({.selective_prune = PruneNode{.name = "a", .attributes = {integers("selective_mask", {1})}}}) ==
        "selective_prune: has a selective_mask without mask_shape");
}

TEST_CASE("K47: tensorflow warns of hardware without 2:4 sparsity") {
  const auto found = amct::check_record(masked({4, 16}, {-1}), amct::rules_of(amct::Flavour::tensorflow));
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].is_error);
  CHECK(found[0].message.find("Atlas 200/300/500") != std::string::npos);
}
