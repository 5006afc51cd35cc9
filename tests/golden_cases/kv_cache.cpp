// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/kv_cache_json.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/flow/kv_cache.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/interop/npy.hpp>
#include <amct/interop/npz.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/protobuf/record_file.hpp>
#include <amct/quantize/kv_cache.hpp>
#include <amct/record/record.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"
#include "support/ops.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

amct::Symmetry symmetry_of(const Json& params, bool with_offset) {
  return params.value("with_offset", with_offset) ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric;
}

amct::IfmrOptions ifmr_options(const Json& test) {
  const Json& params = test.at("params");
  amct::IfmrOptions options{.symmetry = symmetry_of(params, false)};
  options.batch_num = test.at("batch_num").get<std::size_t>();
  options.max_percentile = params.value("max_percentile", options.max_percentile);
  options.min_percentile = params.value("min_percentile", options.min_percentile);
  options.search_start = params.value("search_start", options.search_start);
  options.search_end = params.value("search_end", options.search_end);
  options.search_step = params.value("search_step", options.search_step);
  return options;
}

amct::HfmgOptions hfmg_options(const Json& test) {
  const Json& params = test.at("params");
  amct::HfmgOptions options{.symmetry = symmetry_of(params, true)};
  options.batch_num = test.at("batch_num").get<std::size_t>();
  options.num_of_bins = params.value("nbins", options.num_of_bins);
  return options;
}

/// Scales of IFMR within 4 ulp and of HFMG within 1e-6, as those of the observers alone.
bool close(float got, float want, bool ifmr) {
  return ifmr ? ulps(got, want) <= 4 : std::fabs(got - want) <= 1e-6F * want;
}

template <class Quantizer>
Findings compare(const Json& test, typename Quantizer::Options options, bool ifmr) {
  if (test.at("granularity") == "per_channel") {
    options.granularity = amct::KvGranularity::per_channel;
    options.channels = test.at("layer_output_batches")[0].at("shape").back().template get<std::size_t>();
  }
  Quantizer quantizer(options);
  for (const auto& batch : test.at("layer_output_batches")) {
    if (!quantizer.calibrate(floats(batch.at("data"))).ok()) return {"a batch was refused"};
  }
  if (!quantizer.ready()) return {"the quantizer is not ready"};
  const auto affines = quantizer.params().channels;
  const auto scales = floats(test.at("scale"));
  const auto offsets = test.at("offset").get<std::vector<std::int32_t>>();
  if (affines.size() != scales.size()) return {"number of scales"};
  Findings findings;
  for (std::size_t c = 0; c < scales.size(); ++c) {
    if (!close(affines[c].scale, scales[c], ifmr))
      findings.push_back("scale " + std::to_string(affines[c].scale) + ", expected " + std::to_string(scales[c]));
    if (affines[c].offset != offsets[c])
      findings.push_back("offset " + std::to_string(affines[c].offset) + ", expected " + std::to_string(offsets[c]));
  }
  return findings;
}

void run_kv_cache(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    const std::string where = "kv_cache " + test.at("name").get<std::string>();
    if (test.at("algorithm") == "ifmr") {
      report.judge(where, compare<amct::KvCache<amct::Ifmr>>(test, {.observer = ifmr_options(test)}, true));
    } else {
      report.judge(where, compare<amct::KvCache<amct::Hfmg>>(test, {.observer = hfmg_options(test)}, false));
    }
  }
}

/// The network of a whole run, which AMCT's files give as weights only: three Linear layers on data of three axes, as
/// torch exports them.
amct::graph::Graph linear_layers(const std::filesystem::path& weights) {
  amct::interop::NpzFile file(weights);
  amct::graph::Graph graph;
  const auto x = graph.add_value({.name = "x"});
  graph.inputs = {x};
  for (const std::string name : {"q", "k", "v"}) {
    const auto constant = [&](const std::string& part) {
      const std::string array = name + '.' + part;
      amct::Tensor data = file.read(*file.find(array));
      if (data.shape().rank() == 2) data = amct::graph::transposed(data);
      return amct::graph::add_initializer(graph, array, std::move(data));
    };
    const auto weight = constant("weight");
    const auto bias = constant("bias");
    const auto product = graph.add_value({.name = name + ".product"});
    const auto result = graph.add_value({.name = name + ".result"});
    graph.nodes.push_back({.op_type = "MatMul", .name = name, .inputs = {x, weight}, .outputs = {product}});
    graph.nodes.push_back({.op_type = "Add", .name = name + ".add", .inputs = {bias, product}, .outputs = {result}});
    graph.outputs.push_back(result);
  }
  return graph;
}

/// Scales within 1e-6, since they rest on the sums of a network in front, offsets exact.
Findings compare_whole_run(const std::filesystem::path& run) {
  amct::LayerTable layers;
  for (const char* name : {"k", "v", "q"}) layers.push_back({.name = name, .kind = amct::LayerKind::linear});
  const std::string file = (run / "config.json").string();
  amct::Diagnostics out;
  const auto plan = amct::from_kv_cache_json(amct::json_yaml::read_json(file), layers,
                                             amct::rules_of(amct::Flavour::pytorch), file, out);
  out.throw_if_errors();
  amct::flow::KvCacheCalibration calibration(linear_layers(run / "weights.npz"), plan, support::ops());
  for (std::uint32_t b = 0; b < plan.batch_num; ++b) {
    (void)calibration.observe({amct::interop::read_npy(run / ("calib_" + std::to_string(b) + ".npy"))});
  }
  const amct::Record expected = amct::protobuf::read_record(run / "record.txt");
  const amct::Record record = calibration.finish();
  if (record.size() != expected.size()) return {"number of layers"};
  Findings findings;
  for (const amct::LayerRecord& layer : expected) {
    const amct::LayerRecord* const found = amct::find_record(record, layer.name);
    if (found == nullptr || found->kv_cache->offset != layer.kv_cache->offset) {
      findings.push_back("offsets of " + layer.name);
      continue;
    }
    for (std::size_t c = 0; c < layer.kv_cache->scale.size(); ++c) {
      if (!close(found->kv_cache->scale[c], layer.kv_cache->scale[c], false))
        findings.push_back("scale of " + layer.name);
    }
  }
  return findings;
}

void run_whole(const std::filesystem::path& run, Report& report) {
  const std::string name = run.filename().string();
  if (name.starts_with("kv_")) report.judge("e2e/" + name, compare_whole_run(run));
}

const Registered kRegistered{"kv_cache", run_kv_cache};
const Registered kWholeRuns{"e2e", run_whole};

}  // namespace

}  // namespace golden
