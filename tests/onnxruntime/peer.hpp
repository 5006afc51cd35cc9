// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>

namespace peer {

/// What ONNX Runtime is to do with a model, in one process.
struct Job {
  std::filesystem::path model;
  std::vector<std::map<std::string, amct::Tensor>> runs;  ///< inputs by name, for each run
  std::map<std::string, std::string> carry{};             ///< outputs that are inputs of the next run, from -> to
  bool optimize = false;                                  ///< lets it change the order of computations
  std::filesystem::path optimized{};                      ///< gets the model as it is run; empty: nothing
};

/// The outputs of each run in the model's order, computed on one thread.
/// \throws std::runtime_error with what the process printed if it fails
[[nodiscard]] std::vector<std::vector<amct::Tensor>> run_onnxruntime(const Job& job);

/// The largest |ours - theirs| of all that was added, and the largest |theirs|.
struct Distance {
  double difference = 0.0;
  double largest = 0.0;

  /// \throws std::runtime_error if the sizes differ
  void add(std::span<const float> ours, std::span<const float> theirs);
  /// \throws std::runtime_error if the types or shapes differ
  void add(const amct::Tensor& ours, const amct::Tensor& theirs);
  [[nodiscard]] double relative() const noexcept { return difference / largest; }
};

/// The largest |ours - theirs| relative to the largest |theirs|.
[[nodiscard]] double relative_distance(const amct::Tensor& ours, const amct::Tensor& theirs);

}  // namespace peer
