// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/quantize/arq_retrain.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

amct::ChannelLayout layout_of(const Json& test, std::size_t size) {
  if (!test.at("channel_wise").get<bool>()) return amct::ChannelLayout::per_tensor(size);
  const auto shape = test.at("weight").at("shape").get<std::vector<std::size_t>>();
  const bool transposed = test.at("module_type").get<std::string>().starts_with("ConvTranspose");
  if (!transposed) return {1, 1, shape[0], size / shape[0]};
  const auto groups = test.at("groups").get<std::size_t>();
  return {groups, shape[0] / groups, shape[1], size / (shape[0] * shape[1])};
}

template <amct::BitWidth B>
std::vector<std::string> compare(const Json& test) {
  const auto weight = floats(test.at("weight").at("data"));
  const auto upstream = floats(test.at("grad_output").at("data"));
  amct::ArqRetrain<B> arq;
  std::vector<float> output(weight.size());
  std::vector<float> gradient(weight.size());
  if (!arq.calibrate(weight, layout_of(test, weight.size())) || !arq.forward(weight, output) ||
      !arq.backward(weight, upstream, gradient)) {
    return {"was refused"};
  }
  std::vector<std::string> findings;
  const auto scales = floats(test.at("scale").at("data"));
  const auto offsets = floats(test.at("offset").at("data"));
  const auto params = arq.params();
  if (params.channels.size() != scales.size()) return {"number of scales"};
  for (std::size_t c = 0; c < scales.size(); ++c) {
    if (params.channels[c].scale != scales[c]) findings.push_back("scale of channel " + std::to_string(c));
    if (static_cast<float>(params.channels[c].offset) != offsets[c]) {
      findings.push_back("offset of channel " + std::to_string(c));
    }
  }
  if (output != floats(test.at("output").at("data"))) findings.push_back("output");
  if (gradient != floats(test.at("grad_weight").at("data"))) findings.push_back("gradient of the weight");
  return findings;
}

void run_arq_retrain(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    const std::string where = "arq_retrain " + test.at("name").get<std::string>();
    switch (test.at("num_bits").get<int>()) {
      case 4: report.judge(where, compare<amct::Int<4>>(test)); break;
      case 6: report.judge(where, compare<amct::Int<6>>(test)); break;
      case 7: report.judge(where, compare<amct::Int<7>>(test)); break;
      case 8: report.judge(where, compare<amct::Int<8>>(test)); break;
      default: report.fail(where, "num_bits is not a weight width of AMCT");
    }
  }
}

const Registered kRegistered{"arq_retrain", run_arq_retrain};

}  // namespace

}  // namespace golden
