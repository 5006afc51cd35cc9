// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/half.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/range.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

std::string at(const std::string& what, std::size_t index) { return what + " " + std::to_string(index); }

amct::Symmetry symmetry_of(const Json& asymmetric) {
  return asymmetric.get<bool>() ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric;
}

amct::CodeRange range_of(const Json& test) { return {test.at("num_bits").get<int>()}; }

Findings compare_affine(const amct::Affine& got, float scale, std::int32_t offset, const std::string& where) {
  Findings findings;
  if (ulps(got.scale, scale) > 1)
    findings.push_back(where + "scale " + std::to_string(got.scale) + ", expected " + std::to_string(scale));
  if (got.offset != offset)
    findings.push_back(where + "offset " + std::to_string(got.offset) + ", expected " + std::to_string(offset));
  return findings;
}

void append(Findings& all, const Findings& more) { all.insert(all.end(), more.begin(), more.end()); }

Findings compare_range(const Json& test) {
  const auto max = static_cast<float>(number(test.at("max")));
  const auto min = static_cast<float>(number(test.at("min")));
  const amct::Affine affine = amct::affine_from_range(min, max, range_of(test), symmetry_of(test.at("asymmetric")));
  if (!test.at("ok").get<bool>()) return amct::is_usable(affine) ? Findings{"was not refused"} : Findings{};
  if (!amct::is_usable(affine)) return {"was refused"};
  return compare_affine(affine, static_cast<float>(number(test.at("scale"))), test.at("offset").get<std::int32_t>(),
                        "");
}

Findings compare_channels(const Json& test) {
  const auto max = floats(test.at("max").at("data"));
  const auto min = floats(test.at("min").at("data"));
  const auto scale = floats(test.at("scale").at("data"));
  const auto offset = test.at("offset").at("data").get<std::vector<std::int32_t>>();
  Findings findings;
  for (std::size_t c = 0; c < max.size(); ++c) {
    const auto affine = amct::affine_from_range(min[c], max[c], range_of(test), symmetry_of(test.at("asymmetric")));
    append(findings, compare_affine(affine, scale[c], offset[c], at("channel", c) + ": "));
  }
  return findings;
}

Findings compare_process_scale(const Json& test, std::int32_t offset) {
  const amct::Affine given{static_cast<float>(number(test.at("scale"))), offset};
  const auto affine = amct::replace_degenerate(given, range_of(test), symmetry_of(test.at("with_offset")));
  if (!test.at("ok").get<bool>()) return amct::is_usable(affine) ? Findings{"was not refused"} : Findings{};
  if (!amct::is_usable(affine)) return {"was refused"};
  return compare_affine(affine, static_cast<float>(number(test.at("scale_out"))),
                        test.at("offset_out").get<std::int32_t>(), "");
}

/// Offsets of AMCT are floats until they are stored; a NaN offset, which AMCT refuses, cannot be written here.
void run_process_scale(const Json& tests, Report& report) {
  for (const auto& test : tests) {
    const bool whole = test.at("offset").is_number();
    if (!whole && !test.at("ok").get<bool>()) continue;
    const std::int32_t offset = whole ? test.at("offset").get<std::int32_t>() : 0;
    report.judge("primitives process_scale " + test.dump(), compare_process_scale(test, offset));
  }
}

Findings compare_floats(const std::vector<float>& got, const Json& tensor, const std::string& what) {
  const auto want = floats(tensor.at("data"));
  if (want.size() != got.size()) return {"number of " + what};
  Findings findings;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (ulps(got[i], want[i]) != 0)
      findings.push_back(at(what, i) + " " + std::to_string(got[i]) + ", expected " + std::to_string(want[i]));
  }
  return findings;
}

template <amct::CodeContract Contract>
std::vector<float> codes_of(const std::vector<float>& x, const amct::Affine& affine, amct::CodeRange range) {
  std::vector<std::int16_t> codes(x.size());
  amct::quantize<Contract>(std::span<const float>(x), std::span<std::int16_t>(codes), affine, range);
  return {codes.begin(), codes.end()};
}

/// Rounding and clamping are the fake quantizer of scale 1, which keeps NaN as AMCT does.
Findings compare_round_clamp(const Json& test) {
  auto x = floats(test.at("input").at("data"));
  amct::fake_quantize<amct::DivideAddRound>(std::span<const float>(x), std::span<float>(x), {}, range_of(test));
  return compare_floats(x, test.at("output"), "code");
}

amct::Affine affine_of(const Json& test) {
  return {static_cast<float>(number(test.at("scale"))), test.at("offset").get<std::int32_t>()};
}

