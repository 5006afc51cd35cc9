// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/quantize/registry.hpp>

namespace runner {

/// All quantizers of the library by name. Its file is the only one that instantiates them.
const amct::QuantizerRegistry& builtin_quantizers();

}  // namespace runner
