// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/core/affine.hpp>

/// \file
/// Each function runs the contests of one file, in the order of the table.

namespace bench {

/// The quantizer of all contests with one scale. With it standard normal values reach both ends of int8.
inline constexpr amct::Affine kAffine{0.03F, -7};

void run_quantize();
void run_dequantize();
void run_fake_quantize();
void run_channels();
void run_requantize();
void run_gemm_s8();
void run_conv_s8();
void run_packed4();
void run_range();
void run_order_statistic();
void run_histogram();
void run_residual();
void run_scale_search();
void run_ifmr();
void run_hfmg();

}  // namespace bench
