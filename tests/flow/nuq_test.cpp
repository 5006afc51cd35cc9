// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/nuq.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/flow/deploy.hpp>
#include <amct/quantize/nuq.hpp>

#include "flow/integer_nets.hpp"

using namespace amct;
using support::random_floats;

namespace {

graph::Graph two_layers() {
  return support::GraphBuilder()
      .input("x", {1, 4, 6, 6})
      .initializer("conv.w", random_floats({8, 4, 3, 3}, 1))
      .initializer("fc.w", random_floats({128, 5}, 2))
      .initializer("rows", support::int64s({1, 128}))
      .node("Conv", "conv", {"x", "conv.w"}, "c")
      .node("Reshape", "reshape", {"c", "rows"}, "r")
      .node("Gemm", "fc", {"r", "fc.w"}, "y")
      .output("y")
      .build();
}

const std::vector<Tensor> kInputs{random_floats({1, 4, 6, 6}, 3)};

Record record_of(const graph::Graph& graph) {
  return support::record_of(graph, kInputs, Symmetry::asymmetric, support::is_usual_layer);
}

std::size_t distinct_codes(const graph::Graph& deployed, const std::string& weight) {
  const auto codes = support::values<std::int8_t>(*support::find_initializer(deployed, weight));
  return std::set<std::int8_t>(codes.begin(), codes.end()).size();
}

}  // namespace

TEST_CASE("A record gets 16 or 32 levels a layer, and the deployed weights use no other codes") {
  const auto graph = two_layers();
  for (const std::size_t steps : {std::size_t{16}, std::size_t{32}}) {
    Record record = record_of(graph);
    CHECK(flow::apply_nuq(record, graph, {.num_steps = steps}) == std::vector<std::string>{"conv", "fc"});
    CHECK(record[0].cluster.size() == steps);
    const auto deployed = flow::deploy(graph, record);
    CHECK(distinct_codes(deployed, "conv.w") <= steps);
    CHECK(distinct_codes(flow::deploy(graph, record_of(graph)), "conv.w") > 32);
    support::check_integer_network(deployed, kInputs);
  }
}

TEST_CASE("The levels are those of the quantizer, where the scales are its own") {
  const auto graph = two_layers();
  Nuq nuq({.num_steps = 16});
  const Tensor& weight = *support::find_initializer(graph, "conv.w");
  const auto layout = graph::weight_layout(*graph.find_node("conv"), weight.shape());
  REQUIRE(nuq.calibrate(weight.data<float>(), layout).ok());
  Record record{{.name = "conv", .wts_type = "INT8"}};
  for (const Affine& channel : nuq.params().channels) record[0].scale_w.push_back(channel.scale);
  (void)flow::apply_nuq(record, graph, {.num_steps = 16});
  CHECK(record[0].cluster == nuq.extras().cluster);
}

TEST_CASE("Only layers of the mapping file, only INT8 weights without levels; bad options are refused") {
  const auto graph = two_layers();
  Record record = record_of(graph);
  const std::vector<OmOperator> mapping{{.type = "Conv2D", .layers = {"conv", "relu"}}};
  CHECK(flow::apply_nuq(record, graph, {}, mapping) == std::vector<std::string>{"conv"});
  record[1].wts_type = "INT4";
  record.push_back({.name = "reshape", .scale_w = {1.0F}});
  CHECK(flow::apply_nuq(record, graph).empty());

  const auto error = support::error_of([&] { (void)flow::apply_nuq(record, graph, {.num_steps = 24}); });
  REQUIRE(error.has_value());
  CHECK(std::string(error->what()) == "amct: [config.range] nuq_quantize.num_steps: got 24, expected 16 or 32");
  Record other{{.name = "conv", .scale_w = {1.0F, 2.0F}, .wts_type = "INT8"}};
  const auto scales = support::error_of([&] { (void)flow::apply_nuq(other, graph); });
  REQUIRE(scales.has_value());
  CHECK(scales->where().field == "scale_w");
}
