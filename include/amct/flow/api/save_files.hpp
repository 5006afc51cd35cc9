// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/api/quant_model.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/quant_map.hpp>
#include <amct/graph/ir.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/session.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct {

/// Refuses a model whose calibration has not seen batch_num batches: its factors would not be those of the data.
/// \throws Error data_too_few
inline void require_complete(const QuantModel& model) {
  if (model.batches() >= model.batch_num() || model.has_record()) return;
  throw Error(ErrorCode::data_too_few, {.file = model.model().file(), .field = "batch_num"},
              "the calibration has seen " + std::to_string(model.batches()) + " batches, expected " +
                  std::to_string(model.batch_num()) +
                  ": run more batches in mode calibration before the model is saved");
}
/// The same of a record that quantize_model has begun. \param file  for messages
inline void require_complete(const Record& record, const std::string& file) {
  const auto open =
      std::find_if(record.begin(), record.end(), [](const LayerRecord& layer) { return inputs_of(layer).empty(); });
  if (open == record.end() && !record.empty()) return;
  throw Error(ErrorCode::data_too_few,
              {.file = file, .layer = record.empty() ? std::string() : open->name, .field = "scale_d"},
              "is not there: the calibration is not complete; run batch_num batches before the model is saved");
}

/// The models that a flavour writes.
[[nodiscard]] inline onnx::ModelFormats default_formats(const FlavourRules& rules) {
  onnx::ModelFormats formats;
  formats.fake_quant = rules.writes_fake_quant_model;
  formats.float32 = rules.writes_float_model;
  return formats;
}

/// Writes the files of a quantized network: models, record and map of names.
/// \param graph     float, in the form that the record describes
/// \param original  the network as it was read, which is the float model; null: `graph` is
/// \throws Error record_value for a record that does not fit; numeric if a bias does not fit int32; io_write
inline void save_files(const graph::Graph& graph, const Record& record, const FlavourRules& rules,
                       const flow::Origins& origins, const onnx::OutputFiles& files,
                       const graph::Graph* original = nullptr) {
  Diagnostics findings;
  flow::detail::check_against(record, rules, graph, findings);
  findings.throw_if_errors();
  const auto map = [&](const graph::Graph& deployed) {
    return json_yaml::json_text(flow::quant_map(deployed, origins)) + '\n';
  };
  onnx::save_model(files, graph, record, map, onnx::file_rules(rules), original);
}

}  // namespace amct
