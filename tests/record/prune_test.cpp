// SPDX-License-Identifier: Apache-2.0
#include <amct/record/prune.hpp>

#include <doctest/doctest.h>

using amct::PruneAttribute;
using amct::PruneAttributeType;

TEST_CASE("attributes are found by name, the first of equal ones") {
  const amct::PruneNode node{.name = "conv1",
                             .attributes = {{.type = PruneAttributeType::integer, .i = 1},
                                            {.name = "end", .type = PruneAttributeType::integer, .i = 8},
                                            {.name = "end", .type = PruneAttributeType::integer, .i = 9}}};
  REQUIRE(node.find("end") != nullptr);
  CHECK(node.find("end")->i == 8);
  CHECK(node.find("begin") == nullptr);
}

TEST_CASE("prune records are compared field by field") {
  const amct::PruneRecord record{.producers = {{.name = "conv1"}}, .consumers = {{.name = "bn"}}};
  auto other = record;
  CHECK(other == record);
  other.selective_prune = amct::PruneNode{};
  CHECK(other != record);
  other = record;
  other.consumers[0].attributes.push_back({.name = "begin"});
  CHECK(other != record);
}
