// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <amct/core/shape.hpp>
#include <amct/graph/ir.hpp>

namespace runner {

/// amct::onnx::import_model, whose code is compiled once, in model_file.cpp.
[[nodiscard]] amct::graph::Graph read_model(const std::string& file,
                                            const std::map<std::string, amct::Shape>& shapes = {});

}  // namespace runner
