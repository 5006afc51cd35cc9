// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/ifmr.hpp>

#include <memory>
#include <span>

#include "contests.hpp"
#include "support/agreement.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

using Proposal = std::span<float>;

void set_proposal(Proposal scale_offset, amct::Affine affine) {
  scale_offset[0] = affine.scale;
  scale_offset[1] = static_cast<float>(affine.offset);
}

/// One batch, from observing it to scale and offset.
void observe(std::span<const float> x, Proposal scale_offset) {
  amct::Ifmr observer;
  if (!observer.observe(x)) return;
  set_proposal(scale_offset, observer.compute(amct::Int8::range));
}

Contest<float, float> contest(const char* benchmark, const Size& size, int threads) {
  return {.benchmark = benchmark,
          .size = size,
          .bytes_per_element = 4,
          .fill = fill_relu,
          .ours = direct(observe),
          .threads = threads,
          .limits = limit_entrants<float, float>(Traffic::read, size.is_past_caches(), threads),
          .outputs = 2};
}

void run_observer(const Size& size, int threads) {
  auto c = contest("ifmr", size, threads);
  c.has_children = size.is_past_caches() && threads == 1;
  run(c);
}

/// The choice alone, on data that are kept already.
template <class Choose>
Prepare<float, float> on_kept_data(Choose choose) {
  return [choose](std::span<const float> x, Proposal scale_offset) -> Work {
    const auto observer = std::make_shared<amct::Ifmr>();
    if (!observer->observe(x)) fail("ifmr refuses its data");
    return [choose, observer, scale_offset] { set_proposal(scale_offset, choose(*observer)); };
  };
}

/// Beside ourselves with the loss of every candidate.
void run_compute() {
  auto c = contest("ifmr_compute", kStatistics, 1);
  c.ours = on_kept_data([](const amct::Ifmr& observer) { return observer.compute(amct::Int8::range); });
  c.peers = {{"amct, all losses",
              on_kept_data([](const amct::Ifmr& observer) { return observer.search(amct::Int8::range).affine; })}};
  c.peer_agrees = is_identical<float>;
  run(c);
}

}  // namespace

void run_ifmr() {
  for (const Size& size : {kL2, kStatistics}) {
    for (const int threads : {1, 2}) run_observer(size, threads);
  }
  run_compute();
}

}  // namespace bench
