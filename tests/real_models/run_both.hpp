// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>

#include "onnxruntime/peer.hpp"

namespace real_models {

/// Where fetch.sh puts models and inputs.
[[nodiscard]] std::filesystem::path folder();

/// An input that make_inputs.py made.
[[nodiscard]] amct::Tensor read_input(const std::string& name);

/// How far our results may be from ONNX Runtime's, relative to its largest.
inline constexpr double kTolerance = 1e-4;

/// The outputs of each run of a job, by our executor and by ONNX Runtime.
struct Both {
  std::vector<std::vector<amct::Tensor>> ours;
  std::vector<std::vector<amct::Tensor>> theirs;

  /// Of one output of the model over all runs.
  [[nodiscard]] peer::Distance distance(std::size_t output) const;
};
[[nodiscard]] Both run_both(const peer::Job& job);

}  // namespace real_models
