// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <amct/config/easy_config.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/protobuf/text.hpp>

#include <amct/proto/calibration_config_pytorch.pb.h>

namespace amct::protobuf {

namespace detail {

[[noreturn]] inline void refuse_algorithm(const std::string& file, const char* field) {
  throw Error(ErrorCode::config_unsupported, {.file = file, .field = field},
              "this version calibrates with arq_quantize and ifmr_quantize only");
}

[[nodiscard]] inline LayerSetting to_setting(const std::string& file,
                                             const proto::pytorch::CalibrationConfig& message) {
  LayerSetting setting;
  if (message.has_ada_quantize()) refuse_algorithm(file, "ada_quantize");
  if (message.has_hfmg_quantize()) refuse_algorithm(file, "hfmg_quantize");
  if (message.has_dmq_balancer()) refuse_algorithm(file, "dmq_balancer");
  if (message.has_arq_quantize()) {
    const auto& arq = message.arq_quantize();
    auto& target = setting.arq.emplace();
    if (arq.has_channel_wise()) target.channel_wise = arq.channel_wise();
    if (arq.has_quant_bits()) target.bits = arq.quant_bits();
  }
  if (message.has_ifmr_quantize()) {
    const auto& ifmr = message.ifmr_quantize();
    auto& target = setting.ifmr.emplace();
    target.search_start = decimal_value(ifmr.search_range_start());
    target.search_end = decimal_value(ifmr.search_range_end());
    target.search_step = decimal_value(ifmr.search_step());
    target.max_percentile = decimal_value(ifmr.max_percentile());
    target.min_percentile = decimal_value(ifmr.min_percentile());
    if (ifmr.has_asymmetric()) target.asymmetric = ifmr.asymmetric();
    target.bits = ifmr.dst_type() == proto::pytorch::INT16 ? 16 : 8;
  }
  return setting;
}

}  // namespace detail

/// Reads an easy calibration config (.cfg, protobuf text) of AMCT's open PyTorch flavour.
/// \throws Error config_syntax with file, line and column; config_unsupported
[[nodiscard]] inline EasyConfig read_calibration_cfg(const std::filesystem::path& path) {
  proto::pytorch::AMCTConfig message;
  read_text(path, ErrorCode::config_syntax, message);

  EasyConfig config;
  config.file = path.string();
  if (message.has_fakequant_precision_mode()) {
    throw Error(ErrorCode::config_unsupported, {.file = config.file, .field = "fakequant_precision_mode"},
                "this version has no FORCE_FP16_QUANT");
  }
  if (message.has_batch_num()) config.batch_num = message.batch_num();
  config.activation_offset = message.activation_offset();
  config.do_fusion = message.do_fusion();
  config.skip_layers.assign(message.skip_layers().begin(), message.skip_layers().end());
  config.skip_layer_types.assign(message.skip_layer_types().begin(), message.skip_layer_types().end());
  config.skip_fusion_layers.assign(message.skip_fusion_layers().begin(), message.skip_fusion_layers().end());
  config.common = detail::to_setting(config.file, message.common_config());
  for (const auto& entry : message.override_layer_types()) {
    config.layer_types.emplace_back(entry.layer_type(), detail::to_setting(config.file, entry.calibration_config()));
  }
  for (const auto& entry : message.override_layer_configs()) {
    config.layers.emplace_back(entry.layer_name(), detail::to_setting(config.file, entry.calibration_config()));
  }
  return config;
}

}  // namespace amct::protobuf
