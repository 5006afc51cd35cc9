// SPDX-License-Identifier: Apache-2.0
// One round of all contests. bench/run.sh runs several and makes the table.
//
//   amct_bench --slower-instruction-sets   only prints the names of those that AMCT_ARCH can choose instead
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <benchmark/benchmark.h>

#include <amct/simd/arch.hpp>

#include "contests.hpp"
#include "support/session.hpp"

namespace {

using amct::simd::Arch;

int print_slower_instruction_sets() {
  const Arch fastest = amct::simd::active();
  amct::simd::for_each_available_integer([=](Arch arch) {
    if (arch < fastest && arch != Arch::scalar) std::puts(amct::simd::name_of(arch));
  });
  return 0;
}

/// oneDNN's name of our instruction set: it takes the best of the machine otherwise.
const char* name_for_onednn(Arch arch) {
  switch (arch) {
    case Arch::avx2: return "AVX2";
    case Arch::avx512: return "AVX512_CORE";
    case Arch::avx512vnni: return "AVX512_CORE_VNNI";
    case Arch::amx: return "AVX512_CORE_AMX";
    default: return "ALL";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("--slower-instruction-sets")) return print_slower_instruction_sets();
  setenv("DNNL_MAX_CPU_ISA", name_for_onednn(amct::simd::active()), 0);
  setenv("AMCT_NUM_THREADS", "2", 1);  // for the contests with two threads
  benchmark::Initialize(&argc, argv);
  if (!bench::take_arguments(argc, argv)) return 1;
  bench::run_quantize();
  bench::run_dequantize();
  bench::run_fake_quantize();
  bench::run_channels();
  bench::run_requantize();
  bench::run_gemm_s8();
  bench::run_conv_s8();
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
