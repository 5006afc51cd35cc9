// SPDX-License-Identifier: Apache-2.0
#include <amct/config/skip_list.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const LayerTable kLayers{{.name = "conv1"}, {.name = "conv2"}, {.name = "fc", .kind = LayerKind::linear}};
const std::vector<std::string> kNodes{"conv1", "bn1", "conv2", "fc"};

struct Outcome {
  std::set<std::string> skipped{};
  std::string findings{};
};

Outcome skip_layers(const std::string& list) {
  Outcome outcome;
  Diagnostics out;
  const ConfigValue value = support::config("{\"skip\": " + list + '}');
  ObjectReader reader(value, {.file = "f"}, "", out);
  read_skip_layers(reader, "skip", kLayers, NetworkNames(kLayers, kNodes), outcome.skipped);
  reader.refuse_others();
  outcome.findings = support::text_of(out);
  return outcome;
}

Outcome skip_types(const std::string& list) {
  Outcome outcome;
  Diagnostics out;
  const ConfigValue value = support::config("{\"skip\": " + list + '}');
  ObjectReader reader(value, {.file = "f"}, "", out);
  read_skip_types(
      reader, "skip", kLayers, [](const LayerPattern& pattern) { return pattern.has_kind(LayerKind::conv2d); },
      outcome.skipped);
  outcome.findings = support::text_of(out);
  return outcome;
}

}  // namespace

TEST_CASE("Layers are skipped by name and by wildcard") {
  CHECK(skip_layers(R"(["fc"])").skipped == std::set<std::string>{"fc"});
  CHECK(skip_layers(R"(["conv*"])").skipped == std::set<std::string>{"conv1", "conv2"});
  CHECK(skip_layers(R"(["conv[2-9]", "fc"])").skipped == std::set<std::string>{"conv2", "fc"});
  CHECK(skip_layers(R"(["conv*"])").findings.empty());
  CHECK(skip_layers("[]").findings.empty());
}

TEST_CASE("Skipping what is not there is an error, skipping what is no layer or is named twice a warning") {
  CHECK(contains(skip_layers(R"(["conv3"])").findings, "there is no layer \"conv3\" in the model, did you mean"));
  CHECK(contains(skip_layers(R"(["pool*"])").findings, "pattern \"pool*\" matches no layer"));
  CHECK(
      contains(skip_layers("[\"fc\",\n \"bn1\"]").findings, "warning: amct: [config.layer] f:2:2 skip: layer \"bn1\""));
  const auto repeated = skip_layers(R"(["fc", "fc"])");
  CHECK(contains(repeated.findings, "warning: amct: [config.layer] f:1:17 skip: \"fc\" is repeated"));
  CHECK(repeated.skipped.size() == 1);
  CHECK(contains(skip_layers("3").findings, "got 3, expected a list of texts"));
}

TEST_CASE("Layers are skipped by type") {
  CHECK(skip_types(R"(["Conv2d"])").skipped == std::set<std::string>{"conv1", "conv2"});
  CHECK(contains(skip_types(R"(["Linear"])").findings, "cannot be configured here"));
  CHECK(contains(skip_types(R"(["Foo"])").findings, "layer type \"Foo\" is not known"));
  CHECK(contains(skip_types(R"(["Conv2d", "Conv2d"])").findings, "warning: "));
}
