// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/shape.hpp>
#include <amct/graph/ir.hpp>

namespace runner {

/// amct::onnx::import_model, whose code is compiled once, in model_file.cpp.
[[nodiscard]] amct::graph::Graph read_model(const std::string& file,
                                            const std::map<std::string, amct::Shape>& shapes = {});

/// Names and element types of the network's inputs, in its order.
[[nodiscard]] std::vector<std::pair<std::string, amct::ElementType>> inputs_of(const amct::graph::Graph& graph);

}  // namespace runner
