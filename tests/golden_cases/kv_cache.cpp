// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/observe/hfmg.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/quantize/kv_cache.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

amct::Symmetry symmetry_of(const Json& params, bool with_offset) {
  return params.value("with_offset", with_offset) ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric;
}

amct::IfmrOptions ifmr_options(const Json& test) {
  const Json& params = test.at("params");
  amct::IfmrOptions options{.symmetry = symmetry_of(params, false)};
  options.batch_num = test.at("batch_num").get<std::size_t>();
  options.max_percentile = params.value("max_percentile", options.max_percentile);
  options.min_percentile = params.value("min_percentile", options.min_percentile);
  options.search_start = params.value("search_start", options.search_start);
  options.search_end = params.value("search_end", options.search_end);
  options.search_step = params.value("search_step", options.search_step);
  return options;
}

amct::HfmgOptions hfmg_options(const Json& test) {
  const Json& params = test.at("params");
  amct::HfmgOptions options{.symmetry = symmetry_of(params, true)};
  options.batch_num = test.at("batch_num").get<std::size_t>();
  options.num_of_bins = params.value("nbins", options.num_of_bins);
  return options;
}

/// Scales of IFMR within 4 ulp and of HFMG within 1e-6, as those of the observers alone.
bool close(float got, float want, bool ifmr) {
  return ifmr ? ulps(got, want) <= 4 : std::fabs(got - want) <= 1e-6F * want;
}

template <class Quantizer>
Findings compare(const Json& test, typename Quantizer::Options options, bool ifmr) {
  if (test.at("granularity") == "per_channel") {
    options.granularity = amct::KvGranularity::per_channel;
    options.channels = test.at("layer_output_batches")[0].at("shape").back().template get<std::size_t>();
  }
  Quantizer quantizer(options);
  for (const auto& batch : test.at("layer_output_batches")) {
    if (!quantizer.calibrate(floats(batch.at("data"))).ok()) return {"a batch was refused"};
  }
  if (!quantizer.ready()) return {"the quantizer is not ready"};
  const auto affines = quantizer.params().channels;
  const auto scales = floats(test.at("scale"));
  const auto offsets = test.at("offset").get<std::vector<std::int32_t>>();
  if (affines.size() != scales.size()) return {"number of scales"};
  Findings findings;
  for (std::size_t c = 0; c < scales.size(); ++c) {
    if (!close(affines[c].scale, scales[c], ifmr))
      findings.push_back("scale " + std::to_string(affines[c].scale) + ", expected " + std::to_string(scales[c]));
    if (affines[c].offset != offsets[c])
      findings.push_back("offset " + std::to_string(affines[c].offset) + ", expected " + std::to_string(offsets[c]));
  }
  return findings;
}

void run_kv_cache(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    const std::string where = "kv_cache " + test.at("name").get<std::string>();
    if (test.at("algorithm") == "ifmr") {
      report.judge(where, compare<amct::KvCache<amct::Ifmr>>(test, {.observer = ifmr_options(test)}, true));
    } else {
      report.judge(where, compare<amct::KvCache<amct::Hfmg>>(test, {.observer = hfmg_options(test)}, false));
    }
  }
}

const Registered kRegistered{"kv_cache", run_kv_cache};

}  // namespace

}  // namespace golden
