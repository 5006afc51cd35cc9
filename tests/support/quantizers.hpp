// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/quantize/registry.hpp>

#include "runner/builtin_quantizers.hpp"

namespace support {

/// All quantizers of the library by name, in the object that the runner uses too (library amct_builtin_ops).
[[nodiscard]] inline const amct::QuantizerRegistry& quantizers() { return runner::builtin_quantizers(); }

}  // namespace support
