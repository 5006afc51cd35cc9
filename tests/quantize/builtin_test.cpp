// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/builtin.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::AnyQuantizer;
using amct::Args;
using amct::Role;
using amct::Status;
using amct::StatusCode;
using Values = std::vector<float>;

constexpr auto kInt = [](std::int64_t value) { return amct::ArgValue(value); };
const auto kText = [](const char* text) { return amct::ArgValue(std::string(text)); };

AnyQuantizer made(const std::string& name, Role role, const Args& args = {}) {
  AnyQuantizer quantizer;
  const Status status = amct::builtin_registry().make(name, role, args, quantizer);
  CAPTURE(name);
  CAPTURE(status.name);
  CAPTURE(status.allowed);
  REQUIRE(status.ok());
  return quantizer;
}

/// "name: allowed" of the argument that was refused.
std::string refused(const std::string& name, Role role, const Args& args) {
  AnyQuantizer quantizer;
  const Status status = amct::builtin_registry().make(name, role, args, quantizer);
  CHECK(status.code == StatusCode::bad_option);
  CHECK(quantizer.empty());
  return std::string(status.name) + ": " + status.allowed;
}

/// An option's standard value, as a configuration would state it; required ones have some.
amct::ArgValue standard_of(const amct::QuantizerOption& option) {
  const std::string text = option.standard;
  if (std::string(option.name) == "scale") return 0.5;
  if (std::string(option.name) == "zero_point") return 1.0;
  if (text == "true" || text == "false") return text == "true";
  if (text.starts_with('"')) return text.substr(1, text.size() - 2);
  return std::stod(text);
}

/// 8 channels of 32 weights.
Values weights() {
  Values w(256);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = std::sin(static_cast<float>(i) * 0.7F) * (1.0F + static_cast<float>(i / 32));
  return w;
}
constexpr amct::ChannelLayout kLayout{.channels_per_group = 8, .inner = 32};

}  // namespace

TEST_CASE("every quantizer of the table calibrates, computes and tells its parameters with its defaults") {
  const Values w = weights();
  const amct::QuantizerRegistry registry = amct::builtin_registry();
  for (const amct::QuantizerRow& row : registry.rows()) {
    CAPTURE(row.name);
    Args args;
    if (row.name == "FixedFakeQuantize") args.set("scale", 0.07);
    if (row.name == "FixedFakeQuantize" && row.role == Role::activation) args.set("zero_point", -3.0);
    AnyQuantizer quantizer = made(row.name, row.role, args);
    CHECK(quantizer.takes_activations() >= (row.role == Role::activation));
    CHECK(quantizer.takes_weights() >= (row.role == Role::weight));
    const Status calibrated = row.role == Role::activation ? quantizer.calibrate(w) : quantizer.calibrate(w, kLayout);
    REQUIRE(calibrated.ok());
    Values y(w.size(), 1e9F);
    REQUIRE(quantizer.forward(w, y).ok());
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      error += std::pow(static_cast<double>(w[i] - y[i]), 2);
      size += std::pow(static_cast<double>(w[i]), 2);
    }
    CHECK(error > 0.0);
    CHECK(error < 0.05 * size);
    CHECK_FALSE(quantizer.params().channels.empty());
  }
}

TEST_CASE("arguments reach the algorithm") {
  const Values w = weights();
  AnyQuantizer wide = made("UlqFakeQuantize", Role::activation, {{"num_bits", kInt(12)}, {"fixed_min", true}});
  REQUIRE(wide.calibrate(w).ok());
  CHECK(wide.params().range == amct::CodeRange{12});
  AnyQuantizer whole = made("ArqWeightFakeQuantize", Role::weight, {{"channel_wise", false}, {"num_bits", kInt(4)}});
  REQUIRE(whole.calibrate(w, kLayout).ok());
  CHECK(whole.params().channels.size() == 1);
  AnyQuantizer each = made("ArqWeightFakeQuantize", Role::weight);
  REQUIRE(each.calibrate(w, kLayout).ok());
  CHECK(each.params().channels.size() == 8);
  AnyQuantizer batches = made("IFMRObserver", Role::activation, {{"batch_num", kInt(2)}, {"with_offset", false}});
  REQUIRE(batches.calibrate(Values{1.0F}).ok());
  REQUIRE(batches.calibrate(Values{2.0F}).ok());
  REQUIRE(batches.calibrate(Values{100.0F}).ok());
  CHECK(batches.params().channels.at(0).scale < 0.03F);
  CHECK(batches.params().channels.at(0).offset == 0);
}

