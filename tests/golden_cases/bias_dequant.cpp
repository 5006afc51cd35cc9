// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <amct/core/half.hpp>
#include <amct/core/packed4.hpp>
#include <amct/kernel/packed4.hpp>
#include <amct/quantize/bias.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

Findings compare_bias(const Json& test) {
  const auto bias = floats(test.at("bias"));
  const auto scale_w = floats(test.at("scale_w"));
  const auto scale_d = static_cast<float>(number(test.at("scale_d")));
  std::vector<std::int32_t> codes(bias.size());
  const amct::Status status = amct::quantize_bias(bias, scale_d, scale_w, codes);
  if (!test.at("ok").get<bool>()) {
    return status.code == amct::StatusCode::bias_overflow ? Findings{} : Findings{"was not refused"};
  }
  if (!status.ok()) return {"was refused"};
  const auto want = test.at("int32").get<std::vector<std::int32_t>>();
  Findings findings;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (codes[i] != want[i])
      findings.push_back("code " + std::to_string(codes[i]) + ", expected " + std::to_string(want[i]));
  }
  return findings;
}

/// The parameter holds the bits of the scale; the bits of a weight offset, which is 0, stay 0.
Findings compare_parameter(const Json& test) {
  const auto scale_w = floats(test.at("scale_w"));
  const auto scale_d = static_cast<float>(number(test.at("scale_d")));
  const auto packed = test.at("packed_uint64").get<std::vector<std::uint64_t>>();
  Findings findings;
  for (std::size_t c = 0; c < scale_w.size(); ++c) {
    const auto bits = std::bit_cast<std::uint32_t>(amct::accumulator_scale(scale_d, scale_w[c]));
    if (packed[c] != bits) findings.push_back("parameter " + std::to_string(c) + ": " + std::to_string(bits));
  }
  return findings;
}

Findings compare_s19(const Json& test) {
  const auto value = std::bit_cast<float>(test.at("bits_in").get<std::uint32_t>());
  const auto bits = std::bit_cast<std::uint32_t>(amct::truncate_s19(value));
  if (bits != test.at("bits_out").get<std::uint32_t>()) return {"bits " + std::to_string(bits)};
  return {};
}

/// An odd axis, which AMCT refuses when it packs, is a matter of the configuration: here it is completed by zeros.
Findings compare_packing(const Json& test) {
  const auto shape = test.at("shape").get<std::vector<std::size_t>>();
  const auto axis = test.at("axis").get<std::size_t>();
  const auto product = [&](std::size_t first, std::size_t last) {
    return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(first),
                           shape.begin() + static_cast<std::ptrdiff_t>(last), std::size_t{1}, std::multiplies<>());
  };
  const amct::Packed4Layout layout{product(0, axis), shape[axis], product(axis + 1, shape.size())};
  const auto codes = test.at("values").get<std::vector<std::int8_t>>();
  std::vector<std::int8_t> bytes(layout.bytes());
  std::vector<std::int8_t> back(layout.codes());
  amct::pack4(codes, bytes, layout);
  amct::unpack4(bytes, back, layout);
  if (back != codes) return {"unpacking does not give the codes back"};
  if (!test.at("ok").get<bool>()) {
    return layout.length % 2 == 1 ? Findings{} : Findings{"is refused although its length is even"};
  }
  if (bytes != test.at("packed_int8").get<std::vector<std::int8_t>>()) return {"bytes differ"};
  return {};
}

void run_bias_dequant(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("bias_dequant " + test.at("name").get<std::string>(), compare_bias(test));
  }
  const Json meta = data.value("meta", Json::object());
  for (const auto& test : meta.value("dequant_param", Json::array())) {
    report.judge("bias_dequant parameter", compare_parameter(test));
  }
  for (const auto& test : meta.value("fp19", Json::array())) {
    report.judge("bias_dequant s19 of " + test.at("value").dump(), compare_s19(test));
  }
  for (const auto& test : meta.value("int4_pack", Json::array())) {
    report.judge("bias_dequant pack " + test.at("shape").dump(), compare_packing(test));
  }
}

const Registered kRegistered{"bias_dequant", run_bias_dequant};

}  // namespace

}  // namespace golden
