// SPDX-License-Identifier: Apache-2.0
#include <amct/record/diff.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using amct::LayerRecord;
using amct::RecordDifference;

namespace {

std::vector<RecordDifference> differences(const LayerRecord& left, const LayerRecord& right,
                                          std::uint64_t tolerance = 0) {
  std::vector<RecordDifference> found;
  amct::compare_records(left, right, tolerance, [&](RecordDifference d) { found.push_back(std::move(d)); });
  return found;
}
LayerRecord conv1() {
  return {.name = "conv1", .scale_d = 0.5F, .offset_d = -3, .scale_w = {0.1F, 0.2F}, .offset_w = {0, 0}};
}
float next(float value) { return std::nextafter(value, 2.0F * value); }

}  // namespace

TEST_CASE("distance in float32 values") {
  CHECK(amct::ulp_distance(1.0F, 1.0F) == 0);
  CHECK(amct::ulp_distance(1.0F, next(1.0F)) == 1);
  CHECK(amct::ulp_distance(next(1.0F), 1.0F) == 1);
  CHECK(amct::ulp_distance(0.0F, -0.0F) == 0);
  const float denormal = std::numeric_limits<float>::denorm_min();
  CHECK(amct::ulp_distance(denormal, -denormal) == 2);
  CHECK(amct::ulp_distance(std::nanf(""), std::nanf("")) == 0);
  CHECK(amct::ulp_distance(std::nanf(""), 1.0F) > 1000000000000U);
}

TEST_CASE("equal layers do not differ") { CHECK(differences(conv1(), conv1()).empty()); }

TEST_CASE("floats within the tolerance are equal, other values must be equal") {
  auto other = conv1();
  other.scale_d = next(0.5F);
  other.offset_d = -4;
  CHECK(differences(conv1(), other) == std::vector<RecordDifference>{{"conv1", "scale_d", "0.5", "0.50000006", 1, 1},
                                                                     {"conv1", "offset_d", "-3", "-4"}});
  CHECK(differences(conv1(), other, 1).size() == 1);
}

TEST_CASE("of a repeated field the element that differs most, with the number of all") {
  auto other = conv1();
  other.scale_w[0] = next(0.1F);
  other.scale_w[1] = next(next(0.2F));
  const auto found = differences(conv1(), other);
  REQUIRE(found.size() == 1);
  CHECK(found[0].field == "scale_w[1]");
  CHECK(found[0].count == 2);
  CHECK(found[0].ulp == 2);
  other = conv1();
  other.scale_w = {0.1F};
  CHECK(differences(conv1(), other) == std::vector<RecordDifference>{{"conv1", "scale_w", "0.1, 0.2", "0.1"}});
}

TEST_CASE("fields that one lacks") {
  auto other = conv1();
  other.act_type = "INT8";
  other.kv_cache = amct::KvCacheRecord{{1.0F}, {0}};
  other.record_d = {{.scale_d = 1.0F}};
  other.unknown = "x: 1";
  CHECK(differences(conv1(), other) == std::vector<RecordDifference>{{"conv1", "act_type", "absent", "\"INT8\""},
                                                                     {"conv1", "record_d", "0 inputs", "1 inputs"},
                                                                     {"conv1", "kv_cache_value", "absent", "present"},
                                                                     {"conv1", "unknown fields", "\"\"", "\"x: 1\""}});
  auto third = other;
  third.record_d[0].num_bits_d = 4;
  third.kv_cache->offset[0] = 2;
  CHECK(differences(other, third) == std::vector<RecordDifference>{{"conv1", "record_d[0].num_bits_d", "absent", "4"},
                                                                   {"conv1", "kv_cache_value.offset", "0", "2"}});
}

TEST_CASE("files are matched by name in any order") {
  std::vector<RecordDifference> found;
  amct::RecordDiff diff(0, [&](RecordDifference d) { found.push_back(std::move(d)); });
  auto changed = conv1();
  changed.offset_d = 0;
  diff.add_left(conv1());
  diff.add_right(LayerRecord{.name = "b"});
  diff.add_left(LayerRecord{.name = "a"});
  diff.add_right(changed);
  diff.add_left(LayerRecord{.name = "b"});
  diff.finish();
  CHECK(found == std::vector<RecordDifference>{{"conv1", "offset_d", "-3", "0"}, {"a", "", "present", "absent"}});
  CHECK(diff.layers_compared() == 2);
  CHECK(diff.differences() == 2);
}

TEST_CASE("prune records are compared by their order") {
  std::vector<RecordDifference> found;
  amct::RecordDiff diff(0, [&](RecordDifference d) { found.push_back(std::move(d)); });
  const amct::PruneRecord a{.producers = {{.name = "a"}}};
  const amct::PruneRecord b{.producers = {{.name = "b"}}};
  diff.add_left(a);
  diff.add_left(a);
  diff.add_right(a);
  diff.add_right(b);
  diff.add_right(b);
  diff.finish();
  REQUIRE(found.size() == 2);
  CHECK(found[0].field == "prune_record[1]");
  CHECK(found[1].left == "2 records");
  CHECK(found[1].right == "3 records");
}
