// SPDX-License-Identifier: Apache-2.0
#include <amct/config/fx_defaults.hpp>

#include <string>

#include <doctest/doctest.h>

#include "support/config_text.hpp"

namespace {

using amct::QuantizerSpec;

const amct::FlavourRules& kRules = amct::rules_of(amct::Flavour::hotwheels);
const amct::LayerInfo kConv{.name = "conv1", .kind = amct::LayerKind::conv2d, .op_type = "Conv"};
const amct::LayerInfo kFc{.name = "fc", .kind = amct::LayerKind::linear, .op_type = "Gemm"};

QuantizerSpec spec(const char* name, const char* args = "{}") { return {.name = name, .args = support::config(args)}; }

std::string completed(QuantizerSpec spec, const amct::LayerInfo& layer) {
  amct::complete_args(spec, layer, kRules);
  return support::compact(spec.args);
}

}  // namespace

TEST_CASE("K48: without a definition the arguments are those of the guide, in its order") {
  CHECK(completed(amct::default_activation(), kConv) ==
        R"({"num_bits":8,"fixed_min":false,"observer":"IFMRObserver","batch_num":1,"object_layer":"conv1"})");
  CHECK(completed(amct::default_weights(), kConv) == R"({"observer":"ArqObserver","num_bits":8,"channel_wise":true})");
  CHECK(completed(amct::default_weights(), kFc) == R"({"observer":"ArqObserver","num_bits":8,"channel_wise":false})");
}

TEST_CASE("stated arguments stay, missing ones follow") {
  CHECK(completed(spec("UlqFakeQuantize", R"({"batch_num":2,"num_bits":12})"), kFc) ==
        R"({"batch_num":2,"num_bits":12,"fixed_min":false,"observer":"IFMRObserver","object_layer":"fc"})");
  CHECK(completed(spec("LuqActivationFakeQuantize"), kFc) == R"({"num_bits":8,"observer":"LuqMseObserver"})");
  CHECK(completed(spec("LuqWeightFakeQuantize"), kFc) == R"({"num_bits":8,"observer":"LuqMseObserver"})");
  CHECK(completed(spec("LnqFakeQuantize"), kFc) == R"({"observer":"SnqObserver"})");
  CHECK(completed(spec("FixedFakeQuantize", R"({"scale":0.5})"), kFc) == R"({"scale":0.5,"num_bits":8})");
  CHECK(completed(spec("my.Quantizer", R"({"gain":2})"), kFc) == R"({"gain":2})");
}

TEST_CASE("which quantizers have offset 0 only") {
  CHECK_FALSE(amct::is_symmetric(spec("UlqFakeQuantize")));
  CHECK(amct::is_symmetric(spec("LuqActivationFakeQuantize")));
  CHECK_FALSE(amct::is_symmetric(spec("LuqActivationFakeQuantize", R"({"qscheme":"affine"})")));
  CHECK_FALSE(amct::is_symmetric(spec("LuqActivationFakeQuantize", R"({"observer":"IFMRObserver"})")));
  CHECK(amct::is_symmetric(spec("LuqActivationFakeQuantize", R"({"observer":"IFMRObserver","with_offset":false})")));
  CHECK(amct::is_symmetric(spec("LuqActivationFakeQuantize", R"({"observer":"IFMRObserver","qscheme":"symmetric"})")));
  CHECK_FALSE(amct::is_symmetric(spec("IFMRObserver")));
  CHECK_FALSE(amct::is_symmetric(spec("LuqMseObserver", R"({"qscheme":"dynamic"})")));
  CHECK(amct::is_symmetric(spec("FixedFakeQuantize", R"({"zero_point":0})")));
  CHECK(amct::is_symmetric(spec("FixedFakeQuantize", R"({"zero_point":-0.0})")));
  CHECK_FALSE(amct::is_symmetric(spec("FixedFakeQuantize", R"({"zero_point":-128.0})")));
  CHECK_FALSE(amct::is_symmetric(spec("torch.quantization.FakeQuantize")));
  CHECK(amct::is_symmetric(spec("torch.quantization.FakeQuantize", R"({"qscheme":"torch.per_tensor_symmetric"})")));
  CHECK(amct::is_symmetric(spec("my.Quantizer")));
}

TEST_CASE("ULQ becomes LUQ over the same IFMR, others only lose their offset") {
  QuantizerSpec ulq = spec("UlqFakeQuantize", R"({"num_bits":12,"fixed_min":true,"batch_num":3})");
  amct::make_symmetric(ulq);
  CHECK(ulq.name == "LuqActivationFakeQuantize");
  CHECK(support::compact(ulq.args) ==
        R"({"num_bits":12,"batch_num":3,"observer":"IFMRObserver","qscheme":"symmetric","with_offset":false})");
  for (const char* name : {"LuqActivationFakeQuantize", "IFMRObserver", "LuqMseObserver"}) {
    CAPTURE(name);
    QuantizerSpec other = spec(name, R"({"qscheme":"affine","with_offset":true})");
    amct::make_symmetric(other);
    CHECK(other.name == name);
    CHECK(amct::is_symmetric(other));
  }
}
