// SPDX-License-Identifier: Apache-2.0
#include <amct/config/levels.hpp>

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

struct Parts {
  std::optional<Stated<int>> first{};
  std::optional<Stated<int>> second{};
};

const LayerTable kLayers{{.name = "conv1"}, {.name = "conv2"}, {.name = "fc", .kind = LayerKind::linear}};

Parts read_parts(ObjectReader& reader, const std::string& path) {
  CHECK(path == "overrides");
  Parts parts;
  int value = 0;
  if (reader.read("first", value)) parts.first = Stated<int>{value, reader.where("first")};
  return parts;
}

std::string findings_of(const std::string& text) {
  Diagnostics out;
  const std::vector<std::string> nodes{"conv1", "conv2", "relu", "fc"};
  const NetworkNames network(kLayers, nodes);
  const ConfigValue value = support::config(text);
  ObjectReader top(value, {.file = "f"}, "", out);
  const auto overrides = read_overrides<Parts>(
      top, "f", "overrides", "name",
      [&](const std::string& name, const Where& where) { check_layer_name(out, where, name, network); }, read_parts);
  return support::text_of(out);
}

}  // namespace

TEST_CASE("Each part comes from the most specific level that states it") {
  Levels<Parts> levels;
  levels.common = {.first = Stated<int>{1}, .second = Stated<int>{10}};
  levels.types.push_back({"Conv2d", {.first = Stated<int>{2}, .second = {}}});
  levels.layers["conv1"] = {.first = Stated<int>{3}, .second = {}};

  const auto first = [&](std::size_t layer) { return levels.pick(kLayers[layer], &Parts::first); };
  CHECK(first(0).stated->value == 3);
  CHECK(first(0).named);
  CHECK(first(1).stated->value == 2);
  CHECK(first(1).named);
  CHECK(first(2).stated->value == 1);
  CHECK_FALSE(first(2).named);
  const auto second = levels.pick(kLayers[0], &Parts::second);
  CHECK(second.stated->value == 10);
  CHECK_FALSE(second.named);
}

TEST_CASE("A part that no level states is empty") {
  const Levels<Parts> levels;
  CHECK(levels.pick(kLayers[0], &Parts::first).stated == nullptr);
}

TEST_CASE("Overrides are read with their names") {
  Diagnostics out;
  const ConfigValue value = support::config(R"({"overrides": [{"name": "conv1", "first": 5}, {"name": "fc"}]})");
  ObjectReader top(value, {.file = "f"}, "", out);
  const auto overrides = read_overrides<Parts>(
      top, "f", "overrides", "name", [](const std::string&, const Where&) {}, read_parts);
  CHECK(support::text_of(out).empty());
  REQUIRE(overrides.size() == 2);
  CHECK(overrides[0].first == "conv1");
  CHECK(overrides[0].second.first->value == 5);
  CHECK(overrides[0].second.first->where.line == 1);
  CHECK_FALSE(overrides[1].second.first.has_value());
}

TEST_CASE("Overrides with missing, repeated and unknown names are refused, and so are unknown members") {
  CHECK(contains(findings_of(R"({"overrides": [{}]})"), "overrides.name: is missing"));
  CHECK(contains(findings_of(R"({"overrides": [{"name": ""}]})"), "got \"\", expected a name"));
  CHECK(contains(findings_of("{\"overrides\": [{\"name\": \"fc\"},\n {\"name\": \"fc\"}]}"),
                 "f:2:11 overrides.name: \"fc\" is repeated (first in line 1)"));
  CHECK(contains(findings_of(R"({"overrides": [{"name": "conv3"}]})"), "did you mean \"conv1\" or \"conv2\"?"));
  CHECK(contains(findings_of(R"({"overrides": [{"name": "relu"}]})"), "layer \"relu\" cannot be configured here"));
  CHECK(contains(findings_of(R"({"overrides": [{"name": "fc", "x": 1}]})"), "overrides.x: is not a known parameter"));
  CHECK(contains(findings_of(R"({"overrides": 3})"), "got 3, expected a list"));
  CHECK(contains(findings_of(R"({"overrides": [3]})"), "got 3, expected an object"));
}

TEST_CASE("Type names are unknown, or not usable here") {
  const auto no_pools = [](const LayerPattern& pattern) { return !pattern.has_kind(LayerKind::avg_pool2d); };
  const auto findings = [&](const std::string& type) {
    Diagnostics out;
    check_type_name(out, {.file = "f", .line = 4}, type, no_pools);
    return support::text_of(out);
  };
  CHECK(findings("Conv2d").empty());
  CHECK(contains(findings("Conv2e"), "f:4: layer type \"Conv2e\" is not known"));
  CHECK(contains(findings("AvgPool2d"), "layers of type \"AvgPool2d\" cannot be configured here"));
}