TEST_CASE("the guide's example of FixedFakeQuantize") {
  AnyQuantizer pool = made("FixedFakeQuantize", Role::activation,
                           {{"scale", 0.0118393}, {"zero_point", -128.0}, {"num_bits", kInt(8)}});
  REQUIRE(pool.calibrate(Values{0.5F}).ok());
  CHECK(pool.params().channels.at(0) == amct::Affine{0.0118393F, -128});
  AnyQuantizer conv = made("FixedFakeQuantize", Role::weight,
                           {{"scale", std::vector<double>{0.010429775, 0.009767545}}, {"num_bits", kInt(8)}});
  REQUIRE(conv.calibrate(Values{0.1F, 0.2F}, {.channels_per_group = 2, .inner = 1}).ok());
  CHECK(conv.params().channels.at(1).scale == 0.009767545F);
}

TEST_CASE("the guide's example of torch.quantization.FakeQuantize") {
  const Args weight{{"observer", kText("torch.quantization.PerChannelMinMaxObserver")},
                    {"quant_min", kInt(-128)},
                    {"quant_max", kInt(127)},
                    {"dtype", kText("torch.qint8")},
                    {"qscheme", kText("torch.per_channel_symmetric")},
                    {"reduce_range", false},
                    {"ch_axis", kInt(0)}};
  AnyQuantizer conv = made("torch.quantization.FakeQuantize", Role::weight, weight);
  REQUIRE(conv.calibrate(weights(), kLayout).ok());
  CHECK(conv.params().channels.size() == 8);
  CHECK(conv.params().channels.at(0).offset == 0);
  const Args data{{"observer", kText("torch.quantization.MovingAverageMinMaxObserver")},
                  {"dtype", kText("torch.qint8")},
                  {"qscheme", kText("torch.per_tensor_affine")},
                  {"reduce_range", false}};
  AnyQuantizer input = made("torch.quantization.FakeQuantize", Role::activation, data);
  REQUIRE(input.calibrate(Values{-1.0F, 3.0F}).ok());
  CHECK(input.params().channels.at(0).offset == -64);
}

TEST_CASE("arguments out of their range are named with what is allowed") {
  CHECK(refused("UlqFakeQuantize", Role::activation, {{"num_bits", kInt(7)}}) == "num_bits: 8..16");
  CHECK(refused("ArqWeightFakeQuantize", Role::weight, {{"num_bits", kInt(6)}}) == "num_bits: 4 or 8");
  CHECK(refused("LuqWeightFakeQuantize", Role::weight, {{"num_bits", kInt(16)}}) == "num_bits: 8");
  for (const int bits : {-1, 0, 1, 31, 87}) {  // widths whose ends no int32 can hold
    CHECK(refused("LuqActivationFakeQuantize", Role::activation, {{"num_bits", kInt(bits)}}) == "num_bits: 8..16");
    CHECK(refused("LuqMseObserver", Role::activation, {{"num_bits", kInt(bits)}}) == "num_bits: 8..16");
  }
  CHECK(refused("IFMRObserver", Role::activation, {{"max_percentile", 1.5}}) == "max_percentile: [0.5, 1]");
  CHECK(refused("UlqFakeQuantize", Role::activation, {{"observer", kText("ArqObserver")}}) == "observer: IFMRObserver");
  CHECK(refused("SnqObserver", Role::weight, {{"max_iteration", kInt(100)}}) == "max_iteration: 500 .. 2000");
  CHECK(refused("LnqFakeQuantize", Role::weight, {{"clip_max", 0.0}}).starts_with("clip_max: "));
  CHECK(refused("FixedFakeQuantize", Role::weight, {}).starts_with("scale: "));
  CHECK(refused("FixedFakeQuantize", Role::activation, {{"scale", 0.1}}) == "zero_point: required for activations");
  CHECK(refused("LuqMseObserver", Role::activation, {{"quant_min", kInt(-127)}}) == "quant_min: -2^(num_bits - 1)");
  CHECK(refused("torch.quantization.FakeQuantize", Role::weight, {{"dtype", kText("torch.quint8")}}) ==
        "dtype: torch.qint8: codes are signed");
  const Args unknown{{"chanel_wise", true}};
  CHECK(refused("ArqWeightFakeQuantize", Role::weight, unknown) == "chanel_wise: no such argument");
}

