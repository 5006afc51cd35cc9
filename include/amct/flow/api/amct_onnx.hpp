// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/flow/api/dynamic_graph.hpp>
#include <amct/flow/api/model.hpp>
#include <amct/flow/api/quant_model.hpp>
#include <amct/flow/api/save_files.hpp>
#include <amct/flow/apply_record.hpp>
#include <amct/flow/convert.hpp>
#include <amct/onnx/import.hpp>
#include <amct/onnx/session.hpp>
#include <amct/protobuf/record_file.hpp>

/// \file
/// The functions of AMCT's ONNX tool (`import amct_onnx as amct`), which take files. Names, order of parameters and
/// spelling are AMCT's. There ONNX Runtime runs the modified model with AMCT's operators (AMCT_SO); here quantize_model
/// gives the model to run, which is why it, and what computes constants, needs the operators.

namespace amct::amct_onnx {

/// As amct::create_quant_config for an ONNX file. AMCT's counterpart: create_quant_config(config_file, model_file,
/// skip_layers, batch_num, activation_offset, config_defination).
inline void create_quant_config(const std::string& config_file, const std::string& model_file, const exec::OpSet& ops,
                                const std::optional<std::vector<std::string>>& skip_layers = {},
                                std::uint32_t batch_num = 1, bool activation_offset = true,
                                const std::optional<std::string>& config_defination = {}) {
  const Model model(model_file, ops, {.flavour = Flavour::onnx, .input_shapes = {}, .sink = {}});
  amct::create_quant_config(config_file, model, {}, skip_layers, batch_num, activation_offset, config_defination);
}

/// As amct::quantize_model for an ONNX file. AMCT's counterpart: quantize_model(config_file, model_file,
/// modified_onnx_file, record_file), which returns nothing.
[[nodiscard]] inline QuantModel quantize_model(const std::string& config_file, const std::string& model_file,
                                               const std::string& modified_onnx_file, const std::string& record_file,
                                               const exec::OpSet& ops) {
  const Model model(model_file, ops, {.flavour = Flavour::onnx, .input_shapes = {}, .sink = {}});
  return amct::quantize_model(config_file, modified_onnx_file, record_file, model, {});
}

/// As amct::save_model. AMCT's counterpart: save_model(modified_onnx_file, record_file, save_path).
inline void save_model(const std::string& modified_onnx_file, const std::string& record_file,
                       const std::string& save_path) {
  amct::save_model(modified_onnx_file, record_file, save_path);
}

/// Deploys a float network with factors that somebody else found. AMCT's counterpart: convert_model(model_file,
/// scale_offset_record_file, save_path).
/// \throws Error record_value for a record that does not fit the network
inline void convert_model(const std::string& model_file, const std::string& scale_offset_record_file,
                          const std::string& save_path, const exec::OpSet& ops) {
  const RecordFile record = protobuf::read_record_file(scale_offset_record_file);
  const FlavourRules& rules = rules_of(flavour_of(record.format.dialect));
  const Model model(model_file, ops);
  model.in_file([&] {
    const auto recorded = flow::apply_record(model.graph(), record.layers, rules, ops);
    save_files(recorded.graph, recorded.record, rules, recorded.origins,
               onnx::OutputFiles(save_path, default_formats(rules)));
  });
}

/// Makes the model of quantization-aware training, with QuantizeLinear and DequantizeLinear, AMCT's.
/// AMCT's counterpart: convert_qat_model(model_file, save_path, record_file=None), whose third parameter is the record
/// to write; here that is always `<save_path>_quant_param_record.txt`.
/// \throws Error model_unsupported if no layer is quantized in a form that can be deployed
inline void convert_qat_model(const std::string& model_file, const std::string& save_path) {
  const FlavourRules& rules = rules_of(Flavour::onnx);
  detail::with_file(model_file, [&] {
    const auto converted = flow::convert_qat(onnx::import_model(model_file), rules);
    save_files(converted.graph, converted.record, rules, converted.origins,
               onnx::OutputFiles(save_path, default_formats(rules)));
  });
}

}  // namespace amct::amct_onnx
