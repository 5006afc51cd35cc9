// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/quantize/dmq.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

struct Values {
  std::vector<float> data;
  amct::ChannelLayout layout;
};

struct Outcome {
  amct::Status status;
  std::vector<float> factors;
};

Outcome balance(const Values& activation, const Values& weight, double strength) {
  std::vector<float> activation_maxima(activation.layout.channels(), 0.0F);
  std::vector<float> weight_maxima(weight.layout.channels(), 0.0F);
  Outcome outcome{{}, std::vector<float>(activation_maxima.size())};
  outcome.status = amct::add_channel_maxima(activation.data, activation.layout, activation_maxima);
  if (outcome.status.ok()) outcome.status = amct::add_channel_maxima(weight.data, weight.layout, weight_maxima);
  if (!outcome.status.ok()) return outcome;
  outcome.status = amct::dmq_factors(activation_maxima, weight_maxima, {strength}, outcome.factors);
  return outcome;
}

/// The last bits of powers differ between math libraries, so factors agree within 1e-5.
Findings compare(const Json& test, const Outcome& outcome, const Json& want) {
  if (!test.at("ok").get<bool>()) return outcome.status.ok() ? Findings{"was not refused"} : Findings{};
  if (!outcome.status.ok()) return {std::string("was refused: ") + amct::describe(outcome.status.code)};
  const auto factors = floats(want);
  if (factors.size() != outcome.factors.size()) return {"number of factors"};
  Findings findings;
  for (std::size_t c = 0; c < factors.size(); ++c) {
    if (!(std::fabs(outcome.factors[c] - factors[c]) <= 1e-5F * factors[c]))
      findings.push_back("factor " + std::to_string(outcome.factors[c]) + ", expected " + std::to_string(factors[c]));
  }
  return findings;
}

Values channels_first(const Json& tensor) {
  Values values{floats(tensor.at("data")), {}};
  const auto channels = tensor.at("shape")[0].get<std::size_t>();
  values.layout = {1, 1, channels, values.data.size() / channels};
  return values;
}

Findings compare_case(const Json& test) {
  const Outcome outcome = balance(channels_first(test.at("act_channel_first")),
                                  channels_first(test.at("wts_channel_first")), number(test.at("migration_strength")));
  return compare(test, outcome, test.at("ok").get<bool>() ? test.at("factor").at("data") : Json());
}

std::size_t rest(const std::vector<std::size_t>& shape, std::size_t first) {
  std::size_t product = 1;
  for (std::size_t i = first; i < shape.size(); ++i) product *= shape[i];
  return product;
}

/// The layouts that the library's documentation gives for each kind of layer.
Findings compare_layout(const Json& test) {
  const auto kind = test.at("layout").get<std::string>();
  const auto groups = test.at("groups").get<std::size_t>();
  const auto x = test.at("input").at("shape").get<std::vector<std::size_t>>();
  const auto w = test.at("weight").at("shape").get<std::vector<std::size_t>>();
  const bool linear = kind.starts_with("Linear");
  Values activation{floats(test.at("input").at("data")), {1, x[0], x[1], rest(x, 2)}};
  if (linear) activation.layout = {1, activation.data.size() / x.back(), x.back(), 1};
  Values weight{floats(test.at("weight").at("data")), {groups, w[0] / groups, w[1], rest(w, 2)}};
  if (kind.starts_with("ConvTranspose")) weight.layout = {1, 1, w[0], rest(w, 1)};
  return compare(test, balance(activation, weight, 0.5), test.at("factor"));
}

void run_dmq(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("dmq " + test.at("name").get<std::string>(), compare_case(test));
  }
  const Json meta = data.value("meta", Json::object());
  for (const auto& test : meta.value("layouts", Json::array())) {
    report.judge("dmq layout " + test.at("layout").get<std::string>(), compare_layout(test));
  }
}

const Registered kRegistered{"dmq", run_dmq};

}  // namespace

}  // namespace golden
