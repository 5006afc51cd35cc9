// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/kv_cache.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/graph_builder.hpp"
#include "support/ops.hpp"

using namespace amct;
using support::error_of;
using support::floats;

namespace {

/// k is a MatMul with a bias in an Add, v a Gemm.
graph::Graph cache_net() {
  return support::GraphBuilder()
      .input("x", {1, 2, 2})
      .initializer("k.w", floats({2, 2}, {1, 0, 0, 1}))
      .initializer("k.b", floats({2}, {10, 20}))
      .initializer("rows", support::int64s({2, 2}))
      .initializer("v.w", floats({2, 2}, {2, 0, 0, 2}))
      .node("MatMul", "k", {"x", "k.w"}, "k0")
      .node("Add", "k.add", {"k.b", "k0"}, "k1")
      .node("Reshape", "reshape", {"x", "rows"}, "xr")
      .node("Gemm", "v", {"xr", "v.w"}, "v0")
      .output("k1")
      .output("v0")
      .build();
}

const std::vector<Tensor> kBatch{floats({1, 2, 2}, {-1, 2, 1, -4})};

KvCacheLayer layer(const std::string& name, bool per_channel, bool asymmetric = true) {
  return {.name = name,
          .data = {.asymmetric = asymmetric, .search_start = 1.0, .search_end = 1.1, .search_step = 0.1},
          .per_channel = per_channel};
}

}  // namespace

TEST_CASE("The outputs of linear layers are calibrated with their bias, by tensor or by channel") {
  flow::KvCacheCalibration calibration(cache_net(), {.layers = {layer("k", true), layer("v", false, false)}},
                                       support::ops());
  const auto outputs = calibration.observe(kBatch);
  CHECK(support::values(outputs[0]) == std::vector<float>{9, 22, 11, 16});
  CHECK(calibration.complete());
  const Record record = calibration.finish();
  REQUIRE(record.size() == 2);
  CHECK(record[0].name == "k");
  CHECK_FALSE(record[0].has_value);
  REQUIRE(record[0].kv_cache.has_value());
  CHECK(record[0].kv_cache->scale == std::vector<float>{11.0F / 255.0F, 22.0F / 255.0F});
  CHECK(record[0].kv_cache->offset == std::vector<std::int32_t>{-128, -128});
  CHECK(record[1].kv_cache->scale == std::vector<float>{8.0F / 128.0F});
  CHECK(record[1].kv_cache->offset == std::vector<std::int32_t>{0});
}

TEST_CASE("K22: the record is refused before batch_num batches; later ones are left out") {
  flow::KvCacheCalibration calibration(cache_net(), {.batch_num = 2, .layers = {layer("v", false)}}, support::ops());
  (void)calibration.observe(kBatch);
  const auto early = error_of([&] { (void)calibration.finish(); });
  REQUIRE(early.has_value());
  CHECK(early->code() == ErrorCode::data_too_few);
  CHECK(support::contains(early->what(), "found 1 batches, expected 2"));
  (void)calibration.observe(kBatch);
  const Record record = calibration.finish();
  (void)calibration.observe({floats({1, 2, 2}, {100, 100, 100, 100})});
  CHECK(calibration.finish() == record);
}

TEST_CASE("HFMG calibrates too, and what cannot be calibrated is refused with the layer's name") {
  KvCacheLayer hfmg = layer("v", true);
  hfmg.data.algorithm = ActivationAlgorithm::hfmg;
  flow::KvCacheCalibration calibration(cache_net(), {.layers = {hfmg}}, support::ops());
  (void)calibration.observe(kBatch);
  CHECK(calibration.finish()[0].kv_cache->scale.size() == 2);

  const auto code_of = [](const auto& call) { return error_of(call)->code(); };
  CHECK(code_of([] { flow::KvCacheCalibration(cache_net(), {.layers = {layer("q", true)}}, support::ops()); }) ==
        ErrorCode::config_layer);
  flow::KvCacheObserver observer(layer("v", true), 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(code_of([&] { observer.observe(floats({1, 2}, {0, nan})); }) == ErrorCode::data_not_finite);
  observer.observe(floats({2, 2}, {1, 2, 3, 4}));
  CHECK(code_of([&] { observer.observe(floats({1, 3}, {1, 2, 3})); }) == ErrorCode::model_shape);
  CHECK(code_of([&] { observer.observe(support::int64s({1, 2})); }) == ErrorCode::model_unsupported);
}
