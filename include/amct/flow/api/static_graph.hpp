// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/fx_json.hpp>
#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/api/checkpoint.hpp>
#include <amct/flow/api/export_setting.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/api/quant_model.hpp>
#include <amct/flow/api/quantization_mode.hpp>
#include <amct/flow/api/save_files.hpp>
#include <amct/flow/api/setup.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/interop/dump_file.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/json_yaml/yaml.hpp>
#include <amct/onnx/session.hpp>

/// \file
/// Post-training quantization as the static graph of hotwheels has it: create_quant_config_fx, create_quant_model_fx,
/// enable_quantization(model, true), forward() over batch_num batches, save_quant_model_fx. Names, order of parameters,
/// spelling and defaults are AMCT's; what is a torch.nn.Module there is a Model here, what is a GraphModule a
/// QuantModel.

namespace amct {

/// Writes the full config of a model: every quantizable layer with its quantizers, to be edited.
/// AMCT's counterpart: create_quant_config_fx(config_file, model, config_definition).
/// \param config_file        the JSON file to write; an older one is replaced
/// \param config_definition  the easy config, .yml or .yaml; empty (not possible in AMCT): the defaults
/// \throws Error config_*; what the checks of the network find is a warning here, since the config may be edited
inline void create_quant_config_fx(const std::string& config_file, const Model& model,
                                   const std::string& config_definition) {
  const ConfigValue easy = config_definition.empty() ? ConfigValue() : json_yaml::read_yaml(config_definition);
  const flow::OmMapping mapping{.read = [](const auto& path) { return json_yaml::read_json(path); }};
  const auto prepared = model.in_file([&] {
    return flow::prepare_fx(model.graph(), easy, config_definition, rules_of(Flavour::hotwheels), model.quantizers(),
                            model.ops(), mapping);
  });
  model.settle(prepared.diagnostics);
  json_yaml::write_json(config_file, to_fx_json(prepared.plan));
}

/// Quantizes the weights and makes the model that calibrates. It is in float mode: see enable_quantization.
/// AMCT's counterpart: create_quant_model_fx(config_file, model). AMCT also draws float.svg and quant.svg; the runner's
/// `amct quantize` does that here.
/// \throws Error config_* of a config that does not fit the model or the device; data_not_finite or numeric naming a
///         weight
[[nodiscard]] inline QuantModel create_quant_model_fx(const std::string& config_file, const Model& model) {
  return {model, flow::fx_setup(model, json_yaml::read_json(config_file), config_file)};
}

/// Chooses what forward() does: float (no switch), calibration, calibration and fake_quant, fake_quant, or real_quant.
/// AMCT's counterpart: enable_quantization(model, calibration=False, fake_quant=False, real_quant=False).
/// \throws Error data_format listing the combinations there are, for another one; the mode then stays
inline void enable_quantization(QuantModel& model, bool calibration = false, bool fake_quant = false,
                                bool real_quant = false) {
  model.set_mode(quantization_mode(calibration, fake_quant, real_quant));
}

/// Lets the next forward() write the result of every layer to a file, once.
/// AMCT's counterpart: enable_dump(model, dump_dir=None, dump_format=None), which does not say what None means.
/// \param dump_dir     folder; default "./dump". interop::DumpFolder reads it
/// \param dump_format  ".npy", ".float" or ".txt", the point may be left out; default ".npy"
/// \throws Error data_format for another format
inline void enable_dump(QuantModel& model, const std::optional<std::string>& dump_dir = {},
                        const std::optional<std::string>& dump_format = {}) {
  std::string_view name = dump_format ? std::string_view(*dump_format) : ".npy";
  if (name.starts_with('.')) name.remove_prefix(1);
  const auto format = interop::dump_format_named(name);
  if (!format || *format == interop::DumpFormat::amct) {
    throw Error(ErrorCode::data_format, {.field = "dump_format"},
                "got \"" + dump_format.value_or("") + "\", expected .npy, .float or .txt");
  }
  model.dump_next(dump_dir.value_or("./dump"), *format);
}

/// Writes `<save_path>_deploy_model.onnx`, `<save_path>_float_model.onnx`, `<save_path>_quant_param_record.txt` and the
/// map of names `<save_path>_quant.json`. Older ones are replaced.
/// AMCT's counterpart: save_quant_model_fx(model, save_path, input_data, onnx_export_setting=None). There the model
/// runs with input_data to be exported; here the data are only checked, and may be left empty.
///
/// \param save_path            folder and beginning of the file names, such as "out/m"
/// \param onnx_export_setting  names, open axes and opset of the ONNX files
/// \throws Error data_too_few before batch_num batches were seen; numeric if a bias does not fit int32; io_write;
///         model_unsupported for an opset below the model's
inline void save_quant_model_fx(QuantModel& model, const std::string& save_path, const std::vector<Tensor>& input_data,
                                const std::optional<OnnxExportSetting>& onnx_export_setting = {}) {
  if (!input_data.empty()) require_input_data(model.setup().graph, input_data);
  require_complete(model);
  const FlavourRules& rules = *model.setup().rules;
  flow::Recorded found = model.deployable();
  graph::Graph original = model.model().graph();
  onnx::ModelFormats formats = default_formats(rules);
  if (onnx_export_setting) {
    apply_setting(found.graph, *onnx_export_setting);
    apply_setting(original, *onnx_export_setting);
    formats.opset = onnx_export_setting->opset_version;
  }
  model.model().in_file([&] {
    save_files(found.graph, found.record, rules, found.origins, onnx::OutputFiles(save_path, formats), &original);
  });
}

/// Makes the quantized model again from its config and a checkpoint.
/// AMCT's counterpart: restore_quant_model_fx(config_file, model, pth_file, state_dict_name=None), whose file is that
/// of torch.save; here it is the one of save_checkpoint().
///
/// \param config_file      the full config of the checkpoint: a different one is refused
/// \param model            the float network of the checkpoint: a different one is refused
/// \param pth_file         the checkpoint
/// \param state_dict_name  key of the weight set; may be left out if there is one only
/// \throws Error record_value naming what differs; record_syntax for a damaged file
[[nodiscard]] inline QuantModel restore_quant_model_fx(const std::string& config_file, const Model& model,
                                                       const std::string& pth_file,
                                                       const std::optional<std::string>& state_dict_name = {}) {
  return restore_quant_model(config_file, model, pth_file, state_dict_name);
}

}  // namespace amct
