// SPDX-License-Identifier: Apache-2.0
// PP-OCR on rendered text: our outputs are those of ONNX Runtime, and they are right.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>

#include "real_models/run_both.hpp"

namespace {

using amct::Shape;
using amct::Tensor;

constexpr std::size_t kLines = AMCT_REAL_LINES;

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Checks our outputs of each run. Some inputs make these networks amplify rounding errors: with its optimizations ONNX
/// Runtime itself gives results further than kTolerance from those without. There twice its own difference is allowed.
void check_close(const peer::Job& job, const real_models::Both& both) {
  peer::Job again{.model = job.model, .runs = {}, .optimize = true};
  std::vector<std::size_t> far;
  for (std::size_t r = 0; r < job.runs.size(); ++r) {
    if (peer::relative_distance(both.ours[r].at(0), both.theirs[r].at(0)) <= real_models::kTolerance) continue;
    far.push_back(r);
    again.runs.push_back(job.runs[r]);
  }
  MESSAGE(job.model.filename().string(),
          ": largest difference relative to the largest output: ", both.distance(0).relative(), "; ", far.size(),
          " of ", job.runs.size(), " runs beyond the tolerance");
  CHECK(2 * far.size() < job.runs.size());
  const auto optimized = peer::run_onnxruntime(again);
  for (std::size_t i = 0; i < far.size(); ++i) {
    const Tensor& theirs = both.theirs[far[i]][0];
    const double own = peer::relative_distance(optimized[i].at(0), theirs);
    CAPTURE(far[i]);
    CHECK(peer::relative_distance(both.ours[far[i]][0], theirs) <= 2.0 * own);
  }
}

/// Runs a model with the input `x` and one output on several inputs. \return our outputs
std::vector<Tensor> outputs_of(const std::string& model, std::vector<Tensor> inputs) {
  peer::Job job{.model = real_models::folder() / model, .runs = {}};
  for (auto& input : inputs) job.runs.push_back({{"x", std::move(input)}});
  auto both = real_models::run_both(job);
  check_close(job, both);
  std::vector<Tensor> outputs;
  for (auto& of_run : both.ours) outputs.push_back(std::move(of_run[0]));
  return outputs;
}

std::size_t largest_of(std::span<const float> scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

/// The text of [1, steps, classes]: the best class of each step, repeats once; class 0 stands for nothing, the last
/// one for a space.
std::string decode(const Tensor& scores, const std::vector<std::string>& characters) {
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

}  // namespace

TEST_CASE("the direction of lines") {
  const Tensor lines = real_models::read_input("cls.npy");
  constexpr std::size_t kBatch = 10;
  const std::size_t line = lines.size() / static_cast<std::size_t>(lines.shape()[0]);
  std::vector<Tensor> batches;
  for (std::size_t b = 0; b < kLines / kBatch; ++b) {
    batches.emplace_back(Shape{kBatch, 3, 48, 192}, lines.data<float>().subspan(b * kBatch * line, kBatch * line));
  }
  std::size_t number = 0;  // of the line; odd ones are upside down
  std::size_t right = 0;
  for (const Tensor& output : outputs_of("cls.onnx", std::move(batches))) {
    for (std::size_t i = 0; i < kBatch; ++i)
      right += largest_of(output.data<float>().subspan(2 * i, 2)) == number++ % 2 ? 1U : 0U;
  }
  MESSAGE("cls: ", right, " of ", number, " directions are right");
  CHECK(number == kLines);
  CHECK(right * 100 >= number * 95);
}

TEST_CASE("the text of lines") {
  const auto characters = read_lines(real_models::folder() / "rec_keys.txt");
  const auto texts = read_lines(real_models::folder() / "inputs" / "lines.txt");
  std::vector<Tensor> lines;
  for (std::size_t i = 0; i < kLines; ++i) {
    const std::string number = std::to_string(1000 + i).substr(1);
    lines.push_back(real_models::read_input("rec_" + number + ".npy"));
  }
  const auto outputs = outputs_of("rec.onnx", std::move(lines));
  std::size_t right = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) right += decode(outputs[i], characters) == texts.at(i) ? 1U : 0U;
  MESSAGE("rec: ", right, " of ", outputs.size(), " lines are right");
  CHECK(right * 100 >= outputs.size() * 95);
}

TEST_CASE("where text is on pages") {
  std::vector<Tensor> pages;
  for (const char* name : {"det_0.npy", "det_1.npy", "det_2.npy"}) pages.push_back(real_models::read_input(name));
  for (const Tensor& output : outputs_of("det.onnx", std::move(pages))) {
    const auto map = output.data<float>();
    const auto text = static_cast<std::size_t>(std::count_if(map.begin(), map.end(), [](float p) { return p > 0.3F; }));
    CHECK(text * 100 > map.size());
    CHECK(text * 2 < map.size());
  }
}
