// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <amct/observe/kl_weight.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

/// The divergences of the channels stand one behind the other; a channel of zeros has none.
std::vector<std::string> compare(const Json& test) {
  const auto weight = floats(test.at("weight").at("data"));
  const auto scales = floats(test.at("scale").at("data"));
  const Json& offsets = test.at("offset").at("data");
  std::vector<double> divergences;
  std::vector<std::string> findings;
  const std::size_t count = weight.size() / scales.size();
  for (std::size_t c = 0; c < scales.size(); ++c) {
    amct::KlWeight observer;
    if (!observer.observe(std::span(weight).subspan(c * count, count)).ok()) return {"was refused"};
    const amct::KlWeightResult result = observer.search({8});
    if (observer.compute({8}) != result.affine) findings.push_back("compute and search differ");
    if (ulps(result.affine.scale, scales[c]) > 1) {
      findings.push_back("scale " + std::to_string(result.affine.scale) + ", expected " + std::to_string(scales[c]));
    }
    if (result.affine.offset != offsets[c].get<int>()) findings.push_back("offset of channel " + std::to_string(c));
    divergences.insert(divergences.end(), result.divergences.begin(), result.divergences.end());
  }
  const Json& expected = test.at("kl_of_the_20_steps_per_channel");
  if (expected.size() != divergences.size()) return {std::to_string(divergences.size()) + " divergences"};
  for (std::size_t i = 0; i < divergences.size(); ++i) {
    const double want = number(expected[i]);
    if (!(std::fabs(divergences[i] - want) <= 1e-9 * want)) {
      findings.push_back("divergence " + std::to_string(i) + " " + std::to_string(divergences[i]) + ", expected " +
                         std::to_string(want));
    }
  }
  return findings;
}

void run_kl_weight(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("kl_weight " + test.at("name").get<std::string>(), compare(test));
  }
}

const Registered kRegistered{"kl_weight", run_kl_weight};

}  // namespace

}  // namespace golden
