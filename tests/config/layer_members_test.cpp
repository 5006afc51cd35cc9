// SPDX-License-Identifier: Apache-2.0
#include <amct/config/layer_members.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;

namespace {

const LayerTable kLayers{{.name = "conv1"}, {.name = "conv2"}, {.name = "fc"}};
constexpr std::string_view kParameters[] = {"version"};

}  // namespace

TEST_CASE("Layers are visited in the order of the model, whatever that of the file") {
  Diagnostics out;
  std::vector<std::string> visited;
  visit_layer_members(
      support::config(R"({"fc": 3, "version": 1, "conv1": 4})"), "f", kLayers, kParameters, out,
      [&](const LayerInfo& layer, const ConfigValue& member) { visited.push_back(layer.name + describe(member)); });
  CHECK(visited == std::vector<std::string>{"conv14", "fc3"});
  CHECK(out.all().empty());
}

TEST_CASE("A member that is neither a layer nor a parameter is an error with its place") {
  Diagnostics out;
  visit_layer_members(support::config("{\n \"conv3\": {}}"), "f", kLayers, kParameters, out,
                      [](const LayerInfo&, const ConfigValue&) { FAIL("no layer is there"); });
  CHECK(support::text_of(out) ==
        "amct: [config.layer] f:2:11 conv3: is neither a parameter nor a layer that can be configured here, did you "
        "mean \"conv1\" or \"conv2\"?\n");
}
