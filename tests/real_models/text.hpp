// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>

#include "real_models/run_both.hpp"

/// PP-OCR's inputs, and what its outputs mean.
namespace real_models {

/// Lines of text that tests run.
inline constexpr std::size_t kLines = AMCT_REAL_LINES;

[[nodiscard]] inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Pictures of the first kLines lines for the recogniser.
[[nodiscard]] inline std::vector<amct::Tensor> recogniser_inputs() {
  std::vector<amct::Tensor> lines;
  for (std::size_t i = 0; i < kLines; ++i) {
    lines.push_back(read_input("rec_" + std::to_string(1000 + i).substr(1) + ".npy"));
  }
  return lines;
}

/// The same lines for the classifier of directions, in batches; odd ones are upside down.
[[nodiscard]] inline std::vector<amct::Tensor> direction_inputs() {
  constexpr std::size_t kBatch = 10;
  const amct::Tensor lines = read_input("cls.npy");
  const std::size_t line = lines.size() / static_cast<std::size_t>(lines.shape()[0]);
  std::vector<amct::Tensor> batches;
  for (std::size_t first = 0; first < kLines; first += kBatch) {
    batches.emplace_back(amct::Shape{kBatch, 3, 48, 192}, lines.data<float>().subspan(first * line, kBatch * line));
  }
  return batches;
}

[[nodiscard]] inline std::size_t largest_of(std::span<const float> scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

/// The class of each row of [rows, classes] in all outputs.
[[nodiscard]] inline std::vector<std::size_t> decisions(const std::vector<amct::Tensor>& outputs) {
  std::vector<std::size_t> found;
  for (const amct::Tensor& output : outputs) {
    const auto classes = static_cast<std::size_t>(output.shape()[1]);
    for (std::size_t first = 0; first < output.size(); first += classes) {
      found.push_back(largest_of(output.data<float>().subspan(first, classes)));
    }
  }
  return found;
}

/// The text of [1, steps, classes]: the best class of each step, repeats once; class 0 stands for nothing, the last
/// one for a space.
[[nodiscard]] inline std::string decode(const amct::Tensor& scores, const std::vector<std::string>& characters) {
  const auto classes = static_cast<std::size_t>(scores.shape()[2]);
  std::string text;
  std::size_t last = 0;
  for (std::size_t first = 0; first < scores.size(); first += classes) {
    const std::size_t best = largest_of(scores.data<float>().subspan(first, classes));
    if (best != last && best != 0) text += best - 1 < characters.size() ? characters[best - 1] : " ";
    last = best;
  }
  return text;
}

/// How many outputs of the recogniser say what their line says.
[[nodiscard]] inline std::size_t lines_read(const std::vector<amct::Tensor>& outputs) {
  const auto characters = read_lines(folder() / "rec_keys.txt");
  const auto texts = read_lines(folder() / "inputs" / "lines.txt");
  std::size_t right = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) right += decode(outputs[i], characters) == texts.at(i) ? 1U : 0U;
  return right;
}

}  // namespace real_models
