// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/requantize.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <amct/core/granularity.hpp>

#include "contests.hpp"
#include "peers/peers.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

using Accumulators = std::span<const std::int32_t>;
using Codes = std::span<std::int8_t>;
using ByMultiplier = amct::RequantizeByMultiplier<>;

constexpr float kMultiplier = 2.5317e-4F;  // few accumulators are halves: there peers that fuse differ
constexpr std::int32_t kOffset = -7;
constexpr std::int32_t kLargestAccumulator = 600000;  // times the multiplier: beyond both ends of int8

void fill_accumulators(std::span<std::int32_t> acc) {
  fill_uniform_tiles(acc, -kLargestAccumulator, kLargestAccumulator);
}

void run_per_tensor(const Size& size) {
  run(Contest<std::int32_t, std::int8_t>{
      .benchmark = "requantize",
      .size = size,
      .bytes_per_element = 5,
      .fill = fill_accumulators,
      .ours = direct([](Accumulators acc, Codes codes) {
        amct::requantize<ByMultiplier>(acc, codes, {kMultiplier}, kOffset, amct::Int8::range);
      }),
      .peers = peers_with<>(&Peer::requantize, kMultiplier, kOffset),
      .limits = limit_entrants<std::int32_t, std::int8_t>(Traffic::four_to_one, size.is_past_caches())});
}

/// The end of a matrix multiplication or channels-last convolution: a bias and a multiplier for each column.
struct Columns {
  amct::ChannelLayout layout;
  std::vector<std::int32_t> bias;
  std::vector<ByMultiplier::Params> params;
  std::vector<float> multipliers;

  explicit Columns(const Size& size) : Columns(size.elements, size.elements == kL1.elements ? 64 : 256) {}
  Columns(std::size_t elements, std::size_t columns) : layout{1, elements / columns, columns, 1} {
    for (std::size_t c = 0; c < columns; ++c) {
      bias.push_back(static_cast<std::int32_t>(c * 37 % 2001) - 1000);
      multipliers.push_back(kMultiplier * (1.0F + 0.1F * static_cast<float>(c % 7)));
      params.push_back({multipliers.back()});
    }
  }
};

void run_per_channel(const Size& size) {
  const auto columns = std::make_shared<const Columns>(size);
  auto peers = peers_with<>(&Peer::requantize_channels, columns->bias, columns->multipliers, kOffset);
  for (auto& peer : peers) peer.is_checked = peer.name != "oneDNN";  // a reorder knows no bias
  run(Contest<std::int32_t, std::int8_t>{
      .benchmark = "requantize_channels",
      .size = size,
      .bytes_per_element = 5,
      .fill = fill_accumulators,
      .ours = direct([columns](Accumulators acc, Codes codes) {
        amct::requantize<ByMultiplier>(acc, codes, columns->layout, columns->bias, columns->params, kOffset,
                                       amct::Int8::range);
      }),
      .peers = std::move(peers),
      .limits = limit_entrants<std::int32_t, std::int8_t>(Traffic::four_to_one, size.is_past_caches())});
}

}  // namespace

void run_requantize() {
  for (const Size& size : {kL1, kL2, kDram}) run_per_tensor(size);
  for (const Size& size : {kL1, kL2, kDram}) run_per_channel(size);
}

}  // namespace bench
