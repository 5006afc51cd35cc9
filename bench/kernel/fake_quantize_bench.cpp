// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/fake_quantize.hpp>

#include <span>

#include "contests.hpp"
#include "peers/peers.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

template <class C>
Prepare<float, float> ours() {
  return direct(
      [](std::span<const float> x, std::span<float> y) { amct::fake_quantize<C>(x, y, kAffine, amct::Int8::range); });
}

template <class C>
Contest<float, float> contest(const char* benchmark, const Size& size) {
  return {.benchmark = benchmark,
          .size = size,
          .bytes_per_element = 8,
          .fill = fill_normal_tiles,
          .ours = ours<C>(),
          .peer_agrees = within_one_step<float>(kAffine.scale)};
}

void run_one_thread(const Size& size) {
  auto c = contest<amct::ReciprocalRoundAdd>("fake_quantize", size);
  c.peers = peers_with<>(&Peer::fake_quantize, kAffine);
  c.limits = limit_entrants<float, float>(Traffic::one_to_one, size.is_past_caches());
  c.has_children = size.elements == kTile;
  run(c);
}

void run_two_threads(const Size& size) {
  auto c = contest<amct::ReciprocalRoundAdd>("fake_quantize", size);
  c.threads = 2;
  c.peers = {{"amct, 1 thread", c.ours}};
  c.limits = limit_entrants<float, float>(Traffic::one_to_one, size.is_past_caches(), c.threads);
  run(c);
}

/// The contract of ONNX and torch beside the one that needs no quotient.
void run_division(const Size& size) {
  auto c = contest<amct::DivideRoundAdd>("fake_quantize_divide", size);
  c.peers = {{"amct, reciprocal", ours<amct::ReciprocalRoundAdd>()}};
  run(c);
}

}  // namespace

void run_fake_quantize() {
  for (const Size& size : {kL1, kL2, kDram}) run_one_thread(size);
  run_two_threads(kDram);
  for (const Size& size : {kL1, kL2, kDram}) run_division(size);
}

}  // namespace bench
