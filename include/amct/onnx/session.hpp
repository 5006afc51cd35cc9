// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <filesystem>
#include <string>
#include <vector>

#include <amct/core/atomic_file.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/export.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/record.hpp>

namespace amct::onnx {

/// The files of one quantized network. `save_path` is a folder with the beginning of the file names, as AMCT has it:
/// "out/m" gives out/m_deploy_model.onnx, "out/" gives out/deploy_model.onnx. The map of names is
/// `<prefix>_quant.json`.
struct OutputFiles {
  std::filesystem::path deploy_model, fake_quant_model, record, map;

  explicit OutputFiles(const std::string& save_path) {
    const bool no_prefix = save_path.empty() || save_path.back() == '/';
    const std::string start = no_prefix ? save_path : save_path + '_';
    deploy_model = start + "deploy_model.onnx";
    fake_quant_model = start + "fake_quant_model.onnx";
    record = start + "quant_param_record.txt";
    map = start + "quant.json";
  }
  [[nodiscard]] std::vector<std::filesystem::path> all() const { return {deploy_model, fake_quant_model, record, map}; }
};

/// Writes deploy model, fake-quant model, record and map of a calibrated network: all of them, or none.
/// \param graph  a float network in the form that the record describes, see flow::prepare and flow::convert_qat
/// \param map_text  makes the content of the map of names from the deployed network, see flow::quant_map
/// \throws Error numeric if a bias does not fit int32, io_write
template <std::invocable<const graph::Graph&> MapText>
void save_model(const OutputFiles& files, const graph::Graph& graph, const Record& record, const MapText& map_text) {
  const graph::Graph deployed = flow::deploy(graph, record);
  const graph::Graph fake = flow::fake_quant(deployed);
  AtomicFile deploy_file(files.deploy_model);
  AtomicFile fake_file(files.fake_quant_model);
  AtomicFile record_file(files.record);
  AtomicFile map_file(files.map);
  write_model(deployed, deploy_file);
  write_model(fake, fake_file);
  record_file.stream() << protobuf::record_text(record);
  map_file.stream() << map_text(deployed);
  for (AtomicFile* file : {&deploy_file, &fake_file, &record_file, &map_file}) file->finish();
  for (AtomicFile* file : {&deploy_file, &fake_file, &record_file, &map_file}) file->commit();
}

}  // namespace amct::onnx
