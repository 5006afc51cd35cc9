// SPDX-License-Identifier: Apache-2.0
// Silero VAD on recorded speech, chunk by chunk, each side with its own state.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>

#include "real_models/run_both.hpp"

namespace {

using amct::Shape;
using amct::Tensor;

/// The recording at one rate in chunks of 32 ms, each behind the last 4 ms of the one before.
peer::Job make_job(std::int64_t rate) {
  const Tensor speech = real_models::read_input("speech_" + std::to_string(rate) + ".npy");
  const auto context = static_cast<std::size_t>(rate / 250);
  const std::size_t chunk = 8 * context;
  std::vector<float> padded(context, 0.0F);
  padded.insert(padded.end(), speech.data<float>().begin(), speech.data<float>().end());
  peer::Job job{.model = real_models::folder() / "vad.onnx", .runs = {}, .carry = {{"stateN", "state"}}};
  for (std::size_t first = 0; first + context + chunk <= padded.size() && job.runs.size() < AMCT_REAL_CHUNKS;
       first += chunk) {
    job.runs.push_back({{"input", Tensor(Shape{1, static_cast<std::int64_t>(context + chunk)},
                                         std::span<const float>(padded).subspan(first, context + chunk))},
                        {"sr", Tensor::scalar(rate)}});
  }
  job.runs[0].emplace("state", Tensor(Shape{2, 1, 128}, std::span<const float>(std::vector<float>(256, 0.0F))));
  return job;
}

}  // namespace

TEST_CASE("speech at both sample rates") {
  for (const std::int64_t rate : {16000, 8000}) {
    CAPTURE(rate);
    const peer::Job job = make_job(rate);
    const auto both = real_models::run_both(job);
    const double apart[] = {both.distance(0).relative(), both.distance(1).relative()};
    MESSAGE("vad at ", rate, " Hz, ", job.runs.size(), " chunks: largest relative differences: speech ", apart[0],
            ", state ", apart[1]);
    CHECK(apart[0] <= real_models::kTolerance);
    CHECK(apart[1] <= real_models::kTolerance);

    std::vector<float> speech;
    for (const auto& outputs : both.ours) speech.push_back(outputs[0].data<float>()[0]);
    CHECK(*std::min_element(speech.begin(), speech.end()) < 0.1F);
    CHECK(*std::max_element(speech.begin(), speech.end()) > 0.9F);
  }
}
