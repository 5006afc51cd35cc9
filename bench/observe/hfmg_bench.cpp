// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/hfmg.hpp>

#include <span>

#include "contests.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

/// One batch, from observing it to scale and offset, with 4096 bins.
void observe(std::span<const float> x, std::span<float> scale_offset) {
  amct::Hfmg observer;
  if (!observer.observe(x)) return;
  const amct::Affine affine = observer.compute(amct::Int8::range);
  scale_offset[0] = affine.scale;
  scale_offset[1] = static_cast<float>(affine.offset);
}

}  // namespace

void run_hfmg() {
  run(Contest<float, float>{.benchmark = "hfmg",
                            .size = kStatistics,
                            .bytes_per_element = 4,
                            .fill = fill_relu,
                            .ours = direct(observe),
                            .limits = limit_entrants<float, float>(Traffic::read, true),
                            .outputs = 2,
                            .has_children = true});
}

}  // namespace bench
