// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <amct/interop/npy.hpp>

#include "golden_cases/json_data.hpp"

namespace golden {

/// The batches of a case: in the file itself, or in .npy files beside it.
[[nodiscard]] inline std::vector<std::vector<float>> inputs_of(const Json& test, const std::filesystem::path& folder) {
  std::vector<std::vector<float>> batches;
  if (test.contains("inputs")) {
    for (const auto& input : test.at("inputs")) batches.push_back(floats(input.at("data")));
    return batches;
  }
  for (const auto& name : test.at("inputs_npy")) {
    const amct::Tensor tensor = amct::interop::read_npy(folder / name.get<std::string>());
    batches.emplace_back(tensor.data<float>().begin(), tensor.data<float>().end());
  }
  return batches;
}

}  // namespace golden
