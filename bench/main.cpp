// SPDX-License-Identifier: Apache-2.0
// One round of all contests. bench/run.sh runs several and makes the table.
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "contests.hpp"
#include "support/session.hpp"

int main(int argc, char** argv) {
  setenv("AMCT_NUM_THREADS", "2", 1);  // for the contests with two threads
  benchmark::Initialize(&argc, argv);
  if (!bench::take_arguments(argc, argv)) return 1;
  bench::run_quantize();
  bench::run_dequantize();
  bench::run_fake_quantize();
  bench::run_channels();
  bench::run_requantize();
  bench::run_packed4();
  bench::run_range();
  bench::run_order_statistic();
  bench::run_histogram();
  bench::run_residual();
  bench::run_scale_search();
  bench::run_ifmr();
  bench::run_hfmg();
  bench::close_results();
}
