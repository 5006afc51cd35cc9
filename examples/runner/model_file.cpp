// SPDX-License-Identifier: Apache-2.0
#include "model_file.hpp"

#include <amct/onnx/import.hpp>

namespace runner {

amct::graph::Graph read_model(const std::string& file, const std::map<std::string, amct::Shape>& shapes) {
  return amct::onnx::import_model(file, shapes);
}

}  // namespace runner
