// SPDX-License-Identifier: Apache-2.0
// Weights of a convolution [512, 512, 3, 3] with a scale for each output channel.
#include <amct/kernel/channels.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>

#include "contests.hpp"
#include "peers/peers.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

constexpr std::size_t kRows = 512;
constexpr std::size_t kColumns = 512 * 3 * 3;
constexpr amct::ChannelLayout kLayout{1, 1, kRows, kColumns};
const Size kWeights{"512x512x3x3", kRows* kColumns};

constexpr float kSmallestScale = 0.01F;
constexpr float kLargestScale = 0.07F;

const std::vector<amct::Affine>& affines() {
  static const std::vector<amct::Affine> all = [] {
    std::vector<amct::Affine> rows(kRows);
    for (std::size_t r = 0; r < kRows; ++r) rows[r].scale = kSmallestScale * static_cast<float>(1 + r % 7);
    return rows;
  }();
  return all;
}

void run_codes() {
  run(Contest<float, std::int8_t>{
      .benchmark = "quantize_channels",
      .size = kWeights,
      .bytes_per_element = 5,
      .fill = fill_normal_tiles,
      .ours = direct([](std::span<const float> x, std::span<std::int8_t> codes) {
        amct::quantize<>(x, codes, kLayout, affines(), amct::Int8::range);
      }),
      .peers = peers_with<>(&Peer::quantize_channels, affines()),
      .limits = limit_entrants<float, std::int8_t>(Traffic::four_to_one, kWeights.is_past_caches()),
      .has_children = true});
}

void run_values() {
  run(Contest<float, float>{.benchmark = "fake_quantize_channels",
                            .size = kWeights,
                            .bytes_per_element = 8,
                            .fill = fill_normal_tiles,
                            .ours = direct([](std::span<const float> x, std::span<float> y) {
                              amct::fake_quantize<>(x, y, kLayout, affines(), amct::Int8::range);
                            }),
                            .peers = peers_with<>(&Peer::fake_quantize_channels, affines()),
                            .limits = limit_entrants<float, float>(Traffic::one_to_one, kWeights.is_past_caches()),
                            .peer_agrees = within_one_step<float>(kLargestScale),
                            .has_children = true});
}

}  // namespace

void run_channels() {
  run_codes();
  run_values();
}

}  // namespace bench
