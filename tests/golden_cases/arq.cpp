// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/granularity.hpp>
#include <amct/interop/npy.hpp>
#include <amct/quantize/arq.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

struct Weight {
  std::vector<std::size_t> shape;
  std::vector<float> data;
  bool is_half = false;
};

Weight weight_of(const Json& test, const std::filesystem::path& folder) {
  Weight weight;
  if (test.contains("weight")) {
    weight.shape = test.at("weight").at("shape").get<std::vector<std::size_t>>();
    weight.data = floats(test.at("weight").at("data"));
    weight.is_half = test.at("weight").at("dtype") == "float16";
    return weight;
  }
  const amct::Tensor tensor = amct::interop::read_npy(folder / test.at("weight_npy").get<std::string>());
  for (const auto dim : tensor.shape()) weight.shape.push_back(static_cast<std::size_t>(dim));
  weight.data.assign(tensor.data<float>().begin(), tensor.data<float>().end());
  return weight;
}

std::vector<std::int64_t> codes_of(const Json& test, const std::filesystem::path& folder) {
  std::vector<std::int64_t> codes;
  if (test.contains("int_weight_npy")) {
    const amct::Tensor wide = amct::cast(amct::interop::read_npy(folder / test.at("int_weight_npy").get<std::string>()),
                                         amct::ElementType::int64);
    codes.assign(wide.data<std::int64_t>().begin(), wide.data<std::int64_t>().end());
  } else if (test.contains("int_weight") && !test.at("int_weight").is_null()) {
    const Json& values = test.at("int_weight").is_object() ? test.at("int_weight").at("data") : test.at("int_weight");
    codes = values.get<std::vector<std::int64_t>>();
  }
  return codes;
}

amct::ChannelLayout layout_of(const Json& test, const std::vector<std::size_t>& shape, std::size_t size) {
  if (!test.at("channel_wise").get<bool>()) return amct::ChannelLayout::per_tensor(size);
  if (test.at("layout") != "conv_transpose") return {1, 1, shape[0], size / shape[0]};
  const auto groups = test.at("groups").get<std::size_t>();
  return {groups, shape[0] / groups, shape[1], size / (shape[0] * shape[1])};
}

/// Fake-quantized half weights are the float ones rounded once more.
bool equal_after_rounding(float got, float want, bool is_half) {
  if (!is_half) return ulps(got, want) <= 1;
  const float half_ulp = std::ldexp(1.0F, std::ilogb(got == 0.0F ? 1.0F : got) - 11);
  return std::fabs(got - want) <= half_ulp;
}

template <amct::BitWidth B>
std::vector<std::string> compare(const Json& test, const std::filesystem::path& folder) {
  const Weight weight = weight_of(test, folder);
  amct::Arq<B> arq({test.at("with_offset").get<bool>() ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric});
  if (!arq.calibrate(weight.data, layout_of(test, weight.shape, weight.data.size())).ok()) return {"was refused"};

  std::vector<std::string> findings;
  const auto scales = floats(test.at("scale"));
  const auto offsets = test.at("offset").get<std::vector<std::int32_t>>();
  if (scales.size() != arq.channels().size()) return {"number of scales"};
  for (std::size_t c = 0; c < scales.size(); ++c) {
    const auto& channel = arq.channels()[c];
    if (ulps(channel.scale, scales[c]) > 1) findings.push_back("scale of channel " + std::to_string(c));
    if (channel.offset != offsets[c]) findings.push_back("offset of channel " + std::to_string(c));
  }
  std::vector<typename B::storage> codes(weight.data.size());
  arq.quantize(weight.data, codes);
  const auto want_codes = codes_of(test, folder);
  if (!want_codes.empty() && want_codes.size() != codes.size()) return {"number of codes"};
  for (std::size_t i = 0; i < want_codes.size(); ++i) {
    if (codes[i] != want_codes[i]) findings.push_back("code " + std::to_string(i));
  }
  if (!test.contains("fake_quant_weight") || test.at("fake_quant_weight").is_null()) return findings;
  std::vector<float> fake(weight.data.size());
  arq.fake_quantize(weight.data, fake);
  const Json& stored = test.at("fake_quant_weight");
  const auto want_fake = floats(stored.is_object() ? stored.at("data") : stored);
  for (std::size_t i = 0; i < want_fake.size(); ++i) {
    if (!equal_after_rounding(fake[i], want_fake[i], weight.is_half))
      findings.push_back("fake-quantized " + std::to_string(i));
  }
  return findings;
}

std::vector<std::string> compare_rejected(const std::string& name) {
  const float bad = name == "nan" ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  amct::Arq<> arq;
  const auto status = arq.calibrate(std::vector<float>{0.5F, bad}, amct::ChannelLayout::per_tensor(2));
  if (status.code != amct::StatusCode::not_finite || status.index != 1) return {"was not refused"};
  return {};
}

/// "conv_transpose" rows give the order in which elements belong to channels: the same walk as for_each_run.
std::vector<std::string> compare_transform(const Json& transform) {
  const auto shape = transform.at("in_shape").get<std::vector<std::size_t>>();
  const auto groups = transform.at("groups").get<std::size_t>();
  const amct::ChannelLayout layout{groups, shape[0] / groups, shape[1], shape[2] * shape[3]};
  std::vector<std::vector<float>> rows(layout.channels());
  amct::for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) rows[channel].push_back(static_cast<float>(i));
  });
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all == floats(transform.at("out").at("data")) ? std::vector<std::string>{}
                                                       : std::vector<std::string>{"order differs"};
}

void run_arq(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    const std::string where = "arq " + test.at("name").get<std::string>();
    switch (test.at("num_bits").get<int>()) {
      case 4: report.judge(where, compare<amct::Int<4>>(test, file.parent_path())); break;
      case 6: report.judge(where, compare<amct::Int<6>>(test, file.parent_path())); break;
      case 7: report.judge(where, compare<amct::Int<7>>(test, file.parent_path())); break;
      case 8: report.judge(where, compare<amct::Int<8>>(test, file.parent_path())); break;
      default: report.fail(where, "num_bits is not a weight width of AMCT");
    }
  }
  const Json meta = data.value("meta", Json::object());
  for (const auto& rejected : meta.value("rejected", Json::array())) {
    const auto name = rejected.at("name").get<std::string>();
    if (name == "nan" || name == "inf") report.judge("arq rejected " + name, compare_rejected(name));
  }
  for (const auto& transform : meta.value("layout_transforms", Json::array())) {
    report.judge("arq layout " + transform.at("name").get<std::string>(), compare_transform(transform));
  }
}

const Registered kRegistered{"arq", run_arq};

}  // namespace

}  // namespace golden
