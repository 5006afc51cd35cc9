// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/convert.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/fake_quantize_weights.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>
#include <amct/onnx/session.hpp>
#include <amct/protobuf/calibration_cfg.hpp>
#include <amct/protobuf/record_file.hpp>

#include "golden_cases/isomorphism.hpp"
#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

namespace golden {

namespace {

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

/// The layers that AMCT's own config.json quantizes.
std::set<std::string> enabled_layers(const std::filesystem::path& run) {
  std::set<std::string> layers;
  const Json config = read_json(run / "config.json");
  for (const auto& [key, value] : config.items()) {
    if (value.is_object() && value.value("quant_enable", false)) layers.insert(key);
  }
  return layers;
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
    require(a.scale_w == b.scale_w, "scale_w");
    require(a.offset_w == b.offset_w, "offset_w");
    require(a.offset_d == b.offset_d, "offset_d");
    require(a.scale_d && b.scale_d && ulps(*a.scale_d, *b.scale_d) <= 4, "scale_d");
    require(a.act_type == b.act_type && a.wts_type == b.wts_type, "act_type or wts_type");
  }
  return findings;
}

float largest(const amct::Tensor& tensor) {
  float result = 0.0F;
  for (const float value : tensor.data<float>()) result = std::max(result, std::fabs(value));
  return result;
}

/// Infinite if the shapes differ.
float largest_difference(const amct::Tensor& a, const amct::Tensor& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<float>::infinity();
  float result = 0.0F;
  for (std::size_t i = 0; i < a.size(); ++i)
    result = std::max(result, std::fabs(a.data<float>()[i] - b.data<float>()[i]));
  return result;
}

/// Our execution of a fake-quant model against ONNX Runtime's of AMCT's: 1e-5 of the output's scale, unless a value
/// lies on a rounding tie and moves by one step of its layer, for which golden's README grants 5e-3.
std::vector<std::string> compare_output(const amct::graph::Graph& fake, const std::filesystem::path& run) {
  const auto outputs =
      amct::exec::Interpreter(fake, support::ops()).run({amct::interop::read_npy(run / "test_input.npy")});
  const amct::Tensor expected = amct::interop::read_npy(run / "fake_quant_output.npy");
  const float difference = largest_difference(outputs[0], expected);
  if (!(difference <= 5e-3F * largest(expected))) return {"output differs by " + std::to_string(difference)};
  return {};
}

std::set<std::string> enabled_layers(const amct::flow::Prepared& prepared) {
  std::set<std::string> layers;
  for (const auto& layer : prepared.plan.layers) {
    if (layer.enabled) layers.insert(layer.name);
  }
  return layers;
}

/// The network before calibration, with BatchNormalization folded and weights fake-quantized, against AMCT's.
std::vector<std::string> compare_modified(const amct::flow::Prepared& prepared, const std::filesystem::path& run) {
  const auto layers = enabled_layers(prepared);
  if (layers != enabled_layers(run)) return {"the quantized layers differ"};
  const support::TempDir folder;
  amct::onnx::export_model(folder / "modified.onnx", amct::flow::fake_quantize_weights(prepared).graph);
  return compare_models(folder / "modified.onnx", run / "modified.onnx", layers);
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
  add("deploy: ", compare_models(files.deploy_model, run / "res_deploy_model.onnx", layers));
  add("fake-quant: ", compare_models(files.fake_quant_model, run / "res_fake_quant_model.onnx", layers));
  add("", compare_output(amct::onnx::import_model(files.fake_quant_model), run));
  const auto theirs = amct::onnx::import_model(run / "res_deploy_model.onnx");
  add("AMCT's deploy model: ", compare_output(amct::flow::fake_quant(theirs), run));
  return findings;
}

std::vector<std::string> compare_ptq(const amct::flow::Prepared& prepared, const std::filesystem::path& run) {
  auto batches = batches_of(run);
  const amct::Record record = amct::flow::calibrate(prepared, support::ops(), batches);
  std::vector<std::string> findings = compare_records(record, amct::protobuf::read_record(run / "record.txt"));
  const auto files = compare_files(prepared, record, run);
  findings.insert(findings.end(), files.begin(), files.end());
  return findings;
}

/// A tensor as golden's files write it.
amct::Tensor tensor_of(const Json& json) {
  return {amct::Shape(json.at("shape").get<std::vector<std::int64_t>>()),
          std::span<const float>(floats(json.at("data")))};
}

/// A QAT layer as AMCT exports it, with QuantizeLinear and DequantizeLinear: ONNX Runtime's output of it against our
/// execution of the file and of its conversion.
std::vector<std::string> compare_qdq(const std::filesystem::path& run) {
  const Json steps = read_json(run / "steps.json");
  const Json state = steps.back().at("state");
  const std::vector<amct::Tensor> inputs{tensor_of(steps.at(1).at("input"))};
  const amct::Tensor expected = amct::interop::read_npy(run / "qdq_output.npy");
  const amct::graph::Graph graph = amct::onnx::import_model(run / "m.onnx");
  const auto converted = amct::flow::convert_qat(graph, amct::rules_of(amct::Flavour::pytorch));
  const amct::LayerRecord& layer = converted.record.at(0);
  const auto deployed = amct::flow::deploy(converted.graph, converted.record);
  std::vector<std::string> findings;
  const auto compare = [&](const char* what, const amct::graph::Graph& network, float allowed) {
    const auto output = amct::exec::Interpreter(network, support::ops()).run(inputs).at(0);
    if (!(largest_difference(output, expected) <= allowed)) findings.push_back(std::string(what) + " output");
  };
  const float rounding = 1e-5F * largest(expected);
  const float widest = *std::max_element(layer.scale_w.begin(), layer.scale_w.end());
  compare("imported", graph, rounding);
  // The file keeps its bias in float; AMCT's models round it to a step of the accumulator.
  compare("converted", amct::flow::fake_quant(deployed), rounding + 0.5F * *layer.scale_d * widest);
  if (layer.scale_d != floats(state.at("acts_scale").at("data"))[0]) findings.push_back("scale_d");
  if (layer.scale_w != floats(state.at("wts_scales").at("data"))) findings.push_back("scale_w");
  return findings;
}

void run_e2e(const std::filesystem::path& run, Report& report) {
  const std::string name = "e2e/" + run.filename().string();
  const std::string kind = run.filename().string().substr(0, run.filename().string().find('_'));
  if (kind == "qatmod" && std::filesystem::exists(run / "steps.json")) return report.judge(name, compare_qdq(run));
  if (kind == "qatmod")
    return report.skip(name, "the real AMCT writes an invalid model: int16 zero points at opset 13");
  if (kind != "ptq") return report.skip(name, "runs of kind " + kind + " are not delivered yet");
  const Json notes = read_json(run / "notes.json");
  const bool must_be_refused = notes.contains("failed");
  try {
    const auto prepared =
        amct::flow::prepare(amct::onnx::import_model(run / "float.onnx"), config_of(run, notes), support::ops());
    if (must_be_refused) return report.fail(name, "was accepted; AMCT refuses it");
    report.judge(name + " modified", compare_modified(prepared, run));
    if (std::filesystem::exists(run / "record.txt")) {
      report.judge(name + " of AMCT's record",
                   compare_files(prepared, amct::protobuf::read_record(run / "record.txt"), run));
    }
    report.judge(name, compare_ptq(prepared, run));
  } catch (const amct::Error& error) {
    const bool not_delivered = error.code() == amct::ErrorCode::config_unsupported;
    if (not_delivered) return report.skip(name, error.what());
    if (!must_be_refused) throw;
    report.pass();
  }
}

const Registered kRegistered{"e2e", run_e2e};

}  // namespace

}  // namespace golden
