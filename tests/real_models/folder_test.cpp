// SPDX-License-Identifier: Apache-2.0
// Any other networks, by hand: AMCT_ONNX_FOLDER=<folder of .onnx files> real_models_test -tc="*a folder*"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/random.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/ir.hpp>
#include <amct/onnx/import.hpp>

#include "real_models/run_both.hpp"

namespace {

/// Numbers in [-1, 1) for each float input of the model; a size that is not known becomes 1.
std::map<std::string, amct::Tensor> random_inputs(const std::filesystem::path& model) {
  const amct::graph::Graph graph = amct::onnx::import_model(model);
  std::map<std::string, amct::Tensor> inputs;
  for (const auto id : graph.inputs) {
    const auto& value = graph.value(id);
    std::vector<std::int64_t> dims;
    for (const auto& dim : value.shape.value()) dims.push_back(std::max<std::int64_t>(dim.size, 1));
    amct::Tensor tensor(amct::ElementType::float32, amct::Shape(dims));
    amct::Random random(1);
    for (float& element : tensor.data<float>()) element = static_cast<float>(2.0 * random.uniform() - 1.0);
    inputs.emplace(value.name, std::move(tensor));
  }
  return inputs;
}

}  // namespace

TEST_CASE("every model of a folder" * doctest::skip(std::getenv("AMCT_ONNX_FOLDER") == nullptr)) {
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("AMCT_ONNX_FOLDER"))) {
    if (entry.path().extension() != ".onnx") continue;
    CAPTURE(entry.path().string());
    const auto both = real_models::run_both({.model = entry.path(), .runs = {random_inputs(entry.path())}});
    for (std::size_t output = 0; output < both.theirs.at(0).size(); ++output) {
      const double apart = both.distance(output).relative();
      MESSAGE(entry.path().filename().string(), ": largest relative difference ", apart);
      CHECK(apart <= real_models::kTolerance);
    }
  }
}
