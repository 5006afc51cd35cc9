// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_json.hpp>

#include <string>

#include <amct/config/fx_easy.hpp>
#include <amct/config/fx_resolve.hpp>

#include <doctest/doctest.h>

#include "support/config_text.hpp"
#include "support/fx_network.hpp"

namespace {

using support::contains;

const amct::FlavourRules& kRules = amct::rules_of(amct::Flavour::hotwheels);

struct Read {
  amct::FxPlan plan;
  std::string found;
};

Read read(const amct::ConfigValue& value) {
  const support::FxNetwork network;
  amct::Diagnostics out;
  Read result;
  result.plan = amct::from_fx_json(value, "f", network.layers, network.names, kRules, out);
  result.found = support::text_of(out);
  return result;
}
Read read(const char* text) { return read(support::config(text)); }

/// White space does not count.
std::string compact_text(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

}  // namespace

TEST_CASE("the guide's sample of a full config is what its network gets without a definition") {
  const amct::ConfigValue sample = support::config_file(support::seed("fx_config.json"));
  const Read r = read(sample);
  CHECK(r.found.empty());
  CHECK(support::compact(amct::to_fx_json(r.plan)) == support::compact(sample));

  const support::FxNetwork network;
  amct::Diagnostics out;
  amct::FxPlan created = amct::resolve_fx({}, network.layers, kRules, out);
  std::erase_if(created.layers,
                [](const auto& layer) { return layer.name != "add" && layer.name != "conv1" && layer.name != "fc"; });
  CHECK(created.layers.front().name == "conv1");  // the order of the model; the file is sorted
  CHECK(support::full_text(amct::to_fx_json(created)) == support::full_text(sample));
}

TEST_CASE("K42: the guide's sample of FixedFakeQuantize") {
  const amct::ConfigValue sample = support::config_file(support::seed("fx_fixed.json"));
  const Read r = read(sample);
  CHECK(r.found.empty());
  CHECK(r.plan.layers.size() == 2);
  CHECK(support::compact(r.plan.find("conv1")->weights->args) == R"({"scale":[0.010429775,0.009767545],"num_bits":8})");
  CHECK(support::compact(r.plan.find("maxpool")->activations[0].args) ==
        R"({"scale":0.0118393,"zero_point":-128.0,"num_bits":8})");
}

TEST_CASE("K9, K20: the guide's sample of torch's FakeQuantize, with the comma that it lacks") {
  const amct::ConfigValue sample = support::config_file(support::seed("fx_custom.json"));
  // As printed, conv1 has two activation entries for its one input.
  CHECK(contains(read(sample).found,
                 "layer \"conv1\" activation_quant_params: lists 2 quantizers, but the layer has 1 input"));
  const Read r = read(support::mended_custom_sample());
  CHECK(r.found.empty());
  CHECK(r.plan.find("conv1")->weights->text("observer", "") == "torch.quantization.PerChannelMinMaxObserver");
}

TEST_CASE("what is not stated has the defaults; a layer that is not in the file is not quantized") {
  const Read r = read(R"({"conv1":{"quant_enable":true},"matmul":{"quant_enable":true},"fc":{"quant_enable":false}})");
  CHECK(r.found.empty());
  CHECK(r.plan.layers.size() == 3);
  CHECK(r.plan.find("conv1")->activations.at(0).name == "UlqFakeQuantize");
  CHECK(r.plan.find("conv1")->weights->flag("channel_wise", false));
  CHECK(amct::is_symmetric(r.plan.find("matmul")->activations.at(1)));
  CHECK_FALSE(r.plan.find("fc")->quant_enable);
  CHECK(r.plan.find("maxpool") == nullptr);
}

TEST_CASE("quant_enable is required, and everything else is checked too") {
  const Read r = read(R"({"conv1":{"activation_quant_params":[{"quantizer_args":{}}]},
 "conv2":{"quant_enable":true},
 "shape":{"quant_enable":true},
 "add":{"quant_enable":1,"activation_quant_params":[{"quantizer":"UlqFakeQuantize"}],"weight_quant_params":{"quantizer":"x"},"retrain":2},
 "fc":7})");
  CHECK(contains(r.found, "[config.range] f:1:10 layer \"conv1\" quant_enable: is missing: true or false"));
  CHECK(contains(r.found,
                 "f:1:38 layer \"conv1\" activation_quant_params[0].quantizer: is missing: the name of an algorithm"));
  CHECK(contains(
      r.found,
      "[config.layer] f:2:10 layer \"conv2\": there is no layer \"conv2\" in the model, did you mean \"conv1\"?"));
  CHECK(contains(r.found, "[config.layer] f:3:10 layer \"shape\": the layer cannot be quantized"));
  CHECK(contains(r.found, "layer \"add\" quant_enable: got 1, expected true or false"));
  CHECK(contains(r.found, "layer \"add\" activation_quant_params: lists 1 quantizer, but the layer has 2 inputs"));
  CHECK(contains(r.found,
                 "warning: amct: [config.layer] f:4:108 layer \"add\" weight_quant_params: the layer has no weights"));
  CHECK(contains(r.found, "warning: amct: [config.syntax] f:4:136 layer \"add\" retrain: is not a known parameter"));
  CHECK(contains(r.found, "layer \"fc\": got 7, expected an object"));
  CHECK(contains(read("[]").found, "got a list, expected an object"));
}

TEST_CASE("write, read, write gives the same text, whatever the names") {
  const std::string name = "a \"b\" \\ \xC3\xA9 /x";
  const amct::LayerTable layers{{.name = name, .op_type = "Conv"}, {.name = "B"}};
  const std::vector<std::string> nodes{name, "B"};
  amct::Diagnostics out;
  const std::string first = support::full_text(amct::to_fx_json(amct::resolve_fx({}, layers, kRules, out)));
  const amct::NetworkNames names(layers, nodes);
  const amct::FxPlan plan = amct::from_fx_json(support::config(first), "f", layers, names, kRules, out);
  CHECK(out.all().empty());
  CHECK(support::full_text(amct::to_fx_json(plan)) == first);
  CHECK(first.find("\"B\"") < first.find("\"a "));
  CHECK(contains(compact_text(first), R"("observer":"ArqObserver","num_bits":8,"channel_wise":true)"));
}
