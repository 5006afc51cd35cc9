// SPDX-License-Identifier: Apache-2.0
#include "easy_config_file.hpp"

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/protobuf/calibration_cfg.hpp>

namespace runner {

amct::EasyConfig read_easy_config(const std::string& file) {
  amct::Diagnostics diagnostics;
  auto config = amct::protobuf::read_calibration_cfg(file, amct::rules_of(amct::Flavour::pytorch), diagnostics);
  show_warnings(diagnostics);
  diagnostics.throw_if_errors();
  return config;
}

void show_warnings(const amct::Diagnostics& diagnostics) {
  for (const auto& finding : diagnostics.all()) {
    if (!finding.is_error) spdlog::warn(amct::Error(finding.code, finding.where, finding.message).what());
  }
}

}  // namespace runner
