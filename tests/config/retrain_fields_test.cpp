// SPDX-License-Identifier: Apache-2.0
#include <amct/config/retrain_fields.hpp>

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

using namespace amct;
using support::contains;

namespace {

const FlavourRules& kPytorch = rules_of(Flavour::pytorch);
const FlavourRules& kHotwheels = rules_of(Flavour::hotwheels_dynamic);

template <class Value>
struct Outcome {
  std::optional<Value> value{};
  std::string findings{};
};

Outcome<RetrainData> easy_data(const std::string& text, const FlavourRules& rules = kPytorch) {
  Diagnostics out;
  const auto stated = read_easy_data(support::config(text), {.file = "f"}, "data", rules, out);
  return {stated ? std::optional(stated->value) : std::nullopt, support::text_of(out)};
}
Outcome<StatedWeights> easy_weights(const std::string& text, const FlavourRules& rules = kPytorch) {
  Diagnostics out;
  const auto stated =
      read_easy_weights(support::config(text), {.file = "f"}, "weights", rules, kRetrainWeightAlgorithms, out);
  return {stated ? std::optional(stated->value) : std::nullopt, support::text_of(out)};
}
Outcome<RetrainData> full_data(const std::string& text, const FlavourRules& rules = kPytorch) {
  Diagnostics out;
  const auto data = read_full_data(support::config(text), {.file = "f", .layer = "conv1"}, "data", rules, out);
  return {data, support::text_of(out)};
}
Outcome<StatedWeights> full_weights(const std::string& text, const FlavourRules& rules = kPytorch) {
  Diagnostics out;
  const auto weights = read_full_weights(support::config(text), {.file = "f", .layer = "conv1"}, "weights", rules,
                                         kRetrainWeightAlgorithms, out);
  return {weights, support::text_of(out)};
}
std::string clips(const std::string& high, const std::string& low) {
  return easy_data(R"({"ulq_quantize": {"clip_max_min": {"clip_max": )" + high + R"(, "clip_min": )" + low + "}}}")
      .findings;
}

}  // namespace

TEST_CASE("Data settings of easy configs are read with their defaults") {
  const auto plain = easy_data(R"({"ulq_quantize": {}})");
  CHECK(plain.findings.empty());
  CHECK(*plain.value == RetrainData{});
  const auto full = easy_data(R"({"ulq_quantize": {"clip_max_min": {"clip_max": 3, "clip_min": -0.5},
                                 "fixed_min": true, "dst_type": "INT16"}})");
  CHECK(full.findings.empty());
  CHECK(*full.value == RetrainData{.bits = 16, .clip_max = 3.0, .clip_min = -0.5, .fixed_min = true});
  CHECK_FALSE(easy_data("{}").value.has_value());
  CHECK(easy_data("{}").findings.empty());
}

TEST_CASE("The guide's two names of ULQ mean the same") {
  const auto alias = easy_data(R"({"ulq_retrain": {"num_bits": 12}})", kHotwheels);
  CHECK(alias.findings.empty());
  CHECK(*alias.value == *easy_data(R"({"ulq_quantize": {"num_bits": 12}})", kHotwheels).value);
  CHECK(alias.value->bits == 12);
}

TEST_CASE("Of several algorithms the last in the file counts") {
  const auto data = easy_data("{\"luq_retrain\": {},\n \"ulq_retrain\": {}}", kHotwheels);
  CHECK(data.value->algorithm == RetrainDataAlgorithm::ulq);
  const auto swapped = easy_data("{\"ulq_retrain\": {},\n \"luq_retrain\": {}}", kHotwheels);
  CHECK(swapped.value->algorithm == RetrainDataAlgorithm::luq);
}

TEST_CASE("Clips are numbers on both sides of 0, both or none") {
  CHECK(clips("3", "-3").empty());
  CHECK(contains(clips("0", "-3"), "f:1:48 data.ulq_quantize.clip_max_min.clip_max: got 0, expected a number above 0"));
  CHECK(contains(clips("-1", "-3"), "clip_max: got -1"));
  CHECK(contains(clips("3", "0"), "clip_min: got 0, expected a number below 0"));
  CHECK(contains(clips("3", "1"), "clip_min: got 1"));
  CHECK(contains(clips("3", "true"), "clip_min: got true, expected a number"));
  const auto lonely = easy_data(R"({"ulq_quantize": {"clip_max_min": {"clip_max": 3}}})");
  CHECK(contains(lonely.findings, "clip_min: is missing: clip_max and clip_min are used together"));
  CHECK_FALSE(lonely.value->clip_max.has_value());
}

