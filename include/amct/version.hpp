// SPDX-License-Identifier: Apache-2.0
#pragma once

#define AMCT_VERSION_MAJOR 0
#define AMCT_VERSION_MINOR 1
#define AMCT_VERSION_PATCH 0

namespace amct {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace amct
