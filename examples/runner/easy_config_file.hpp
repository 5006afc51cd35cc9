// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <amct/config/easy_config.hpp>
#include <amct/core/diagnostics.hpp>

namespace runner {

/// Reads a .cfg of calibration; warnings go to the log. \throws amct::Error of the config
[[nodiscard]] amct::EasyConfig read_easy_config(const std::string& file);

/// The warnings among findings, to the log.
void show_warnings(const amct::Diagnostics& diagnostics);

}  // namespace runner
