// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <amct/compress/sparse24.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

std::vector<std::uint8_t> bits_of(const Json& values) {
  std::vector<std::uint8_t> bits;
  for (const auto& value : values) bits.push_back(number(value) == 0.0 ? 0 : 1);
  return bits;
}

/// Zeros of each group of four; ties are written as rows, so that the groups lie in one piece.
std::vector<int> zeros_of(const std::vector<std::uint8_t>& mask) {
  std::vector<int> zeros((mask.size() + 3) / 4, 0);
  for (std::size_t i = 0; i < mask.size(); ++i) zeros[i / 4] += mask[i] == 0 ? 1 : 0;
  return zeros;
}

Findings compare(const Json& test) {
  if (test.at("group_size") != 4 || test.at("prune_size") != 2) return {"is not a case of 2:4"};
  const auto weight = floats(test.at("input").at("data"));
  const auto shape = test.at("input").at("shape").get<std::vector<std::size_t>>();
  std::vector<std::uint8_t> mask(weight.size(), 7);
  const bool done = amct::mask24(weight, shape, test.at("prune_axis").get<std::size_t>(), mask).ok();
  if (done != test.at("ok").get<bool>()) return {done ? "was not refused" : "was refused"};
  if (!done) return {};
  const auto want = bits_of(test.at("mask").at("data"));
  const bool ties = test.at("name").get<std::string>().starts_with("ties_");
  const bool equal = ties ? zeros_of(mask) == zeros_of(want) : mask == want;
  return equal ? Findings{} : Findings{"the masks differ"};
}

Findings compare_packing(const Json& test) {
  const auto mask = bits_of(test.at("mask"));
  const auto words = test.at("packed_int64").get<std::vector<std::int64_t>>();
  Findings findings;
  if (amct::pack_mask(mask) != words) findings.push_back("the words differ");
  std::vector<std::uint8_t> back(mask.size(), 7);
  if (!amct::unpack_mask(words, back).ok() || back != mask) findings.push_back("the words do not give the mask back");
  return findings;
}

void run_mask24(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("mask24 " + test.at("name").get<std::string>(), compare(test));
  }
  const Json meta = data.value("meta", Json::object());
  for (const auto& test : meta.value("record_packing", Json::array())) {
    report.judge("mask24 packing of " + std::to_string(test.at("mask").size()), compare_packing(test));
  }
}

const Registered kRegistered{"mask24", run_mask24};

}  // namespace

}  // namespace golden
