// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/balance.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/convert.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/interop/npy.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"
#include "golden_cases/whole_run.hpp"
#include "support/ops.hpp"

namespace golden {

namespace {

/// A run of post-training quantization: every file that AMCT has written on the way.
void judge_ptq(const std::string& name, const amct::flow::Prepared& prepared, const std::filesystem::path& run,
               Report& report) {
  auto batches = batches_of(run);
  const amct::Record balanced = amct::flow::balance_factors(prepared, support::ops(), batches.load(0));
  if (amct::flow::needs_balance(prepared.plan)) {
    report.judge(name + " preprocess",
                 compare_records(balanced, amct::protobuf::read_record(run / "record_after_preprocess.txt")));
  }
  report.judge(name + " config", compare_config(prepared, run));
  report.judge(name + " modified", compare_modified(prepared, balanced, run));
  const amct::Record theirs = amct::protobuf::read_record(run / "record.txt");
  report.judge(name + " of AMCT's record", compare_files(prepared, theirs, run));
  const amct::Record record = amct::flow::calibrate(prepared, support::ops(), batches);
  report.judge(name + " record", compare_records(record, theirs));
  report.judge(name, compare_files(prepared, record, run));
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
  const float rounding = 1e-5F * largest_magnitude(expected);
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
  if (kind == "autocal" || kind == "kv") return;  // judged by auto_calibration.cpp and kv_cache.cpp
  if (kind != "ptq" && kind != "dmq") return report.skip(name, "runs of kind " + kind + " are not delivered yet");
  const Json notes = read_json(run / "notes.json");
  const bool must_be_refused = notes.contains("failed");
  try {
    amct::EasyConfig config = config_of(run, notes);
    const auto prepared =
        amct::flow::prepare(amct::onnx::import_model(run / "float.onnx"), std::move(config), support::ops());
    if (must_be_refused) return report.fail(name, "was accepted; AMCT refuses it");
    judge_ptq(name, prepared, run, report);
  } catch (const amct::Error& error) {
    if (!must_be_refused) return report.fail(name, error.what());
    report.pass();
  }
}

const Registered kRegistered{"e2e", run_e2e};

}  // namespace

}  // namespace golden
