// SPDX-License-Identifier: Apache-2.0
#include "builtin_quantizers.hpp"

#include <amct/quantize/builtin.hpp>

namespace runner {

const amct::QuantizerRegistry& builtin_quantizers() {
  static const amct::QuantizerRegistry registry = amct::builtin_registry();
  return registry;
}

}  // namespace runner