TEST_CASE("Types and bits are checked as the flavour has them") {
  CHECK(contains(easy_data(R"({"ulq_quantize": {"dst_type": "INT2"}})").findings, "expected INT4, INT8 or INT16"));
  CHECK(contains(easy_data(R"({"ulq_quantize": {"num_bits": 8}})").findings, "num_bits: is not a known parameter"));
  CHECK(
      contains(easy_data(R"({"luq_retrain": {"dst_type": "INT8"}})", kHotwheels).findings, "dst_type: is not a known"));
  for (const char* bits : {"8", "12", "16"}) {
    CHECK(easy_data(std::string(R"({"luq_retrain": {"num_bits": )") + bits + "}}", kHotwheels).findings.empty());
  }
  for (const char* bits : {"4", "7", "17"}) {
    CHECK(contains(easy_data(std::string(R"({"luq_retrain": {"num_bits": )") + bits + "}}", kHotwheels).findings,
                   std::string("got ") + bits + ", expected 8..16"));
  }
  CHECK(
      contains(easy_data(R"({"luq_retrain": {}})").findings, "luq_retrain: is not known here, expected ulq_quantize"));
  CHECK(contains(easy_data(R"({"foo": {}})").findings, "foo: is not a known parameter"));
}

TEST_CASE("Fixed factors are complete, and have 4 to 16 bits") {
  const auto fixed = easy_data(
      R"({"fixed_quant_param_retrain": {"scale": 0.0118393, "zero_point": -128, "num_bits": 5}})", kHotwheels);
  CHECK(fixed.findings.empty());
  CHECK(*fixed.value ==
        RetrainData{.algorithm = RetrainDataAlgorithm::fixed, .bits = 5, .scale = 0.0118393, .zero_point = -128.0});
  const auto bad = easy_data(R"({"fixed_quant_param_retrain": {"scale": 0, "num_bits": 3}})", kHotwheels).findings;
  CHECK(contains(bad, "scale: got 0, expected a number above 0"));
  CHECK(contains(bad, "zero_point: is missing"));
  CHECK(contains(bad, "num_bits: got 3, expected 4..16"));
}

TEST_CASE("Weight settings of easy configs are read with their defaults") {
  const auto plain = easy_weights(R"({"arq_retrain": {}})");
  CHECK(*plain.value == StatedWeights{});
  const auto ulq = easy_weights(R"({"ulq_retrain": {"dst_type": "INT4", "channel_wise": true}})");
  CHECK(ulq.findings.empty());
  CHECK(*ulq.value == StatedWeights{{.algorithm = RetrainWeightAlgorithm::ulq, .bits = 4}, true});
  const auto lnq = easy_weights(R"({"lnq_retrain": {}})", kHotwheels);
  CHECK(lnq.findings.empty());
  CHECK(*lnq.value == StatedWeights{{.algorithm = RetrainWeightAlgorithm::lnq, .bits = 4}, {}});
  CHECK(contains(easy_weights(R"({"lnq_retrain": {}})").findings, "expected arq_retrain or ulq_retrain"));
  CHECK(contains(easy_weights(R"({"ulq_retrain": {}})", kHotwheels).findings, "expected arq_retrain or lnq_retrain"));
}

TEST_CASE("LNQ warns that channel_wise has no effect") {
  const auto lnq = easy_weights(R"({"lnq_retrain": {"channel_wise": true}})", kHotwheels);
  CHECK(contains(lnq.findings,
                 "warning: amct: [config.range] f:1:34 weights.lnq_retrain.channel_wise: true has no effect"));
  CHECK(lnq.value->channel_wise == false);
  CHECK(easy_weights(R"({"lnq_retrain": {"channel_wise": false}})", kHotwheels).findings.empty());
}

