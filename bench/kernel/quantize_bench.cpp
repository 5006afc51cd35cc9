// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/quantize.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "contests.hpp"
#include "peers/peers.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

using Codes = std::span<std::int8_t>;

template <class C>
Prepare<float, std::int8_t> ours() {
  return direct([](std::span<const float> x, Codes codes) { amct::quantize<C>(x, codes, kAffine, amct::Int8::range); });
}

template <class C>
Contest<float, std::int8_t> contest(const char* benchmark, const Size& size) {
  return {.benchmark = benchmark, .size = size, .bytes_per_element = 5, .fill = fill_normal_tiles, .ours = ours<C>()};
}

void run_one_thread(const Size& size) {
  auto c = contest<amct::ReciprocalRoundAdd>("quantize", size);
  c.peers = peers_with<>(&Peer::quantize, kAffine);
  c.limits = limit_entrants<float, std::int8_t>(Traffic::four_to_one, size.is_past_caches());
  c.has_children = size.elements == kTile;
  run(c);
}

void run_two_threads(const Size& size) {
  auto c = contest<amct::ReciprocalRoundAdd>("quantize", size);
  c.threads = 2;
  c.peers = {{"amct, 1 thread", c.ours}};
  c.limits = limit_entrants<float, std::int8_t>(Traffic::four_to_one, size.is_past_caches(), c.threads);
  run(c);
}

/// The contract of ONNX and torch beside the one that needs no quotient.
void run_division(const Size& size) {
  auto c = contest<amct::DivideRoundAdd>("quantize_divide", size);
  c.peers = {{"amct, reciprocal", ours<amct::ReciprocalRoundAdd>()}};
  run(c);
}

}  // namespace

void run_quantize() {
  for (const Size& size : {kL1, kL2, kDram}) run_one_thread(size);
  run_two_threads(kDram);
  for (const Size& size : {kL1, kL2, kDram}) run_division(size);
}

}  // namespace bench
