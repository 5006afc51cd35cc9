// SPDX-License-Identifier: Apache-2.0
#include "golden_cases/whole_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/fake_quantize_weights.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>
#include <amct/onnx/session.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

#include "golden_cases/isomorphism.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

namespace golden {

namespace {

/// The layers that AMCT's own config.json quantizes.
std::set<std::string> enabled_layers(const std::filesystem::path& run) {
  std::set<std::string> layers;
  const Json config = read_json(run / "config.json");
  for (const auto& [key, value] : config.items()) {
    if (value.is_object() && value.value("quant_enable", false)) layers.insert(key);
  }
  return layers;
}

std::set<std::string> enabled_layers(const amct::flow::Prepared& prepared) {
  std::set<std::string> layers;
  for (const auto& layer : prepared.plan.layers) {
    if (layer.enabled) layers.insert(layer.name);
  }
  return layers;
}

/// Balance factors rest on sums of the network before, and weights and scales on them: 1e-5 is granted by golden's
/// README.
constexpr int kBalancedUlps = 84;

int allowed_ulps(const amct::flow::Prepared& prepared) {
  constexpr int kUlps = 4;
  return amct::flow::needs_balance(prepared.plan) ? kBalancedUlps : kUlps;
}

bool near(const std::vector<float>& ours, const std::vector<float>& theirs, int most) {
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                    [&](float a, float b) { return ulps(a, b) <= most; });
}

/// Our execution of a fake-quant model against ONNX Runtime's of AMCT's: 1e-5 of the output's scale, unless a value
/// lies on a rounding tie and moves by one step of its layer, for which golden's README grants 5e-3.
std::vector<std::string> compare_output(const amct::graph::Graph& fake, const std::filesystem::path& run) {
  const auto outputs =
      amct::exec::Interpreter(fake, support::ops()).run({amct::interop::read_npy(run / "test_input.npy")});
  const amct::Tensor expected = amct::interop::read_npy(run / "fake_quant_output.npy");
  const float difference = largest_difference(outputs[0], expected);
  if (!(difference <= 5e-3F * largest_magnitude(expected))) return {"output differs by " + std::to_string(difference)};
  return {};
}

}  // namespace

amct::EasyConfig config_of(const std::filesystem::path& run, const Json& notes) {
  if (std::filesystem::exists(run / "easy.cfg")) {
    amct::Diagnostics diagnostics;
    auto read =
        amct::protobuf::read_calibration_cfg(run / "easy.cfg", amct::rules_of(amct::Flavour::pytorch), diagnostics);
    diagnostics.throw_if_errors();
    return read;
  }
  amct::EasyConfig config;
  config.batch_num = notes.at("batch_num").get<std::uint32_t>();
  return config;
}

amct::flow::MemoryBatches batches_of(const std::filesystem::path& run) {
  std::vector<std::vector<amct::Tensor>> batches;
  for (std::size_t i = 0; std::filesystem::exists(run / ("calib_" + std::to_string(i) + ".npy")); ++i) {
    batches.emplace_back().push_back(amct::interop::read_npy(run / ("calib_" + std::to_string(i) + ".npy")));
  }
  return amct::flow::MemoryBatches(std::move(batches));
}

float largest_difference(const amct::Tensor& a, const amct::Tensor& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<float>::infinity();
  float result = 0.0F;
  for (std::size_t i = 0; i < a.size(); ++i)
    result = std::max(result, std::fabs(a.data<float>()[i] - b.data<float>()[i]));
  return result;
}

float largest_magnitude(const amct::Tensor& tensor) {
  float result = 0.0F;
  for (const float value : tensor.data<float>()) result = std::max(result, std::fabs(value));
  return result;
}

std::vector<std::string> compare_records(const amct::Record& ours, const amct::Record& theirs) {
  if (ours.size() != theirs.size()) return {"number of record entries " + std::to_string(ours.size())};
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto& a = ours[i];
    const auto& b = theirs[i];
    const auto require = [&](bool holds, const char* what) {
      if (!holds) findings.push_back(std::string(what) + " of " + b.name);
    };
    require(a.name == b.name, "name");
    const bool balanced = !b.tensor_balance_factor.empty();
    require(near(a.scale_w, b.scale_w, balanced ? kBalancedUlps : 0), "scale_w");
    require(a.offset_w == b.offset_w, "offset_w");
    require(a.offset_d == b.offset_d, "offset_d");
    require(a.scale_d.has_value() == b.scale_d.has_value(), "presence of scale_d");
    const int most = balanced ? kBalancedUlps : 4;
    require(!a.scale_d || !b.scale_d || ulps(*a.scale_d, *b.scale_d) <= most, "scale_d");
    require(a.act_type == b.act_type && a.wts_type == b.wts_type, "act_type or wts_type");
    require(near(a.tensor_balance_factor, b.tensor_balance_factor, kBalancedUlps), "tensor_balance_factor");
    require(a.skip_fusion == b.skip_fusion && a.dst_type == b.dst_type && a.shift_bit == b.shift_bit &&
                a.fakequant_precision_mode == b.fakequant_precision_mode,
            "other fields");
  }
  return findings;
}

std::vector<std::string> compare_config(const amct::flow::Prepared& prepared, const std::filesystem::path& run) {
  if (enabled_layers(prepared) != enabled_layers(run)) return {"the quantized layers differ"};
  return {};
}

/// The network before calibration, with BatchNormalization folded and weights fake-quantized, against AMCT's.
std::vector<std::string> compare_modified(const amct::flow::Prepared& prepared, const amct::Record& balanced,
                                          const std::filesystem::path& run) {
  const support::TempDir folder;
  amct::onnx::export_model(folder / "modified.onnx", amct::flow::fake_quantize_weights(prepared, {}, balanced).graph);
  return compare_models(folder / "modified.onnx", run / "modified.onnx", enabled_layers(prepared),
                        allowed_ulps(prepared));
}

/// The files that we write for a record against those of AMCT.
std::vector<std::string> compare_files(const amct::flow::Prepared& prepared, const amct::Record& record,
                                       const std::filesystem::path& run) {
  const auto layers = enabled_layers(prepared);
  const support::TempDir folder;
  const amct::onnx::OutputFiles files((folder / "res").string());
  amct::onnx::save_model(files, prepared.graph, record, [](const amct::graph::Graph&) { return ""; });
  std::vector<std::string> findings;
  const auto add = [&](const char* what, const std::vector<std::string>& more) {
    for (const auto& finding : more) findings.push_back(std::string(what) + finding);
  };
  add("deploy: ", compare_models(files.deploy_model, run / "res_deploy_model.onnx", layers, allowed_ulps(prepared)));
  add("fake-quant: ",
      compare_models(files.fake_quant_model, run / "res_fake_quant_model.onnx", layers, allowed_ulps(prepared)));
  add("", compare_output(amct::onnx::import_model(files.fake_quant_model), run));
  const auto theirs = amct::onnx::import_model(run / "res_deploy_model.onnx");
  add("AMCT's deploy model: ", compare_output(amct::flow::fake_quant(theirs), run));
  return findings;
}

}  // namespace golden
