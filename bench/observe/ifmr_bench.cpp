// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/ifmr.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

#include "contests.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

/// One batch of activations after a ReLU, from observing it to scale and offset.
void observe(std::span<const float> x, std::span<float> scale_offset) {
  amct::Ifmr observer;
  if (!observer.observe(x)) return;
  const amct::Affine affine = observer.compute(amct::Int8::range);
  scale_offset[0] = affine.scale;
  scale_offset[1] = static_cast<float>(affine.offset);
}

void fill_relu(std::span<float> values) {
  fill_normal(values);
  for (float& value : values) value = std::max(0.0F, value);
}

void run_observer(const Size& size, int threads) {
  run(Contest<float, float>{.benchmark = "ifmr",
                            .size = size,
                            .bytes_per_element = 4,
                            .fill = fill_relu,
                            .ours = direct(observe),
                            .threads = threads,
                            .limits = limit_entrants<float, float>(Traffic::read, size.is_past_caches(), threads),
                            .outputs = 2});
}

}  // namespace

void run_ifmr() {
  for (const Size& size : {kL2, kStatistics}) {
    for (const int threads : {1, 2}) run_observer(size, threads);
  }
}

}  // namespace bench
