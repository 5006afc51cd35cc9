// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/dequantize.hpp>

#include <cstdint>
#include <span>

#include "contests.hpp"
#include "peers/peers.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

using Codes = std::span<const std::int8_t>;

Contest<std::int8_t, float> contest(const Size& size) {
  return {.benchmark = "dequantize",
          .size = size,
          .bytes_per_element = 5,
          .fill = [](std::span<std::int8_t> codes) { fill_uniform_tiles(codes, -128, 127); },
          .ours = direct([](Codes codes, std::span<float> x) { amct::dequantize(codes, x, kAffine); }),
          .peer_agrees = within_one_step<float>(kAffine.scale)};
}

void run_one_thread(const Size& size) {
  auto c = contest(size);
  c.peers = peers_with<>(&Peer::dequantize, kAffine);
  c.limits = limit_entrants<std::int8_t, float>(Traffic::one_to_four, size.is_past_caches());
  c.has_children = size.elements == kTile;
  run(c);
}

void run_two_threads(const Size& size) {
  auto c = contest(size);
  c.threads = 2;
  c.peers = {{"amct, 1 thread", c.ours}};
  c.limits = limit_entrants<std::int8_t, float>(Traffic::one_to_four, size.is_past_caches(), c.threads);
  run(c);
}

}  // namespace

void run_dequantize() {
  for (const Size& size : {kL1, kL2, kDram}) run_one_thread(size);
  run_two_threads(kDram);
}

}  // namespace bench
