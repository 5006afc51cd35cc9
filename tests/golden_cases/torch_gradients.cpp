// SPDX-License-Identifier: Apache-2.0
// Gradients of torch's autograd, made by tests/torch/gradients.py.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/quantize/luq.hpp>
#include <amct/quantize/torch_fake_quantize.hpp>
#include <amct/quantize/ulq.hpp>
#include <amct/quantize/ulq_scale.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

float single(const Json& value) { return static_cast<float>(number(value)); }

amct::Symmetry symmetry_of(const Json& test) {
  return test.at("symmetric").get<bool>() ? amct::Symmetry::symmetric : amct::Symmetry::asymmetric;
}

void compare_values(Findings& findings, const std::string& what, std::span<const float> got, const Json& values,
                    int tolerance) {
  const auto want = floats(values);
  if (got.size() != want.size() || want.empty()) return findings.push_back("number of " + what);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool same = tolerance == 0 ? got[i] == want[i] : ulps(got[i], want[i]) <= tolerance;
    if (!same) {
      findings.push_back(what + " " + std::to_string(i) + " " + std::to_string(got[i]) + ", expected " +
                         std::to_string(want[i]));
    }
  }
}

/// Sums in float32 on either side, whose order is free.
void compare_gradient(Findings& findings, const amct::Parameter& got, const Json& values) {
  const Json want = values.is_array() ? values : Json::array({values});
  if (got.gradient.size() != want.size()) return findings.push_back(std::string("number of gradients of ") + got.name);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto found = static_cast<double>(got.gradient[i]);
    const double expected = number(want[i]);
    if (!(std::fabs(found - expected) <= 1e-4 * std::fabs(expected) + 1e-5)) {
      findings.push_back(std::string("gradient of ") + got.name + " " + std::to_string(i) + " " +
                         std::to_string(found) + ", expected " + std::to_string(expected));
    }
  }
}

/// One forward and backward step. The gradient of x is upstream itself if the case has none.
template <class Q>
void compare_step(Findings& findings, Q& quantizer, const Json& test) {
  const auto x = floats(test.at("x"));
  const auto upstream = floats(test.at("upstream"));
  std::vector<float> y(x.size());
  std::vector<float> gradient(x.size());
  if (!quantizer.forward(x, y)) return findings.push_back("forward was refused");
  if (!quantizer.backward(x, upstream, gradient)) return findings.push_back("backward was refused");
  compare_values(findings, "output", y, test.at("y"), 1);
  compare_values(findings, "gradient of x", gradient, test.at(test.contains("grad_x") ? "grad_x" : "upstream"), 0);
  for (const amct::Parameter& parameter : quantizer.parameters()) {
    const std::string name = parameter.name;
    compare_gradient(findings, parameter, test.at("grad_" + (name == "scale_reciprocal" ? "scale" : name)));
  }
}

/// Puts the learned numbers of a case in place of the calibrated ones.
bool learn(const amct::Parameter& parameter, const std::vector<float>& values) {
  if (parameter.value.size() != values.size()) return false;
  std::ranges::copy(values, parameter.value.begin());
  return true;
}

template <amct::BitWidth B>
Findings compare_learned_scale(const Json& test) {
  amct::UlqScaleOptions options{.groups = test.at("groups").get<std::size_t>(),
                                .reciprocal = test.at("reciprocal").get<bool>()};
  const auto sharing = test.at("sharing").get<std::string>();
  if (sharing == "tensor") options.sharing = amct::ScaleSharing::tensor;
  if (sharing == "group") options.sharing = amct::ScaleSharing::group;
  const auto shape = test.at("shape").get<std::vector<std::size_t>>();
  amct::UlqScale<B> quantizer(options);
  if (!quantizer.calibrate(floats(test.at("x")), {1, shape.at(0), shape.at(1), shape.at(2)})) return {"was refused"};
  if (!learn(quantizer.parameters().at(0), floats(test.at("scale")))) return {"number of scales"};
  Findings findings;
  compare_step(findings, quantizer, test);
  return findings;
}

template <amct::BitWidth B>
Findings compare_ulq(const Json& test) {
  amct::Ulq<B> quantizer({.clip_max = single(test.at("clip_max")),
                          .clip_min = single(test.at("clip_min")),
                          .fixed_min = test.at("fixed_min").get<bool>()});
  Findings findings;
  compare_step(findings, quantizer, test);
  return findings;
}

template <amct::BitWidth B>
Findings compare_luq(const Json& test) {
  amct::Luq<B> quantizer({.max_value_eps = single(test.at("eps"))});
  const auto x = floats(test.at("x"));
  const auto channels = test.at("channels").get<std::size_t>();
  const amct::Status status =
      channels == 1 ? quantizer.calibrate(x) : quantizer.calibrate(x, {1, 1, channels, x.size() / channels});
  if (!status) return {"was refused"};
  if (!learn(quantizer.parameters().at(0), floats(test.at("max_value")))) return {"number of max_values"};
  Findings findings;
  compare_step(findings, quantizer, test);
  return findings;
}

Findings compare_fake_quantize(const Json& test) {
  amct::TorchFakeQuantize<> quantizer({.observer = amct::TorchObserver::min_max,
                                       .symmetry = symmetry_of(test),
                                       .reduce_range = test.at("reduce_range").get<bool>()});
  const auto calibrated = floats(test.at("calibrated"));
  const auto channels = test.at("channels").get<std::size_t>();
  if (!quantizer.calibrate(calibrated, {1, 1, channels, calibrated.size() / channels})) return {"was refused"};
  Findings findings;
  compare_step(findings, quantizer, test);
  return findings;
}

template <amct::BitWidth B>
Findings compare(const Json& test) {
  const auto kind = test.at("kind").get<std::string>();
  if (kind == "learned_scale") return compare_learned_scale<B>(test);
  if (kind == "ulq") return compare_ulq<B>(test);
  if (kind == "luq") return compare_luq<B>(test);
  if (kind == "fake_quantize" && B::width == 8) return compare_fake_quantize(test);
  return {"unknown kind " + kind};
}

Findings compare_at_width(const Json& test) {
  switch (test.at("bits").get<int>()) {
    case 4: return compare<amct::Int<4>>(test);
    case 8: return compare<amct::Int<8>>(test);
    case 16: return compare<amct::Int<16>>(test);
    default: return {"bits is none of 4, 8 and 16"};
  }
}

void run_torch_gradients(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("torch_gradients " + test.at("kind").get<std::string>() + " " + test.at("name").get<std::string>(),
                 compare_at_width(test));
  }
}

const Registered kRegistered{"torch_gradients", run_torch_gradients};

}  // namespace

}  // namespace golden