TEST_CASE("LUQ starts from IFMR, as the guide's config for cube operators has it") {
  const Args guide{{"observer", kText("IFMRObserver")},
                   {"num_bits", kInt(8)},
                   {"batch_num", kInt(1)},
                   {"qscheme", kText("symmetric")},
                   {"with_offset", false}};
  AnyQuantizer symmetric = made("LuqActivationFakeQuantize", Role::activation, guide);
  REQUIRE(symmetric.calibrate(Values{-0.5F, 0.25F, 3.0F}).ok());
  CHECK(symmetric.params().channels.at(0).offset == 0);
  AnyQuantizer affine = made("LuqActivationFakeQuantize", Role::activation, {{"observer", kText("IFMRObserver")}});
  REQUIRE(affine.calibrate(Values{-0.5F, 0.25F, 3.0F}).ok());
  CHECK(affine.params().channels.at(0).offset != 0);
  const Args torn{{"observer", kText("IFMRObserver")}, {"qscheme", kText("symmetric")}, {"with_offset", true}};
  CHECK(refused("LuqActivationFakeQuantize", Role::activation, torn).starts_with("qscheme: affine"));
  CHECK(refused("LuqActivationFakeQuantize", Role::activation, {{"observer", kText("ArqObserver")}}) ==
        "observer: LuqMseObserver or IFMRObserver");
}

TEST_CASE("eps of ARQ raises small scales") {
  AnyQuantizer conv = made("ArqWeightFakeQuantize", Role::weight, {{"eps", 0.000000119209290}});
  REQUIRE(conv.calibrate(Values{0.0F, 1.0F}, {.channels_per_group = 2, .inner = 1}).ok());
  CHECK(conv.params().channels.at(0).scale == 0x1p-23F);
  CHECK(refused("ArqWeightFakeQuantize", Role::weight, {{"eps", -1.0}}) == "eps: 1.1920929e-07 to 1");
}

TEST_CASE("ULQ starts from IFMR with an offset, as the guide's IFMRObserver has it") {
  AnyQuantizer relu = made("UlqFakeQuantize", Role::activation, {{"observer", kText("IFMRObserver")}});
  REQUIRE(relu.calibrate(Values{0.0F, 0.25F, 3.0F}).ok());
  CHECK(relu.params().channels.at(0).offset == -128);
  AnyQuantizer symmetric = made("UlqFakeQuantize", Role::activation, {{"with_offset", false}});
  REQUIRE(symmetric.calibrate(Values{0.0F, 0.25F, 3.0F}).ok());
  CHECK(symmetric.params().channels.at(0).offset == 0);
}

TEST_CASE("The rows list the options that are read, with their standard values") {
  const amct::QuantizerRegistry registry = amct::builtin_registry();
  for (const amct::QuantizerRow& row : registry.rows()) {
    CAPTURE(row.name);
    CHECK(row.source == amct::kBuiltinSource);
    REQUIRE_FALSE(row.options.empty());
    Args args;
    for (const amct::QuantizerOption& option : row.options) {
      const bool required = std::string(option.allowed).ends_with("required");
      if (*option.standard != '\0' || required) args.set(option.name, standard_of(option));
    }
    AnyQuantizer quantizer;
    const Status status = row.make(args, quantizer);
    CAPTURE(std::string(status.name));
    CHECK(status.ok());
  }
}
