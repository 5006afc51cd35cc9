// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/kv_cache.hpp>
#include <amct/config/kv_cache_json.hpp>
#include <amct/config/layer_references.hpp>
#include <amct/config/plan.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/node_evaluator.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/kv_cache.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/module_names.hpp>
#include <amct/graph/passes/fold_constants.hpp>
#include <amct/graph/passes/fold_weight_transpose.hpp>
#include <amct/graph/passes/name_layers.hpp>
#include <amct/graph/quantizable.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/config_text.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/record.hpp>

/// \file
/// Quantization of the key-value cache of a transformer: create_quant_cali_config, create_quant_cali_model, and
/// QuantCalibrationOp for whoever runs the network elsewhere.

namespace amct {

namespace detail {

/// A network as configs of key-value caches see it.
struct KvNetwork {
  graph::Graph graph;
  graph::ModuleNames names;
  LayerTable layers{};
  std::vector<std::string> nodes{};

  explicit KvNetwork(const Model& model) : graph(model.graph()), names(graph) {
    (void)graph::name_layers(graph, names);
    for (const auto& node : graph.nodes) nodes.push_back(node.name);
    graph::fold_constants(graph, exec::node_evaluator(model.ops()), {.fold_shapes = false});
    graph::fold_weight_transpose(graph);
    layers = graph::find_quantizable(graph, model.rules()).layers;
  }
};

}  // namespace detail

/// Writes the full config of a key-value cache.
/// AMCT's counterpart: create_quant_cali_config(config_file, model, quant_layers=None, config_defination=None).
/// \param quant_layers        Linear layers whose outputs are cached, by any of their names; ignored, with a warning,
///                            beside config_defination
/// \param config_defination   the easy config (.cfg)
/// \throws Error config_* ; config_layer if no layer is given, or one that is not Linear
inline void create_quant_cali_config(const std::string& config_file, const Model& model,
                                     const std::optional<std::vector<std::string>>& quant_layers = {},
                                     const std::optional<std::string>& config_defination = {}) {
  const detail::KvNetwork network(model);
  Diagnostics out;
  const LayerNamer namer = graph::layer_namer(network.names, out);
  const std::string file = config_defination.value_or("");
  ConfigValue value;
  if (config_defination) value = protobuf::read_cfg(file, protobuf::CfgSchema::kv_cache);
  rename_layers(value, file, namer);
  KvCacheConfig config = read_kv_cache_config(value, file, model.rules(), out);
  if (quant_layers && config_defination) {
    out.warning(ErrorCode::config_unsupported, {.file = file, .field = "quant_layers"},
                "the argument is ignored, because a definition file is given; state it there");
  } else if (quant_layers) {
    const Where where{.field = "quant_layers"};
    for (const auto& name : *quant_layers) config.quant_layers.push_back({namer(name, where), where});
  }
  const KvCachePlan plan = resolve_kv_cache(config, network.layers, network.nodes, file, out);
  model.settle(out);
  json_yaml::write_json(config_file, to_kv_cache_json(plan));
}

/// A network whose key-value cache is calibrated: run batch_num batches.
class KvCacheModel {
 public:
  KvCacheModel(flow::KvCacheCalibration calibration, std::string record_file, RecordDialect dialect)
      : calibration_(std::move(calibration)), record_file_(std::move(record_file)), dialect_(dialect) {}

  /// Runs one batch in float; the last of batch_num writes the record.
  /// \throws Error data_not_finite, data_empty or numeric naming the layer; model_shape; io_write
  std::vector<Tensor> forward(const std::vector<Tensor>& inputs) {
    auto outputs = calibration_.observe(inputs);
    if (!written_ && calibration_.complete()) {
      protobuf::write_record_file(record_file_, {.format = {.dialect = dialect_}, .layers = calibration_.finish()});
      written_ = true;
    }
    return outputs;
  }
  [[nodiscard]] bool complete() const noexcept { return calibration_.complete(); }
  /// One `kv_cache_value` a layer. \throws Error data_too_few before batch_num batches were seen
  [[nodiscard]] Record record() const { return calibration_.finish(); }

 private:
  flow::KvCacheCalibration calibration_;
  std::string record_file_;
  RecordDialect dialect_;
  bool written_ = false;
};

/// Makes the model that calibrates a key-value cache.
/// AMCT's counterpart: create_quant_cali_model(config_file, record_file, model).
/// \param record_file  is written when batch_num batches were seen
/// \throws Error config_* of a config that does not fit the model
[[nodiscard]] inline KvCacheModel create_quant_cali_model(const std::string& config_file,
                                                          const std::string& record_file, const Model& model) {
  detail::KvNetwork network(model);
  Diagnostics out;
  ConfigValue value = json_yaml::read_json(config_file);
  rename_layers(value, config_file, graph::layer_namer(network.names, out));
  const KvCachePlan plan = from_kv_cache_json(value, network.layers, model.rules(), config_file, out);
  model.settle(out);
  return {flow::KvCacheCalibration(std::move(network.graph), plan, model.ops(), model.sink()), record_file,
          model.rules().record_dialect};
}

/// How QuantCalibrationOp calibrates. Defaults are AMCT's.
struct QuantAlgoParams {
  std::uint32_t batch_num = 1;
  ActivationPlan data{};     ///< algorithm IFMR or HFMG with its parameters, asymmetric or not; always 8 bits
  bool per_channel = false;  ///< quant_granularity: factors for each index of the last axis
};

/// One operator that calibrates tensors which a program of one's own puts into its cache.
/// AMCT's counterpart: QuantCalibrationOp(record_file, quant_algo_params, quant_method), a torch module that is called
/// with a tensor. Here the call also says which tensor of the record it is.
class QuantCalibrationOp {
 public:
  /// \param record_file   is written whenever a tensor has seen its batch_num batches, with all that have
  /// \param quant_method  "kv_cache_quant", the only one there is \throws Error config_range for another
  explicit QuantCalibrationOp(std::string record_file, QuantAlgoParams quant_algo_params = {},
                              const std::string& quant_method = "kv_cache_quant")
      : record_file_(std::move(record_file)), params_(std::move(quant_algo_params)) {
    if (quant_method == "kv_cache_quant" && params_.batch_num > 0) return;
    const bool no_batches = params_.batch_num == 0;
    throw Error(ErrorCode::config_range, {.field = no_batches ? "batch_num" : "quant_method"},
                no_batches ? std::string("got 0, expected at least 1")
                           : "got \"" + quant_method + "\", expected kv_cache_quant");
  }

  /// Takes in a batch of a tensor, [..., channels], which passes unchanged.
  /// \throws Error data_not_finite, data_empty, model_shape or numeric naming the tensor; io_write
  const Tensor& forward(const std::string& layer, const Tensor& input) {
    flow::KvCacheObserver& observer =
        observers_
            .try_emplace(layer, KvCacheLayer{.name = layer, .data = params_.data, .per_channel = params_.per_channel},
                         params_.batch_num)
            .first->second;
    const bool was_ready = observer.ready();
    observer.observe(input);
    if (!was_ready && observer.ready()) write();
    return input;
  }

 private:
  void write() const {
    RecordFile file;
    for (const auto& [layer, observer] : observers_) {
      if (observer.ready()) file.layers.push_back(observer.entry());
    }
    protobuf::write_record_file(record_file_, file);
  }

  std::string record_file_;
  QuantAlgoParams params_;
  std::map<std::string, flow::KvCacheObserver> observers_;
};

}  // namespace amct
