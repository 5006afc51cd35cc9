// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/classic_json.hpp>
#include <amct/config/create.hpp>
#include <amct/config/om.hpp>
#include <amct/core/diagnostics.hpp>
#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/api/export_setting.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/api/quant_model.hpp>
#include <amct/flow/api/save_files.hpp>
#include <amct/flow/api/setup.hpp>
#include <amct/flow/balance.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/calibration_cfg.hpp>
#include <amct/protobuf/record_file.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/dialect.hpp>
#include <amct/record/record.hpp>
#include <amct/record/record_file.hpp>

/// \file
/// Post-training quantization as the PyTorch flavour and the dynamic graph of hotwheels have it: create_quant_config,
/// quantize_model, forward() over batch_num batches, save_model. Names, order of parameters, spelling and defaults are
/// AMCT's; what is a torch.nn.Module there is a Model or a QuantModel here.

namespace amct {

/// Writes the full config of a model: every quantizable layer with its parameters, to be edited.
/// AMCT's counterpart: create_quant_config(config_file, model, input_data, skip_layers=None, batch_num=1,
/// activation_offset=True, config_defination=None). There the model runs once with input_data to be exported; here the
/// data are only checked against the model's inputs, and may be left empty.
/// \param config_file        the JSON file to write; an older one is replaced
/// \param skip_layers        layers that stay float, by any of their names
/// \param batch_num          batches that calibration will want, at least 1
/// \param activation_offset  asymmetric activations
/// \param config_defination  an easy config (.cfg). If it is given, the three parameters before it are ignored, with a
///                           warning for each that is not the default
/// \throws Error config_* of a definition, config_layer for a layer that the model does not have or nothing to quantize
inline void create_quant_config(const std::string& config_file, const Model& model,
                                const std::vector<Tensor>& input_data,
                                const std::optional<std::vector<std::string>>& skip_layers = {},
                                std::uint32_t batch_num = 1, bool activation_offset = true,
                                const std::optional<std::string>& config_defination = {}) {
  if (!input_data.empty()) require_input_data(model.graph(), input_data);
  if (batch_num == 0) throw Error(ErrorCode::config_range, {.field = "batch_num"}, "got 0, expected at least 1");
  CreateArguments arguments{.skip_layers = skip_layers};
  if (batch_num != 1) arguments.batch_num = batch_num;
  if (!activation_offset) arguments.activation_offset = false;
  Diagnostics diagnostics;
  std::optional<EasyConfig> definition;
  if (config_defination) {
    definition = protobuf::read_calibration_cfg(*config_defination, model.rules(), diagnostics);
  }
  const EasyConfig config = effective_config(arguments, definition, diagnostics);
  model.settle(diagnostics);
  auto prepared = model.in_file([&] { return flow::prepare(model.graph(), config, model.ops(), model.rules()); });
  model.settle(prepared.diagnostics);
  if (config.om_mapping_file) {
    Diagnostics findings;
    const std::string& file = *config.om_mapping_file;
    apply_om(prepared.plan, read_om(json_yaml::read_json(file), file, findings), OmScope::additions);
    model.settle(findings);
  }
  json_yaml::write_json(config_file, to_classic_json(prepared.plan, model.rules()));
}

/// Finds the factors of layers that DMQ balances, from one batch, and writes them to the record. Needed before
/// quantize_model if the config has a dmq_balancer_param, else it does nothing but check the config.
/// AMCT's counterpart: quantize_preprocess(config_file, record_file, model, input_data).
/// \param input_data  the first batch of the calibration data, one tensor an input
/// \throws Error of the config; numeric for factors out of range; data_format, data_not_finite of the data
inline void quantize_preprocess(const std::string& config_file, const std::string& record_file, const Model& model,
                                const std::vector<Tensor>& input_data) {
  require_input_data(model.graph(), input_data);
  const auto prepared = flow::prepare_classic(model, json_yaml::read_json(config_file), config_file, model.rules());
  const Record factors = model.in_file([&] { return flow::balance_factors(*prepared, model.ops(), input_data); });
  protobuf::write_record_file(record_file, {.format = {.dialect = model.rules().record_dialect}, .layers = factors});
}

/// Quantizes the weights and makes the model that calibrates: call forward() with batch_num batches, then save_model.
/// It is in mode calibration. The record holds the factors of the weights now, and all when batch_num batches were
/// seen. AMCT's counterpart: quantize_model(config_file, modfied_onnx_file, record_file, model, input_data,
/// input_names=None, output_names=None, dynamic_axes=None). BatchNormalization is folded as there.
///
/// \param config_file        the full config, which may have been edited
/// \param modfied_onnx_file  gets the float network in the form that is calibrated; save_model reads it
/// \param record_file        gets the factors; those of quantize_preprocess are taken from it
/// \param input_data         checked against the model's inputs; may be empty
/// \param input_names        new names of the first inputs in modfied_onnx_file
/// \param output_names       the same of outputs
/// \param dynamic_axes       axes there whose sizes stay open, by the new names
/// \throws Error of the config; data_not_finite or numeric naming a weight; io_write
[[nodiscard]] inline QuantModel quantize_model(const std::string& config_file, const std::string& modfied_onnx_file,
                                               const std::string& record_file, const Model& model,
                                               const std::vector<Tensor>& input_data,
                                               const std::vector<std::string>& input_names = {},
                                               const std::vector<std::string>& output_names = {},
                                               const DynamicAxes& dynamic_axes = {}) {
  if (!input_data.empty()) require_input_data(model.graph(), input_data);
  auto prepared = flow::prepare_classic(model, json_yaml::read_json(config_file), config_file, model.rules());
  const auto& layers = prepared->plan.layers;
  const bool balances =
      std::any_of(layers.begin(), layers.end(), [](const auto& layer) { return layer.enabled && layer.dmq_strength; });
  Record balanced;
  if (balances) {
    balanced = protobuf::read_record_file(record_file, {.dialect = model.rules().record_dialect}).layers;
  }
  QuantModel quantized(model, flow::classic_setup(std::move(prepared), balanced));
  quantized.keep_network_in(modfied_onnx_file,
                            {.input_names = input_names, .output_names = output_names, .dynamic_axes = dynamic_axes});
  quantized.keep_record_in(record_file);
  quantized.set_mode(QuantizationMode::calibration);
  return quantized;
}

/// Writes the deploy model, the fake-quant model if the flavour has one, the record and the map of names.
/// AMCT's counterpart: save_model(modfied_onnx_file, record_file, save_path), on hotwheels with a fourth parameter.
///
/// \param modfied_onnx_file  that of quantize_model
/// \param record_file        that of quantize_model, complete: a calibration of fewer than batch_num batches is refused
/// \param save_path          folder and beginning of the file names: "out/m" gives out/m_deploy_model.onnx
/// \param calibration_torch_model  what quantize_model returned; says whose flavour the files have, and lets errors say
///                           how many batches are missing. Without it the record's dialect decides, and what
///                           update_bn kept unfolded stays so
/// \throws Error data_too_few for a calibration that is not complete; record_value; numeric if a bias does not fit
///         int32; io_write
inline void save_model(const std::string& modfied_onnx_file, const std::string& record_file,
                       const std::string& save_path, const QuantModel* calibration_torch_model = nullptr) {
  if (calibration_torch_model != nullptr) require_complete(*calibration_torch_model);
  RecordFile record = protobuf::read_record_file(record_file);
  const FlavourRules& rules = calibration_torch_model != nullptr ? *calibration_torch_model->setup().rules
                                                                 : rules_of(flavour_of(record.format.dialect));
  require_complete(record.layers, record_file);
  flow::Recorded saved{onnx::import_model(modfied_onnx_file), std::move(record.layers), {}, {}};
  detail::with_file(modfied_onnx_file, [&] {
    if (calibration_torch_model != nullptr) {
      saved = calibration_torch_model->setup().saved(saved.graph, std::move(saved.record));
    }
    save_files(saved.graph, saved.record, rules, saved.origins, onnx::OutputFiles(save_path, default_formats(rules)));
  });
}
/// The same with the model as AMCT's fourth parameter.
inline void save_model(const std::string& modfied_onnx_file, const std::string& record_file,
                       const std::string& save_path, const QuantModel& calibration_torch_model) {
  save_model(modfied_onnx_file, record_file, save_path, &calibration_torch_model);
}

/// Lets the statistics of BatchNormalization be learned anew, since the weights in front of it were quantized, or holds
/// them: call it with true, run some batches (bn_update_iterations of the config), call it with false, calibrate. The
/// calibration begins anew then, and the modified model and the record are written again. For 4-bit weights whose
/// BatchNormalization is not folded (do_fusion false). AMCT's counterpart: update_bn_status(calibration_model,
/// training=True). What AMCT makes learnable is not documented; here it is running mean and variance.
inline void update_bn_status(QuantModel& calibration_model, bool training = true) {
  calibration_model.update_batch_norm(training);
}

}  // namespace amct
