// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/quantize/ulq.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

float single(const Json& value) { return static_cast<float>(number(value)); }

/// Float32 sums of AMCT, whose order is free.
bool is_near(double got, double want) { return std::fabs(got - want) <= 1e-4 * std::fabs(want) + 1e-5; }

template <amct::BitWidth B>
amct::Ulq<B> quantizer_of(const Json& test) {
  const bool asymmetric = test.at("asymmetric").get<bool>();
  amct::Ulq<B> ulq({.fixed_min = test.at("fixed_min").get<bool>(),
                    .symmetry = asymmetric ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric});
  auto state = ulq.state();
  state.clips = {single(test.at("clip_max")), single(test.at("clip_min"))};
  state.previous = {single(test.at("clip_max_pre")), single(test.at("clip_min_pre"))};
  state.known = state.ready = true;
  ulq.restore(state);
  return ulq;
}

template <amct::BitWidth B>
std::vector<std::string> compare(const Json& test) {
  amct::Ulq<B> ulq = quantizer_of<B>(test);
  const auto x = floats(test.at("input").at("data"));
  std::vector<float> y(x.size());
  const amct::Status status = ulq.forward(x, y);
  if (status.ok() != test.at("ok").get<bool>()) return {status.ok() ? "was not refused" : "was refused"};
  if (!status.ok()) return {};

  const auto upstream = floats(test.at("grad_output").at("data"));
  std::vector<float> gradient(x.size());
  if (!ulq.backward(x, upstream, gradient)) return {"backward was refused"};
  std::vector<std::string> findings;
  const auto want = floats(test.at("output").at("data"));
  if (want.size() != y.size()) return {"number of outputs"};
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (ulps(y[i], want[i]) > 1) findings.push_back("output " + std::to_string(i));
  }
  if (gradient != floats(test.at("grad_input").at("data"))) findings.push_back("gradient of the input");
  const amct::Affine affine = ulq.params().channels.at(0);
  if (ulps(affine.scale, single(test.at("scale"))) > 1) findings.push_back("scale");
  if (static_cast<double>(affine.offset) != number(test.at("offset"))) findings.push_back("offset");
  const auto parameters = ulq.parameters();
  if (parameters[0].value[0] != single(test.at("clip_max_out"))) findings.push_back("clip_max");
  if (parameters[1].value[0] != single(test.at("clip_min_out"))) findings.push_back("clip_min");
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const auto got = static_cast<double>(parameters[i].gradient[0]);
    const double expected = number(test.at(i == 0 ? "grad_clip_max" : "grad_clip_min"));
    if (!is_near(got, expected)) {
      findings.push_back(std::string("gradient of ") + parameters[i].name + " " + std::to_string(got) + ", expected " +
                         std::to_string(expected));
    }
  }
  return findings;
}

void run_ulq_activation(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    const std::string where = "ulq_activation " + test.at("name").get<std::string>();
    switch (test.at("num_bits").get<int>()) {
      case 4: report.judge(where, compare<amct::Int<4>>(test)); break;
      case 8: report.judge(where, compare<amct::Int<8>>(test)); break;
      case 16: report.judge(where, compare<amct::Int<16>>(test)); break;
      default: report.fail(where, "num_bits is not an activation width of AMCT");
    }
  }
}

const Registered kRegistered{"ulq_activation", run_ulq_activation};

}  // namespace

}  // namespace golden