Findings compare_fake_quantize(const Json& test, const std::vector<float>& x) {
  const amct::Affine affine = affine_of(test);
  Findings findings =
      compare_floats(codes_of<amct::DivideAddRound>(x, affine, range_of(test)), test.at("fake_quant"), "code");
  std::vector<float> y(x.size());
  amct::fake_quantize<amct::DivideAddRound>(std::span<const float>(x), std::span<float>(y), affine, range_of(test));
  append(findings, compare_floats(y, test.at("fake_quant_dequant"), "value"));
  if (test.at("true_quant_int8").is_null()) return findings;
  std::vector<std::int8_t> codes(x.size());
  amct::quantize<amct::DivideAddRound>(std::span<const float>(x), std::span<std::int8_t>(codes), affine,
                                       range_of(test));
  append(findings, compare_floats({codes.begin(), codes.end()}, test.at("true_quant_int8"), "int8 code"));
  return findings;
}

/// The module gives codes less the offset.
Findings compare_module(const Json& test, const std::vector<float>& x) {
  const amct::Affine affine = affine_of(test);
  Findings findings;
  if (ulps(1.0F / affine.scale, static_cast<float>(number(test.at("reciprocal_used")))) != 0)
    findings.push_back("reciprocal");
  auto steps = codes_of<amct::ReciprocalRoundAdd>(x, affine, range_of(test));
  for (float& step : steps) step -= static_cast<float>(affine.offset);
  append(findings, compare_floats(steps, test.at("output"), "step"));
  return findings;
}

Findings compare_precision(const Json& test) {
  const auto value = static_cast<float>(number(test.at("value")));
  Findings findings;
  if (amct::truncate_s19(value) != static_cast<float>(number(test.at("cast_to_s19")))) findings.push_back("s19");
  if (amct::to_fp16_precision(value) != static_cast<float>(number(test.at("cast_fp16_precision"))))
    findings.push_back("fp16 " + std::to_string(amct::to_fp16_precision(value)));
  return findings;
}

/// AMCT completes the last group of a row by zeros, which are part of its range.
Findings compare_groups(const Json& test) {
  const auto shape = test.at("input").at("shape").get<std::vector<std::size_t>>();
  const auto x = floats(test.at("input").at("data"));
  const amct::GroupLayout layout{shape[0], x.size() / shape[0], test.at("group_size").get<std::size_t>()};
  const auto scale = floats(test.at("scale").at("data"));
  const auto offset = test.at("offset").at("data").get<std::vector<std::int32_t>>();
  if (scale.size() != layout.channels()) return {std::to_string(layout.channels()) + " groups"};
  std::vector<amct::ValueRange> ranges(layout.channels());
  Findings findings;
  amct::for_each_run(layout, [&](std::size_t group, std::size_t first, std::size_t count) {
    std::vector<float> values(x.begin() + static_cast<std::ptrdiff_t>(first),
                              x.begin() + static_cast<std::ptrdiff_t>(first + count));
    values.resize(layout.run(), 0.0F);
    if (!ranges[group].extend(values).ok()) findings.push_back(at("group", group));
  });
  for (std::size_t g = 0; g < ranges.size(); ++g) {
    const auto affine =
        amct::affine_from_range(ranges[g].min, ranges[g].max, range_of(test), symmetry_of(test.at("asymmetric")));
    append(findings, compare_affine(affine, scale[g], offset[g], at("group", g) + ": "));
  }
  return findings;
}

/// The input is written once, with the first case, and used by the cases of the module too.
void run_fake_quantize(const Json& meta, Report& report) {
  std::vector<float> x;
  for (const auto& test : meta.value("fake_quantize", Json::array())) {
    if (test.at("input").is_object()) x = floats(test.at("input").at("data"));
    report.judge("primitives fake_quantize scale " + test.at("scale").dump() + " offset " + test.at("offset").dump() +
                     " bits " + test.at("num_bits").dump(),
                 compare_fake_quantize(test, x));
  }
  for (const auto& test : meta.value("fake_quant_module_same_input", Json::array())) {
    report.judge("primitives module scale " + test.at("scale").dump() + " offset " + test.at("offset").dump() +
                     " bits " + test.at("num_bits").dump(),
                 compare_module(test, x));
  }
}

void run_primitives(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) report.judge("primitives range " + test.dump(), compare_range(test));
  const Json meta = data.value("meta", Json::object());
  for (const auto& test : meta.value("per_channel", Json::array())) {
    report.judge("primitives per_channel bits " + test.at("num_bits").dump(), compare_channels(test));
  }
  run_process_scale(meta.value("process_scale", Json::array()), report);
  for (const auto& test : meta.value("round_clamp", Json::array())) {
    report.judge("primitives round_clamp bits " + test.at("num_bits").dump(), compare_round_clamp(test));
  }
  run_fake_quantize(meta, report);
  for (const auto& test : meta.value("fp19", Json::array())) {
    report.judge("primitives precision of " + test.at("value").dump(), compare_precision(test));
  }
  for (const auto& test : meta.value("by_group_size", Json::array())) {
    report.judge("primitives groups of " + test.at("group_size").dump(), compare_groups(test));
  }
}

const Registered kRegistered{"primitives", run_primitives};

}  // namespace

}  // namespace golden
