// SPDX-License-Identifier: Apache-2.0
// PP-OCR on rendered text: our outputs are those of ONNX Runtime, and they are right.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>

#include "real_models/run_both.hpp"
#include "real_models/text.hpp"

namespace {

using amct::Tensor;

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

}  // namespace

TEST_CASE("the direction of lines") {
  const auto found = real_models::decisions(outputs_of("cls.onnx", real_models::direction_inputs()));
  std::size_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == i % 2 ? 1U : 0U;
  MESSAGE("cls: ", right, " of ", found.size(), " directions are right");
  CHECK(found.size() == real_models::kLines);
  CHECK(right * 100 >= found.size() * 95);
}

TEST_CASE("the text of lines") {
  const auto outputs = outputs_of("rec.onnx", real_models::recogniser_inputs());
  const std::size_t right = real_models::lines_read(outputs);
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
