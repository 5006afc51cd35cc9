// SPDX-License-Identifier: Apache-2.0
#include <amct/record/stats.hpp>

#include <cmath>

#include <doctest/doctest.h>

TEST_CASE("minimum, median and maximum of scales") {
  amct::ScaleSummary summary;
  for (const float scale : {0.3F, 0.001F, 0.2F, 5.0F, 0.1F}) summary.add(scale);
  CHECK(summary.count() == 5);
  CHECK(summary.least() == 0.001F);
  CHECK(summary.greatest() == 5.0F);
  CHECK(summary.median() <= 0.2F);
  CHECK(summary.median() == doctest::Approx(0.2).epsilon(1.0 / 4096));
}

TEST_CASE("scales that nobody can use are only counted") {
  amct::ScaleSummary summary;
  for (const float scale : {0.0F, -1.0F, std::nanf(""), INFINITY}) summary.add(scale);
  CHECK(summary.count() == 0);
  CHECK(summary.unusable() == 4);
  summary.add(2.0F);
  CHECK(summary.median() == 2.0F);
}

TEST_CASE("entries are counted by what they hold") {
  amct::RecordStats stats(amct::rules_of(amct::Flavour::pytorch));
  stats.add(amct::LayerRecord{.name = "conv",
                              .scale_d = 0.5F,
                              .offset_d = 0,
                              .scale_w = {1.0F, 0.5F},
                              .offset_w = {0, 0},
                              .tensor_balance_factor = {1.0F},
                              .skip_fusion = true,
                              .act_type = "INT16",
                              .wts_type = "INT4"});
  stats.add(amct::LayerRecord{.name = "add", .record_d = {{.scale_d = 0.25F, .offset_d = 3, .index = 0}}});
  stats.add(amct::LayerRecord{.name = "float", .act_type = "INT8"});
  stats.add(amct::LayerRecord{.name = "k", .has_value = false, .kv_cache = amct::KvCacheRecord{{1.0F}, {0}}});
  stats.add(amct::PruneRecord{.producers = {{.name = "a"}}, .consumers = {{.name = "b"}, {.name = "c"}}});
  CHECK(stats.quantized_layers == 2);
  CHECK(stats.float_layers == 1);
  CHECK(stats.kv_cache_layers == 1);
  CHECK(stats.data_only_layers == 1);
  CHECK(stats.channel_wise_layers == 1);
  CHECK(stats.skip_fusion_layers == 1);
  CHECK(stats.balanced_layers == 1);
  CHECK(stats.symmetric_inputs == 1);
  CHECK(stats.data_bits == std::map<int, std::size_t>{{8, 1}, {16, 1}});
  CHECK(stats.weight_bit_layers == std::map<int, std::size_t>{{4, 1}});
  CHECK(stats.scale_d.count() == 2);
  CHECK(stats.scale_w.greatest() == 1.0F);
  REQUIRE(stats.dead_channel_layers.size() == 1);
  CHECK(stats.dead_channel_layers[0].layer == "conv");
  CHECK(stats.dead_channel_layers[0].dead == 1);
  CHECK(stats.dead_channel_layers[0].channels == 2);
  CHECK(stats.prune_records == 1);
  CHECK(stats.consumers == 2);
  CHECK(stats.non_uniform_layers == 0);
  CHECK(stats.recurrent_layers == 0);
  CHECK(stats.selective_prunes == 0);
}

TEST_CASE("of layers with dead channels only the first thousand are listed") {
  amct::RecordStats stats(amct::rules_of(amct::Flavour::pytorch));
  for (int i = 0; i < 1500; ++i) stats.add(amct::LayerRecord{.name = "a", .scale_w = {1.0F, 1.0F}});
  CHECK(stats.layers_with_dead_channels == 1500);
  CHECK(stats.dead_channel_layers.size() == amct::RecordStats::kMostListed);
}
