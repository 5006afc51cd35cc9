// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/quantize/ulq_scale.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

/// The layout of the output channels; per tensor, too, since the gradient is divided by the size of a channel.
amct::ChannelLayout layout_of(const Json& test, std::size_t size) {
  const auto shape = test.at("weight").at("shape").get<std::vector<std::size_t>>();
  if (!test.at("name").get<std::string>().starts_with("conv_transpose")) return {1, 1, shape[0], size / shape[0]};
  const auto groups = test.at("groups").get<std::size_t>();
  return {groups, shape[0] / groups, shape[1], size / (shape[0] * shape[1])};
}

void compare_ulps(std::vector<std::string>& findings, const std::string& what, const std::vector<float>& got,
                  const std::vector<float>& want) {
  if (got.size() != want.size()) return findings.push_back("number of " + what);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (ulps(got[i], want[i]) > 1) findings.push_back(what + " " + std::to_string(i));
  }
}

/// Float32 sums of AMCT, whose order is free.
void compare_gradient(std::vector<std::string>& findings, const amct::Parameter& got, const std::vector<float>& want) {
  if (got.gradient.size() != want.size()) return findings.push_back("number of gradients");
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double expected = static_cast<double>(want[i]);
    if (std::fabs(static_cast<double>(got.gradient[i]) - expected) > 1e-4 * std::fabs(expected) + 1e-6) {
      findings.push_back("gradient of scale " + std::to_string(i) + " " + std::to_string(got.gradient[i]) +
                         ", expected " + std::to_string(want[i]));
    }
  }
}

/// One forward and backward step of a calibrated quantizer. `want` has the names of the file.
template <amct::BitWidth B>
void compare_step(std::vector<std::string>& findings, amct::UlqScale<B>& quantizer, const std::vector<float>& weight,
                  const Json& want) {
  const auto upstream = floats(want.at("grad_output").at("data"));
  std::vector<float> output(weight.size());
  std::vector<float> gradient(weight.size());
  for (const auto& parameter : quantizer.parameters()) std::ranges::fill(parameter.gradient, 0.0F);
  if (!quantizer.forward(weight, output) || !quantizer.backward(weight, upstream, gradient)) {
    return findings.push_back("was refused");
  }
  const amct::Parameter scale = quantizer.parameters().at(0);
  compare_ulps(findings, "output", output, floats(want.at("output").at("data")));
  compare_ulps(findings, "scale", {scale.value.begin(), scale.value.end()},
               floats(want.at(want.contains("scale_out") ? "scale_out" : "scale").at("data")));
  compare_gradient(findings, scale, floats(want.at("grad_scale").at("data")));
  const Json& of_weight = want.value("grad_weight", want.value("grad_input", Json()));
  if (gradient != (of_weight.is_object() ? floats(of_weight.at("data")) : upstream)) {
    findings.push_back("gradient of the weight");
  }
}

/// The steps of a case, or the case itself as its only step.
template <amct::BitWidth B>
std::vector<std::string> compare(const Json& test, const amct::UlqScaleOptions& options) {
  const auto weight = floats(test.at("weight").at("data"));
  amct::UlqScale<B> quantizer(options);
  if (!quantizer.calibrate(weight, layout_of(test, weight.size()))) return {"was refused"};
  std::vector<std::string> findings;
  if (!test.contains("steps")) {
    compare_step(findings, quantizer, weight, test);
    return findings;
  }
  for (const auto& step : test.at("steps")) {
    const auto scale_in = floats(step.at("scale_in").at("data"));  // NaN before the first step
    if (!std::isnan(scale_in.at(0))) std::ranges::copy(scale_in, quantizer.parameters().at(0).value.begin());
    compare_step(findings, quantizer, weight, step);
  }
  return findings;
}

void judge(Report& report, const std::string& kind, const Json& test) {
  const std::string where = kind + " " + test.at("name").get<std::string>();
  amct::UlqScaleOptions options{.reciprocal = test.value("s_rec_flag", false)};
  if (test.contains("group")) {
    options.sharing = amct::ScaleSharing::group;
    options.groups = test.at("group").get<std::size_t>();
  } else if (!test.at("channel_wise").get<bool>()) {
    options.sharing = amct::ScaleSharing::tensor;
  }
  switch (test.value("num_bits", 8)) {
    case 4: return report.judge(where, compare<amct::Int<4>>(test, options));
    case 6: return report.judge(where, compare<amct::Int<6>>(test, options));
    case 7: return report.judge(where, compare<amct::Int<7>>(test, options));
    case 8: return report.judge(where, compare<amct::Int<8>>(test, options));
    default: return report.fail(where, "num_bits is not a weight width of AMCT");
  }
}

void run_ulq_scale_weight(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    if (test.at("ok").get<bool>()) {
      judge(report, "ulq_scale_weight", test);
    } else {
      report.skip("ulq_scale_weight " + test.at("name").get<std::string>(),
                  "AMCT's backward fails for this layout; layouts_with_corrected_backward has the right values");
    }
  }
  const Json meta = data.value("meta", Json::object());
  for (const auto& test : meta.value("group_wise", Json::array())) judge(report, "ulq_scale_weight group_wise", test);
  for (const auto& test : meta.value("layouts_with_corrected_backward", Json::array())) {
    judge(report, "ulq_scale_weight corrected", test);
  }
}

const Registered kRegistered{"ulq_scale_weight", run_ulq_scale_weight};

}  // namespace

}  // namespace golden
