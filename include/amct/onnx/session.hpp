// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/atomic_file.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/passes/pack_int4_weights.hpp>
#include <amct/graph/passes/to_qdq.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/raise_opset.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/record.hpp>
#include <amct/record/record_file.hpp>

namespace amct::onnx {

/// Which models of a quantized network are written, and how. Record and map of names always are.
struct ModelFormats {
  bool deploy = true;      ///< AMCT's own operators
  bool fake_quant = true;  ///< standard operators on floats that hold integers
  bool qdq = false;        ///< QuantizeLinear and DequantizeLinear, see graph::to_qdq
  graph::QdqForm qdq_form{};
  bool float32 = false;                 ///< the network as it was before quantization
  std::optional<std::int64_t> opset{};  ///< to which all are raised; else that of the network, or what a form needs
};

/// The files of one quantized network. `save_path` is a folder with the beginning of the file names, as AMCT has it:
/// "out/m" gives out/m_deploy_model.onnx, "out/" gives out/deploy_model.onnx. The map of names is
/// `<prefix>_quant.json`.
struct OutputFiles {
  std::filesystem::path deploy_model, fake_quant_model, qdq_model, float_model, record, map;
  ModelFormats formats;

  explicit OutputFiles(const std::string& save_path, const ModelFormats& chosen = {}) : formats(chosen) {
    const bool no_prefix = save_path.empty() || save_path.back() == '/';
    const std::string start = no_prefix ? save_path : save_path + '_';
    deploy_model = start + "deploy_model.onnx";
    fake_quant_model = start + "fake_quant_model.onnx";
    qdq_model = start + "qdq_model.onnx";
    float_model = start + "float_model.onnx";
    record = start + "quant_param_record.txt";
    map = start + "quant.json";
  }
  /// Those that are written.
  [[nodiscard]] std::vector<std::filesystem::path> all() const {
    std::vector<std::filesystem::path> files;
    if (formats.deploy) files.push_back(deploy_model);
    if (formats.fake_quant) files.push_back(fake_quant_model);
    if (formats.qdq) files.push_back(qdq_model);
    if (formats.float32) files.push_back(float_model);
    files.insert(files.end(), {record, map});
    return files;
  }
};

/// A network with QuantizeLinear and DequantizeLinear, ready to be written.
struct QdqModel {
  graph::Graph graph{};
  std::vector<graph::ValueId> int4{};  ///< initializers that become INT4, see to_model
};

/// A deployed network in that form, in an opset that has what it needs.
/// \param record  the one that it was deployed with
/// \throws Error model_unsupported naming the node if something has no such form
[[nodiscard]] inline QdqModel qdq(graph::Graph deployed, const Record& record, graph::QdqForm form = {}) {
  graph::QdqNeeds needs = graph::to_qdq(deployed, record, form);
  if (deployed.opset < needs.opset) raise_opset(deployed, needs.opset);
  return {std::move(deployed), std::move(needs.int4)};
}

/// Writes a network in that form to a file that the caller commits. \throws Error io_write
inline void write_model(const QdqModel& model, AtomicFile& file) {
  write_model(model.graph, file, kMostModelBytes, model.int4);
}

/// What differs between flavours in the files of a network. The defaults are those of pytorch.
struct FileRules {
  flow::DeployOptions deploy{};
  RecordFormat record{};
};

/// The rules of a flavour.
[[nodiscard]] inline FileRules file_rules(const FlavourRules& flavour) {
  return {.deploy = flow::deploy_options(flavour), .record = {.dialect = flavour.record_dialect}};
}

/// A network in the opset that somebody wants; empty: in its own.
/// \throws Error model_unsupported for an opset below the network's, or one that raise_opset does not know
[[nodiscard]] inline graph::Graph in_opset(graph::Graph graph, const std::optional<std::int64_t>& opset) {
  constexpr std::int64_t kLast = 21;
  if (!opset || *opset == graph.opset) return graph;
  const std::int64_t first = std::max(graph.opset, kRaisedOpset);
  if (*opset < first || *opset > kLast) {
    throw Error(ErrorCode::model_unsupported, {.field = "opset"},
                "got " + std::to_string(*opset) + " for a network of opset " + std::to_string(graph.opset) +
                    ", which can only be raised: expected " + std::to_string(first) + " to " + std::to_string(kLast));
  }
  raise_opset(graph, *opset);
  return graph;
}

/// Writes the models that `files` has, record and map of a calibrated network: all of them, or none.
/// \param graph  a float network in the form that the record describes, see flow::prepare and flow::convert_qat
/// \param map_text  makes the content of the map of names from the deployed network, see flow::quant_map
/// \param original  the network as it was read, which is the float model; null: `graph` is
/// \throws Error numeric if a bias does not fit int32, record_value for factors that a layer or the record's dialect
///         cannot have, model_unsupported if the qdq model or an opset is wanted and not possible, io_write
template <std::invocable<const graph::Graph&> MapText>
void save_model(const OutputFiles& files, const graph::Graph& graph, const Record& record, const MapText& map_text,
                const FileRules& rules = {}, const graph::Graph* original = nullptr) {
  const ModelFormats& formats = files.formats;
  const graph::Graph deployed = flow::deploy(graph, record, rules.deploy);
  std::vector<AtomicFile> written;
  written.reserve(files.all().size());
  for (const auto& path : files.all()) written.emplace_back(path);
  auto next = written.begin();
  if (formats.deploy) write_model(in_opset(graph::pack_int4_weights(deployed, record), formats.opset), *next++);
  if (formats.fake_quant) write_model(in_opset(flow::fake_quant(deployed), formats.opset), *next++);
  if (formats.qdq) {
    QdqModel model = qdq(deployed, record, formats.qdq_form);
    if (formats.opset && model.graph.opset < *formats.opset)
      model.graph = in_opset(std::move(model.graph), formats.opset);
    write_model(model, *next++);
  }
  if (formats.float32) write_model(in_opset(original != nullptr ? *original : graph, formats.opset), *next++);
  (next++)->stream() << protobuf::record_text(record, rules.record);
  next->stream() << map_text(deployed);
  for (AtomicFile& file : written) file.finish();
  for (AtomicFile& file : written) file.commit();
}

}  // namespace amct::onnx
