// SPDX-License-Identifier: Apache-2.0
#include "input_warnings.hpp"

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/flow/scale_check.hpp>

#include "builtin_ops.hpp"

namespace runner {

void warn_about_inputs(const amct::graph::Graph& network, const DataFolder& data) {
  if (data.size() == 0) return;
  const auto inputs = data.load(0);
  try {
    for (const auto& mistake : amct::flow::check_scale(network, builtin_ops(), inputs)) {
      spdlog::warn("{}: {}", data.place(), describe(mistake));
    }
  } catch (const amct::Error& error) {
    // Whoever runs the whole network says it better.
    spdlog::debug("the scale of the inputs is not checked: {}", error.what());
  }
}

}  // namespace runner
