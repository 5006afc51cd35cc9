// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/apply_record.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <amct/flow/calibrate.hpp>
#include <amct/flow/deploy.hpp>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::contains;
using support::error_of;
using support::floats;
using support::GraphBuilder;
using support::node_names;
using support::values;
using support::whole_numbers;

namespace {

const auto& kRules = rules_of(Flavour::pytorch);

/// conv - bn - relu - flatten - fc, called as torch exports them
graph::Graph net() {
  return GraphBuilder()
      .input("x", {1, 1, 2, 2})
      .initializer("conv.weight", floats({2, 1, 1, 1}, {1.5F, -0.7F}))
      .initializer("gamma", floats({2}, {1.1F, 0.9F}))
      .initializer("beta", floats({2}, {0.2F, -0.1F}))
      .initializer("mean", floats({2}, {0.3F, 0.4F}))
      .initializer("var", floats({2}, {2, 0.5F}))
      .initializer("fc.weight", whole_numbers({3, 8}, 4))
      .initializer("fc.bias", floats({3}, {0.1F, 0.2F, 0.3F}))
      .node("Conv", "/conv/Conv", {"x", "conv.weight"}, "c")
      .node("BatchNormalization", "/bn/BatchNormalization", {"c", "gamma", "beta", "mean", "var"}, "n")
      .node("Relu", "/relu/Relu", {"n"}, "r")
      .node("Flatten", "/flat/Flatten", {"r"}, "f")
      .node("Gemm", "/fc/Gemm", {"f", "fc.weight", "fc.bias"}, "y", {{"transB", std::int64_t{1}}})
      .output("y")
      .build();
}

LayerRecord entry(const std::string& name, std::vector<float> scale_w) {
  const std::vector<std::int32_t> zeros(scale_w.size(), 0);
  return {.name = name,
          .scale_d = 0.02F,
          .offset_d = -3,
          .scale_w = std::move(scale_w),
          .offset_w = zeros,
          .act_type = "INT8",
          .wts_type = "INT8"};
}
Record both() { return {entry("conv", {0.01F, 0.02F}), entry("fc", {0.1F})}; }

flow::Recorded apply(Record record, flow::FusionChoice fusion = {}) {
  return flow::apply_record(net(), std::move(record), kRules, support::ops(), std::move(fusion));
}

}  // namespace

TEST_CASE("A record that calibration made gives the network that calibration deploys") {
  const Tensor x = floats({1, 1, 2, 2}, {0.3F, -1.2F, 2.5F, 0.9F});
  const auto prepared = flow::prepare(net(), {}, support::ops());
  flow::MemoryBatches batches({{x}});
  const Record record = flow::calibrate(prepared, support::ops(), batches);
  const auto recorded = apply(record);
  CHECK(recorded.record == record);
  CHECK(recorded.origins == prepared.origins);
  const auto expected = flow::deploy(prepared.graph, record);
  const auto found = flow::deploy(recorded.graph, recorded.record);
  CHECK(node_names(found) == node_names(expected));
  for (const auto& value : expected.values) {
    if (!value.initializer) continue;
    const Tensor* other = support::find_initializer(found, value.name);
    REQUIRE(other != nullptr);
    CHECK(std::equal(other->raw().begin(), other->raw().end(), value.initializer->raw().begin(),
                     value.initializer->raw().end()));
  }
}

TEST_CASE("Layers may be called by their node names") {
  const auto recorded = apply({entry("/conv/Conv", {0.01F, 0.02F}), entry("fc", {0.1F})});
  CHECK(recorded.record[0].name == "conv");
  CHECK(node_names(recorded.graph) == std::vector<std::string>{"conv", "relu", "flat", "fc"});
}

TEST_CASE("The record and the caller say which BatchNormalization is not folded") {
  Record record = both();
  record[0].skip_fusion = true;
  CHECK(node_names(apply(record).graph).size() == 5);
  CHECK(node_names(apply(both(), {.skip = {"/conv/Conv"}}).graph).size() == 5);
  CHECK(node_names(apply(both(), {.fold = false}).graph).size() == 5);
}

TEST_CASE("Layers without factors stay float") {
  const auto recorded = apply({{.name = "conv", .has_value = false}, entry("fc", {0.1F})});
  REQUIRE(recorded.record.size() == 1);
  CHECK(recorded.record[0].name == "fc");
  CHECK(node_names(flow::deploy(recorded.graph, recorded.record)) ==
        std::vector<std::string>{"conv", "relu", "flat", "fc.quant", "fc", "fc.dequant"});
}

TEST_CASE("What does not fit the network is refused with the layer") {
  const auto refused = [](Record record) { return error_of([&] { (void)apply(std::move(record)); }); };
  Record unknown = both();
  unknown[0].name = "conv0";
  const auto no_layer = refused(unknown);
  REQUIRE(no_layer);
  CHECK(no_layer->code() == ErrorCode::record_value);
  CHECK(no_layer->where().layer == "conv0");
  CHECK(contains(no_layer->message(), "has no layer of this name"));
  CHECK(contains(no_layer->message(), "\"conv\""));

  Record relu = both();
  relu[0].name = "relu";
  CHECK(contains(refused(relu)->message(), "cannot be quantized"));

  Record channels = both();
  channels[0] = entry("conv", {0.01F, 0.02F, 0.03F});
  CHECK(refused(channels)->where().field == "scale_w");

  Record no_scale = both();
  no_scale[0].scale_d.reset();
  CHECK(refused(no_scale)->where().field == "scale_d");

  for (const Record& empty : {Record{}, Record{{.name = "conv", .has_value = false}}}) {
    CHECK(refused(empty)->message() == "has no layer with factors");
  }
}

TEST_CASE("Other dialects' way of writing the same factors gives the same network") {
  Record record = both();
  for (auto& layer : record) {
    layer.record_d = {{.scale_d = layer.scale_d, .offset_d = layer.offset_d, .index = 0, .num_bits_d = 8}};
    layer.scale_d.reset();
    layer.offset_d.reset();
    layer.act_type.reset();
    layer.wts_type.reset();
    layer.num_bits_w = 8;
  }
  const auto found = flow::apply_record(net(), std::move(record), rules_of(Flavour::hotwheels), support::ops());
  const auto expected = apply(both());
  CHECK(node_names(flow::deploy(found.graph, found.record)) ==
        node_names(flow::deploy(expected.graph, expected.record)));
}