TEST_CASE("The ranges of LNQ are checked") {
  const auto lnq = [](const std::string& member) {
    return easy_weights(R"({"lnq_retrain": {)" + member + "}}", kHotwheels).findings;
  };
  CHECK(
      lnq(R"("cluster_freq": 1, "max_iteration": 500, "min_distance": 1e-8, "clip_max": 0.1, "num_bits": 4)").empty());
  CHECK(lnq(R"("max_iteration": 2000, "min_distance": 0.01)").empty());
  CHECK(contains(lnq(R"("cluster_freq": 0)"), "cluster_freq: got 0, expected at least 1"));
  CHECK(contains(lnq(R"("max_iteration": 499)"), "expected 500..2000"));
  CHECK(contains(lnq(R"("max_iteration": 2001)"), "expected 500..2000"));
  CHECK(contains(lnq(R"("min_distance": 0.011)"), "min_distance: got 0.011"));
  CHECK(contains(lnq(R"("min_distance": 1e-9)"), "min_distance: got 1e-09"));
  CHECK(contains(lnq(R"("clip_max": 0)"), "clip_max: got 0"));
  CHECK(contains(lnq(R"("num_bits": 8)"), "num_bits: got 8, expected 4 for lnq_retrain"));
}

TEST_CASE("Full configs write AMCT's keys in AMCT's order") {
  const RetrainForm pytorch = retrain_form(kPytorch);
  const RetrainForm hotwheels = retrain_form(kHotwheels);
  const RetrainData data{.clip_max = 3.0, .clip_min = -0.5, .fixed_min = true};
  CHECK(support::compact(to_full_data(data, pytorch)) ==
        R"({"algo":"ulq_quantize","clip_max":3.0,"clip_min":-0.5,"fixed_min":true,"dst_type":"INT8"})");
  CHECK(support::compact(to_full_data({.algorithm = RetrainDataAlgorithm::luq, .bits = 12}, hotwheels)) ==
        R"({"algo":"luq_quantize","num_bits":12})");
  const auto weights = [](RetrainWeightAlgorithm algorithm, int bits, const RetrainForm& form) {
    return support::compact(to_full_weights({.algorithm = algorithm, .bits = bits}, form, kRetrainWeightAlgorithms));
  };
  CHECK(weights(RetrainWeightAlgorithm::arq, 8, pytorch) ==
        R"({"algo":"arq_retrain","channel_wise":false,"dst_type":"INT8"})");
  CHECK(weights(RetrainWeightAlgorithm::ulq, 4, pytorch) ==
        R"({"algo":"ulq_retrain","dst_type":"INT4","channel_wise":false})");
  CHECK(weights(RetrainWeightAlgorithm::arq, 8, hotwheels) ==
        R"({"algo":"arq_retrain","num_bits":8,"channel_wise":false})");
  CHECK(weights(RetrainWeightAlgorithm::lnq, 4, hotwheels) ==
        R"({"algo":"lnq_retrain","num_bits":4,"clip_max":3.0,"cluster_freq":400,"max_iteration":1000,)"
        R"("min_distance":0.0001,"channel_wise":false})");
}

TEST_CASE("Full settings come back as they were written") {
  for (const RetrainData& data :
       {RetrainData{.algorithm = RetrainDataAlgorithm::fixed, .bits = 16, .scale = 0.5, .zero_point = -3.0},
        RetrainData{.algorithm = RetrainDataAlgorithm::luq, .bits = 9},
        RetrainData{.clip_max = 1.5, .clip_min = -2.5, .fixed_min = false}}) {
    const auto back = full_data(support::compact(to_full_data(data, retrain_form(kHotwheels))), kHotwheels);
    CHECK(back.findings.empty());
    CHECK(*back.value == data);
  }
}

TEST_CASE("Full settings need a known algorithm") {
  CHECK(contains(full_data("{}").findings, "f:1:1 layer \"conv1\" data.algo: is missing: ulq_quantize"));
  CHECK(contains(full_data(R"({"algo": "luq_quantize"})").findings, "got \"luq_quantize\", expected ulq_quantize"));
  CHECK(contains(full_data(R"({"algo": 3})").findings, "data.algo: got 3, expected a text"));
  CHECK(contains(full_data(R"({"algo": "ulq_quantize", "x": 1})").findings, "data.x: is not a known parameter"));
  CHECK(contains(full_data("3").findings, "got 3, expected an object"));
  CHECK(contains(full_weights(R"({"algo": "lnq_retrain"})").findings, "expected arq_retrain or ulq_retrain"));
  CHECK_FALSE(full_weights(R"({"algo": "x"})").value.has_value());
}
